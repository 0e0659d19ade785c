// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package elicitation_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/reprise-mcp/reprise/elicitation"
)

// form wraps property schemas into a form.
func form(properties, rest string) []byte {
	return []byte(`{"type":"object","properties":{` + properties + `}` + rest + `}`)
}

func TestParseSchema(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"string", `"a":{"type":"string"}`, ``},
		{"the order of members is fixed", `"a" : { "default":"xyz", "maxLength":3.0, "description":"D", "minLength":1e0, "title":"T", "type":"string" }`,
			`"a":{"type":"string","title":"T","description":"D","minLength":1,"maxLength":3,"default":"xyz"}`},
		{"escapes are spelt in one way", `"\u0061":{"type":"string","title":"\u00e9\/"}`, `"a":{"type":"string","title":"é/"}`},
		{"all formats", `"a":{"type":"string","format":"email"},"b":{"type":"string","format":"uri"},"c":{"type":"string","format":"date"},"d":{"type":"string","format":"date-time"}`, ``},
		{"number", `"a":{"type":"number","minimum":-1.50,"maximum":1e400,"default":1.5}`, ``},
		{"integer", `"a":{"type":"integer","minimum":0,"default":3e1}`, ``},
		{"boolean", `"a":{"type":"boolean","default":false}`, ``},
		{"choice", `"a":{"type":"string","enum":["x","y"],"default":"y"}`, ``},
		{"choice with titles", `"a":{"type":"string","oneOf":[{"title":"X","const":"x"}]}`, `"a":{"type":"string","oneOf":[{"const":"x","title":"X"}]}`},
		{"choice with legacy titles", `"a":{"type":"string","enum":["x","y"],"enumNames":["X","Y"]}`, ``},
		{"multiple choice", `"a":{"type":"array","minItems":0,"maxItems":2,"items":{"type":"string","enum":["x","y"]},"default":[ "x" ]}`,
			`"a":{"type":"array","minItems":0,"maxItems":2,"items":{"type":"string","enum":["x","y"]},"default":["x"]}`},
		{"multiple choice with titles", `"a":{"type":"array","items":{"anyOf":[{"const":"x","title":"X"}]}}`, ``},
		{"declared order", `"z":{"type":"string"},"a":{"type":"string"}`, ``},
		{"names that differ by case", `"a":{"type":"string"},"A":{"type":"string"}`, ``},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.want == "" {
				test.want = test.in
			}
			schema, err := elicitation.ParseSchema(form(test.in, ""))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := string(schema.JSON()), string(form(test.want, "")); got != want {
				t.Errorf("got %s\nwant %s", got, want)
			}
		})
	}
}

func TestParseSchemaRoot(t *testing.T) {
	in := `{"required":["b","a"],"properties":{"a":{"type":"string"},"b":{"type":"string"}},"type":"object","$schema":"https://json-schema.org/draft/2020-12/schema"}`
	want := `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a","b"]}`
	schema, err := elicitation.ParseSchema([]byte(in))
	if err != nil || string(schema.JSON()) != want {
		t.Errorf("got %s, %v", schema.JSON(), err)
	}
}

func TestParseSchemaRefused(t *testing.T) {
	prop := func(schema string) string { return string(form(`"a":`+schema, "")) }
	tests := []struct{ name, in, property, says string }{
		{"nothing", ``, "", ""},
		{"no JSON", `{`, "", ""},
		{"null", `null`, "", "object"},
		{"array", `[]`, "", "object"},
		{"two values", prop(`{"type":"string"}`) + `{}`, "", "follows"},
		{"no type", `{"properties":{"a":{"type":"string"}}}`, "", `"type"`},
		{"other type", `{"type":"array","properties":{"a":{"type":"string"}}}`, "", `"type"`},
		{"no properties", `{"type":"object"}`, "", `"properties"`},
		{"empty properties", `{"type":"object","properties":{}}`, "", "without showing it"},
		{"properties that are no object", `{"type":"object","properties":[]}`, "", "object"},
		{"additionalProperties", string(form(`"a":{"type":"string"}`, `,"additionalProperties":{"type":"string"}`)), "", "additionalProperties"},
		{"additionalProperties true", string(form(`"a":{"type":"string"}`, `,"additionalProperties":true`)), "", "additionalProperties"},
		{"title of the form", string(form(`"a":{"type":"string"}`, `,"title":"T"`)), "", `"title"`},
		{"$schema that is no string", string(form(`"a":{"type":"string"}`, `,"$schema":7`)), "", "$schema"},
		{"required that is no list", string(form(`"a":{"type":"string"}`, `,"required":"a"`)), "", "required"},
		{"required that is null", string(form(`"a":{"type":"string"}`, `,"required":null`)), "", "required"},
		{"required without its property", string(form(`"a":{"type":"string"}`, `,"required":["b"]`)), "b", "required"},
		{"required twice", string(form(`"a":{"type":"string"}`, `,"required":["a","a"]`)), "a", "twice"},
		{"property twice", string(form(`"a":{"type":"string"},"a":{"type":"boolean"}`, "")), "", "duplicate"},
		{"member twice, deep", prop(`{"type":"string","oneOf":[{"const":"x","const":"y","title":"X"}]}`), "", "duplicate"},
		{"invalid UTF-8", prop("{\"type\":\"string\",\"title\":\"\xff\"}"), "", "UTF-8"},
		{"lone surrogate", prop(`{"type":"string","title":"\ud800"}`), "", ""},
		{"blank name", string(form(`" ":{"type":"string"}`, "")), " ", "name"},
		{"property that is no object", prop(`true`), "a", "object"},
		{"no type in a property", prop(`{}`), "a", `"type"`},
		{"list of types", prop(`{"type":["string","null"]}`), "a", `"type"`},
		{"nested object", prop(`{"type":"object"}`), "a", "flat"},
		{"null type", prop(`{"type":"null"}`), "a", "flat"},
		{"reference", prop(`{"$ref":"#/x"}`), "a", `"type"`},
		{"pattern", prop(`{"type":"string","pattern":"^a"}`), "a", "pattern"},
		{"keyword of another shape", prop(`{"type":"string","minimum":1}`), "a", "minimum"},
		{"keyword in another letter case", prop(`{"type":"string","maxlength":1}`), "a", "maxlength"},
		{"exclusiveMinimum", prop(`{"type":"number","exclusiveMinimum":1}`), "a", "exclusiveMinimum"},
		{"multipleOf", prop(`{"type":"integer","multipleOf":2}`), "a", "multipleOf"},
		{"format of a choice", prop(`{"type":"string","enum":["x"],"format":"uri"}`), "a", "format"},
		{"unknown format", prop(`{"type":"string","format":"hostname"}`), "a", "hostname"},
		{"length below zero", prop(`{"type":"string","minLength":-1}`), "a", "minLength"},
		{"length with a fraction", prop(`{"type":"string","minLength":1.5}`), "a", "minLength"},
		{"length as text", prop(`{"type":"string","minLength":"1"}`), "a", "minLength"},
		{"absurd length", prop(`{"type":"string","maxLength":1e300}`), "a", "maxLength"},
		{"lengths crossed", prop(`{"type":"string","minLength":2,"maxLength":1}`), "a", "above"},
		{"limit as text", prop(`{"type":"number","minimum":"1"}`), "a", "minimum"},
		{"absurd limit", prop(`{"type":"number","minimum":1e99999999}`), "a", "minimum"},
		{"limits crossed", prop(`{"type":"number","minimum":2,"maximum":1}`), "a", "above"},
		{"title that is no string", prop(`{"type":"string","title":null}`), "a", "title"},
		{"null default", prop(`{"type":"string","default":null}`), "a", "default"},
		{"default of another type", prop(`{"type":"boolean","default":"true"}`), "a", "default"},
		{"default that is a title", prop(`{"type":"string","oneOf":[{"const":"x","title":"X"}],"default":"X"}`), "a", "default"},
		{"oneOf without type", prop(`{"oneOf":[{"const":"x","title":"X"}]}`), "a", `"type"`},
		{"oneOf and enum", prop(`{"type":"string","enum":["x"],"oneOf":[{"const":"x","title":"X"}]}`), "a", "both"},
		{"anyOf at the top", prop(`{"type":"string","anyOf":[{"const":"x","title":"X"}]}`), "a", "anyOf"},
		{"oneOf without titles", prop(`{"type":"string","oneOf":[{"const":"x"}]}`), "a", "each choice"},
		{"oneOf with more", prop(`{"type":"string","oneOf":[{"const":"x","title":"X","description":"D"}]}`), "a", "each choice"},
		{"oneOf of numbers", prop(`{"type":"string","oneOf":[{"const":1,"title":"X"}]}`), "a", "each choice"},
		{"oneOf of schemas", prop(`{"type":"string","oneOf":[true]}`), "a", "each choice"},
		{"oneOf that is no list", prop(`{"type":"string","oneOf":{}}`), "a", "each choice"},
		{"blank title of a value", prop(`{"type":"string","oneOf":[{"const":"x","title":" "}]}`), "a", "no title"},
		{"empty enum", prop(`{"type":"string","enum":[]}`), "a", "no values"},
		{"enum of numbers", prop(`{"type":"string","enum":[1]}`), "a", "strings"},
		{"enum of an integer", prop(`{"type":"integer","enum":[1]}`), "a", "enum"},
		{"value twice", prop(`{"type":"string","enum":["x","x"]}`), "a", "twice"},
		{"enumNames of another length", prop(`{"type":"string","enum":["x","y"],"enumNames":["X"]}`), "a", "enumNames"},
		{"enumNames without enum", prop(`{"type":"string","enumNames":["X"]}`), "a", "enumNames"},
		{"free list", prop(`{"type":"array","items":{"type":"string"}}`), "a", "any other list"},
		{"list without items", prop(`{"type":"array"}`), "a", "free list"},
		{"list of numbers", prop(`{"type":"array","items":{"type":"number","enum":[1]}}`), "a", "any other list"},
		{"list of objects", prop(`{"type":"array","items":{"type":"object"}}`), "a", "any other list"},
		{"list of lists", prop(`{"type":"array","items":{"type":"array","items":{"type":"string","enum":["x"]}}}`), "a", "any other list"},
		{"items with more", prop(`{"type":"array","items":{"type":"string","enum":["x"],"maxLength":3}}`), "a", "any other list"},
		{"uniqueItems", prop(`{"type":"array","items":{"type":"string","enum":["x"]},"uniqueItems":true}`), "a", "uniqueItems"},
		{"items crossed", prop(`{"type":"array","items":{"type":"string","enum":["x","y"]},"minItems":2,"maxItems":1}`), "a", "above"},
		{"more items than values", prop(`{"type":"array","items":{"type":"string","enum":["x","y"]},"minItems":3}`), "a", "number of values"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			schema, err := elicitation.ParseSchema([]byte(test.in))
			e, ok := errors.AsType[*elicitation.SchemaError](err)
			if !ok {
				t.Fatalf("got %v, %v; want a *SchemaError", schema, err)
			}
			if e.Property != test.property || !strings.Contains(e.Error(), test.says) {
				t.Errorf("got property %q, %v; want %q and %q", e.Property, e, test.property, test.says)
			}
		})
	}
}

// What a generator writes for a struct is no reason to refuse a form.
func TestAdditionalPropertiesFalseSaysNothing(t *testing.T) {
	s, err := elicitation.ParseSchema(form(`"a":{"type":"string"}`, `,"additionalProperties": false`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(s.JSON()), `{"type":"object","properties":{"a":{"type":"string"}}}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if err := s.Validate([]byte(`{"a":"x","b":1}`)); err != nil {
		t.Error(err)
	}
}
