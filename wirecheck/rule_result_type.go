// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"github.com/reprise-mcp/reprise/wire"
)

var ruleResultType = Rule{
	ID:      "result-type",
	Level:   Error,
	Section: "basic#resulttype",
	Since:   "2026-07-28",
	Title:   "A result says what type it is",
	Text:    "A client that does not know whether a call is complete cannot go on.",
	check: func(v *view, r *result) {
		if v.kind != success || v.clientSays() || v.legacy || v.result.Kind() != '{' {
			return
		}
		if v.req == nil || !v.modern {
			if v.member("resultType") == nil {
				r.cannotTell("nothing says which revision this result is in")
				return
			}
		}
		r.holds()
		switch t := v.member("resultType"); {
		case t == nil:
			r.fail("/result/resultType", "resultType is missing")
		case t.Kind() != '"':
			r.fail("/result/resultType", "resultType must be a string")
		case v.resultType() != wire.ResultComplete && v.resultType() != wire.ResultInputRequired:
			r.cannotTell("this resultType is not of the core protocol; an extension may define it")
		}
	},
}
