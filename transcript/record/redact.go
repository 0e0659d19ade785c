// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

type redactor struct{ key [sha256.Size]byte }

func newRedactor() *redactor {
	r := &redactor{}
	rand.Read(r.key[:])
	return r
}

// text is what stands in place of s.
func (r *redactor) text(s string) string {
	mac := hmac.New(sha256.New, r.key[:])
	mac.Write([]byte(s))
	return "redacted:" + hex.EncodeToString(mac.Sum(nil)[:8])
}

// A place is where in a message a value stands, as far as it matters.
type place int

const (
	kept       place = iota // nothing in it is hidden
	serverTop               // a message of the server
	result                  // of the server
	clientTop               // a message of the client
	clientPart              // anything in it, as a client may be wrong about the place of a state or an answer
	answers                 // inputResponses
	answer
	action // of an answer
	hidden
)

// member is the place of a member of an object at p.
func (p place) member(name string) place {
	is := func(known string) bool { return strings.EqualFold(name, known) }
	client := p == clientTop || p == clientPart
	switch {
	case p == serverTop && is("result"):
		return result
	case (p == result || client) && is("requestState"):
		return hidden
	case client && is("inputResponses"):
		return answers
	case p == clientTop && is("result"), p == answers:
		return answer
	case p == answer && name == "action":
		return action
	case client:
		return clientPart
	case p >= answers:
		return hidden
	}
	return kept
}

// element is the place of an element of an array at p.
func (p place) element() place {
	switch p {
	case answers:
		return answer
	case answer, action:
		return hidden
	}
	return p
}

// message is a message with what is to be hidden in it replaced, and all other bytes as they were.
func (r *redactor) message(direction string, message []byte) ([]byte, error) {
	top := clientTop
	if direction == fromServer {
		top = serverTop
	}
	c := &cut{redactor: r, message: message}
	c.in = jsontext.NewDecoder(bytes.NewBuffer(message), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	err := c.value(top)
	return append(c.out, message[c.done:]...), err
}

type cut struct {
	*redactor
	message []byte
	in      *jsontext.Decoder // of message
	out     []byte
	done    int // how much of message is in out
}

// value takes the next value, which stands at p.
func (c *cut) value(p place) error {
	kind := c.in.PeekKind()
	switch {
	case p == kept:
		return c.in.SkipValue()
	case kind != '{' && kind != '[':
		value, err := c.in.ReadValue()
		if err == nil && p >= answers {
			end := int(c.in.InputOffset())
			c.out = append(append(c.out, c.message[c.done:end-len(value)]...), c.scalar(value, p)...)
			c.done = end
		}
		return err
	}
	c.in.ReadToken()
	for next := c.in.PeekKind(); next != '}' && next != ']'; next = c.in.PeekKind() {
		of := p.element()
		if kind == '{' {
			name, err := c.in.ReadValue()
			if err != nil {
				return err
			}
			plain, _ := jsontext.AppendUnquote(nil, name)
			of = p.member(string(plain))
		}
		if err := c.value(of); err != nil {
			return err
		}
	}
	_, err := c.in.ReadToken()
	return err
}

// scalar is what stands in place of a string, number or literal.
func (r *redactor) scalar(value jsontext.Value, p place) string {
	switch value.Kind() {
	case '"':
		plain, _ := jsontext.AppendUnquote(nil, value)
		text := string(plain)
		if p == action && (text == "accept" || text == "decline" || text == "cancel") {
			return string(value)
		}
		return `"` + r.text(text) + `"`
	case '0':
		return "0"
	case 't':
		return "false"
	}
	return string(value)
}
