// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package elicitation

import (
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

// A Form is a question in form mode whose answer is a T (client/elicitation,
// Form Mode Elicitation Requests). Make it with [NewForm] or [MustForm]; the
// zero value asks nothing and its methods return errors.
//
// T is a struct. Each of its exported fields is a property, in the order of
// declaration, under the name of its json tag, else of the field; `json:"-"`
// leaves one out. The field's type decides what is asked for:
//
//	string kinds        a string, or a choice if there is an enum tag
//	int and uint kinds  an integer within the type's limits
//	float kinds         a number
//	bool                a boolean
//	slices of strings   a choice of several values; needs an enum tag
//
// A property is required unless its field is a pointer or its json tag says
// omitempty or omitzero. An optional property that was not answered is nil, or
// the zero value if the field is no pointer: take a pointer where the
// difference matters. An empty string is a value too; a text that may not be
// empty needs a minLength.
//
// The other tags:
//
//	title, description    texts for the user
//	default               what the client's form shows at first: a string, a number,
//	                      true or false, or the chosen values joined by commas.
//	                      It is a suggestion and never an answer.
//	enum                  the values to choose from, joined by commas; with titles
//	                      as value=title: `enum:"eu=Europe,us=United States"`
//	minLength, maxLength  strings, in characters
//	format                strings: email, uri, date or date-time, see [Schema]
//	minimum, maximum      numbers
//	minItems, maxItems    choices of several values
//
// In an enum the comma always separates values and the first equals sign
// separates a value from its title, so that a value has neither of the two and
// a title has no comma. All values have titles or none has, and no space stands
// next to a comma. A schema that needs more can be written by hand, see
// [ParseSchema].
//
// A misspelt tag, a tag that does not apply to its field and a tag of another
// package are refused, because a limit that is not enforced is worse than none.
type Form[T any] struct {
	schema   *Schema
	identity []byte
	fields   []int // of T, one for each property
}

var _ Question[struct{}] = (*Form[struct{}])(nil)

// NewForm makes the form whose answer is a T. The error is a [*SchemaError].
func NewForm[T any]() (*Form[T], error) {
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Struct {
		return nil, &SchemaError{Reason: fmt.Sprintf("it is made from a struct, not from %s", t)}
	}
	var f Form[T]
	var properties []property
	for i := range t.NumField() {
		p, skip, err := fieldProperty(t.Field(i))
		if err != nil {
			return nil, err
		}
		if !skip {
			properties = append(properties, p)
			f.fields = append(f.fields, i)
		}
	}
	var err error
	if f.schema, err = newSchema(properties, nil); err != nil {
		return nil, err
	}
	f.identity = append([]byte(FormMode+"\n"), f.schema.json...)
	return &f, nil
}

// MustForm is [NewForm] for package variables: it panics where NewForm returns
// an error.
func MustForm[T any]() *Form[T] {
	f, err := NewForm[T]()
	if err != nil {
		panic(err)
	}
	return f
}

// Schema returns the requestedSchema of the form.
func (f *Form[T]) Schema() *Schema { return f.schema }

// Kind returns [FormMode].
func (f *Form[T]) Kind() Kind { return FormMode }

// Method returns "elicitation/create".
func (f *Form[T]) Method() string { return "elicitation/create" }

var (
	errZeroForm = errors.New("elicitation: the zero Form asks nothing: make it with NewForm")
	errMessage  = errors.New("elicitation: the message is blank or not valid UTF-8: say what is asked and why")
)

// Params returns the params of the request that shows message above the form.
// A message that is blank or not valid UTF-8 is an error.
func (f *Form[T]) Params(message string) ([]byte, error) {
	if f.schema == nil {
		return nil, errZeroForm
	}
	if strings.TrimSpace(message) == "" || !utf8.ValidString(message) {
		return nil, errMessage
	}
	const before, between = `{"mode":"form","message":`, `,"requestedSchema":`
	b := make([]byte, 0, len(before)+len(message)+len(between)+len(f.schema.json)+16)
	b = appendQuote(append(b, before...), message)
	b = append(append(b, between...), f.schema.json...)
	return append(b, '}'), nil
}

// Identity returns the mode and the whole schema, titles and descriptions
// included: an option that is called something else now is another question.
func (f *Form[T]) Identity() []byte { return slices.Clone(f.identity) }

// Decode reads the client's answer, as [ParseResult] and [Schema.Validate] do.
// An integer that its field cannot hold is an [*AnswerError] like any other
// broken rule; a number for a float field is rounded to the nearest float.
func (f *Form[T]) Decode(response []byte) (Reply[T], error) {
	if f.schema == nil {
		return Reply[T]{}, errZeroForm
	}
	action, content, err := ParseResult(response)
	if err != nil || action != Accept {
		return Reply[T]{Action: action}, err
	}
	values, err := f.schema.read(content)
	if err != nil {
		return Reply[T]{}, err
	}
	reply := Reply[T]{Action: Accept}
	target := reflect.ValueOf(&reply.Content).Elem()
	for i, v := range values {
		if v != nil {
			assign(target.Field(f.fields[i]), v)
		}
	}
	return reply, nil
}

// assign sets a field to a value that its property has accepted.
func assign(field reflect.Value, v jsontext.Value) {
	if field.Kind() == reflect.Pointer {
		field.Set(reflect.New(field.Type().Elem()))
		field = field.Elem()
	}
	switch kind := field.Kind(); kind {
	case reflect.String:
		field.SetString(string(unquote(v)))
	case reflect.Bool:
		field.SetBool(v.Kind() == jsontext.KindTrue)
	case reflect.Slice:
		chosen, _ := readArray(v)
		field.Set(reflect.MakeSlice(field.Type(), len(chosen), len(chosen)))
		for i, c := range chosen {
			field.Index(i).SetString(string(unquote(c)))
		}
	case reflect.Float32, reflect.Float64:
		x, _ := strconv.ParseFloat(string(v), bitsOf(kind))
		field.SetFloat(x)
	default:
		value, _ := parseDecimal(string(v))
		if field.CanInt() {
			n, _ := value.int64(bitsOf(kind))
			field.SetInt(n)
		} else {
			n, _ := value.uint64(bitsOf(kind))
			field.SetUint(n)
		}
	}
}

// fieldProperty turns a struct field into a property. skip means that it is
// none.
func fieldProperty(field reflect.StructField) (_ property, skip bool, _ error) {
	p := newProperty(field.Name)
	p.field = field.Name
	tags, err := parseTags(field.Tag)
	if err != nil {
		return p, false, p.errorf("%v", err)
	}
	if tags["json"] == "-" {
		return p, true, nil
	}
	switch {
	case field.Anonymous:
		return p, false, p.errorf("embedded fields are not allowed: a form is flat, declare its fields one by one")
	case !field.IsExported() && len(tags) > 0:
		return p, false, p.errorf("it has tags but is not exported, so no answer could reach it")
	case !field.IsExported():
		return p, true, nil
	}
	_, enum := tags["enum"]
	if err := p.setType(field.Type, enum); err != nil {
		return p, false, err
	}
	if err := p.setName(tags["json"]); err != nil {
		return p, false, err
	}
	delete(tags, "json")
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if err := p.setTag(key, tags[key]); err != nil {
			return p, false, err
		}
	}
	p.limitToKind()
	return p, false, nil
}

// setType derives the shape from the Go type.
func (p *property) setType(t reflect.Type, enum bool) error {
	p.required = true
	if t.Kind() == reflect.Pointer && t.Elem().Kind() != reflect.Slice {
		p.required = false
		t = t.Elem()
	}
	p.goKind = t.Kind()
	switch kind := t.Kind(); {
	case kind == reflect.String && enum:
		p.shape = singleShape
	case kind == reflect.String:
		p.shape = stringShape
	case kind == reflect.Bool:
		p.shape = booleanShape
	case kind == reflect.Float32 || kind == reflect.Float64:
		p.shape = numberShape
	case bitsOf(kind) > 0:
		p.shape = integerShape
	case kind == reflect.Slice && t.Elem().Kind() == reflect.String && enum:
		p.shape = multiShape
	case kind == reflect.Slice && t.Elem().Kind() == reflect.String:
		return p.errorf("a list needs an enum tag with the values to choose from: a free list cannot be asked for")
	default:
		return p.errorf("the type %s is not allowed: a form is flat, its fields are strings, numbers, booleans and lists of strings with an enum tag", t)
	}
	return nil
}

func (p *property) setName(tag string) error {
	name, options, _ := strings.Cut(tag, ",")
	if name != "" {
		p.name = name
	}
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "omitempty", "omitzero":
			p.required = false
		case "":
		default:
			return p.errorf("the json option %q is not allowed: there are omitempty and omitzero", option)
		}
	}
	return nil
}

func (p *property) setTag(key, text string) error {
	if !slices.Contains(keywords[p.shape], key) {
		return p.errorf("the tag %q is unknown or does not apply; the tags of %s are json, %s", key, p.shape, strings.Join(keywords[p.shape], ", "))
	}
	ok := true
	switch key {
	case "title":
		p.title = text
	case "description":
		p.description = text
	case "format":
		p.format = text
	case "enum":
		return p.setEnum(text)
	case "minLength":
		p.minLength, ok = parseCount(text)
	case "maxLength":
		p.maxLength, ok = parseCount(text)
	case "minItems":
		p.minItems, ok = parseCount(text)
	case "maxItems":
		p.maxItems, ok = parseCount(text)
	case "minimum":
		p.minimum = newNumber(text)
		ok = p.minimum != nil
	case "maximum":
		p.maximum = newNumber(text)
		ok = p.maximum != nil
	case "default":
		ok = p.setDefault(text)
	}
	if !ok {
		return p.errorf("the tag %s:%q has no value that fits", key, text)
	}
	return nil
}

func (p *property) setEnum(text string) error {
	p.titled = strings.Contains(text, "=")
	for part := range strings.SplitSeq(text, ",") {
		value, title, titled := strings.Cut(part, "=")
		switch {
		case value == "" || strings.TrimSpace(part) != part:
			return p.errorf("the enum tag has an empty value, or a space next to a comma")
		case titled != p.titled:
			return p.errorf("in the enum tag either all values have titles (value=title) or none has; no value or title can hold a comma")
		}
		p.options = append(p.options, option{value, title})
	}
	return nil
}

func (p *property) setDefault(text string) bool {
	if !utf8.ValidString(text) {
		return false
	}
	switch p.shape {
	case stringShape, singleShape:
		p.preset = appendQuote(nil, text)
	case multiShape:
		p.preset = jsontext.Value("[")
		for i, value := range strings.Split(text, ",") {
			if i > 0 {
				p.preset = append(p.preset, ',')
			}
			if text != "" {
				p.preset = appendQuote(p.preset, value)
			}
		}
		p.preset = append(p.preset, ']')
	case booleanShape:
		if text != "true" && text != "false" {
			return false
		}
		p.preset = jsontext.Value(text)
	default:
		if newNumber(text) == nil {
			return false
		}
		p.preset = jsontext.Value(text)
	}
	return true
}

// limitToKind writes the limits of small and unsigned integer types into the
// schema, so that the client can tell its user. Those of 64-bit types are
// enforced but not written: many clients could not represent them.
func (p *property) limitToKind() {
	bits := bitsOf(p.goKind)
	if p.shape != integerShape {
		return
	}
	unsigned := p.goKind >= reflect.Uint
	if p.minimum == nil && unsigned {
		p.minimum = newNumber("0")
	}
	if bits > 32 || p.goKind == reflect.Int || p.goKind == reflect.Uint {
		return
	}
	low, high := int64(-1)<<(bits-1), int64(1)<<(bits-1)-1
	if unsigned {
		low, high = 0, int64(1)<<bits-1
	}
	if p.minimum == nil {
		p.minimum = newNumber(strconv.FormatInt(low, 10))
	}
	if p.maximum == nil {
		p.maximum = newNumber(strconv.FormatInt(high, 10))
	}
}

// parseTags reads a whole struct tag. reflect's Lookup finds the tags that one
// asks for, and says nothing about the misspelt and the malformed ones.
func parseTags(tag reflect.StructTag) (map[string]string, error) {
	tags := make(map[string]string)
	rest := string(tag)
	for {
		rest = strings.TrimLeft(rest, " ")
		if rest == "" {
			return tags, nil
		}
		key, value, ok := strings.Cut(rest, ":")
		quoted, err := strconv.QuotedPrefix(value)
		if !ok || err != nil || quoted[0] != '"' || key == "" || strings.ContainsAny(key, " \"`") {
			return nil, errors.New(`its struct tag is malformed: write key:"value" pairs, separated by spaces`)
		}
		if _, twice := tags[key]; twice {
			return nil, fmt.Errorf("the tag %q is there twice", key)
		}
		tags[key], _ = strconv.Unquote(quoted)
		rest = value[len(quoted):]
	}
}
