// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package elicitation

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A decimal is the exact value of a JSON number: 0.digits × 10^point. Limits
// are compared in it because a float64 cannot tell 2^53 from 2^53+1.
// The zero value is zero.
type decimal struct {
	neg    bool
	digits string // no zero at either end; empty for zero
	point  int
}

// parseDecimal reads a valid JSON number. It refuses exponents of more than
// six digits, which nobody types and which other parsers read differently.
func parseDecimal(number string) (decimal, bool) {
	var d decimal
	number, d.neg = strings.CutPrefix(number, "-")
	if i := strings.IndexAny(number, "eE"); i >= 0 {
		exp := number[i+1:]
		number = number[:i]
		if len(strings.TrimLeft(exp, "+-0")) > 6 {
			return decimal{}, false
		}
		d.point, _ = strconv.Atoi(exp)
	}
	whole, fraction, _ := strings.Cut(number, ".")
	d.point += len(whole)
	d.digits = strings.TrimRight(whole+fraction, "0")
	significant := strings.TrimLeft(d.digits, "0")
	d.point -= len(d.digits) - len(significant)
	d.digits = significant
	if d.digits == "" {
		return decimal{}, true
	}
	return d, true
}

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.neg:
		return -1
	}
	return 1
}

func (d decimal) compare(e decimal) int {
	if c := cmp.Compare(d.sign(), e.sign()); c != 0 {
		return c
	}
	// Without zeros at the end, digits compare like text.
	magnitude := cmp.Or(cmp.Compare(d.point, e.point), strings.Compare(d.digits, e.digits))
	return magnitude * d.sign()
}

// isInteger reports whether the value is whole: 30.0 and 3e1 are.
func (d decimal) isInteger() bool { return len(d.digits) <= d.point || d.digits == "" }

// integer returns the value in plain digits, if it is whole and has no more
// digits than a 64-bit integer can.
func (d decimal) integer() (string, bool) {
	if !d.isInteger() || d.point > 20 {
		return "", false
	}
	if d.digits == "" {
		return "0", true
	}
	text := d.digits + strings.Repeat("0", d.point-len(d.digits))
	if d.neg {
		text = "-" + text
	}
	return text, true
}

// int64 and uint64 return the value if a type of so many bits can hold it.
func (d decimal) int64(bits int) (int64, bool) {
	text, ok := d.integer()
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, bits)
	return n, err == nil
}

func (d decimal) uint64(bits int) (uint64, bool) {
	text, ok := d.integer()
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, bits)
	return n, err == nil
}

// A number is a JSON number as it was written, with its value.
type number struct {
	text  string
	value decimal
}

// newNumber returns nil if text is not a JSON number.
func newNumber(text string) *number {
	v := jsontext.Value(text)
	if v.Kind() != jsontext.KindNumber || !v.IsValid() || strings.TrimSpace(text) != text {
		return nil
	}
	value, ok := parseDecimal(text)
	if !ok {
		return nil
	}
	return &number{text: text, value: value}
}
