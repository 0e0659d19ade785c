// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"errors"

	"github.com/reprise-mcp/reprise/elicitation"
	"github.com/reprise-mcp/reprise/wire"
)

var ruleAnswerSchema = Rule{
	ID:      "answer-schema",
	Level:   Warning,
	Section: "client/elicitation#form-mode-security",
	Since:   "2026-07-28",
	Title:   "The content of an accepted form fits the schema that was asked",
	Text:    "A server asks again what does not fit, or acts on it.",
	check: func(v *view, r *result) {
		eachAnswer(v, func(path, method string, question, answer value) {
			mode, hasMode := str(get(question, "params", "mode"))
			if action, _ := str(get(answer, "action")); method != wire.MethodElicit || action != "accept" || hasMode && mode != "form" {
				return
			}
			if v.entry.Redacted {
				r.cannotTell("the answers are redacted in this recording")
				return
			}
			schema, err := v.schemas.parse(get(question, "params", "requestedSchema"))
			if err != nil {
				r.cannotTell("the schema is not one that this checker can judge by")
				return
			}
			_, content, err := elicitation.ParseResult(answer)
			if err == nil {
				err = schema.Validate(content)
			}
			r.holds()
			if err != nil && v.self.badAnswer == "" {
				v.self.badAnswer = "an answer does not fit its schema"
			}
			var bad *elicitation.AnswerError
			if errors.As(err, &bad) {
				r.fail(path+"/content", "%v", bad)
			} else if err != nil {
				r.fail(path+"/content", "the content does not fit the schema")
			}
		})
	},
}
