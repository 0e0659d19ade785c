// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleJsonRepeatedName = Rule{
	ID:      "json-repeated-name",
	Level:   Warning,
	Section: "basic#messages",
	Since:   "2026-07-28",
	Title:   "A name stands once in an object",
	Text:    "Parsers differ in which of two they take, so that what one side checks is not what the other does.",
	check: func(v *view, r *result) {
		if v.kind == none || !v.text {
			return
		}
		r.holds()
		if v.repeats {
			r.fail("", "a member name appears twice in one object")
		}
	},
}
