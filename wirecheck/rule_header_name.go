// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"encoding/base64"
	"strings"

	"github.com/reprise-mcp/reprise/wire"
)

var ruleHeaderName = Rule{
	ID:      "header-name",
	Level:   Error,
	Section: "basic/transports/streamable-http#standard-request-headers",
	Since:   "2026-07-28",
	Title:   "Mcp-Name is the name or the URI of the body",
	Text:    "Whoever routes a request looks at the header, and the server at the body.",
	check: func(v *view, r *result) {
		if v.kind != request || v.serverSays() || !v.modern || !v.overHTTP() || !wire.MayAsk(v.method) {
			return
		}
		r.holds()
		header, ok := v.header("mcp-name")
		switch {
		case !ok:
			r.fail("", "the header Mcp-Name is missing")
		case decoded(header) != v.self.target:
			r.fail("", "the header Mcp-Name says something else than the body")
		}
	},
}

// decoded is the value of a header that may be written in base64 (basic/transports/streamable-http, Value Encoding).
func decoded(header string) string {
	if inner, ok := strings.CutPrefix(header, "=?base64?"); ok {
		if inner, ok = strings.CutSuffix(inner, "?="); ok {
			if raw, err := base64.StdEncoding.DecodeString(inner); err == nil {
				return string(raw)
			}
		}
	}
	return header
}
