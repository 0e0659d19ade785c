// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"github.com/reprise-mcp/reprise/wire"
)

var ruleMetaClient = Rule{
	ID:      "meta-client",
	Level:   Warning,
	Section: "basic#meta",
	Since:   "2026-07-28",
	Title:   "A request says which client sent it",
	Text:    "It is for logs, and nothing may depend on it.",
	check: func(v *view, r *result) {
		if v.kind != request || v.serverSays() || !v.modern {
			return
		}
		r.holds()
		path := "/params/_meta" + pointer(wire.MetaClientInfo)
		info := get(v.param("_meta"), wire.MetaClientInfo)
		if info == nil {
			r.fail(path, "clientInfo is missing")
			return
		}
		for _, name := range []string{"name", "version"} {
			if get(info, name).Kind() != '"' {
				r.fail(path+pointer(name), "clientInfo has a name and a version")
			}
		}
	},
}
