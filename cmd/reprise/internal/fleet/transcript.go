// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
)

// A Transcript writes messages as JSON Lines, one object a line:
//
//	{"message": {...}, "direction": "client", "http": {"headers": {...}}, "client": "alice"}
//	{"message": {...}, "direction": "server", "http": {"headers": {...}, "status": 200}, "client": "alice"}
//
// A request that is wrong on purpose has a "violation", which says how. Values of headers that carry credentials are left
// out. States and answers are not: a transcript is for an exchange that anybody may read. Where a body is no JSON, message
// is a string with the text of a request, or null for a response.
//
// Several clients may share one transcript. A nil Transcript records nothing.
type Transcript struct {
	mu  sync.Mutex
	w   io.Writer
	err error
}

// NewTranscript returns a transcript that writes to w, one Write a line. After an error of w it writes nothing more, and
// every call of its clients fails with that error.
func NewTranscript(w io.Writer) *Transcript { return &Transcript{w: w} }

type entry struct {
	message   []byte
	direction string
	header    http.Header
	status    int
	client    string
	violation string
}

const redacted = "[redacted]"

func (t *Transcript) record(e entry) error {
	if t == nil {
		return nil
	}
	type exchange struct {
		Headers map[string]string `json:"headers"`
		Status  int               `json:"status,omitempty"`
	}
	line := struct {
		Message   any      `json:"message"`
		Direction string   `json:"direction"`
		HTTP      exchange `json:"http"`
		Client    string   `json:"client"`
		Violation string   `json:"violation,omitempty"`
	}{Direction: e.direction, HTTP: exchange{map[string]string{}, e.status}, Client: e.client, Violation: e.violation}
	switch {
	case json.Valid(e.message):
		line.Message = json.RawMessage(e.message)
	case e.message != nil:
		line.Message = string(e.message)
	}
	for name, values := range e.header {
		switch name {
		case "Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie":
			line.HTTP.Headers[name] = redacted
		default:
			line.HTTP.Headers[name] = strings.Join(values, ", ")
		}
	}
	text, err := marshal(line)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		_, t.err = t.w.Write(append(bytes.TrimSpace(text), '\n'))
	}
	return t.err
}
