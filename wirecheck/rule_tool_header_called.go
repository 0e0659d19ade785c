// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"github.com/reprise-mcp/reprise/wire"
)

var ruleToolHeaderCalled = Rule{
	ID:      "tool-header-called",
	Level:   Error,
	Section: "server/tools#x-mcp-header",
	Since:   "2026-07-28",
	Title:   "Over HTTP, a client leaves out a tool whose x-mcp-header is invalid",
	Text:    "It cannot make the header, so it must not offer the tool, let alone call it.",
	check: func(v *view, r *result) {
		if v.kind != request || v.method != wire.MethodToolsCall || v.serverSays() || !v.modern || !v.entry.HTTP {
			return
		}
		if t := v.talk.server.tools[v.self.target]; t != nil && t.badMark {
			r.fail("/params/name", "this tool was listed with an x-mcp-header that is invalid")
		} else if t != nil {
			r.holds()
		}
	},
}
