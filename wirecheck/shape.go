// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A shape is a JSON Schema as far as it can be judged with certainty: types, enumerations, members, elements, bounds, and
// choices and references among those. What else it demands makes the judgement unsure, unless something certain is broken.
type shape struct {
	unsure bool // it demands something else as well
	never  bool // it is false

	types      uint8 // that are allowed, as bits; 0: all
	enum       []value
	constant   value
	required   []string
	properties map[string]*shape
	others     *shape // of the members that properties does not name; nil: anything
	items      *shape // nil: anything
	bounds     []bound

	all, any, one []*shape
	ref           *shape
}

// A bound is a keyword that limits a number, or how much there is of something.
type bound struct {
	keyword string
	kind    byte // of the values that it limits: 0 for a number, or the first byte of a string, array or object
	limit   *big.Rat
}

var boundKinds = map[string]byte{
	"minimum": '0', "maximum": '0', "exclusiveMinimum": '0', "exclusiveMaximum": '0',
	"minLength": '"', "maxLength": '"', "minItems": '[', "maxItems": '[', "minProperties": '{', "maxProperties": '{',
}

var typeBits = map[string]uint8{"null": 1, "boolean": 2, "object": 4, "array": 8, "string": 16, "number": 32, "integer": 64}

// Limits of a schema and of a judgement. What exceeds them is unsure.
const (
	maxShapes = 10_000
	maxDepth  = 100
	maxSteps  = 100_000
)

// shaper reads one schema.
type shaper struct {
	root     value
	old      bool // a dialect in which a reference stands alone
	shapes   int
	resolved map[string]*shape
}

// newShape reads a schema. It never fails: what it does not understand is unsure.
func newShape(schema value) *shape {
	p := &shaper{root: schema, resolved: make(map[string]*shape)}
	switch dialect, _ := str(get(schema, "$schema")); strings.TrimSuffix(dialect, "#") {
	case "", "https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2019-09/schema":
	case "http://json-schema.org/draft-07/schema", "http://json-schema.org/draft-06/schema":
		p.old = true
	default:
		return &shape{unsure: true}
	}
	return p.read(schema, 0)
}

func (p *shaper) read(schema value, depth int) *shape {
	s := &shape{}
	p.fill(s, schema, depth)
	return s
}

func (p *shaper) fill(s *shape, schema value, depth int) {
	if p.shapes++; p.shapes > maxShapes || depth > maxDepth {
		s.unsure = true
		return
	}
	switch schema.Kind() {
	case 't':
		return
	case 'f':
		s.never = true
		return
	case '{':
	default:
		s.unsure = true
		return
	}
	if ref := get(schema, "$ref"); ref != nil {
		s.ref = p.resolve(ref, depth)
		if p.old {
			return
		}
	}
	members, _ := object(schema)
	for _, m := range members {
		if !p.keyword(s, m.name, m.value, depth) {
			s.unsure = true
		}
	}
	if properties := get(schema, "properties"); get(schema, "patternProperties") != nil || properties != nil && properties.Kind() != '{' {
		s.others = nil
	}
	if get(schema, "prefixItems") != nil {
		s.items = nil
	}
	if depth > 0 && get(schema, "$id") != nil {
		*s = shape{unsure: true} // its references lead elsewhere
	}
}

// keyword takes in one keyword, and reports whether it is judged, or demands nothing.
func (p *shaper) keyword(s *shape, name string, v value, depth int) bool {
	switch name {
	case "$schema", "$id":
		return depth == 0
	case "$ref", "$defs", "definitions", "$comment", "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "format":
		return true // the reference is followed; the others demand nothing
	case "type":
		list, ok := array(v)
		if !ok {
			list = []value{v}
		}
		for _, t := range list {
			name, _ := str(t)
			if typeBits[name] == 0 {
				s.types = 0
				return false
			}
			s.types |= typeBits[name]
		}
		return true
	case "enum":
		list, ok := array(v)
		s.enum = list
		return ok && len(list) > 0
	case "const":
		s.constant = v
		return true
	case "required":
		list, ok := array(v)
		for _, element := range list {
			name, isText := str(element)
			ok = ok && isText
			s.required = append(s.required, name)
		}
		if !ok {
			s.required = nil
		}
		return ok
	case "properties":
		list, ok := object(v)
		s.properties = make(map[string]*shape, len(list))
		for _, m := range list {
			s.properties[m.name] = p.read(m.value, depth+1)
		}
		return ok
	case "additionalProperties":
		s.others = p.read(v, depth+1)
		return true
	case "items":
		s.items = p.read(v, depth+1) // unsure for the list that older dialects allow
		return true
	case "allOf", "anyOf", "oneOf":
		list, ok := array(v)
		var shapes []*shape
		for _, element := range list {
			shapes = append(shapes, p.read(element, depth+1))
		}
		switch name {
		case "allOf":
			s.all = shapes
		case "anyOf":
			s.any = shapes
		default:
			s.one = shapes
		}
		return ok && len(list) > 0
	}
	if kind, ok := boundKinds[name]; ok {
		if v.Kind() != '0' {
			return false
		}
		limit, ok := number(v)
		if ok {
			s.bounds = append(s.bounds, bound{name, kind, limit})
		}
		return ok
	}
	return strings.HasPrefix(name, "x-")
}

// resolve follows a reference into the same schema.
func (p *shaper) resolve(ref value, depth int) *shape {
	pointer, ok := str(ref)
	if !ok || pointer != "#" && !strings.HasPrefix(pointer, "#/") || strings.Contains(pointer, "%") {
		return &shape{unsure: true}
	}
	if known := p.resolved[pointer]; known != nil {
		return known
	}
	s := &shape{}
	p.resolved[pointer] = s
	v := p.root
	for i, step := range strings.Split(pointer, "/")[1:] {
		if i > 0 && get(v, "$id") != nil {
			v = nil // the pointer leads through another schema
		}
		v = get(v, strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~"))
	}
	if pointer == "#" {
		depth = -1 // the root is the root, once more
	}
	p.fill(s, v, depth+1)
	return s
}

// A verdict says whether a value fits a shape.
type verdict uint8

const (
	fits verdict = iota
	unclear
	broken
)

// A judge judges one value, and keeps what is broken first.
type judge struct {
	steps        int
	path, detail string // of the broken part
}

func (j *judge) breaks(detail string) verdict {
	j.path, j.detail = "", detail
	return broken
}

// judge says whether a value fits. What is broken is broken whatever else is unsure.
func (j *judge) judge(s *shape, v value, depth int) verdict {
	if j.steps++; j.steps > maxSteps || depth > maxDepth {
		return unclear
	}
	if s.never {
		return j.breaks("nothing is allowed here")
	}
	found := fits
	if s.unsure {
		found = unclear
	}
	take := func(v verdict) bool { // and reports whether that settles it
		found = max(found, v)
		return v == broken
	}
	if take(j.types(s, v)) || take(j.values(s, v)) || take(j.bounds(s, v)) {
		return broken
	}
	switch v.Kind() {
	case '{':
		if take(j.members(s, v, depth)) {
			return broken
		}
	case '[':
		if list, _ := array(v); s.items != nil {
			for i, element := range list {
				if take(j.judge(s.items, element, depth+1)) {
					j.path = "/" + strconv.Itoa(i) + j.path
					return broken
				}
			}
		}
	}
	if s.ref != nil && take(j.judge(s.ref, v, depth+1)) {
		return broken
	}
	for _, inner := range s.all {
		if take(j.judge(inner, v, depth+1)) {
			return broken
		}
	}
	if s.any != nil && take(j.choice(s.any, false, v, depth)) || s.one != nil && take(j.choice(s.one, true, v, depth)) {
		return broken
	}
	return found
}

func (j *judge) types(s *shape, v value) verdict {
	if s.types == 0 {
		return fits
	}
	var is uint8
	switch v.Kind() {
	case 'n':
		is = typeBits["null"]
	case 't', 'f':
		is = typeBits["boolean"]
	case '{':
		is = typeBits["object"]
	case '[':
		is = typeBits["array"]
	case '"':
		is = typeBits["string"]
	case '0':
		is = typeBits["number"]
		if s.types&typeBits["integer"] == 0 {
			break
		}
		n, ok := number(v)
		switch {
		case ok && n.IsInt():
			is |= typeBits["integer"]
		case !ok && s.types&is == 0:
			return unclear
		}
	}
	if s.types&is == 0 {
		return j.breaks("the type is not one that the schema allows")
	}
	return fits
}

func (j *judge) values(s *shape, v value) verdict {
	j.steps += len(s.enum)
	if s.constant != nil && !same(s.constant, v) {
		return j.breaks("this is not the value that the schema demands")
	}
	for _, allowed := range s.enum {
		if same(allowed, v) {
			return fits
		}
	}
	if len(s.enum) > 0 {
		return j.breaks("this is none of the values that the schema lists")
	}
	return fits
}

func (j *judge) bounds(s *shape, v value) verdict {
	for _, b := range s.bounds {
		if byte(v.Kind()) != b.kind {
			continue
		}
		var n *big.Rat
		switch b.kind {
		case '0':
			var ok bool
			if n, ok = number(v); !ok {
				return unclear
			}
		case '"':
			text, _ := str(v)
			n = big.NewRat(int64(utf8.RuneCountInString(text)), 1)
		case '[':
			list, _ := array(v)
			n = big.NewRat(int64(len(list)), 1)
		case '{':
			list, _ := object(v)
			n = big.NewRat(int64(len(list)), 1)
		}
		switch order := n.Cmp(b.limit); {
		case strings.HasPrefix(b.keyword, "min") && order < 0,
			strings.HasPrefix(b.keyword, "max") && order > 0,
			b.keyword == "exclusiveMinimum" && order <= 0,
			b.keyword == "exclusiveMaximum" && order >= 0:
			return j.breaks("this breaks the " + b.keyword + " of the schema")
		}
	}
	return fits
}

func (j *judge) members(s *shape, v value, depth int) verdict {
	if s.required == nil && s.properties == nil && s.others == nil {
		return fits
	}
	list, _ := object(v)
	if j.steps += len(list) * (1 + len(s.required)) / 16; j.steps > maxSteps {
		return unclear
	}
	for _, name := range s.required {
		if find(list, name) == nil {
			j.breaks("the schema requires this member, and it is missing")
			j.path = pointer(name)
			return broken
		}
	}
	found := fits
	for _, m := range list {
		inner := s.properties[m.name]
		if inner == nil {
			inner = s.others
		}
		if inner == nil {
			continue
		}
		switch got := j.judge(inner, m.value, depth+1); {
		case got == broken && inner.never:
			j.breaks("the schema does not allow this member")
			j.path = pointer(m.name)
			return broken
		case got == broken:
			j.path = pointer(m.name) + j.path
			return broken
		default:
			found = max(found, got)
		}
	}
	return found
}

// choice is anyOf, or oneOf where exactly one may fit.
func (j *judge) choice(shapes []*shape, one bool, v value, depth int) verdict {
	fit, open := 0, 0
	for _, s := range shapes {
		switch j.judge(s, v, depth+1) {
		case fits:
			fit++
		case unclear:
			open++
		}
	}
	switch {
	case one && fit > 1:
		return j.breaks("this fits more than one of the choices of the schema")
	case fit == 0 && open == 0:
		return j.breaks("this fits none of the choices of the schema")
	case fit == 0, one && open > 0:
		return unclear
	}
	return fits
}
