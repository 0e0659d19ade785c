// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package elicitation

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// A Schema is a requestedSchema: the restricted subset of JSON Schema that
// form mode allows (client/elicitation, Requested Schema). It is a flat object
// whose properties are strings, numbers, integers, booleans, or choices of one
// or several values. [NewForm] makes one from a Go type, [ParseSchema] reads
// one that was written by hand. A Schema is immutable and safe for concurrent
// use. The zero value is no schema.
//
// What the formats accept:
//
//	email      a Mailbox of RFC 5321 in ASCII: user@example.com, without a
//	           display name, angle brackets or comments
//	uri        an absolute URI of RFC 3986 with something behind its scheme, and
//	           a host if that is http or https. Non-ASCII characters are escaped.
//	           It may use any scheme, javascript too, and name any host:
//	           whoever opens it decides what is safe.
//	date       a full-date of RFC 3339 that the calendar has: 2026-07-28
//	date-time  a date-time of RFC 3339, offset included: 2026-07-28T12:00:00Z.
//	           Leap seconds count where they can occur, at 23:59:60 UTC.
type Schema struct {
	properties []property
	index      map[string]int
	json       []byte
}

// JSON returns the schema as it goes into an elicitation request: compact,
// properties in the order of their declaration, members of each in one fixed
// order. The bytes are a copy.
func (s *Schema) JSON() []byte { return bytes.Clone(s.json) }

// shape is which of the specification's primitive schemas a property follows.
type shape uint8

const (
	stringShape shape = iota
	numberShape
	integerShape
	booleanShape
	singleShape // a choice of one value
	multiShape  // a choice of several values
)

func (s shape) String() string {
	return [...]string{"a string", "a number", "an integer", "a boolean", "a choice", "a multiple choice"}[s]
}

// keywords lists what each shape may carry besides its type: the members that
// schema.json names for it, and nothing else. As struct tags, the values of a
// choice are always written as enum.
var keywords = [...][]string{
	stringShape:  {"title", "description", "minLength", "maxLength", "format", "default"},
	numberShape:  {"title", "description", "minimum", "maximum", "default"},
	integerShape: {"title", "description", "minimum", "maximum", "default"},
	booleanShape: {"title", "description", "default"},
	singleShape:  {"title", "description", "enum", "default"},
	multiShape:   {"title", "description", "enum", "minItems", "maxItems", "default"},
}

// A property of a form. Limits that are not set are -1 or nil.
type property struct {
	name        string
	field       string // Go name, for errors
	shape       shape
	required    bool
	title       string
	description string

	minLength, maxLength int
	format               string
	minimum, maximum     *number
	minItems, maxItems   int
	options              []option
	titled               bool           // options have titles: oneOf, anyOf
	legacy               bool           // titles written as enumNames
	preset               jsontext.Value // the default

	goKind reflect.Kind // numbers must fit it; Invalid for a hand-written schema
}

type option struct{ value, title string }

func newProperty(name string) property {
	return property{name: name, minLength: -1, maxLength: -1, minItems: -1, maxItems: -1}
}

// errorf returns a *SchemaError that names the property.
func (p *property) errorf(format string, args ...any) error {
	return &SchemaError{Property: p.name, Field: p.field, Reason: fmt.Sprintf(format, args...)}
}

// newSchema checks what NewForm and ParseSchema have in common and renders the
// JSON. dialect is the value of $schema, if there was one.
func newSchema(properties []property, dialect *string) (*Schema, error) {
	if len(properties) == 0 {
		return nil, &SchemaError{Reason: "it has no properties, and some clients accept an empty form without showing it to anybody: ask for at least one value"}
	}
	s := &Schema{properties: properties, index: make(map[string]int, len(properties))}
	for i := range properties {
		p := &properties[i]
		if _, twice := s.index[p.name]; twice {
			return nil, p.errorf("the name %q is used twice", p.name)
		}
		if err := p.checkDeclaration(); err != nil {
			return nil, err
		}
		s.index[p.name] = i
	}
	s.json = s.render(dialect)
	return s, nil
}

func (p *property) checkDeclaration() error {
	if strings.TrimSpace(p.name) == "" {
		return p.errorf("it needs a name")
	}
	for _, text := range []string{p.name, p.title, p.description, p.format} {
		if !utf8.ValidString(text) {
			return p.errorf("its name, title and description must be valid UTF-8")
		}
	}
	if err := p.checkSensitive(); err != nil {
		return err
	}
	if p.format != "" && formats[p.format] == nil {
		return p.errorf("the format %q is not one of email, uri, date, date-time", p.format)
	}
	if p.maxLength >= 0 && p.minLength > p.maxLength {
		return p.errorf("minLength is above maxLength")
	}
	if p.minimum != nil && p.maximum != nil && p.minimum.value.compare(p.maximum.value) > 0 {
		return p.errorf("minimum is above maximum")
	}
	if p.maxItems >= 0 && p.minItems > p.maxItems {
		return p.errorf("minItems is above maxItems")
	}
	if err := p.checkOptions(); err != nil {
		return err
	}
	if p.preset != nil {
		if broken := p.check(p.preset, nil); len(broken) > 0 {
			return p.errorf("the default is not a valid answer: want %s", broken[0].Want)
		}
	}
	return nil
}

func (p *property) checkOptions() error {
	if p.shape != singleShape && p.shape != multiShape {
		return nil
	}
	if len(p.options) == 0 {
		return p.errorf("it offers no values to choose from")
	}
	seen := make(map[string]bool, len(p.options))
	for _, o := range p.options {
		if !utf8.ValidString(o.value) || !utf8.ValidString(o.title) {
			return p.errorf("its values and their titles must be valid UTF-8")
		}
		if seen[o.value] {
			return p.errorf("the value %q is offered twice", o.value)
		}
		if p.titled && strings.TrimSpace(o.title) == "" {
			return p.errorf("the value %q has no title, but others have", o.value)
		}
		seen[o.value] = true
	}
	if p.minItems > len(p.options) {
		return p.errorf("minItems is above the number of values offered")
	}
	return nil
}

// render writes the schema. Reading the result back and rendering it again
// gives the same bytes.
func (s *Schema) render(dialect *string) []byte {
	b := []byte{'{'}
	if dialect != nil {
		b = append(appendQuote(append(b, `"$schema":`...), *dialect), ',')
	}
	b = append(b, `"type":"object","properties":{`...)
	var required []byte
	for i := range s.properties {
		p := &s.properties[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendQuote(b, p.name), ':')
		b = p.render(b)
		if p.required {
			required = append(appendQuote(required, p.name), ',')
		}
	}
	b = append(b, '}')
	if len(required) > 0 {
		b = append(b, `,"required":[`...)
		b = append(append(b, required[:len(required)-1]...), ']')
	}
	return append(b, '}')
}

func (p *property) render(b []byte) []byte {
	b = append(b, `{"type":"`...)
	b = append(b, [...]string{"string", "number", "integer", "boolean", "string", "array"}[p.shape]...)
	b = append(b, '"')
	text := func(key, value string) {
		if value != "" {
			b = append(append(append(b, `,"`...), key...), `":`...)
			b = appendQuote(b, value)
		}
	}
	raw := func(key, value string) {
		if value != "" {
			b = append(append(append(append(b, `,"`...), key...), `":`...), value...)
		}
	}
	count := func(key string, n int) {
		if n >= 0 {
			raw(key, strconv.Itoa(n))
		}
	}
	text("title", p.title)
	text("description", p.description)
	count("minLength", p.minLength)
	count("maxLength", p.maxLength)
	text("format", p.format)
	if p.minimum != nil {
		raw("minimum", p.minimum.text)
	}
	if p.maximum != nil {
		raw("maximum", p.maximum.text)
	}
	count("minItems", p.minItems)
	count("maxItems", p.maxItems)
	switch {
	case p.shape == singleShape && p.titled && p.legacy:
		raw("enum", p.renderValues())
		raw("enumNames", p.renderNames())
	case p.shape == singleShape && p.titled:
		raw("oneOf", p.renderTitled())
	case p.shape == singleShape:
		raw("enum", p.renderValues())
	case p.shape == multiShape && p.titled:
		raw("items", `{"anyOf":`+p.renderTitled()+`}`)
	case p.shape == multiShape:
		raw("items", `{"type":"string","enum":`+p.renderValues()+`}`)
	}
	raw("default", string(p.preset))
	return append(b, '}')
}

func (p *property) renderOptions(one func([]byte, option) []byte) string {
	b := []byte{'['}
	for i, o := range p.options {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(b, o)
	}
	return string(append(b, ']'))
}

func (p *property) renderValues() string {
	return p.renderOptions(func(b []byte, o option) []byte { return appendQuote(b, o.value) })
}

func (p *property) renderNames() string {
	return p.renderOptions(func(b []byte, o option) []byte { return appendQuote(b, o.title) })
}

func (p *property) renderTitled() string {
	return p.renderOptions(func(b []byte, o option) []byte {
		b = appendQuote(append(b, `{"const":`...), o.value)
		b = appendQuote(append(b, `,"title":`...), o.title)
		return append(b, '}')
	})
}

// ParseSchema reads a requestedSchema that was written by hand. It accepts
// exactly what the specification's schema.json names: an object with "type",
// "properties" and optionally "required" and "$schema" ("additionalProperties": false is passed over); and in each property
// the members that schema.json lists for a string, number, boolean or enum
// schema, the legacy "enumNames" included. Any other keyword is refused, even
// a harmless one of JSON Schema: one client would enforce it and the next
// ignore it, and neither would the server. The error is a [*SchemaError].
func ParseSchema(json []byte) (*Schema, error) {
	var (
		dialect    *string
		typ        string
		rawProps   jsontext.Value
		required   []string
		properties []property
	)
	err := readObject(json, func(name []byte, value jsontext.Value) error {
		ok := true
		switch string(name) {
		case "$schema":
			var text string
			text, ok = readString(value)
			dialect = &text
		case "type":
			typ, ok = readString(value)
		case "properties":
			rawProps = value
		case "required":
			required, ok = readStrings(value)
		case "additionalProperties":
			// What generators of schemas write for a Go struct. It says nothing: what was not asked is ignored anyhow.
			ok = string(value) == "false"
		default:
			return &SchemaError{Reason: fmt.Sprintf(`%q is not allowed; a form has "type", "properties", "required" and "$schema"`, name)}
		}
		if !ok {
			return &SchemaError{Reason: fmt.Sprintf("%q has a value of the wrong type", name)}
		}
		return nil
	})
	if err != nil {
		return nil, schemaError(err)
	}
	if typ != "object" {
		return nil, &SchemaError{Reason: `it needs "type": "object"`}
	}
	if rawProps == nil {
		return nil, &SchemaError{Reason: `it needs "properties"`}
	}
	err = readObject(rawProps, func(name []byte, value jsontext.Value) error {
		p, err := parseProperty(string(name), value)
		properties = append(properties, p)
		return err
	})
	if err != nil {
		return nil, schemaError(err)
	}
	for i, name := range required {
		at := slices.IndexFunc(properties, func(p property) bool { return p.name == name })
		if at < 0 || slices.Contains(required[:i], name) {
			return nil, &SchemaError{Property: name, Reason: `"required" names it twice, or the form has no such property`}
		}
		properties[at].required = true
	}
	return newSchema(properties, dialect)
}

// schemaError makes any error one of the declared type.
func schemaError(err error) error {
	if e, ok := errors.AsType[*SchemaError](err); ok {
		return e
	}
	return &SchemaError{Reason: "it is not a well-formed schema: " + err.Error()}
}

func parseProperty(name string, src jsontext.Value) (property, error) {
	p := newProperty(name)
	members := make(map[string]jsontext.Value)
	err := readObject(src, func(name []byte, value jsontext.Value) error {
		members[string(name)] = value
		return nil
	})
	if err != nil {
		return p, p.errorf("its schema must be an object")
	}
	typ, ok := readString(members["type"])
	if !ok {
		return p, p.errorf(`it needs a "type", one name`)
	}
	_, enum := members["enum"]
	_, oneOf := members["oneOf"]
	switch {
	case typ == "string" && (enum || oneOf):
		p.shape = singleShape
	case typ == "string":
		p.shape = stringShape
	case typ == "number":
		p.shape = numberShape
	case typ == "integer":
		p.shape = integerShape
	case typ == "boolean":
		p.shape = booleanShape
	case typ == "array":
		p.shape = multiShape
	default:
		return p, p.errorf("the type %q is not allowed: a form is flat, its values are strings, numbers, integers, booleans and choices", typ)
	}
	if err := p.parseOptions(members); err != nil {
		return p, err
	}
	delete(members, "type")
	for _, key := range slices.Sorted(maps.Keys(members)) {
		value := members[key]
		if !slices.Contains(keywords[p.shape], key) {
			return p, p.errorf("%q is not allowed; %s may have %s", key, p.shape, strings.Join(keywords[p.shape], ", "))
		}
		ok := true
		switch key {
		case "title":
			p.title, ok = readString(value)
		case "description":
			p.description, ok = readString(value)
		case "format":
			p.format, ok = readString(value)
		case "minLength":
			p.minLength, ok = parseCount(string(value))
		case "maxLength":
			p.maxLength, ok = parseCount(string(value))
		case "minItems":
			p.minItems, ok = parseCount(string(value))
		case "maxItems":
			p.maxItems, ok = parseCount(string(value))
		case "minimum":
			p.minimum = newNumber(string(value))
			ok = p.minimum != nil
		case "maximum":
			p.maximum = newNumber(string(value))
			ok = p.maximum != nil
		case "default":
			p.preset, err = jsontext.AppendFormat(nil, value)
			ok = err == nil
		}
		if !ok {
			return p, p.errorf("%q has a value of the wrong type", key)
		}
	}
	return p, nil
}

// parseOptions reads the values of a choice out of the members that may hold
// them and leaves "enum" behind for the list of keywords.
func (p *property) parseOptions(members map[string]jsontext.Value) error {
	switch p.shape {
	case singleShape:
		if titled, ok := members["oneOf"]; ok {
			if _, both := members["enum"]; both {
				return p.errorf("it has both enum and oneOf")
			}
			delete(members, "oneOf")
			return p.parseTitled(titled)
		}
		if err := p.parseValues(members["enum"]); err != nil {
			return err
		}
		rawNames, ok := members["enumNames"]
		if !ok {
			return nil
		}
		delete(members, "enumNames")
		names, ok := readStrings(rawNames)
		if !ok || len(names) != len(p.options) {
			return p.errorf("enumNames must be a list of strings, one for each value of enum")
		}
		p.titled, p.legacy = true, true
		for i := range names {
			p.options[i].title = names[i]
		}
	case multiShape:
		raw, ok := members["items"]
		if !ok {
			return p.errorf("an array needs items with an enum or anyOf: a free list cannot be asked for")
		}
		delete(members, "items")
		items := make(map[string]jsontext.Value)
		err := readObject(raw, func(name []byte, value jsontext.Value) error {
			items[string(name)] = value
			return nil
		})
		typ, _ := readString(items["type"])
		switch {
		case err != nil:
			return p.errorf("its items must be an object")
		case len(items) == 1 && items["anyOf"] != nil:
			return p.parseTitled(items["anyOf"])
		case len(items) == 2 && items["enum"] != nil && typ == "string":
			return p.parseValues(items["enum"])
		}
		return p.errorf(`its items must be {"type": "string", "enum": [...]} or {"anyOf": [...]}: a form cannot ask for any other list`)
	}
	return nil
}

func (p *property) parseValues(v jsontext.Value) error {
	values, ok := readStrings(v)
	if !ok {
		return p.errorf("enum must be a list of strings")
	}
	for _, value := range values {
		p.options = append(p.options, option{value: value})
	}
	return nil
}

func (p *property) parseTitled(v jsontext.Value) error {
	const want = `each choice must be {"const": "value", "title": "text"} and nothing else`
	list, ok := readArray(v)
	if !ok {
		return p.errorf(want)
	}
	p.titled = true
	for _, e := range list {
		var o option
		seen := 0
		err := readObject(e, func(name []byte, value jsontext.Value) error {
			ok := false
			switch string(name) {
			case "const":
				o.value, ok = readString(value)
			case "title":
				o.title, ok = readString(value)
			}
			if !ok {
				return errNotObject
			}
			seen++
			return nil
		})
		if err != nil || seen != 2 {
			return p.errorf(want)
		}
		p.options = append(p.options, o)
	}
	return nil
}

func readStrings(v jsontext.Value) ([]string, bool) {
	list, ok := readArray(v)
	if !ok {
		return nil, false
	}
	all := make([]string, len(list))
	for i, e := range list {
		if all[i], ok = readString(e); !ok {
			return nil, false
		}
	}
	return all, true
}

// parseCount reads a length or a number of items.
func parseCount(text string) (int, bool) {
	n := newNumber(text)
	if n == nil {
		return 0, false
	}
	count, ok := n.value.int64(32) // no form is longer, whatever the machine's int is
	return int(count), ok && count >= 0
}
