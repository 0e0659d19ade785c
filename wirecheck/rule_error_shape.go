// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleErrorShape = Rule{
	ID:      "error-shape",
	Level:   Error,
	Section: "basic#error-responses",
	Since:   "2026-07-28",
	Title:   "An error has an integer code and a message",
	Text:    "Clients choose by the code what to do next.",
	check: func(v *view, r *result) {
		if v.kind != failure {
			return
		}
		r.holds()
		if !integer(get(v.err, "code")) {
			r.fail("/error/code", "the code must be an integer")
		}
		if get(v.err, "message").Kind() != '"' {
			r.fail("/error/message", "the message is missing")
		}
	},
}
