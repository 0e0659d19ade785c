// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"github.com/reprise-mcp/reprise/elicitation"
	"github.com/reprise-mcp/reprise/wire"
)

var ruleAnswerShape = Rule{
	ID:      "answer-shape",
	Level:   Error,
	Section: "basic/patterns/mrtr#inputresponses",
	Since:   "2026-07-28",
	Title:   "An answer is the result of its own question",
	Text:    "A form is answered with an action, sampling with a message, roots with a list.",
	check: func(v *view, r *result) {
		eachAnswer(v, func(path, method string, _, answer value) {
			r.holds()
			switch method {
			case wire.MethodElicit:
				switch action, _ := str(get(answer, "action")); elicitation.Action(action) {
				case elicitation.Accept, elicitation.Decline, elicitation.Cancel:
				default:
					r.fail(path+"/action", "the action must be accept, decline or cancel")
					v.self.badAnswer = malformed
				}
			case wire.MethodSample:
				if get(answer, "role").Kind() != '"' || get(answer, "content") == nil || get(answer, "model").Kind() != '"' {
					r.fail(path, "an answer to sampling has role, content and model")
					v.self.badAnswer = malformed
				}
			case wire.MethodRoots:
				if get(answer, "roots").Kind() != '[' {
					r.fail(path+"/roots", "an answer to roots/list has a list of roots")
					v.self.badAnswer = malformed
				}
			}
		})
	},
}

const malformed = "an answer is malformed"

// eachAnswer visits the answers of a retry that are objects, each with the question that it answers.
func eachAnswer(v *view, visit func(path, method string, question, answer value)) {
	if !v.retries || v.ask == nil || v.serverSays() || v.how != byState && v.ask.state != nil {
		return
	}
	for _, q := range v.ask.requests {
		answer := get(v.param("inputResponses"), q.name)
		if answer.Kind() != '{' {
			continue
		}
		method, _ := str(get(q.value, "method"))
		visit("/params/inputResponses"+pointer(q.name), method, q.value, answer)
	}
}
