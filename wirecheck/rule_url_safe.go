// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"net/url"
	"strings"
)

var ruleUrlSafe = Rule{
	ID:      "url-safe",
	Level:   Warning,
	Section: "client/elicitation#safe-url-handling",
	Since:   "2026-07-28",
	Title:   "The link of a question is https, and names nobody",
	Text:    "Who sees the link must learn nothing from it, and get in nowhere.",
	check: func(v *view, r *result) {
		for _, q := range asked(v) {
			address, ok := str(get(q.value, "params", "url"))
			if mode, _ := str(get(q.value, "params", "mode")); mode != "url" || !ok {
				continue
			}
			r.holds()
			path := "/result/inputRequests" + pointer(q.name) + "/params/url"
			u, err := url.Parse(address)
			if err != nil {
				continue
			}
			local := u.Hostname() == "localhost" || strings.HasPrefix(u.Hostname(), "127.") || u.Hostname() == "::1"
			if u.Scheme != "https" && !local {
				r.fail(path, "the URL is not https")
			}
			if u.User != nil {
				r.fail(path, "the URL has user information in it")
			}
		}
	},
}
