// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"github.com/reprise-mcp/reprise/internal/scan"
	"github.com/reprise-mcp/reprise/wire"
)

var ruleToolText = Rule{
	ID:      "tool-text",
	Level:   Warning,
	Section: "server/tools#structured-content",
	Since:   "2026-07-28",
	Title:   "Structured content comes with a block of text",
	Text:    "A client that does not read structured content has nothing else to show. What the text says is not judged.",
	check: func(v *view, r *result) {
		if v.kind != success || v.method != wire.MethodToolsCall || v.clientSays() || !v.modern || !v.complete() || v.member("structuredContent") == nil {
			return
		}
		r.holds()
		for block := range scan.Elements(v.member("content")) {
			if kind, _ := str(get(block, "type")); kind == "text" {
				return
			}
		}
		r.fail("/result/content", "there is structured content, and no block of text")
	},
}
