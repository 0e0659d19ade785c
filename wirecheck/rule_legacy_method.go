// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleLegacyMethod = Rule{
	ID:      "legacy-method",
	Level:   Warning,
	Section: "basic/versioning",
	Since:   "2026-07-28",
	Title:   "A request of this revision is of a method that it has",
	Text:    "The handshake, ping, log levels and resource subscriptions are of older revisions.",
	check: func(v *view, r *result) {
		if v.kind != request || v.serverSays() || !v.modern || v.self.version == "" {
			return
		}
		r.holds()
		switch v.method {
		case "initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe":
			r.fail("/method", "this revision has no such method")
		}
	},
}
