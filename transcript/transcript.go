// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

// Package transcript reads recordings of MCP messages, in whatever form they were made.
//
// # Most needs
//
// [Read] recognises the form and yields one [Entry] a message, without keeping what was before:
//
//	for entry, err := range transcript.Read(file, "") {
//		if err != nil {
//			return err // the recording cannot be read on
//		}
//		...
//	}
//
// # Forms
//
//	jsonl     a JSON-RPC message a line; or an object a line with a message in it (below); both may be mixed
//	array     a JSON array of either
//	har       HTTP Archive 1.2, with JSON and event-stream bodies
//	mcpsnoop  the JSON Lines of mcpsnoop: "raw" and "direction" c2s or s2c
//	log       lines that begin with who spoke: "read:" and "write:" of go-sdk's LoggingTransport, or "-->" and "<--", ">" and "<"
//	txtar     the conversations of go-sdk's tests: sections named client and server
//
// A wrapped message is {"message": {...}, "direction": "client" or "server", "http": {"headers": {...}, "status": N}, "client": "...",
// "legacy": true, "violation": "...", "redacted": true}. Everything but the message may be left out. A violation says what is
// wrong on purpose.
package transcript

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
)

// Direction says who sent a message.
type Direction string

// The two sides, and neither: the recording does not say.
const (
	Client  Direction = "client"
	Server  Direction = "server"
	Unknown Direction = ""
)

// An Entry is one message of a recording, and what is known of its way. It is valid until the next one is read.
type Entry struct {
	Line      int               // of the message in the recording, or its number in an array or archive, from 1
	Direction Direction         // who sent it
	Message   []byte            // the JSON text; nil where an exchange had no message
	HTTP      bool              // it came over HTTP, and Headers and Status say how
	Headers   map[string]string // by lower-case name
	Status    int               // of the response; 0 for a request
	Client    string            // which client it was, where several are in one recording; may be empty
	Legacy    bool              // recorded as part of a conversation of an older revision
	Violation string            // what is wrong with it on purpose; empty: nothing
	Redacted  bool              // values in states and answers are not what was sent; see package record
}

// Format is the form of a recording. The zero value means that it is recognised by its first bytes.
type Format string

// The forms; see the package documentation.
const (
	JSONL    Format = "jsonl"
	Array    Format = "array"
	HAR      Format = "har"
	MCPSnoop Format = "mcpsnoop"
	Log      Format = "log"
	Txtar    Format = "txtar"
)

// Formats lists the forms by name.
func Formats() []Format { return []Format{JSONL, Array, HAR, MCPSnoop, Log, Txtar} }

// MaxLine is the longest line, or message, that is read, in bytes.
const MaxLine = 64 << 20

// An Error says where a recording could not be read on. What came before it was read.
type Error struct {
	Line int // where it happened, from 1; 0: nowhere in particular
	Err  error
}

// Error names the place and the reason, and never quotes the recording.
func (e *Error) Error() string {
	if e.Line == 0 {
		return "transcript: " + e.Err.Error()
	}
	return fmt.Sprintf("transcript: line %d: %v", e.Line, e.Err)
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// Read yields the messages of a recording. Its memory does not grow with the recording, only with the longest message. The
// error, of type *[Error], is the last thing that it yields.
func Read(r io.Reader, format Format) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		in := bufio.NewReaderSize(r, 1<<16)
		if format == "" {
			var err error
			if format, err = recognise(in); err != nil {
				yield(nil, &Error{Err: err})
				return
			}
		}
		read, ok := readers[format]
		if !ok {
			yield(nil, &Error{Err: fmt.Errorf("there is no format %q; use one of %v", format, Formats())})
			return
		}
		err := read(in, func(e *Entry) bool { return yield(e, nil) })
		if err != nil && !errors.Is(err, errStop) {
			var at *Error
			if !errors.As(err, &at) {
				err = &Error{Err: err}
			}
			yield(nil, err)
		}
	}
}

// errStop ends a reader whose caller has had enough.
var errStop = errors.New("stop")

// A reader calls emit for each entry, until emit returns false.
var readers = map[Format]func(*bufio.Reader, func(*Entry) bool) error{
	JSONL: readLines(entryOfJSON), MCPSnoop: readLines(entryOfSnoop), Log: readLog, Txtar: readTxtar, Array: readArray, HAR: readHAR,
}

// recognise looks at the beginning of a recording.
func recognise(in *bufio.Reader) (Format, error) {
	head, err := in.Peek(1 << 16)
	if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
		return "", err
	}
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	first, _, _ := bytes.Cut(head, []byte("\n"))
	switch {
	case len(head) == 0:
		return JSONL, nil
	case head[0] == '[':
		return Array, nil
	case head[0] == '{' && looksLikeHAR(head):
		return HAR, nil
	case head[0] == '{' && looksLikeSnoop(first):
		return MCPSnoop, nil
	case head[0] == '{':
		return JSONL, nil
	case bytes.Contains(head, []byte("-- client --\n")) || bytes.Contains(head, []byte("-- server --\n")):
		return Txtar, nil
	}
	for line := range strings.Lines(string(head)) {
		if _, _, ok := spoken(strings.TrimSpace(line)); ok {
			return Log, nil
		}
	}
	return "", errors.New("this is no recording that is known; see --format")
}

// readLines reads an entry a line. Lines that are empty do not count.
func readLines(parse func(line []byte) (*Entry, error)) func(*bufio.Reader, func(*Entry) bool) error {
	return func(in *bufio.Reader, emit func(*Entry) bool) error {
		return eachLine(in, func(n int, line []byte) error {
			if n == 1 {
				line = bytes.TrimPrefix(line, []byte("\ufeff"))
			}
			if line = bytes.TrimSpace(line); len(line) == 0 {
				return nil
			}
			e, err := parse(line)
			if err != nil {
				return &Error{n, err}
			}
			if e == nil {
				return nil
			}
			e.Line = n
			if !emit(e) {
				return errStop
			}
			return nil
		})
	}
}

func eachLine(in *bufio.Reader, visit func(n int, line []byte) error) error {
	var long []byte
	for n := 1; ; n++ {
		line, err := in.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			long = append(long[:0], line...)
			for err == bufio.ErrBufferFull {
				if len(long) > MaxLine {
					return &Error{n, fmt.Errorf("longer than %d bytes", MaxLine)}
				}
				line, err = in.ReadSlice('\n')
				long = append(long, line...)
			}
			line = long
		}
		if err != nil && err != io.EOF {
			return err
		}
		if len(line) > 0 {
			if err := visit(n, line); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
	}
}
