// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"github.com/reprise-mcp/reprise/wire"
)

var ruleAnswerUndeclared = Rule{
	ID:      "answer-undeclared",
	Level:   Error,
	Section: "client/elicitation#capabilities",
	Since:   "2026-07-28",
	Title:   "A client that answers elicitations declares them on each request",
	Text:    "A server could not ask it again on this one.",
	check: func(v *view, r *result) {
		if !v.retries || v.serverSays() || !v.modern || v.self.caps == nil {
			return
		}
		declared, err := wire.ParseCapabilities(v.self.caps)
		if err != nil {
			return
		}
		eachAnswer(v, func(path, method string, question, _ value) {
			kind := kindOf(question)
			if method != wire.MethodElicit || kind == "" {
				return
			}
			r.holds()
			if !declared.Has(string(kind)) {
				r.warn("/params/_meta"+pointer(wire.MetaCapabilities), "the retry answers what it does not declare")
			}
		})
	},
}
