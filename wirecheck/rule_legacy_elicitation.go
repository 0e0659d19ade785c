// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleLegacyElicitation = Rule{
	ID:      "legacy-elicitation",
	Level:   Error,
	Section: "client/elicitation",
	Since:   "2026-07-28",
	Title:   "elicitationId, its completion notice and -32042 are of older revisions",
	Text:    "In this one the retry learns the outcome.",
	check: func(v *view, r *result) {
		if v.legacy || v.entry.Legacy || v.talk.legacy || v.clientSays() {
			return
		}
		switch v.kind {
		case notification:
			if v.method == "notifications/elicitation/complete" {
				r.fail("/method", "there is no such notification any more")
			}
		case failure:
			if string(get(v.err, "code")) == "-32042" {
				r.fail("/error/code", "there is no such code any more")
			}
		case success:
			for _, q := range asked(v) {
				r.holds()
				if get(q.value, "params", "elicitationId") != nil {
					r.fail("/result/inputRequests"+pointer(q.name)+"/params/elicitationId", "there is no such member any more")
				}
			}
		}
	},
}
