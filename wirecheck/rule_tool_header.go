// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"bytes"
	"strconv"
	"strings"
)

var ruleToolHeader = Rule{
	ID:      "tool-header",
	Level:   Error,
	Section: "server/tools#x-mcp-header",
	Since:   "2026-07-28",
	Title:   "An x-mcp-header is a token, on a plain parameter, and no two of a tool are the same",
	Text:    "A client has to leave the tool out, since it cannot make the header.",
	check: func(v *view, r *result) {
		tools, ok := listedTools(v)
		if !ok {
			return
		}
		for i, tool := range tools {
			if markFaults("/result/tools/"+strconv.Itoa(i)+"/inputSchema", get(tool, "inputSchema"), func(path, detail string) { r.fail(path, "%s", detail) }) {
				r.holds()
			}
		}
	},
}

// markFaults says what is wrong with each x-mcp-header of a schema, and whether there is one.
func markFaults(path string, schema value, fault func(path, detail string)) (marked bool) {
	if !bytes.Contains(schema, []byte("x-mcp-header")) {
		return false
	}
	seen := map[string]bool{}
	eachMark(path, schema, func(path string, property, mark value) {
		marked = true
		name, isText := str(mark)
		lower := strings.ToLower(name)
		switch kind, _ := str(get(property, "type")); {
		case !isText || name == "" || strings.ContainsFunc(name, notToken):
			fault(path+"/x-mcp-header", "an x-mcp-header is a token, as names of headers are")
		case seen[lower]:
			fault(path+"/x-mcp-header", "another parameter of this tool has this header")
		case kind != "string" && kind != "integer" && kind != "boolean":
			fault(path+"/type", "only strings, integers and booleans become headers")
		}
		seen[lower] = true
	})
	stray := func(path string) {
		marked = true
		fault(path+"/x-mcp-header", "an x-mcp-header is on a property that is reached through properties alone")
	}
	if get(schema, "x-mcp-header") != nil {
		stray(path)
	}
	eachStray(path, schema, false, stray)
	return marked
}

// eachStray visits the schemas that have an x-mcp-header where eachMark does not come. Stray: the way to this schema leads
// through something else than properties.
func eachStray(path string, schema value, stray bool, visit func(path string)) {
	members, _ := object(schema)
	for _, m := range members {
		at := path + pointer(m.name)
		switch m.name {
		case "x-mcp-header":
			if stray {
				visit(path)
			}
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
			inner, _ := object(m.value)
			for _, p := range inner {
				eachStray(at+pointer(p.name), p.value, stray || m.name != "properties", visit)
			}
		case "items", "prefixItems", "allOf", "anyOf", "oneOf":
			list, _ := array(m.value)
			for i, element := range list {
				eachStray(at+"/"+strconv.Itoa(i), element, true, visit)
			}
			eachStray(at, m.value, true, visit) // items of one schema
		case "additionalProperties", "contains", "not", "if", "then", "else", "propertyNames", "unevaluatedItems", "unevaluatedProperties":
			eachStray(at, m.value, true, visit)
		}
	}
}

// eachMark visits the properties of a schema that have an x-mcp-header and are reached through properties alone.
func eachMark(path string, schema value, visit func(path string, property, mark value)) {
	properties, _ := object(get(schema, "properties"))
	for _, p := range properties {
		at := path + "/properties" + pointer(p.name)
		if mark := get(p.value, "x-mcp-header"); mark != nil {
			visit(at, p.value, mark)
		}
		eachMark(at, p.value, visit)
	}
}

// notToken reports whether r may not be in the name of a header (RFC 9110, section 5.6.2).
func notToken(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
}
