// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleAnswerAccepted = Rule{
	ID:      "answer-accepted",
	Level:   Warning,
	Section: "basic/patterns/mrtr#error-handling",
	Since:   "2026-07-28",
	Title:   "A server does not act on an answer that is malformed, or does not fit its question",
	Text:    "It answers with an error, or asks again. What it took for an answer, nobody gave.",
	check: func(v *view, r *result) {
		if v.kind != success || v.clientSays() || v.req == nil || v.req.badAnswer == "" || v.req.violation != "" || !v.modern {
			return
		}
		r.holds()
		if v.complete() && string(v.member("isError")) != "true" {
			r.fail("/result", "in the request on line %d %s, and it was carried out", v.req.line, v.req.badAnswer)
		}
	},
}
