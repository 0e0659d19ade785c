// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleLegacySession = Rule{
	ID:      "legacy-session",
	Level:   Warning,
	Section: "basic/transports/streamable-http#earlier-streamable-http-revisions",
	Since:   "2026-07-28",
	Title:   "A server hands out no Mcp-Session-Id",
	Text:    "This revision has no sessions.",
	check: func(v *view, r *result) {
		if v.kind != success && v.kind != failure || v.clientSays() || v.req == nil || !v.modern || v.req.version == "" || !v.entry.HTTP || len(v.entry.Headers) == 0 {
			return
		}
		r.holds()
		if _, ok := v.header("mcp-session-id"); ok {
			r.fail("", "the response has the header Mcp-Session-Id")
		}
	},
}
