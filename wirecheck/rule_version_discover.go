// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleVersionDiscover = Rule{
	ID:      "version-discover",
	Level:   Error,
	Section: "basic/versioning#protocol-version-negotiation",
	Since:   "2026-07-28",
	Title:   "A server has server/discover",
	Text:    "A client that has to know the versions and capabilities before anything else asks there.",
	check: func(v *view, r *result) {
		if v.clientSays() || v.req == nil || !v.modern || v.kind != success && v.kind != failure {
			return
		}
		e := &v.talk.era
		switch {
		case v.method == "server/discover" && v.kind == success:
			r.holds()
		case v.method == "server/discover":
			if string(get(v.err, "code")) == "-32601" && e.modernAt != 0 && v.req.violation == "" {
				r.fail("/error/code", "the server is of this revision, as line %d shows", e.modernAt)
			}
		case e.noDiscover != 0 && showsModern(v):
			r.fail("", "the server is of this revision, and did not know server/discover on line %d", e.noDiscover)
		}
	},
}

// showsModern reports whether no server of an older revision answers like that.
func showsModern(v *view) bool {
	if v.kind == success {
		return v.member("resultType") != nil
	}
	switch string(get(v.err, "code")) {
	case "-32020", "-32021", "-32022":
		return true
	}
	return false
}
