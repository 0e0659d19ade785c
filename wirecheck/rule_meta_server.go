// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleMetaServer = Rule{
	ID:      "meta-server",
	Level:   Warning,
	Section: "basic#meta",
	Since:   "2026-07-28",
	Title:   "A server that says who it is says so in each result",
	Text:    "One that never does may have been told not to. It is said once of a conversation.",
	check: func(v *view, r *result) {
		if v.kind != success || v.clientSays() || v.req == nil || !v.modern {
			return
		}
		s := &v.talk.server
		const path = "/result/_meta/io.modelcontextprotocol~1serverInfo"
		info := get(v.member("_meta"), metaServerInfo)
		switch {
		case info == nil && s.named != 0 && s.unnamed == 0:
			r.fail(path, "this result does not say which server sent it, and the one on line %d does", s.named)
		case info == nil:
		case get(info, "name").Kind() != '"' || get(info, "version").Kind() != '"':
			r.fail(path, "serverInfo has a name and a version")
		case s.named == 0 && s.unnamed != 0:
			r.fail(path, "this result says which server sent it, and the one on line %d does not", s.unnamed)
		default:
			r.holds()
		}
	},
}
