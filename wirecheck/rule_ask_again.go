// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleAskAgain = Rule{
	ID:      "ask-again",
	Level:   Warning,
	Section: "client/elicitation#response-actions",
	Since:   "2026-07-28",
	Title:   "A question that was declined is not asked again",
	Text:    "A user who said no is worn down. Ask something else, or end the call.",
	check: func(v *view, r *result) {
		requests := asked(v)
		if requests == nil || v.req == nil || !v.req.retry {
			return
		}
		r.holds()
		for _, a := range v.talk.declined {
			if a.call.method != v.req.method || a.call.target != v.req.target || !same(a.call.arguments, v.req.arguments) {
				continue
			}
			for _, q := range requests {
				for _, earlier := range a.requests {
					if q.name == earlier.name && same(q.value, earlier.value) && declinedOn(v.req, q.name) {
						r.fail("/result/inputRequests"+pointer(q.name), "the user declined this very question on line %d", v.req.line)
						return
					}
				}
			}
		}
	},
}

// declinedOn reports whether a retry declined the question of that key.
func declinedOn(c *call, key string) bool {
	action, _ := str(get(c.params, "inputResponses", key, "action"))
	return action == "decline"
}
