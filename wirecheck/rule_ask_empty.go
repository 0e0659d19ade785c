// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"github.com/reprise-mcp/reprise/wire"
)

var ruleAskEmpty = Rule{
	ID:      "ask-empty",
	Level:   Error,
	Section: "basic/patterns/mrtr#server-requirements-basic-workflow",
	Since:   "2026-07-28",
	Title:   "A question has inputRequests or requestState",
	Text:    "Without both there is nothing to answer and nothing to send back.",
	check: func(v *view, r *result) {
		if v.kind != success || v.resultType() != wire.ResultInputRequired {
			return
		}
		r.holds()
		requests, state := v.member("inputRequests"), v.member("requestState")
		if requests == nil && state == nil {
			r.fail("/result", "input_required has neither inputRequests nor requestState")
		}
		if requests != nil && requests.Kind() != '{' {
			r.fail("/result/inputRequests", "inputRequests must be an object")
		}
		if state != nil && state.Kind() != '"' {
			r.fail("/result/requestState", "requestState must be a string")
		}
	},
}
