// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleHttpStatus = Rule{
	ID:      "http-status",
	Level:   Error,
	Section: "basic/transports/streamable-http",
	Since:   "2026-07-28",
	Title:   "The HTTP status goes with the error",
	Text:    "-32020, -32021 and -32022 have status 400, -32602 has it where _meta lacks something, and an unknown method has 404.",
	check: func(v *view, r *result) {
		if v.kind != failure || v.clientSays() || !v.entry.HTTP || v.entry.Status == 0 || v.req != nil && !v.modern {
			return
		}
		want := 0
		switch string(get(v.err, "code")) {
		case "-32020", "-32021", "-32022":
			want = 400
		case "-32601":
			want = 404
		case "-32602":
			if v.req == nil || v.req.lacks == "" {
				return
			}
			want = 400
		default:
			return
		}
		r.holds()
		if v.entry.Status != want {
			r.fail("", "the status is %d, and must be %d", v.entry.Status, want)
		}
	},
}
