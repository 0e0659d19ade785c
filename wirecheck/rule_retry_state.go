// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleRetryState = Rule{
	ID:      "retry-state",
	Level:   Error,
	Section: "basic/patterns/mrtr#client-requirements-basic-workflow",
	Since:   "2026-07-28",
	Title:   "A retry echoes the requestState as it came, and none where none came",
	Text:    "The state is the server's. Whoever changes, drops or makes one gets an error, or worse, does not.",
	check: func(v *view, r *result) {
		if v.kind != request || v.serverSays() || !v.retries {
			return
		}
		state := v.param("requestState")
		_, isString := str(state)
		switch {
		case state != nil && !isString:
			r.fail("/params/requestState", "requestState must be a string")
		case v.how == byState:
			r.holds()
		case v.ask == nil && (v.talk.forgot || len(v.talk.asks) == 0):
			r.cannotTell("the question is not in the recording")
		case v.ask == nil && state != nil:
			r.fail("/params/requestState", "no question on this method and target had a requestState")
		case v.ask == nil:
			r.cannotTell("no question on this method and target is in the recording")
		case state == nil && v.ask.state != nil:
			r.fail("/params", "the question had a requestState, and the retry has none")
		case state != nil && v.ask.state == nil:
			r.fail("/params/requestState", "the question had no requestState, and the retry has one")
		case state != nil:
			r.fail("/params/requestState", "the requestState is not the one that came with the question")
		default:
			r.holds()
		}
	},
}
