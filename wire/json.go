// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth bounds how deep arrays and objects nest. Nobody asks a human about something deeper, and parsers that come
// after this one recurse.
const maxDepth = 256

var (
	errNotObject = errors.New("not an object")
	errTrailing  = errors.New("more than one value")
	errTooDeep   = errors.New("nested too deep")
)

type pooled struct {
	source  bytes.Buffer
	decoder jsontext.Decoder
}

var decoders = sync.Pool{New: func() any { return new(pooled) }}

// members calls visit for each member of the one JSON object in data, in order; names and values alias data. It checks all
// of data first: bad JSON anywhere is the error that counts. The first error of visit ends it.
func members(data []byte, visit func(name []byte, value jsontext.Value) error) error {
	value, err := check(data)
	if err != nil {
		return err
	}
	if value.Kind() != '{' {
		return errNotObject
	}
	return each(value, visit)
}

// check makes sure that data is one JSON value as strict as this package wants it and returns it without the white space
// around it.
func check(data []byte) (jsontext.Value, error) {
	p := decoders.Get().(*pooled)
	defer func() {
		p.source = bytes.Buffer{} // do not keep what may be an answer
		p.decoder.Reset(&p.source)
		decoders.Put(p)
	}()
	p.source = *bytes.NewBuffer(data)
	p.decoder.Reset(&p.source)
	value, err := p.decoder.ReadValue()
	if err != nil {
		return nil, err
	}
	if tooDeep(value) {
		return nil, errTooDeep
	}
	end := int(p.decoder.InputOffset())
	switch _, err := p.decoder.ReadToken(); {
	case err == nil:
		return nil, errTrailing
	case err != io.EOF:
		return nil, err
	}
	return data[end-len(value) : end : end], nil
}

func tooDeep(value []byte) bool {
	if bytes.Count(value, []byte{'{'})+bytes.Count(value, []byte{'['}) <= maxDepth {
		return false
	}
	depth := 0
	for i := 0; i < len(value); i++ {
		switch value[i] {
		case '"':
			i = skipString(value, i) - 1
		case '{', '[':
			if depth++; depth > maxDepth {
				return true
			}
		case '}', ']':
			depth--
		}
	}
	return false
}

// each walks an object that passed check, so every byte is where the grammar puts it. Nothing is decoded twice this way:
// a message is four objects deep before anything interesting comes.
func each(object jsontext.Value, visit func(name []byte, value jsontext.Value) error) error {
	for i := 1; ; {
		i = skipSpace(object, i)
		if object[i] == '}' {
			return nil
		}
		if object[i] == ',' {
			i = skipSpace(object, i+1)
		}
		start := i
		i = skipValue(object, i)
		name := object[start+1 : i-1]
		if bytes.IndexByte(name, '\\') >= 0 {
			var err error
			if name, err = jsontext.AppendUnquote(nil, object[start:i]); err != nil {
				return err
			}
		}
		start = skipSpace(object, skipSpace(object, i)+1) // over the colon
		i = skipValue(object, start)
		if err := visit(name, object[start:i:i]); err != nil {
			return err
		}
	}
}

func skipSpace(b []byte, i int) int {
	for b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r' {
		i++
	}
	return i
}

// skipValue returns the index behind the value that starts at i.
func skipValue(b []byte, i int) int {
	for depth := 0; ; {
		switch b[i] {
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case '"':
			i = skipString(b, i)
		case ',', ':', ' ', '\n', '\t', '\r':
			i++
			continue
		default: // a number or a literal
			for i < len(b) && strings.IndexByte(",]} \n\t\r", b[i]) < 0 {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
}

// skipString looks for the quote that closes the string at i: one behind an even number of backslashes. A requestState is
// by far the longest string of a message, and has none.
func skipString(b []byte, i int) int {
	for {
		i += 1 + bytes.IndexByte(b[i+1:], '"')
		slashes := 0
		for b[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i + 1
		}
	}
}

// protocolError words what members refused. Code is for what is JSON but not right; a message that is no JSON is a parse
// error. The decoder's own words are not used: they may quote the peer.
func protocolError(err error, code int) *Error {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, errNotObject):
		return &Error{Code: code, Message: wrong(code) + "one JSON object is expected here"}
	case errors.Is(err, errTooDeep):
		return &Error{Code: code, Message: wrong(code) + "arrays and objects nest deeper than " + strconv.Itoa(maxDepth)}
	case errors.Is(err, jsontext.ErrDuplicateName):
		return &Error{Code: code, Message: wrong(code) + "a member name appears twice in one object"}
	}
	const reason = "not exactly one JSON value in UTF-8"
	if code == CodeInvalidRequest {
		return &Error{Code: CodeParseError, Message: "parse error: " + reason}
	}
	return &Error{Code: code, Message: wrong(code) + reason}
}

func wrong(code int) string {
	if code == CodeInvalidParams {
		return "invalid params: "
	}
	return "invalid request: "
}

// text stores the JSON string value in dst.
func text(dst *string, value jsontext.Value, code int, name string) error {
	if value.Kind() != '"' {
		return &Error{Code: code, Message: wrong(code) + `"` + name + `" must be a string`}
	}
	var err error
	*dst, err = unquote(value)
	return err
}

func object(value jsontext.Value, code int, name string) error {
	if value.Kind() != '{' {
		return &Error{Code: code, Message: wrong(code) + `"` + name + `" must be an object`}
	}
	return nil
}

// lookalike refuses a name that a parser which folds case would take for a known one.
func lookalike(name []byte, code int, known ...string) error {
	for _, k := range known {
		if bytes.EqualFold(name, []byte(k)) {
			return &Error{Code: code, Message: wrong(code) + `a member name differs from "` + k + `" only in case`}
		}
	}
	return nil
}

func unquote(value jsontext.Value) (string, error) {
	if bytes.IndexByte(value, '\\') < 0 {
		return string(value[1 : len(value)-1]), nil // checked before: the literal is the text
	}
	b, err := jsontext.AppendUnquote(nil, value)
	return string(b), err
}

// quote never fails: invalid UTF-8 in s becomes U+FFFD.
func quote(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s)
	return dst
}

// valid makes sure that raw values which a caller put into a message are JSON.
func valid(b []byte) ([]byte, error) {
	if !jsontext.Value(b).IsValid() {
		return nil, errors.New("wire: a raw value is not valid JSON")
	}
	return b, nil
}
