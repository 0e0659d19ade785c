// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleCachePages = Rule{
	ID:      "cache-pages",
	Level:   Error,
	Section: "server/utilities/caching#interaction-with-pagination",
	Since:   "2026-07-28",
	Title:   "All pages of one list have one cacheScope",
	Text:    "After a private page the others are private.",
	check: func(v *view, r *result) {
		if v.kind != success || v.clientSays() || v.req == nil || !v.complete() {
			return
		}
		cursor, ok := str(get(v.req.params, "cursor"))
		if !ok {
			return
		}
		before, known := v.talk.pages[v.method+" "+cursor]
		if !known {
			r.cannotTell("the page before this one is not in the recording")
			return
		}
		r.holds()
		if scope, _ := str(v.member("cacheScope")); scope != before {
			r.fail("/result/cacheScope", "the page before this one has another cacheScope")
		}
	},
}
