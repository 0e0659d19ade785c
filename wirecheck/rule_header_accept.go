// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"strings"
)

var ruleHeaderAccept = Rule{
	ID:      "header-accept",
	Level:   Error,
	Section: "basic/transports/streamable-http#sending-messages",
	Since:   "2026-07-28",
	Title:   "A client accepts JSON and event streams",
	Text:    "The server chooses which of the two it answers with.",
	check: func(v *view, r *result) {
		if v.kind != request || v.serverSays() || !v.modern || !v.overHTTP() {
			return
		}
		r.holds()
		accept, _ := v.header("accept")
		for _, media := range []string{"application/json", "text/event-stream"} {
			if !strings.Contains(accept, media) && !strings.Contains(accept, "*/*") {
				r.fail("", "the header Accept does not list %s", media)
			}
		}
	},
}
