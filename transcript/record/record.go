// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

// Package record writes down the messages of MCP that pass by, and changes none of them.
//
// # Most needs
//
// Between a client and a server over HTTP, or over standard input and output:
//
//	recorder := record.New(file, record.Options{})
//	err := http.Serve(listener, recorder.Proxy(endpoint))
//	err := recorder.Run(exec.Command("server"), os.Stdin, os.Stdout, nil)
//
// # What is written
//
// JSON Lines, an object for each JSON-RPC message, in the order in which they passed: a message is written before it is
// passed on.
//
//	{"message": {...}, "direction": "client", "http": {"headers": {...}}, "client": "alice"}
//	{"message": {...}, "direction": "server", "http": {"headers": {...}, "status": 200}, "client": "alice"}
//
// Only white space between the tokens of a message is changed. What is no JSON is a string with its text. A response without
// a message, and one that broke off, is null. There is no "http" for a conversation over standard input and output. The client
// is the name in clientInfo of a request, and of its responses; it is empty where the client gave none. Values of headers that
// carry credentials are left out. A message of more than 16 MiB is passed on and not written.
//
// States, answers and everything else are written as they were, unless [Options] has Redact. Then each line says "redacted": true.
package record

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/reprise-mcp/reprise/wire"
)

// maxMessage is the longest message that is written.
const maxMessage = 16 << 20

// Options of a [Recorder]. The zero value writes everything and warns of nothing.
type Options struct {
	// Redact replaces what the holder of the recording might misuse:
	//
	//   - each requestState, each bearer token in an Authorization header, and each text of an answer, by "redacted:" and 16
	//     hexadecimal digits: the same for the same text, another for another text, and in the next recording another again.
	//     They come from a key that is kept nowhere, so nothing leads back from them, not even a guess at the text;
	//   - numbers in answers and states by 0, and booleans by false, so that the types stay;
	//   - a message that is no JSON by one such text, as nobody can tell what stands in it.
	//
	// An answer is a member of inputResponses, or the result that the client of an older revision sends. Its action stays if
	// it is accept, decline or cancel, and so do the names of its members. What the messages repeat of all that elsewhere,
	// such as a server in the text of its result, is not known for what it is and stays.
	Redact bool

	// Warn is called with what could not be recorded, a line at a time and from several goroutines. Nil drops it.
	Warn func(text string)
}

// A Recorder writes one recording. It is safe for concurrent use. Make it with [New].
type Recorder struct {
	warn func(string)
	hide *redactor // nil: nothing is hidden

	mu     sync.Mutex
	w      io.Writer
	size   int64 // of the whole lines
	err    error // the first of w
	closed bool
}

// New returns a recorder that writes to w, one Write for each line. After an error of w it warns once and writes nothing
// more; the messages pass on. What a failed Write left of a line is cut off if w is a file that was empty.
func New(w io.Writer, o Options) *Recorder {
	r := &Recorder{w: w, warn: o.Warn}
	if r.warn == nil {
		r.warn = func(string) {}
	}
	if o.Redact {
		r.hide = newRedactor()
	}
	return r
}

// Close ends the recording. It returns the error of the writer, which it does not close, if one made the recording
// incomplete.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return r.err
}

const (
	fromClient = "client"
	fromServer = "server"
)

type entry struct {
	message   []byte // nil: none
	direction string
	client    string
	header    http.Header // nil: not over HTTP
	status    int
}

func (r *Recorder) record(e entry) {
	if len(e.message) > maxMessage {
		r.warn("a message of more than 16 MiB was passed on and not recorded")
		return
	}
	line, err := r.line(e)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil || r.closed {
		return
	}
	n := 0
	if err == nil {
		n, err = r.w.Write(line)
	}
	if err == nil {
		r.size += int64(n)
		return
	}
	r.err = err
	if file, ok := r.w.(interface{ Truncate(size int64) error }); ok && n > 0 {
		file.Truncate(r.size)
	}
	r.warn("recording has stopped, and messages pass on unrecorded: " + err.Error())
}

// line is an entry as it stands in the recording.
func (r *Recorder) line(e entry) ([]byte, error) {
	type exchange struct {
		Headers map[string]string `json:"headers"`
		Status  int               `json:"status,omitempty"`
	}
	line := struct {
		Message   any       `json:"message"`
		Direction string    `json:"direction"`
		HTTP      *exchange `json:"http,omitempty"`
		Client    string    `json:"client"`
		Redacted  bool      `json:"redacted,omitempty"`
	}{Direction: e.direction, Client: e.client, Redacted: r.hide != nil}
	switch {
	case e.message == nil:
	case json.Valid(e.message) && r.hide == nil:
		line.Message = json.RawMessage(e.message)
	case json.Valid(e.message):
		hidden, err := r.hide.message(e.direction, e.message)
		if err != nil {
			return nil, err
		}
		line.Message = json.RawMessage(hidden)
	case r.hide == nil:
		line.Message = string(e.message)
	default:
		line.Message = r.hide.text(string(e.message))
	}
	if e.header != nil {
		line.HTTP = &exchange{map[string]string{}, e.status}
		for name, values := range e.header {
			line.HTTP.Headers[name] = r.header(name, strings.Join(values, ", "))
		}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // a message is written as it was
	err := encoder.Encode(line)
	return text.Bytes(), err
}

func (r *Recorder) header(name, value string) string {
	switch name {
	case "Authorization":
		if scheme, token, ok := strings.Cut(value, " "); ok && r.hide != nil && strings.EqualFold(scheme, "Bearer") {
			return scheme + " " + r.hide.text(strings.TrimSpace(token))
		}
		return "[redacted]"
	case "Proxy-Authorization", "Cookie", "Set-Cookie":
		return "[redacted]"
	}
	return value
}

// clientName is the name in clientInfo of a request. It is empty where there is none.
func clientName(message []byte) string {
	var request struct {
		Params struct {
			Meta map[string]json.RawMessage `json:"_meta"`
		} `json:"params"`
	}
	var info struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(message, &request) == nil {
		json.Unmarshal(request.Params.Meta[wire.MetaClientInfo], &info)
	}
	return info.Name
}
