// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"net/url"

	"github.com/reprise-mcp/reprise/wire"
)

var ruleElicitParams = Rule{
	ID:      "elicit-params",
	Level:   Error,
	Section: "client/elicitation#elicitation-requests",
	Since:   "2026-07-28",
	Title:   "An elicitation has a message, and a form its schema or a page its URL",
	Text:    "Without it the client has nothing to show.",
	check: func(v *view, r *result) {
		for _, q := range asked(v) {
			if method, _ := str(get(q.value, "method")); method != wire.MethodElicit {
				continue
			}
			r.holds()
			path := "/result/inputRequests" + pointer(q.name) + "/params"
			params := get(q.value, "params")
			if get(params, "message").Kind() != '"' {
				r.fail(path+"/message", "the message is missing")
			}
			mode, hasMode := str(get(params, "mode"))
			switch {
			case !hasMode && get(params, "mode") == nil, mode == "form":
				if get(params, "requestedSchema").Kind() != '{' {
					r.fail(path+"/requestedSchema", "requestedSchema is missing")
				}
			case mode == "url":
				address, _ := str(get(params, "url"))
				if u, err := url.Parse(address); err != nil || u.Scheme == "" || u.Host == "" {
					r.fail(path+"/url", "url must be an absolute URL")
				}
			default:
				r.fail(path+"/mode", "the mode is form or url")
			}
		}
	},
}
