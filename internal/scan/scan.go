// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

// Package scan walks JSON text without decoding it, for tools that read much of it and look at little. [Valid] says whether text
// is JSON; [Members] and [Elements] walk what Valid accepted, and alias it.
package scan

import (
	"bytes"
	"encoding/json"
	"iter"
	"unicode/utf8"
)

// maxDepth is how deep values may nest.
const maxDepth = 1000

// Valid reports whether text is exactly one JSON value in UTF-8 (RFC 8259) that nests no deeper than 1000, and whether a name
// stands twice in one of its objects.
func Valid(text []byte) (ok, repeats bool) {
	if !utf8.Valid(text) {
		return false, false
	}
	v := validator{text: text}
	end := v.value(space(text, 0), 0)
	if end < 0 || space(text, end) != len(text) {
		return false, false
	}
	return true, v.repeats
}

type validator struct {
	text    []byte
	names   [][]byte // of the objects that are open, in their quotes
	repeats bool
}

// value returns the end of the value at i, -1 where there is none.
func (v *validator) value(i, depth int) int {
	if i >= len(v.text) || depth > maxDepth {
		return -1
	}
	switch v.text[i] {
	case '{':
		return v.object(i+1, depth)
	case '[':
		return v.array(i+1, depth)
	case '"':
		return v.str(i)
	case 't':
		return v.literal(i, "true")
	case 'f':
		return v.literal(i, "false")
	case 'n':
		return v.literal(i, "null")
	}
	return v.number(i)
}

func (v *validator) literal(i int, word string) int {
	if bytes.HasPrefix(v.text[i:], []byte(word)) {
		return i + len(word)
	}
	return -1
}

func (v *validator) number(i int) int {
	digits := func() bool {
		start := i
		for i < len(v.text) && '0' <= v.text[i] && v.text[i] <= '9' {
			i++
		}
		return i > start
	}
	if v.text[i] == '-' {
		i++
	}
	if i < len(v.text) && v.text[i] == '0' {
		i++
	} else if !digits() {
		return -1
	}
	if i < len(v.text) && v.text[i] == '.' {
		if i++; !digits() {
			return -1
		}
	}
	if i < len(v.text) && (v.text[i] == 'e' || v.text[i] == 'E') {
		if i++; i < len(v.text) && (v.text[i] == '+' || v.text[i] == '-') {
			i++
		}
		if !digits() {
			return -1
		}
	}
	return i
}

func (v *validator) str(i int) int {
	for i++; i < len(v.text); i++ {
		switch c := v.text[i]; {
		case c == '"':
			return i + 1
		case c < ' ':
			return -1
		case c == '\\':
			if i++; i >= len(v.text) {
				return -1
			}
			switch v.text[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				for range 4 {
					if i++; i >= len(v.text) || !hex(v.text[i]) {
						return -1
					}
				}
			default:
				return -1
			}
		}
	}
	return -1
}

func hex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func (v *validator) array(i, depth int) int {
	if i = space(v.text, i); i < len(v.text) && v.text[i] == ']' {
		return i + 1
	}
	for {
		if i = v.value(space(v.text, i), depth+1); i < 0 {
			return -1
		}
		i = space(v.text, i)
		switch {
		case i >= len(v.text):
			return -1
		case v.text[i] == ']':
			return i + 1
		case v.text[i] != ',':
			return -1
		}
		i++
	}
}

// many is how many names of an object are compared one by one; with more, a map is quicker.
const many = 32

func (v *validator) object(i, depth int) int {
	first := len(v.names)
	defer func() { v.names = v.names[:first] }()
	var seen map[string]bool
	if i = space(v.text, i); i < len(v.text) && v.text[i] == '}' {
		return i + 1
	}
	for {
		start := space(v.text, i)
		if start >= len(v.text) || v.text[start] != '"' {
			return -1
		}
		if i = v.str(start); i < 0 {
			return -1
		}
		name := Name(v.text[start:i])
		if len(v.names)-first < many {
			for _, other := range v.names[first:] {
				if bytes.Equal(other, name) {
					v.repeats = true
				}
			}
			v.names = append(v.names, name)
		} else {
			if seen == nil {
				seen = make(map[string]bool)
				for _, other := range v.names[first:] {
					seen[string(other)] = true
				}
			}
			if seen[string(name)] {
				v.repeats = true
			}
			seen[string(name)] = true
		}
		if i = space(v.text, i); i >= len(v.text) || v.text[i] != ':' {
			return -1
		}
		if i = v.value(space(v.text, i+1), depth+1); i < 0 {
			return -1
		}
		i = space(v.text, i)
		switch {
		case i >= len(v.text):
			return -1
		case v.text[i] == '}':
			return i + 1
		case v.text[i] != ',':
			return -1
		}
		i++
	}
}

func space(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r' || text[i] == '\n') {
		i++
	}
	return i
}

// Name is a string without its quotes, and with its escapes resolved.
func Name(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		return nil
	}
	return []byte(s)
}

// Members yields the names and values of an object that [Valid] accepted, in order and as often as they come. For anything that
// is no object it yields nothing.
func Members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		i := space(object, 0)
		if i >= len(object) || object[i] != '{' {
			return
		}
		for i = space(object, i+1); i < len(object) && object[i] != '}'; {
			end := skip(object, i)
			name := Name(object[i:end])
			i = space(object, space(object, end)+1) // over the colon
			end = skip(object, i)
			if !yield(name, object[i:end:end]) {
				return
			}
			if i = space(object, end); i < len(object) && object[i] == ',' {
				i = space(object, i+1)
			}
		}
	}
}

// Elements yields the elements of an array that [Valid] accepted.
func Elements(array []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		i := space(array, 0)
		if i >= len(array) || array[i] != '[' {
			return
		}
		for i = space(array, i+1); i < len(array) && array[i] != ']'; {
			end := skip(array, i)
			if !yield(array[i:end:end]) {
				return
			}
			if i = space(array, end); i < len(array) && array[i] == ',' {
				i = space(array, i+1)
			}
		}
	}
}

// skip returns the end of the value at i.
func skip(text []byte, i int) int {
	for depth := 0; i < len(text); {
		switch text[i] {
		case '"':
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			i++
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\t', '\r', '\n':
			i++
			continue
		default:
			for i < len(text) && text[i] != ',' && text[i] != ']' && text[i] != '}' && text[i] > ' ' {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
	return i
}
