// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"github.com/reprise-mcp/reprise/wire"
)

var ruleSchemaFlat = Rule{
	ID:      "schema-flat",
	Level:   Error,
	Section: "client/elicitation#requested-schema",
	Since:   "2026-07-28",
	Title:   "A form is a flat object of strings, numbers, booleans and choices",
	Text:    "Clients build a form from it, and have nothing for more.",
	check: func(v *view, r *result) {
		eachForm(v, func(path string, schema value) {
			r.holds()
			if kind, _ := str(get(schema, "type")); kind != "object" {
				r.fail(path+"/type", "requestedSchema must be of type object")
				return
			}
			properties, ok := object(get(schema, "properties"))
			if !ok {
				r.fail(path+"/properties", "requestedSchema must have properties")
				return
			}
			for _, p := range properties {
				at := path + "/properties" + pointer(p.name)
				switch kind, _ := str(get(p.value, "type")); kind {
				case "string", "number", "integer", "boolean":
				case "array":
					items := get(p.value, "items")
					if get(items, "enum") == nil && get(items, "anyOf") == nil && get(items, "oneOf") == nil {
						r.fail(at+"/items", "an array is a choice among values that items lists")
					}
				default:
					r.fail(at+"/type", "a property is a string, a number, an integer, a boolean or a choice")
				}
			}
		})
	},
}

// eachForm visits the schema of each form that a result asks.
func eachForm(v *view, visit func(path string, schema value)) {
	for _, q := range asked(v) {
		method, _ := str(get(q.value, "method"))
		mode, hasMode := str(get(q.value, "params", "mode"))
		if method == wire.MethodElicit && (!hasMode || mode == "form") {
			visit("/result/inputRequests"+pointer(q.name)+"/params/requestedSchema", get(q.value, "params", "requestedSchema"))
		}
	}
}
