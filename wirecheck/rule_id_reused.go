// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleIdReused = Rule{
	ID:      "id-reused",
	Level:   Error,
	Section: "basic#requests",
	Since:   "2026-07-28",
	Title:   "The id of a request is not that of one that is not answered yet",
	Text:    "Its answer could not be told from that of the other.",
	check: func(v *view, r *result) {
		if v.kind != request || v.serverSays() {
			return
		}
		r.holds()
		if earlier := v.talk.pending[string(v.id)]; earlier != nil {
			r.fail("/id", "the request on line %d has this id, and is not answered yet", earlier.line)
		}
	},
}
