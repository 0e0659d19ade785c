// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleHeaderMethod = Rule{
	ID:      "header-method",
	Level:   Error,
	Section: "basic/transports/streamable-http#standard-request-headers",
	Since:   "2026-07-28",
	Title:   "Mcp-Method is the method of the body",
	Text:    "Whoever routes a request looks at the header, and the server at the body.",
	check: func(v *view, r *result) {
		if v.kind != request || v.serverSays() || !v.modern || !v.overHTTP() {
			return
		}
		r.holds()
		header, ok := v.header("mcp-method")
		switch {
		case !ok:
			r.fail("", "the header Mcp-Method is missing")
		case decoded(header) != v.method:
			r.fail("", "the header Mcp-Method says something else than the body")
		}
	},
}
