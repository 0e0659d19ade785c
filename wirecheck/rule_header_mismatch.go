// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleHeaderMismatch = Rule{
	ID:      "header-mismatch",
	Level:   Error,
	Section: "basic/transports/streamable-http#server-validation",
	Since:   "2026-07-28",
	Title:   "A request whose headers and body disagree is refused",
	Text:    "Whoever routed it saw another request than the server.",
	check: func(v *view, r *result) {
		if v.kind != success || v.clientSays() || v.req == nil || v.req.disagree == "" {
			return
		}
		r.fail("", "the header %s of the request on line %d does not go with its body, and the request was served", v.req.disagree, v.req.line)
	},
}
