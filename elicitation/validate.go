// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package elicitation

import (
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Validate checks the content of an accepted form, as [ParseResult] returns
// it, against the schema that was asked. Absent content (nil or null) is an
// empty object: valid when every property is optional, as clients do send it
// then. The error is an [*AnswerError] with everything that is wrong.
//
//   - Required properties are there; a default is never filled in for one.
//   - A value has the type of its property. Nothing is coerced, and null is no
//     value. 30.0 and 3e1 are integers, 1.5 is a number.
//   - Lengths are counted in characters (Unicode code points); numbers are
//     compared exactly; choices are values, not titles, and none is made twice.
//   - Properties that the schema does not have are ignored.
//   - A member name twice at any depth, invalid UTF-8 or a lone surrogate spoils
//     the whole answer.
func (s *Schema) Validate(content []byte) error {
	_, err := s.read(content)
	return err
}

// read returns the valid value of each property, nil where it is absent.
func (s *Schema) read(content []byte) ([]jsontext.Value, error) {
	values := make([]jsontext.Value, len(s.properties))
	if kind := jsontext.Value(content).Kind(); len(content) > 0 && (kind != jsontext.KindNull || !jsontext.Value(content).IsValid()) {
		err := readObject(content, func(name []byte, value jsontext.Value) error {
			if i, ok := s.index[string(name)]; ok {
				values[i] = value
			}
			return nil
		})
		if err != nil {
			return nil, malformed(err)
		}
	}
	var broken []Violation
	for i := range s.properties {
		p := &s.properties[i]
		switch {
		case values[i] != nil:
			broken = p.check(values[i], broken)
		case p.required:
			broken = append(broken, Violation{p.name, RuleRequired, "a value, and there is none"})
		}
	}
	if len(broken) > 0 {
		return nil, &AnswerError{Violations: broken}
	}
	return values, nil
}

// check appends what a value breaks to broken.
func (p *property) check(v jsontext.Value, broken []Violation) []Violation {
	fail := func(rule Rule, want string) {
		broken = append(broken, Violation{p.name, rule, want})
	}
	kind := v.Kind()
	switch p.shape {
	case booleanShape:
		if kind != jsontext.KindTrue && kind != jsontext.KindFalse {
			fail(RuleType, "true or false")
		}
	case stringShape:
		if kind != jsontext.KindString {
			fail(RuleType, "a string")
			break
		}
		text := unquote(v)
		n := utf8.RuneCount(text)
		if n < p.minLength {
			fail(RuleMinLength, "at least "+plural(p.minLength, "character"))
		}
		if p.maxLength >= 0 && n > p.maxLength {
			fail(RuleMaxLength, "at most "+plural(p.maxLength, "character"))
		}
		if p.format != "" && !formats[p.format](string(text)) {
			fail(RuleFormat, wantFormat[p.format])
		}
	case numberShape, integerShape:
		p.checkNumber(v, fail)
	case singleShape:
		switch {
		case kind != jsontext.KindString:
			fail(RuleType, "a string")
		case p.option(v) < 0:
			fail(RuleEnum, p.wantOption())
		}
	case multiShape:
		p.checkMulti(v, fail)
	}
	return broken
}

func (p *property) checkNumber(v jsontext.Value, fail func(Rule, string)) {
	want := p.shape.String()
	if v.Kind() != jsontext.KindNumber {
		fail(RuleType, want)
		return
	}
	value, ok := parseDecimal(string(v))
	if !ok {
		fail(RuleFits, "a number of a size that can be worked with")
		return
	}
	if p.shape == integerShape && !value.isInteger() {
		fail(RuleType, want)
		return
	}
	before := true
	if p.minimum != nil && value.compare(p.minimum.value) < 0 {
		fail(RuleMinimum, "at least "+p.minimum.text)
		before = false
	}
	if p.maximum != nil && value.compare(p.maximum.value) > 0 {
		fail(RuleMaximum, "at most "+p.maximum.text)
		before = false
	}
	if before && !fits(p.goKind, value, v) {
		fail(RuleFits, "a number that fits a Go "+p.goKind.String())
	}
}

// fits reports whether a value of a Go kind can hold the number.
func fits(kind reflect.Kind, value decimal, v jsontext.Value) bool {
	ok := true
	switch bits := bitsOf(kind); {
	case bits == 0:
	case kind >= reflect.Int && kind <= reflect.Int64:
		_, ok = value.int64(bits)
	case kind >= reflect.Uint && kind <= reflect.Uint64:
		_, ok = value.uint64(bits)
	default:
		_, err := strconv.ParseFloat(string(v), bits)
		ok = err == nil
	}
	return ok
}

// bitsOf returns the size of a number's Go kind, 0 for any other kind.
func bitsOf(kind reflect.Kind) int {
	switch kind {
	case reflect.Int, reflect.Uint:
		return strconv.IntSize
	case reflect.Int8, reflect.Uint8:
		return 8
	case reflect.Int16, reflect.Uint16:
		return 16
	case reflect.Int32, reflect.Uint32, reflect.Float32:
		return 32
	case reflect.Int64, reflect.Uint64, reflect.Float64:
		return 64
	}
	return 0
}

func (p *property) checkMulti(v jsontext.Value, fail func(Rule, string)) {
	chosen, ok := readArray(v)
	if !ok {
		fail(RuleType, "a list")
		return
	}
	seen := make([]bool, len(p.options))
	var notString, unknown, twice bool
	for _, c := range chosen {
		switch i := p.option(c); {
		case c.Kind() != jsontext.KindString:
			notString = true
		case i < 0:
			unknown = true
		case seen[i]:
			twice = true
		default:
			seen[i] = true
		}
	}
	if notString {
		fail(RuleType, "a list of strings")
	}
	if unknown {
		fail(RuleEnum, p.wantOption())
	}
	if twice {
		fail(RuleUnique, "no value twice")
	}
	if len(chosen) < p.minItems {
		fail(RuleMinItems, "at least "+plural(p.minItems, "value"))
	}
	if p.maxItems >= 0 && len(chosen) > p.maxItems {
		fail(RuleMaxItems, "at most "+plural(p.maxItems, "value"))
	}
}

// option returns the position of the choice that v names, or -1.
func (p *property) option(v jsontext.Value) int {
	if v.Kind() != jsontext.KindString {
		return -1
	}
	text := unquote(v)
	for i := range p.options {
		if string(text) == p.options[i].value {
			return i
		}
	}
	return -1
}

func (p *property) wantOption() string {
	values := make([]string, len(p.options))
	for i, o := range p.options {
		values[i] = strconv.Quote(o.value)
	}
	return "one of " + strings.Join(values, ", ")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
