// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleMetaProgress = Rule{
	ID:      "meta-progress",
	Level:   Error,
	Section: "basic/transports/streamable-http#receiving-messages",
	Since:   "2026-07-28",
	Title:   "Progress is reported of a request that waits for its answer",
	Text:    "The token is that of the request. After the answer there is nothing to report.",
	check: func(v *view, r *result) {
		if v.kind != notification || v.method != "notifications/progress" || v.clientSays() {
			return
		}
		s := &v.talk.server
		switch of, known := s.progress[token(v.param("progressToken"))]; {
		case known && of.answered != 0:
			r.fail("/params/progressToken", "the request on line %d has this token, and was answered on line %d", of.asked, of.answered)
		case known:
			r.holds()
		case s.modern && !v.entry.Legacy && !v.talk.legacy:
			r.cannotTell("no request with this progress token is in the recording")
		}
	},
}
