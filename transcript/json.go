// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package transcript

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/reprise-mcp/reprise/internal/scan"
)

// members calls visit for each member of an object. Repeated names are visited as often as they come.
func members(object []byte, visit func(name string, value jsontext.Value) error) error {
	if ok, _ := scan.Valid(object); !ok {
		return errBadJSON
	}
	if jsontext.Value(object).Kind() != '{' {
		return errors.New("not a JSON object")
	}
	for name, value := range scan.Members(object) {
		if err := visit(string(name), value); err != nil {
			return err
		}
	}
	return nil
}

var errBadJSON = errors.New("not JSON")

// entryOfJSON takes a line as a wrapped message if it looks like one, and else as a message itself.
func entryOfJSON(line []byte) (*Entry, error) {
	e := &Entry{}
	wrapped := false
	err := members(line, func(name string, value jsontext.Value) error {
		switch name {
		case "message":
			wrapped = true
			e.Message = bytes.Clone(value)
		case "direction":
			e.Direction = direction(text(value))
		case "client":
			e.Client = text(value)
		case "violation":
			e.Violation = text(value)
		case "redacted":
			e.Redacted = value.Kind() == 't'
		case "legacy":
			e.Legacy = value.Kind() == 't'
		case "http":
			e.HTTP, e.Headers = true, make(map[string]string)
			if value.Kind() != '{' {
				return errors.New("http is not {headers, status}")
			}
			for part, value := range scan.Members(value) {
				switch string(part) {
				case "status":
					if json.Unmarshal(value, &e.Status) != nil {
						return errors.New("the status is not a number")
					}
				case "headers":
					if jsontext.Value(value).Kind() != '{' {
						return errors.New("headers is not an object")
					}
					for name, value := range scan.Members(value) {
						if jsontext.Value(value).Kind() != '"' {
							return errors.New("a header is not a string")
						}
						e.Headers[strings.ToLower(string(name))] = string(scan.Name(value))
					}
				}
			}
		}
		return nil
	})
	if err != nil && !wrapped {
		// What is no JSON is a message all the same, a bad one: it is for a checker to say so.
		return &Entry{Message: bytes.Clone(line)}, nil
	}
	if !wrapped {
		return &Entry{Message: bytes.Clone(line)}, nil
	}
	switch jsontext.Value(e.Message).Kind() {
	case 'n':
		e.Message = nil
	case '"': // a body that was no JSON
		e.Message = []byte(text(e.Message))
	}
	return e, err
}

func text(value jsontext.Value) string {
	if value.Kind() != '"' {
		return ""
	}
	return string(scan.Name(value))
}

func direction(s string) Direction {
	switch strings.ToLower(s) {
	case "client", "c2s", "client-to-server", "request", "out":
		return Client
	case "server", "s2c", "server-to-client", "response", "in":
		return Server
	}
	return Unknown
}

// looksLikeSnoop reports whether a line is mcpsnoop's.
func looksLikeSnoop(line []byte) bool {
	return bytes.Contains(line, []byte(`"direction"`)) && bytes.Contains(line, []byte(`"raw"`))
}

// entryOfSnoop reads a line of mcpsnoop. Lines that are about the session or its standard error hold no message.
func entryOfSnoop(line []byte) (*Entry, error) {
	e := &Entry{}
	var raw jsontext.Value
	err := members(line, func(name string, value jsontext.Value) error {
		switch name {
		case "raw":
			raw = bytes.Clone(value)
		case "direction":
			e.Direction = direction(text(value))
		case "conn_id", "session_id":
			if s := text(value); s != "" && e.Client == "" {
				e.Client = s
			}
		case "status":
			if json.Unmarshal(value, &e.Status) == nil && e.Status != 0 {
				e.HTTP, e.Headers = true, map[string]string{}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if e.Direction == Unknown {
		return nil, nil
	}
	e.Message = raw
	if raw.Kind() == '"' {
		e.Message = []byte(text(raw))
	}
	return e, nil
}

// readArray reads the elements of one array, one after the other.
func readArray(in *bufio.Reader, emit func(*Entry) bool) error {
	dec := jsontext.NewDecoder(in, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if token, err := dec.ReadToken(); err != nil || token.Kind() != '[' {
		return errors.New("not a JSON array")
	}
	for n := 1; dec.PeekKind() != ']'; n++ {
		value, err := dec.ReadValue()
		if err != nil {
			return &Error{n, errBadJSON}
		}
		e, err := entryOfJSON(value)
		if err != nil {
			return &Error{n, err}
		}
		e.Line = n
		if !emit(e) {
			return errStop
		}
	}
	return nil
}
