// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleIdType = Rule{
	ID:      "id-type",
	Level:   Error,
	Section: "basic#requests",
	Since:   "2026-07-28",
	Title:   "The id of a request is a string or an integer",
	Text:    "null is no id in MCP, and a fraction is none in any JSON-RPC.",
	check: func(v *view, r *result) {
		if v.kind != request {
			return
		}
		r.holds()
		if v.id.Kind() != '"' && !integer(v.id) {
			r.fail("/id", "the id of a request must be a string or an integer")
		}
	},
}
