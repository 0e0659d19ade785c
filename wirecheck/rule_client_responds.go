// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleClientResponds = Rule{
	ID:      "client-responds",
	Level:   Error,
	Section: "basic/transports/streamable-http#sending-messages",
	Since:   "2026-07-28",
	Title:   "A client sends no responses",
	Text:    "In this revision a server sends no requests; what it wants to know it asks in a result.",
	check: func(v *view, r *result) {
		if v.kind != success && v.kind != failure || v.from == "" {
			return
		}
		if v.legacy || v.entry.Legacy || v.talk.legacy {
			return
		}
		r.holds()
		if v.clientSays() {
			r.fail("", "a client sent a response")
		}
	},
}
