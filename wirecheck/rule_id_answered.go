// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleIdAnswered = Rule{
	ID:      "id-answered",
	Level:   Error,
	Section: "basic#responses",
	Since:   "2026-07-28",
	Title:   "A response has the id of the request that it answers",
	Text:    "Without it nobody knows what was answered.",
	check: func(v *view, r *result) {
		if v.kind != success && v.kind != failure || v.clientSays() {
			return
		}
		r.holds()
		switch {
		case v.req != nil:
		case v.kind == failure && (v.id == nil || v.id.Kind() == 'n'):
			// the id could not be read
		case v.id == nil:
			r.fail("/id", "a result has the id of its request")
		default:
			r.cannotTell("no request with this id is in the recording")
		}
	},
}
