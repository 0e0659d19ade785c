// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"github.com/reprise-mcp/reprise/wire"
)

var rulePromptError = Rule{
	ID:      "prompt-error",
	Level:   Warning,
	Section: "server/prompts#error-handling",
	Since:   "2026-07-28",
	Title:   "A prompt without an argument that it requires is refused, and with -32602",
	Text:    "A prompt that was filled in with nothing tells the model something else than was meant.",
	check: func(v *view, r *result) {
		if v.method != wire.MethodPromptsGet || v.clientSays() || v.req == nil || !v.modern || v.req.violation != "" {
			return
		}
		s := &v.talk.server
		switch v.kind {
		case failure:
			if s.discovered != 0 && s.declares[promptFeature] && string(get(v.err, "code")) == "-32601" {
				r.fail("/error/code", "the server declared prompts on line %d, so the method is there; what is wrong with its parameters is -32602", s.discovered)
			}
		case success:
			if !v.complete() || v.req.retry {
				return // what is missing may have been asked for
			}
			for _, name := range s.prompts[v.req.target] {
				r.holds()
				if get(v.req.arguments, name) == nil {
					r.fail("/result", "the request on line %d lacks %s, which the prompt requires, and was carried out", v.req.line, name)
				}
			}
		}
	},
}
