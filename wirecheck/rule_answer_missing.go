// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleAnswerMissing = Rule{
	ID:      "answer-missing",
	Level:   Error,
	Section: "basic/patterns/mrtr#client-requirements-basic-workflow",
	Since:   "2026-07-28",
	Title:   "A client answers every question before it retries",
	Text:    "A question without an answer is asked again, and the user sees it twice.",
	check: func(v *view, r *result) {
		if !v.retries || v.ask == nil || v.serverSays() {
			return
		}
		if v.how != byState && v.ask.state != nil {
			return // it may be the answer to another question
		}
		r.holds()
		for _, q := range v.ask.requests {
			if get(v.param("inputResponses"), q.name) == nil {
				r.fail("/params/inputResponses"+pointer(q.name), "there is no answer to this question")
			}
		}
	},
}
