// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleRetryArguments = Rule{
	ID:      "retry-arguments",
	Level:   Error,
	Section: "basic/patterns/mrtr#client-requirements-basic-workflow",
	Since:   "2026-07-28",
	Title:   "A retry is the original request again, with the same arguments",
	Text:    "The user agreed to the call as it was.",
	check: func(v *view, r *result) {
		if !v.retries || v.ask == nil || v.serverSays() || v.ask.call.target != v.self.target {
			return
		}
		r.holds()
		before, now := v.ask.call.arguments, v.self.arguments
		switch {
		case before == nil && now == nil, before != nil && now != nil && same(before, now):
		case isEmpty(before) && isEmpty(now):
			r.warn("/params/arguments", "the arguments are there once and missing once; both mean none")
		default:
			r.fail("/params/arguments", "the arguments are not those of the request on line %d", v.ask.call.line)
		}
	},
}

// isEmpty reports whether arguments are none: one of them is missing, and the other is {} or missing too.
func isEmpty(arguments value) bool {
	list, ok := object(arguments)
	return arguments == nil || ok && len(list) == 0
}
