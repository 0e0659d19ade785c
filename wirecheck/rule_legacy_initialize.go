// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleLegacyInitialize = Rule{
	ID:      "legacy-initialize",
	Level:   Warning,
	Section: "basic/versioning#backward-compatibility-with-initialization-based-versions",
	Since:   "2026-07-28",
	Title:   "A server that refuses initialize names its versions",
	Text:    "An older client shows this error to its user, and has nothing else to show.",
	check: func(v *view, r *result) {
		if v.kind != failure || v.clientSays() || v.req == nil || v.method != "initialize" {
			return
		}
		// An older server may refuse it as well, but not like that.
		switch code := string(get(v.err, "code")); {
		case code == "-32601", code == "-32022", code == "-32020" && !v.modern:
		case v.talk.era.supported != nil && !legacyToo(v.talk.era.supported):
		default:
			return
		}
		r.holds()
		if !namesVersion(v.err) {
			r.fail("/error", "the error does not say which versions the server has")
		}
	},
}
