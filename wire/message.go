// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// A Message is one JSON-RPC 2.0 message. Which members are set tells what it is: Method and ID a request, Method alone a
// notification, Result or Error a response. Raw members alias the bytes that were parsed.
type Message struct {
	ID     ID
	Method string
	Params jsontext.Value // nil when absent
	Result jsontext.Value
	Error  *Error

	checked jsontext.Value // Params as Parse left them
}

// Parse reads exactly one message. Its errors are of type [*Error]: [CodeParseError] when data is not one JSON value,
// [CodeInvalidRequest] when that is no JSON-RPC message or a member name repeats, [CodeInvalidParams] when params is not an
// object. The message is never nil: beside an error it holds the ID as far as it could be read, so that the
// error can be addressed.
func Parse(data []byte) (*Message, error) {
	var (
		m                 = &Message{}
		version           bool
		hasMethod, hasErr bool
	)
	err := members(data, func(name []byte, value jsontext.Value) error {
		switch string(name) {
		case "jsonrpc":
			version = string(value) == `"2.0"`
		case "id":
			id, err := parseID(value)
			m.ID = id
			return err
		case "method":
			hasMethod = true
			return text(&m.Method, value, CodeInvalidRequest, "method")
		case "params":
			m.Params = value
			return object(value, CodeInvalidParams, "params")
		case "result":
			m.Result = value
			return object(value, CodeInvalidRequest, "result")
		case "error":
			hasErr = true
			e, err := parseError(value)
			m.Error = e
			return err
		default:
			return lookalike(name, CodeInvalidRequest, "jsonrpc", "id", "method", "params", "result", "error")
		}
		return nil
	})
	if err != nil {
		return &Message{ID: findID(data)}, protocolError(err, CodeInvalidRequest)
	}
	kinds := 0
	for _, is := range []bool{hasMethod, m.Result != nil, hasErr} {
		if is {
			kinds++
		}
	}
	var reason string
	switch {
	case !version:
		reason = `"jsonrpc" must be "2.0"`
	case hasMethod && m.Method == "":
		reason = `"method" must not be empty`
	case kinds != 1:
		reason = `a message has exactly one of "method", "result" and "error"`
	case m.Params != nil && !hasMethod:
		reason = `a response has no "params"`
	case m.Result != nil && m.ID.IsZero():
		reason = `a result has the "id" of its request`
	default:
		m.checked = m.Params
		return m, nil
	}
	return &Message{ID: m.ID}, &Error{Code: CodeInvalidRequest, Message: "invalid request: " + reason}
}

// IsRequest reports whether m is a request, that is, wants an answer.
func (m *Message) IsRequest() bool { return m.Method != "" && !m.ID.IsZero() }

// MarshalJSON writes the message without white space, its members in the order of the specification. A message without
// method and result is a response with an error; where the ID is zero it has none, which is allowed only if the ID
// could not be read.
func (m *Message) MarshalJSON() ([]byte, error) {
	b := append([]byte(nil), `{"jsonrpc":"2.0"`...)
	if !m.ID.IsZero() {
		b = append(append(b, `,"id":`...), m.ID.json...)
	}
	switch {
	case m.Error != nil:
		e, err := m.Error.MarshalJSON()
		if err != nil {
			return nil, err
		}
		b = append(append(b, `,"error":`...), e...)
	case m.Result != nil:
		b = append(append(b, `,"result":`...), m.Result...)
	default:
		b = quote(append(b, `,"method":`...), m.Method)
		if m.Params != nil {
			b = append(append(b, `,"params":`...), m.Params...)
		}
	}
	return valid(append(b, '}'))
}

// An ID is the id of a request: a string or an integer. IDs compare with ==. The zero ID means that there is none; null
// is no ID in MCP.
type ID struct{ json string } // in its one spelling: quoted with minimal escapes, or digits

// StringID returns the ID of that string.
func StringID(s string) ID { return ID{string(quote(nil, s))} }

// IntID returns the ID of that integer.
func IntID(n int64) ID { return ID{strconv.FormatInt(n, 10)} }

// IsZero reports whether there is no ID.
func (id ID) IsZero() bool { return id.json == "" }

// String returns the ID as it stands in JSON, so that 1 and "1" are told apart. It is empty for the zero ID.
func (id ID) String() string { return id.json }

// MarshalJSON writes the ID; the zero ID is null.
func (id ID) MarshalJSON() ([]byte, error) {
	if id.IsZero() {
		return []byte("null"), nil
	}
	return []byte(id.json), nil
}

// findID looks for the id of a message that was refused, as far as data can be read.
func findID(data []byte) (found ID) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true))
	if token, err := dec.ReadToken(); err != nil || token.Kind() != '{' {
		return ID{}
	}
	for dec.PeekKind() == '"' {
		token, err := dec.ReadToken()
		if err != nil {
			break
		}
		isID := token.String() == "id"
		value, err := dec.ReadValue()
		if err != nil {
			break
		}
		if !isID {
			continue
		}
		id, err := parseID(value)
		if err != nil || !found.IsZero() {
			return ID{} // of two ids, neither is the one to answer to
		}
		found = id
	}
	return found
}

func parseID(value jsontext.Value) (ID, error) {
	switch value.Kind() {
	case '"':
		s, err := unquote(value)
		return StringID(s), err
	case '0':
		digits := string(value)
		if digits == "-0" {
			digits = "0"
		}
		for i, c := range digits {
			if (c < '0' || c > '9') && (c != '-' || i > 0) {
				return ID{}, &Error{Code: CodeInvalidRequest, Message: `invalid request: "id" must be an integer, written without fraction and exponent, or a string`}
			}
		}
		return ID{digits}, nil
	}
	return ID{}, &Error{Code: CodeInvalidRequest, Message: `invalid request: "id" must be a string or an integer`}
}

// An Error is a JSON-RPC error: what [Parse] and the other functions of this package refuse with, and what a server sends.
type Error struct {
	Code    int
	Message string         // for people; says what to do
	Data    jsontext.Value // nil when absent
}

// Error returns the message and the code. It does not contain the data.
func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// MarshalJSON writes the error object.
func (e *Error) MarshalJSON() ([]byte, error) {
	b := strconv.AppendInt([]byte(`{"code":`), int64(e.Code), 10)
	b = quote(append(b, `,"message":`...), e.Message)
	if e.Data != nil {
		b = append(append(b, `,"data":`...), e.Data...)
	}
	return valid(append(b, '}'))
}

func parseError(value jsontext.Value) (*Error, error) {
	if err := object(value, CodeInvalidRequest, "error"); err != nil {
		return nil, err
	}
	var (
		e                   = &Error{}
		hasCode, hasMessage bool
	)
	err := each(value, func(name []byte, value jsontext.Value) error {
		switch string(name) {
		case "code":
			n, err := strconv.Atoi(string(value))
			if err != nil {
				return &Error{Code: CodeInvalidRequest, Message: `invalid response: error code must be an integer`}
			}
			e.Code, hasCode = n, true
		case "message":
			hasMessage = true
			return text(&e.Message, value, CodeInvalidRequest, "message")
		case "data":
			e.Data = value
		default:
			return lookalike(name, CodeInvalidRequest, "code", "message", "data")
		}
		return nil
	})
	if err == nil && (!hasCode || !hasMessage) {
		err = &Error{Code: CodeInvalidRequest, Message: `invalid response: an error has "code" and "message"`}
	}
	return e, err
}

// UnsupportedVersion is the data of a [CodeUnsupportedVersion] error (basic/versioning, Protocol Version Negotiation).
func UnsupportedVersion(requested string, supported ...string) jsontext.Value {
	b := []byte(`{"supported":[`)
	for i, version := range supported {
		if i > 0 {
			b = append(b, ',')
		}
		b = quote(b, version)
	}
	return append(quote(append(b, `],"requested":`...), requested), '}')
}
