// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleRetryId = Rule{
	ID:      "retry-id",
	Level:   Error,
	Section: "basic/patterns/mrtr#client-requirements-basic-workflow",
	Since:   "2026-07-28",
	Title:   "A retry has a new id",
	Text:    "It is a request of its own.",
	check: func(v *view, r *result) {
		if !v.retries || v.ask == nil || v.serverSays() {
			return
		}
		r.holds()
		if string(v.id) == string(v.ask.call.id) {
			r.fail("/id", "the retry has the id of the request on line %d", v.ask.call.line)
		}
	},
}
