// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"strconv"

	"github.com/reprise-mcp/reprise/internal/scan"
	"github.com/reprise-mcp/reprise/wire"
)

var ruleResourceCapability = Rule{
	ID:      "resource-capability",
	Level:   Error,
	Section: "server/resources#capabilities",
	Since:   "2026-07-28",
	Title:   "A server that has resources declares them, and answers resources/list",
	Text:    "A client that reads what is declared looks for nothing else. A tool that returns a resource has some, too.",
	check: func(v *view, r *result) {
		checkCapability(v, r, resourceFeature)
		s := &v.talk.server
		if v.kind != success || v.clientSays() || !v.modern || v.method != wire.MethodToolsCall || s.discovered == 0 || s.declares[resourceFeature] {
			return
		}
		i := 0
		for block := range scan.Elements(v.member("content")) {
			if kind, _ := str(get(block, "type")); kind == "resource" {
				r.warn("/result/content/"+strconv.Itoa(i), "the tool returns a resource, and server/discover on line %d declares none", s.discovered)
			}
			i++
		}
	},
}
