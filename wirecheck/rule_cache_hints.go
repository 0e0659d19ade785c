// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleCacheHints = Rule{
	ID:      "cache-hints",
	Level:   Error,
	Section: "server/utilities/caching",
	Since:   "2026-07-28",
	Title:   "Lists and resources say how long they may be kept",
	Text:    "A complete result of these methods has ttlMs and cacheScope.",
	check: func(v *view, r *result) {
		if v.kind != success || v.clientSays() || v.req == nil || !v.modern || !v.complete() {
			return
		}
		switch v.method {
		case "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read", "server/discover":
		default:
			return
		}
		r.holds()
		ttl := v.member("ttlMs")
		switch n, ok := number(ttl); {
		case ttl == nil:
			r.fail("/result/ttlMs", "ttlMs is missing")
		case ttl.Kind() != '0' || !ok || n.Sign() < 0:
			r.fail("/result/ttlMs", "ttlMs must be a number that is not negative")
		}
		switch scope, _ := str(v.member("cacheScope")); scope {
		case "public", "private":
		default:
			r.fail("/result/cacheScope", "cacheScope must be public or private")
		}
	},
}
