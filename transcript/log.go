// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package transcript

import (
	"bufio"
	"bytes"
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// spoken splits a line of a log into who spoke and what. For read and write, who spoke depends on whose log it is.
func spoken(line string) (who, what string, ok bool) {
	for _, mark := range []struct{ prefix, who string }{
		{"read:", "read"}, {"write:", "write"}, {"-->", "client"}, {"<--", "server"}, {"C:", "client"}, {"S:", "server"},
		{"client:", "client"}, {"server:", "server"}, {">", "client"}, {"<", "server"},
	} {
		if rest, found := strings.CutPrefix(line, mark.prefix); found {
			if rest = strings.TrimSpace(rest); strings.HasPrefix(rest, "{") || strings.HasPrefix(rest, "[") {
				return mark.who, rest, true
			}
		}
	}
	return "", "", false
}

// readLog reads the lines that begin with who spoke, and passes over all others. Whether "write" is the client is learnt
// from the first request of a method that only clients send; messages before it have no direction.
func readLog(in *bufio.Reader, emit func(*Entry) bool) error {
	writer := Unknown
	return eachLine(in, func(n int, line []byte) error {
		who, what, ok := spoken(string(bytes.TrimSpace(line)))
		if !ok {
			return nil
		}
		e := &Entry{Line: n, Message: []byte(what)}
		switch who {
		case "read", "write":
			if writer == Unknown && clientsOnly([]byte(what)) {
				writer = Client
				if who == "read" {
					writer = Server
				}
			}
			e.Direction = writer
			if who == "read" {
				e.Direction = other(writer)
			}
		default:
			e.Direction = Direction(who)
		}
		if !emit(e) {
			return errStop
		}
		return nil
	})
}

func other(d Direction) Direction {
	switch d {
	case Client:
		return Server
	case Server:
		return Client
	}
	return Unknown
}

// clientsOnly reports whether a message is a request that no server sends.
func clientsOnly(message []byte) bool {
	method, id := "", false
	members(message, func(name string, value jsontext.Value) error {
		switch name {
		case "method":
			method = text(value)
		case "id":
			id = true
		}
		return nil
	})
	area, _, _ := strings.Cut(method, "/")
	switch area {
	case "initialize", "server", "tools", "prompts", "resources", "completion", "subscriptions", "logging":
		return id
	}
	return false
}

// readTxtar reads the sections named client and server. A section is one message, or one a line.
func readTxtar(in *bufio.Reader, emit func(*Entry) bool) error {
	var section []byte
	who, began := Unknown, 0
	flush := func() error {
		defer func() { section = section[:0] }()
		if who == Unknown || len(bytes.TrimSpace(section)) == 0 {
			return nil
		}
		dec := jsontext.NewDecoder(bytes.NewBuffer(bytes.Clone(section)), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
		for dec.PeekKind() != 0 {
			before := section[:dec.InputOffset()]
			rest := section[len(before):]
			blank := rest[:len(rest)-len(bytes.TrimLeft(rest, " \t\r\n"))]
			at := began + 1 + bytes.Count(before, []byte("\n")) + bytes.Count(blank, []byte("\n"))
			value, err := dec.ReadValue()
			if err != nil {
				return &Error{at, errBadJSON}
			}
			if !emit(&Entry{Line: at, Direction: who, Message: bytes.Clone(value)}) {
				return errStop
			}
		}
		return nil
	}
	err := eachLine(in, func(n int, line []byte) error {
		name, isMark := mark(line)
		if !isMark {
			if who != Unknown {
				if section = append(section, line...); len(section) > MaxLine {
					return &Error{n, errors.New("the section is too long")}
				}
			}
			return nil
		}
		if err := flush(); err != nil {
			return err
		}
		who, began = Unknown, n
		if name == "client" || name == "server" {
			who = Direction(name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// mark is the name in a line such as "-- client --".
func mark(line []byte) (string, bool) {
	s := strings.TrimRight(string(line), "\r\n")
	rest, ok := strings.CutPrefix(s, "-- ")
	if !ok {
		return "", false
	}
	name, ok := strings.CutSuffix(rest, " --")
	return strings.TrimSpace(name), ok
}
