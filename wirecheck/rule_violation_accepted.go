// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleViolationAccepted = Rule{
	ID:      "violation-accepted",
	Level:   Error,
	Section: "basic/patterns/mrtr#security-considerations",
	Since:   "2026-07-28",
	Title:   "A server refuses what is wrong",
	Text:    "The request was wrong on purpose, and the server carried it out.",
	check: func(v *view, r *result) {
		if v.kind != success || v.req == nil || v.req.violation == "" || v.clientSays() {
			return
		}
		r.holds()
		if v.complete() && string(v.member("isError")) != "true" {
			r.fail("/result", "the request on line %d was wrong on purpose (%s), and was carried out", v.req.line, v.req.violation)
		}
	},
}
