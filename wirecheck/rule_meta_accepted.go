// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleMetaAccepted = Rule{
	ID:      "meta-accepted",
	Level:   Error,
	Section: "basic#meta",
	Since:   "2026-07-28",
	Title:   "A request that does not say its revision and capabilities is refused",
	Text:    "What it may be asked, and how it is to be answered, nobody knows.",
	check: func(v *view, r *result) {
		if v.kind != success || v.clientSays() || v.req == nil || v.req.lacks == "" {
			return
		}
		r.fail("", "the request on line %d has no %s in _meta, and was served", v.req.line, v.req.lacks)
	},
}
