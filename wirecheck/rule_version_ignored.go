// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"slices"
)

var ruleVersionIgnored = Rule{
	ID:      "version-ignored",
	Level:   Warning,
	Section: "basic/versioning#protocol-version-negotiation",
	Since:   "2026-07-28",
	Title:   "A client whose version was refused goes on in one that the server listed",
	Text:    "If it has none of them, it tells its user, which the recording does not show.",
	check: func(v *view, r *result) {
		refused := v.talk.era.refusal
		if v.kind != request || refused == nil || refused.supported == nil || v.serverSays() || v.self.version == "" ||
			!same(refused.client, clientInfo(v.self)) {
			return
		}
		if v.method == "initialize" || v.method == "server/discover" {
			return // these ask for versions
		}
		switch {
		case slices.Contains(refused.supported, v.self.version):
			r.holds()
		case v.self.version == refused.version:
			r.cannotTell("the server refused this version on line %d, and whether the user was told is not in the recording", refused.line)
		default:
			r.fail("", "the server listed its versions on line %d, and this is none of them", refused.line)
		}
	},
}
