// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package record

import "bytes"

// longest is more than a line of a message can have, by what stands before the data of an event.
const longest = maxMessage + len("data: ") + 1

// lines cuts what is written to it into lines, and hands each on, without its end, as soon as that is there. Of a line that is
// longer than a message may be, it hands on a beginning that is too long as well.
type lines struct {
	ends    string            // the bytes that end a line; CR LF is one end
	each    func(line []byte) // the line is valid until each returns
	line    []byte
	afterCR bool
}

func (l *lines) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		if l.afterCR && rest[0] == '\n' {
			rest = rest[1:]
		}
		l.afterCR = false
		part, i := rest, bytes.IndexAny(rest, l.ends)
		if i >= 0 {
			part = rest[:i]
		}
		l.line = append(l.line, part[:min(len(part), longest-len(l.line))]...)
		if i < 0 {
			break
		}
		l.afterCR, rest = rest[i] == '\r', rest[i+1:]
		l.each(l.line)
		l.line = l.line[:0]
	}
	return len(p), nil
}

// events hands on the data of the message events of the stream that is written to it, as the HTML standard reads
// server-sent events.
type events struct {
	lines
	data  []byte
	begun bool
	other bool // it is an event of another type
}

func newEvents(each func(data []byte)) *events {
	e := &events{lines: lines{ends: "\r\n"}}
	e.lines.each = func(line []byte) {
		if !e.begun {
			e.begun, line = true, bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case len(line) == 0:
			if data := bytes.TrimSuffix(e.data, []byte("\n")); len(data) > 0 && !e.other {
				each(data)
			}
			e.data, e.other = e.data[:0], false
		case string(field) == "event":
			e.other = len(value) > 0 && string(value) != "message"
		case string(field) == "data" && len(e.data) <= maxMessage:
			e.data = append(append(e.data, value...), '\n')
		}
	}
	return e
}
