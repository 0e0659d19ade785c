// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"bytes"
	"encoding/json"
	"io"
	"math/big"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// value is raw JSON; nil means that it is not there.
type value = jsontext.Value

// A member is one member of an object.
type member struct {
	name  string
	value value
}

// The functions below walk text that [single] found to be JSON, so that every byte is where the grammar puts it.

// object returns the members of an object in order, also those whose names repeat; ok is false for anything else.
func object(v value) (list []member, ok bool) {
	if v.Kind() != '{' {
		return nil, false
	}
	for name, inner := range membersOf(v) {
		list = append(list, member{unquoted(name), inner})
	}
	return list, true
}

// get returns a member of an object, nil where there is none. Of several of one name it is the first.
func get(v value, names ...string) value {
	for _, name := range names {
		if v.Kind() != '{' {
			return nil
		}
		var found value
		for quoted, inner := range membersOf(v) {
			if string(quoted[1:len(quoted)-1]) == name || bytes.IndexByte(quoted, '\\') >= 0 && unquoted(quoted) == name {
				found = inner
				break
			}
		}
		if found == nil {
			return nil
		}
		v = found
	}
	return v
}

// membersOf yields the members of an object, names in their quotes.
func membersOf(v value) func(yield func(name, inner value) bool) {
	return func(yield func(name, inner value) bool) {
		i := space(v, bytes.IndexByte(v, '{')+1)
		for i < len(v) && v[i] != '}' {
			end := skip(v, i)
			name := v[i:end]
			i = space(v, space(v, end)+1) // over the colon
			end = skip(v, i)
			if !yield(name, v[i:end:end]) {
				return
			}
			if i = space(v, end); i < len(v) && v[i] == ',' {
				i = space(v, i+1)
			}
		}
	}
}

func space(v value, i int) int {
	for i < len(v) && (v[i] == ' ' || v[i] == '\t' || v[i] == '\r' || v[i] == '\n') {
		i++
	}
	return i
}

// skip returns the end of the value that begins at i.
func skip(v value, i int) int {
	depth := 0
	for i < len(v) {
		switch v[i] {
		case '"':
			for i++; i < len(v) && v[i] != '"'; i++ {
				if v[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return i
			}
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
			i++
			continue
		default:
			for i+1 < len(v) && !bytes.ContainsRune([]byte(",:]} \t\r\n"), rune(v[i+1])) {
				i++
			}
		}
		if i++; depth == 0 {
			return min(i, len(v))
		}
	}
	return len(v)
}

func unquoted(quoted value) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	s, _ := str(quoted)
	return s
}

// array returns the elements of an array.
func array(v value) (list []value, ok bool) {
	var raw []json.RawMessage
	if v.Kind() != '[' || json.Unmarshal(v, &raw) != nil {
		return nil, false
	}
	for _, r := range raw {
		list = append(list, value(r))
	}
	return list, true
}

// str returns the text of a JSON string.
func str(v value) (string, bool) {
	if v.Kind() != '"' {
		return "", false
	}
	if bytes.IndexByte(v, '\\') < 0 {
		return string(v[1 : len(v)-1]), true
	}
	var s string
	err := json.Unmarshal(v, &s)
	return s, err == nil
}

// integer reports whether v is a number without a fraction, however it is spelt.
func integer(v value) bool {
	if v.Kind() != '0' {
		return false
	}
	n, ok := number(v)
	return ok && n.IsInt()
}

func number(v value) (*big.Rat, bool) {
	s := string(v)
	if _, exponent, ok := strings.Cut(strings.ToLower(s), "e"); ok && len(strings.TrimLeft(exponent, "+-0")) > 4 {
		return nil, false // too large to write out
	}
	return new(big.Rat).SetString(s)
}

// single reports whether data is exactly one JSON value, and whether a name repeats in one of its objects.
func single(data []byte) (ok, repeats bool) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(data))
	if _, err := dec.ReadValue(); err == nil {
		_, err = dec.ReadToken()
		return err == io.EOF, false
	}
	dec = jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true))
	if _, err := dec.ReadValue(); err != nil {
		return false, false
	}
	_, err := dec.ReadToken()
	return err == io.EOF, true
}

// same reports whether two values are the same, whatever their spelling. The order of names does not matter.
func same(a, b value) bool {
	if bytes.Equal(a, b) {
		return true
	}
	if a.Kind() != b.Kind() {
		return false
	}
	switch a.Kind() {
	case '0':
		x, xok := number(a)
		y, yok := number(b)
		return xok && yok && x.Cmp(y) == 0
	case '"':
		x, xok := str(a)
		y, yok := str(b)
		return xok && yok && x == y
	case '[':
		x, xok := array(a)
		y, yok := array(b)
		if !xok || !yok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !same(x[i], y[i]) {
				return false
			}
		}
		return true
	case '{':
		x, xok := object(a)
		y, yok := object(b)
		if !xok || !yok || len(x) != len(y) {
			return false
		}
		for _, m := range x {
			other := get(b, m.name)
			if other == nil || !same(m.value, other) {
				return false
			}
		}
		return true
	}
	return true // null, true and false: the kinds are equal
}

var escape = strings.NewReplacer("~", "~0", "/", "~1")

// pointer is a step of a JSON Pointer.
func pointer(name string) string {
	if !strings.ContainsAny(name, "~/") {
		return "/" + name
	}
	return "/" + escape.Replace(name)
}
