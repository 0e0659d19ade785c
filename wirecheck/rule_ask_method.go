// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"github.com/reprise-mcp/reprise/wire"
)

var ruleAskMethod = Rule{
	ID:      "ask-method",
	Level:   Error,
	Section: "basic/patterns/mrtr#supported-requests",
	Since:   "2026-07-28",
	Title:   "Only tools/call, prompts/get and resources/read are answered with a question",
	Text:    "A client does not expect it elsewhere, and has no place for the answer.",
	check: func(v *view, r *result) {
		if v.kind != success || v.resultType() != wire.ResultInputRequired {
			return
		}
		if v.req == nil {
			r.cannotTell("the request is not in the recording")
			return
		}
		r.holds()
		if !wire.MayAsk(v.method) {
			r.fail("/result/resultType", "this method may not be answered with input_required")
		}
	},
}
