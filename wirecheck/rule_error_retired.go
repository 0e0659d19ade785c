// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleErrorRetired = Rule{
	ID:      "error-retired",
	Level:   Error,
	Section: "basic#error-codes",
	Since:   "2026-07-28",
	Title:   "-32002 is not used any more",
	Text:    "Its meaning is gone: what was not found is -32602.",
	check: func(v *view, r *result) {
		if v.kind != failure || v.clientSays() || v.legacy || v.entry.Legacy || v.talk.legacy || v.req == nil || !v.modern {
			return
		}
		r.holds()
		if code := string(get(v.err, "code")); code == "-32002" {
			r.fail("/error/code", "this revision does not use %s", code)
		}
	},
}
