// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleAnswerUnasked = Rule{
	ID:      "answer-unasked",
	Level:   Warning,
	Section: "basic/patterns/mrtr#inputresponses",
	Since:   "2026-07-28",
	Title:   "An answer is to a question that was asked",
	Text:    "A server ignores the others.",
	check: func(v *view, r *result) {
		if !v.retries || v.ask == nil || v.serverSays() || v.how != byState && v.ask.state != nil {
			return
		}
		r.holds()
		list, _ := object(v.param("inputResponses"))
		for _, m := range list {
			if question(v.ask, m.name) == nil {
				r.fail("/params/inputResponses"+pointer(m.name), "nobody asked this")
			}
		}
	},
}

// question is what was asked under a key.
func question(a *ask, key string) value {
	for _, q := range a.requests {
		if q.name == key {
			return q.value
		}
	}
	return nil
}
