// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleServerRequests = Rule{
	ID:      "server-requests",
	Level:   Error,
	Section: "basic/patterns/mrtr",
	Since:   "2026-07-28",
	Title:   "A server asks in a result, and sends no requests",
	Text:    "A request that a server sends would have to find the connection that the client listens on.",
	check: func(v *view, r *result) {
		if v.kind != request || v.entry.Legacy || v.talk.legacy {
			return
		}
		if !v.serverSays() {
			return
		}
		r.fail("/method", "a server sent a request; ask with an input_required result")
	},
}
