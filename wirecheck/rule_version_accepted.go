// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"slices"
)

var ruleVersionAccepted = Rule{
	ID:      "version-accepted",
	Level:   Error,
	Section: "basic/versioning#protocol-version-negotiation",
	Since:   "2026-07-28",
	Title:   "A server has the versions that it lists, and refuses all others",
	Text:    "A client that was served takes the answer for one of the version that it asked for.",
	check: func(v *view, r *result) {
		if v.clientSays() || v.req == nil || v.entry.Legacy || v.talk.legacy {
			return
		}
		switch v.kind {
		case success:
			known := v.talk.era.supported
			// What server/discover answers is needed most by whoever asks for a version that is not there.
			if known == nil || v.req.version == "" || v.method == "server/discover" || v.method == "initialize" {
				return
			}
			r.holds()
			if !slices.Contains(known, v.req.version) {
				r.fail("", "the request on line %d is in a version that the server did not list on line %d, and was served", v.req.line, v.talk.era.supportedAt)
			}
		case failure:
			if string(get(v.err, "code")) != "-32022" {
				return
			}
			known := versions(get(v.err, "data", "supported"))
			asked, ok := str(get(v.err, "data", "requested"))
			if known == nil || !ok {
				return
			}
			r.holds()
			if slices.Contains(known, asked) {
				r.fail("/error/data", "the version that is refused is among those that are supported")
			}
		}
	},
}
