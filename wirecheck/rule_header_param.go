// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleHeaderParam = Rule{
	ID:      "header-param",
	Level:   Error,
	Section: "basic/transports/streamable-http#custom-headers-from-tool-parameters",
	Since:   "2026-07-28",
	Title:   "A parameter with an x-mcp-header is repeated in its Mcp-Param header",
	Text:    "Whoever routes a call looks at the header, and the server at the body. Without a value there is no header. It is known from the list of tools that the client got last.",
	check: func(v *view, r *result) {
		if v.kind != request || v.self.tool == nil || len(v.self.tool.params) == 0 {
			return
		}
		r.holds()
		for _, f := range v.paramFaults {
			r.fail(f.path, "%s, by the list of tools on line %d", f.detail, v.self.tool.line)
		}
	},
}
