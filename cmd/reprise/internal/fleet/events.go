// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"bufio"
	"bytes"
	"io"
	"iter"
)

// events yields the data of the message events of a stream, as the HTML standard reads server-sent events: comments,
// other fields, events of other types and one that was cut off are left out.
func events(stream io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var data []byte
		var has, other bool
		for line, err := range lines(stream) {
			if err != nil {
				yield(nil, err)
				return
			}
			if len(line) == 0 {
				if has && !other && !yield(data, nil) {
					return
				}
				data, has, other = nil, false, false
				continue
			}
			field, value, _ := bytes.Cut(line, []byte(":"))
			value = bytes.TrimPrefix(value, []byte(" "))
			switch string(field) {
			case "data":
				if has {
					data = append(data, '\n')
				}
				data, has = append(data, value...), true
			case "event":
				other = len(value) > 0 && string(value) != "message"
			}
		}
	}
}

// lines yields lines that end in LF, CR, or CR LF, each valid until the next. A last one without an end is left out, as no
// event can need it.
func lines(stream io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		r := bufio.NewReader(stream)
		if mark, _ := r.Peek(3); string(mark) == "\ufeff" {
			r.Discard(3)
		}
		var line []byte
		for last := byte(0); ; {
			c, err := r.ReadByte()
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
			switch {
			case c == '\n' && last == '\r': // the line ended with the CR
			case c == '\n' || c == '\r':
				if !yield(line, nil) {
					return
				}
				line = line[:0]
			default:
				line = append(line, c)
			}
			last = c
		}
	}
}
