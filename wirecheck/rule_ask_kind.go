// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"github.com/reprise-mcp/reprise/wire"
)

var ruleAskKind = Rule{
	ID:      "ask-kind",
	Level:   Error,
	Section: "basic/patterns/mrtr#server-requirements-basic-workflow",
	Since:   "2026-07-28",
	Title:   "A question is an elicitation, a sampling or a roots request",
	Text:    "Nothing else may be embedded.",
	check: func(v *view, r *result) {
		requests := asked(v)
		if requests == nil {
			return
		}
		r.holds()
		for _, q := range requests {
			method, _ := str(get(q.value, "method"))
			switch method {
			case wire.MethodElicit, wire.MethodSample, wire.MethodRoots:
			default:
				r.fail("/result/inputRequests"+pointer(q.name)+"/method", "this may not be asked")
			}
		}
	},
}

// asked are the questions of an input_required result, nil for anything else.
func asked(v *view) []member {
	if v.kind != success || v.clientSays() {
		return nil
	}
	if !v.lookedAtAsked {
		v.lookedAtAsked = true
		if v.resultType() == wire.ResultInputRequired {
			v.asked, _ = object(v.member("inputRequests"))
		}
	}
	return v.asked
}
