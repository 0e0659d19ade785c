// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"github.com/reprise-mcp/reprise/internal/scan"
	"github.com/reprise-mcp/reprise/wire"
)

var ruleMetaCapabilities = Rule{
	ID:      "meta-capabilities",
	Level:   Error,
	Section: "client/elicitation#capabilities",
	Since:   "2026-07-28",
	Title:   "A client that declares elicitation declares form mode, URL mode or both",
	Text:    "An empty object means form mode. One that holds only something else leaves nothing to ask with.",
	check: func(v *view, r *result) {
		if v.kind != request || v.serverSays() || !v.modern {
			return
		}
		declared := get(v.self.caps, "elicitation")
		if declared.Kind() != '{' {
			return
		}
		r.holds()
		some, mode := false, false
		for name, inner := range scan.Members(declared) {
			some = true
			mode = mode || (string(name) == "form" || string(name) == "url") && string(inner) != "null"
		}
		if some && !mode {
			r.fail("/params/_meta"+pointer(wire.MetaCapabilities)+"/elicitation", "elicitation is declared with neither form nor url")
		}
	},
}
