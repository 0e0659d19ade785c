// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"slices"
)

var ruleToolOrder = Rule{
	ID:      "tool-order",
	Level:   Warning,
	Section: "server/tools#capabilities",
	Since:   "2026-07-28",
	Title:   "The same tools come in the same order",
	Text:    "Another order defeats the caches of clients and of models.",
	check: func(v *view, r *result) {
		s := &v.talk.server
		if s.ordered == 0 {
			return
		}
		tools, ok := listedTools(v)
		if !ok || !v.modern || len(tools) != len(s.order) || get(v.req.params, "cursor") != nil {
			return
		}
		now, before := hashes(tools), s.order
		if slices.Equal(now, before) {
			r.holds()
			return
		}
		slices.Sort(now)
		if slices.Equal(now, slices.Sorted(slices.Values(before))) {
			r.fail("/result/tools", "the list on line %d has the same tools in another order", s.ordered)
		}
	},
}
