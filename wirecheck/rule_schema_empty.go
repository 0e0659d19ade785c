// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleSchemaEmpty = Rule{
	ID:      "schema-empty",
	Level:   Warning,
	Section: "client/elicitation#requested-schema",
	Since:   "2026-07-28",
	Title:   "A form has a field",
	Text:    "Some clients accept a form without one by themselves, and no human has seen it.",
	check: func(v *view, r *result) {
		eachForm(v, func(path string, schema value) {
			r.holds()
			if properties, ok := object(get(schema, "properties")); ok && len(properties) == 0 {
				r.fail(path+"/properties", "the form has no field")
			}
		})
	},
}
