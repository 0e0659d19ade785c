// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package transcript

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

func looksLikeHAR(head []byte) bool {
	head = bytes.TrimLeft(head[1:], " \t\r\n")
	return bytes.HasPrefix(head, []byte(`"log"`))
}

// harEntry is what is read of an entry of HTTP Archive 1.2.
type harEntry struct {
	Request struct {
		Method   string
		Headers  []harHeader
		PostData *struct{ Text string }
	}
	Response struct {
		Status  int
		Headers []harHeader
		Content struct{ MimeType, Text, Encoding string }
	}
}

type harHeader struct{ Name, Value string }

// readHAR reads log.entries, one after the other: an archive is one JSON value, and may be large.
func readHAR(in *bufio.Reader, emit func(*Entry) bool) error {
	dec := jsontext.NewDecoder(in, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for _, name := range []string{"log", "entries"} {
		if err := enter(dec, name); err != nil {
			return err
		}
	}
	if token, err := dec.ReadToken(); err != nil || token.Kind() != '[' {
		return errors.New("log.entries is not an array")
	}
	for n := 1; dec.PeekKind() != ']'; n++ {
		value, err := dec.ReadValue()
		if err != nil {
			return &Error{n, errBadJSON}
		}
		var entry harEntry
		if json.Unmarshal(value, &entry) != nil {
			return &Error{n, errors.New("not an entry of an HTTP archive")}
		}
		for _, e := range entry.messages() {
			e.Line = n
			if !emit(e) {
				return errStop
			}
		}
	}
	return nil
}

// enter steps into the member name of the object that comes next.
func enter(dec *jsontext.Decoder, name string) error {
	if token, err := dec.ReadToken(); err != nil || token.Kind() != '{' {
		return errors.New("not an HTTP archive")
	}
	for dec.PeekKind() != '}' {
		token, err := dec.ReadToken()
		if err != nil {
			return errBadJSON
		}
		if token.String() == name {
			return nil
		}
		if err := dec.SkipValue(); err != nil {
			return errBadJSON
		}
	}
	return errors.New("not an HTTP archive: it has no " + name)
}

// messages are those of one exchange: the request, and what came back.
func (h *harEntry) messages() []*Entry {
	if h.Request.Method != "POST" || h.Request.PostData == nil {
		return nil
	}
	entries := []*Entry{{Direction: Client, HTTP: true, Headers: headerMap(h.Request.Headers), Message: []byte(h.Request.PostData.Text)}}
	body := h.Response.Content.Text
	if h.Response.Content.Encoding == "base64" {
		if raw, err := base64.StdEncoding.DecodeString(body); err == nil {
			body = string(raw)
		}
	}
	headers := headerMap(h.Response.Headers)
	answer := func(message []byte) {
		entries = append(entries, &Entry{Direction: Server, HTTP: true, Headers: headers, Status: h.Response.Status, Message: message})
	}
	media, _, _ := strings.Cut(h.Response.Content.MimeType, ";")
	switch {
	case strings.EqualFold(strings.TrimSpace(media), "text/event-stream"):
		events := 0
		for data := range eventsOf(body) {
			events++
			answer([]byte(data))
		}
		if events == 0 {
			answer(nil)
		}
	case strings.HasPrefix(strings.TrimSpace(body), "{") || strings.HasPrefix(strings.TrimSpace(body), "["):
		answer([]byte(body))
	default:
		answer(nil)
	}
	return entries
}

func headerMap(list []harHeader) map[string]string {
	m := make(map[string]string, len(list))
	for _, h := range list {
		name := strings.ToLower(h.Name)
		if before, twice := m[name]; twice {
			m[name] = before + ", " + h.Value
		} else {
			m[name] = h.Value
		}
	}
	return m
}

// events_ yields the data of each event of a stream.
func eventsOf(body string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		var data []string
		for line := range strings.Lines(body + "\n\n") {
			line = strings.TrimRight(line, "\r\n")
			if line == "" {
				if data != nil && !yield(strings.Join(data, "\n")) {
					return
				}
				data = nil
				continue
			}
			if rest, ok := strings.CutPrefix(line, "data:"); ok {
				data = append(data, strings.TrimPrefix(rest, " "))
			}
		}
	}
}
