// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"strings"

	"github.com/reprise-mcp/reprise/wire"
)

var ruleHeaderEncoding = Rule{
	ID:      "header-encoding",
	Level:   Error,
	Section: "basic/transports/streamable-http#value-encoding",
	Since:   "2026-07-28",
	Title:   "A name that no plain header can hold is sent in base64",
	Text:    "Headers are visible ASCII; anything else is lost or changed on the way.",
	check: func(v *view, r *result) {
		if v.kind != request || v.serverSays() || !v.modern || !v.overHTTP() || !wire.MayAsk(v.method) {
			return
		}
		header, ok := v.header("mcp-name")
		if !ok {
			return
		}
		r.holds()
		for i := range len(header) {
			if header[i] < ' ' || header[i] > '~' {
				r.fail("", "the header Mcp-Name is not visible ASCII; send it in base64")
				return
			}
		}
		if target := v.self.target; strings.HasPrefix(target, "=?base64?") && header == target {
			r.fail("", "the name looks like base64, so it has to be sent in base64")
		}
	},
}
