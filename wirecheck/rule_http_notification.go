// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleHttpNotification = Rule{
	ID:      "http-notification",
	Level:   Warning,
	Section: "basic/transports/streamable-http#sending-messages",
	Since:   "2026-07-28",
	Title:   "A notification that is taken gets status 202",
	Text:    "There is nothing to answer.",
	check: func(v *view, r *result) {
		if v.kind != none || !v.serverSays() || !v.entry.HTTP || !v.talk.notified {
			return
		}
		r.holds()
		if status := v.entry.Status; status != 202 && status < 400 {
			r.fail("", "the status is %d, and must be 202", status)
		}
	},
}
