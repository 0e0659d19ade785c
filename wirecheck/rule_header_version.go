// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleHeaderVersion = Rule{
	ID:      "header-version",
	Level:   Error,
	Section: "basic/transports/streamable-http#protocol-version-header",
	Since:   "2026-07-28",
	Title:   "MCP-Protocol-Version is the version of the body",
	Text:    "Whoever routes a request looks at the header, and the server at the body.",
	check: func(v *view, r *result) {
		if v.kind != request || v.serverSays() || v.legacy || !v.overHTTP() {
			return
		}
		version := v.self.version
		header, ok := v.header("mcp-protocol-version")
		switch {
		case !ok && !v.modern:
			r.cannotTell("nothing says which revision this request is in")
		case !ok:
			r.fail("", "the header MCP-Protocol-Version is missing")
		case version != "" && header != version:
			r.fail("", "the header MCP-Protocol-Version says something else than _meta")
		default:
			r.holds()
		}
	},
}
