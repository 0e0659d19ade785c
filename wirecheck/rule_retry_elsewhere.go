// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleRetryElsewhere = Rule{
	ID:      "retry-elsewhere",
	Level:   Error,
	Section: "basic/patterns/mrtr#client-requirements-basic-workflow",
	Since:   "2026-07-28",
	Title:   "A state and answers go with the request that was asked, and with no other",
	Text:    "They mean nothing elsewhere, or something that nobody agreed to.",
	check: func(v *view, r *result) {
		if !v.retries || v.how != byState || v.serverSays() {
			return
		}
		r.holds()
		if v.method != v.ask.call.method {
			r.fail("/method", "this requestState belongs to another method")
		} else if v.self.target != v.ask.call.target {
			r.fail("/params", "this requestState belongs to another tool, prompt or resource")
		}
	},
}
