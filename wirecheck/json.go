// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"bytes"
	"math/big"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/reprise-mcp/reprise/internal/scan"
)

// value is raw JSON; nil means that it is not there.
type value = jsontext.Value

// A member is one member of an object.
type member struct {
	name  string
	value value
}

// The functions below walk text that scan.Valid accepted.

// object returns the members of an object in order, also those whose names repeat; ok is false for anything else.
func object(v value) (list []member, ok bool) {
	if v.Kind() != '{' {
		return nil, false
	}
	for name, inner := range scan.Members(v) {
		list = append(list, member{string(name), inner})
	}
	return list, true
}

// get returns a member of an object, nil where there is none. Of several of one name it is the first.
func get(v value, names ...string) value {
	for _, name := range names {
		var found value
		for n, inner := range scan.Members(v) {
			if string(n) == name {
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

// array returns the elements of an array.
func array(v value) (list []value, ok bool) {
	if v.Kind() != '[' {
		return nil, false
	}
	for element := range scan.Elements(v) {
		list = append(list, element)
	}
	return list, true
}

// str returns the text of a JSON string.
func str(v value) (string, bool) {
	if v.Kind() != '"' {
		return "", false
	}
	return string(scan.Name(v)), true
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
