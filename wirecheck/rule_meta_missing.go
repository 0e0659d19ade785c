// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"github.com/reprise-mcp/reprise/wire"
)

var ruleMetaMissing = Rule{
	ID:      "meta-missing",
	Level:   Error,
	Section: "basic#meta",
	Since:   "2026-07-28",
	Title:   "A request says which revision it is in, and what the client can answer",
	Text:    "Servers keep nothing between requests, so each says so again, and a retry too.",
	check: func(v *view, r *result) {
		if v.kind != request || v.serverSays() || v.legacy {
			return
		}
		meta := v.param("_meta")
		if !v.modern && meta == nil && v.method != "server/discover" {
			r.cannotTell("nothing says which revision this request is in")
			return
		}
		r.holds()
		if version := get(meta, wire.MetaVersion); version.Kind() != '"' {
			r.fail("/params/_meta"+pointer(wire.MetaVersion), "the protocol version is missing")
		}
		if capabilities := get(meta, wire.MetaCapabilities); capabilities.Kind() != '{' {
			r.fail("/params/_meta"+pointer(wire.MetaCapabilities), "the client's capabilities are missing")
		} else if _, err := wire.ParseCapabilities(capabilities); err != nil {
			r.fail("/params/_meta"+pointer(wire.MetaCapabilities), "a capability is declared by an object")
		}
	},
}
