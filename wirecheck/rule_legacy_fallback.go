// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleLegacyFallback = Rule{
	ID:      "legacy-fallback",
	Level:   Warning,
	Section: "basic/transports/streamable-http#backward-compatibility",
	Since:   "2026-07-28",
	Title:   "A client does not take a server that answers with an error of this revision for an older one",
	Text:    "It mends the request, or goes on in a version that the error lists.",
	check: func(v *view, r *result) {
		refused := v.talk.era.refusal
		if v.kind != request || refused == nil || v.serverSays() || !same(refused.client, clientInfo(v.self)) {
			return
		}
		switch {
		case v.method != "initialize":
			if v.modern {
				r.holds()
			}
		case v.modern:
		case refused.code == "-32022" && (refused.supported == nil || legacyToo(refused.supported)):
			// it may go on in an older one
		default:
			r.fail("/method", "the error %s on line %d shows that the server has this revision", refused.code, refused.line)
		}
	},
}
