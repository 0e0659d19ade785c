// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"strings"
)

var rulePromptCapability = Rule{
	ID:      "prompt-capability",
	Level:   Error,
	Section: "server/prompts#capabilities",
	Since:   "2026-07-28",
	Title:   "A server that has prompts declares them, and answers prompts/list",
	Text:    "A client that reads what is declared looks for nothing else, and should ask for nothing else.",
	check: func(v *view, r *result) {
		checkCapability(v, r, promptFeature)
		if v.kind == request && v.modern && !v.serverSays() && strings.HasPrefix(v.method, "prompts/") {
			if s := &v.talk.server; s.discovered != 0 && s.declares[promptFeature] {
				r.holds()
			} else if s.discovered != 0 {
				r.warn("/method", "the server did not declare prompts in its answer to server/discover on line %d", s.discovered)
			}
		}
	},
}
