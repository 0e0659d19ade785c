// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"github.com/reprise-mcp/reprise/wire"
)

var ruleToolOutput = Rule{
	ID:      "tool-output",
	Level:   Error,
	Section: "server/tools#output-schema",
	Since:   "2026-07-28",
	Title:   "The structured content of a tool fits its outputSchema",
	Text:    "Programs read it as the schema says. What a schema demands by patterns, conditions and the like cannot be told here.",
	check: func(v *view, r *result) {
		if v.kind != success || v.method != wire.MethodToolsCall || v.clientSays() || v.req == nil || !v.modern || !v.complete() || v.repeats {
			return
		}
		t := v.talk.server.tools[v.req.target]
		if t == nil || t.output.Kind() != '{' || string(v.member("isError")) == "true" {
			return
		}
		content := v.member("structuredContent")
		if content == nil {
			r.fail("/result/structuredContent", "the tool has an outputSchema, and there is no structured content")
			return
		}
		if t.schema == nil {
			t.schema = newShape(t.output)
		}
		var j judge
		switch j.judge(t.schema, content, 0) {
		case fits:
			r.holds()
		case unclear:
			r.cannotTell("the outputSchema demands something that this checker does not judge")
		case broken:
			r.fail("/result/structuredContent"+j.path, "%s", j.detail)
		}
	},
}
