// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"errors"

	"github.com/reprise-mcp/reprise/elicitation"
)

var ruleSchemaSecret = Rule{
	ID:      "schema-secret",
	Level:   Error,
	Section: "client/elicitation#user-interaction-model",
	Since:   "2026-07-28",
	Title:   "A form asks for no secret",
	Text:    "What is typed into a form passes through the client and may reach a model and a log. Use URL mode.",
	check: func(v *view, r *result) {
		eachForm(v, func(path string, schema value) {
			r.holds()
			var bad *elicitation.SchemaError
			if _, err := v.schemas.parse(schema); errors.As(err, &bad) && bad.Sensitive {
				r.warn(path+"/properties"+pointer(bad.Property), "this looks like a secret; ask for it in URL mode")
			}
		})
	},
}
