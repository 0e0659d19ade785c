// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"github.com/reprise-mcp/reprise/elicitation"
	"github.com/reprise-mcp/reprise/wire"
)

var ruleAskUndeclared = Rule{
	ID:      "ask-undeclared",
	Level:   Error,
	Section: "basic/patterns/mrtr#server-requirements-basic-workflow",
	Since:   "2026-07-28",
	Title:   "A server asks only what the client declared on this request",
	Text:    "A client that cannot show a question may decline it by itself, and that looks like a no of its user.",
	check: func(v *view, r *result) {
		requests := asked(v)
		if requests == nil {
			return
		}
		if v.req == nil {
			r.cannotTell("the request is not in the recording")
			return
		}
		declared, err := wire.ParseCapabilities(v.req.caps)
		if v.req.caps == nil || err != nil {
			if !v.modern {
				r.cannotTell("the request does not say what the client declared")
				return
			}
			declared = wire.Capabilities{}
		}
		r.holds()
		for _, q := range requests {
			if kind := kindOf(q.value); kind != "" && !declared.Has(string(kind)) {
				r.fail("/result/inputRequests"+pointer(q.name), "the client did not declare %s", kind)
			}
		}
	},
}

// kindOf is what a client must have declared to be asked this; empty where that is not known.
func kindOf(question value) elicitation.Kind {
	method, _ := str(get(question, "method"))
	mode, hasMode := str(get(question, "params", "mode"))
	switch {
	case method == wire.MethodElicit && (!hasMode || mode == "form"):
		return elicitation.FormMode
	case method == wire.MethodElicit && mode == "url":
		return elicitation.URLMode
	case method == wire.MethodSample && get(question, "params", "tools") != nil:
		return elicitation.SamplingTools
	case method == wire.MethodSample:
		return elicitation.Sampling
	case method == wire.MethodRoots:
		return elicitation.Roots
	}
	return ""
}
