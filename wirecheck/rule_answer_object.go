// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"github.com/reprise-mcp/reprise/wire"
)

var ruleAnswerObject = Rule{
	ID:      "answer-object",
	Level:   Error,
	Section: "basic/patterns/mrtr#inputresponses",
	Since:   "2026-07-28",
	Title:   "inputResponses is an object of results",
	Text:    "A server that reads it in another way executes something that nobody said.",
	check: func(v *view, r *result) {
		if v.kind != request || v.serverSays() || !wire.MayAsk(v.method) {
			return
		}
		responses := v.param("inputResponses")
		if responses == nil {
			return
		}
		r.holds()
		list, ok := object(responses)
		if !ok {
			r.fail("/params/inputResponses", "inputResponses must be an object")
			v.self.badAnswer = "inputResponses is no object"
			return
		}
		for _, m := range list {
			if m.value.Kind() != '{' {
				r.fail("/params/inputResponses"+pointer(m.name), "an answer is an object")
				v.self.badAnswer = "an answer is no object"
			}
		}
	},
}
