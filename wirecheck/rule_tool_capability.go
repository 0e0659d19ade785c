// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleToolCapability = Rule{
	ID:      "tool-capability",
	Level:   Error,
	Section: "server/tools#capabilities",
	Since:   "2026-07-28",
	Title:   "A server that has tools declares them, and answers tools/list",
	Text:    "A client that reads what is declared looks for nothing else. Whether a server has tools is seen from what it answers.",
	check: func(v *view, r *result) {
		checkCapability(v, r, toolFeature)
	},
}
