// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package elicitation

import (
	"maps"
	"math/big"
	"reflect"
	"testing"
)

// These tests are inside the package because go vet does not let a struct with
// a malformed tag into a test file, and because the exact decimals deserve a
// comparison with another implementation.

func TestStructTags(t *testing.T) {
	good := map[reflect.StructTag]map[string]string{
		``:   {},
		`  `: {},
		`json:"a,omitempty" title:"say \"hi\", key:value"`: {"json": "a,omitempty", "title": `say "hi", key:value`},
		`a:"1"b:"2"`:         {"a": "1", "b": "2"},
		`a:""   b:"\u00e9" `: {"a": "", "b": "é"},
	}
	for tag, want := range good {
		if got, err := parseTags(tag); err != nil || !maps.Equal(got, want) {
			t.Errorf("%s: got %v, %v", tag, got, err)
		}
	}
	for _, tag := range []reflect.StructTag{
		`json:a`, `json:"a" maxLength: "3"`, `json:"a`, `json`, `:"a"`, `"a":"b"`, "json:`a`", `json:'a'`,
		`a:"1" a:"2"`, `json :"a"`, `json:"\z"`,
	} {
		if got, err := parseTags(tag); err == nil {
			t.Errorf("%s: accepted as %v", tag, got)
		}
	}
}

func TestDecimalAgreesWithBig(t *testing.T) {
	numbers := []string{
		"0", "-0", "0.0", "0e5", "1", "-1", "1.0", "10e-1", "0.1", "0.10000000000000001", "0.10", "1e-1",
		"9007199254740992", "9007199254740993", "9007199254740992.5", "-9007199254740993", "1e400", "1e308",
		"30", "30.0", "3e1", "3E+1", "300e-1", "0.003e4", "1.5", "-1.5", "123456789012345678901234567890",
		"12345678901234567890123456789e1", "0.000001", "1e-6", "5e-0000000000007", "100", "1e2", "99.999",
	}
	for _, a := range numbers {
		x, ok := parseDecimal(a)
		if !ok {
			t.Fatalf("%s: refused", a)
		}
		ratX, _ := new(big.Rat).SetString(a)
		if x.isInteger() != ratX.IsInt() {
			t.Errorf("%s: isInteger is %v", a, x.isInteger())
		}
		n, ok := x.int64(64)
		if want := ratX.IsInt() && ratX.Num().IsInt64(); ok != want || ok && n != ratX.Num().Int64() {
			t.Errorf("%s: int64 is %d, %v", a, n, ok)
		}
		u, ok := x.uint64(64)
		if want := ratX.IsInt() && ratX.Num().IsUint64(); ok != want || ok && u != ratX.Num().Uint64() {
			t.Errorf("%s: uint64 is %d, %v", a, u, ok)
		}
		for _, b := range numbers {
			y, _ := parseDecimal(b)
			ratY, _ := new(big.Rat).SetString(b)
			if got, want := x.compare(y), ratX.Cmp(ratY); got != want {
				t.Errorf("compare(%s, %s) = %d, want %d", a, b, got, want)
			}
		}
	}
	if _, ok := parseDecimal("1e1000000"); ok {
		t.Error("an absurd exponent is accepted")
	}
	if _, ok := parseDecimal("1e-99999999999999999999"); ok {
		t.Error("an absurd negative exponent is accepted")
	}
}
