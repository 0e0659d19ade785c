// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"github.com/reprise-mcp/reprise/wire"
)

var ruleCacheOnAsk = Rule{
	ID:      "cache-on-ask",
	Level:   Error,
	Section: "server/utilities/caching",
	Since:   "2026-07-28",
	Title:   "A question carries no cache hints",
	Text:    "It belongs to one user and one moment. A cache that kept it would ask somebody else.",
	check: func(v *view, r *result) {
		if v.kind != success || v.clientSays() || v.resultType() != wire.ResultInputRequired {
			return
		}
		r.holds()
		for _, name := range []string{"ttlMs", "cacheScope"} {
			if get(v.result, name) != nil {
				r.fail("/result/"+name, "an input_required result is not for caches")
			}
		}
	},
}
