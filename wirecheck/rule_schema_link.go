// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"strings"
)

var ruleSchemaLink = Rule{
	ID:      "schema-link",
	Level:   Warning,
	Section: "client/elicitation#safe-url-handling",
	Since:   "2026-07-28",
	Title:   "A form has no links to click on in its texts",
	Text:    "A link in a form looks like the server's own, and leads anywhere. Use URL mode.",
	check: func(v *view, r *result) {
		for _, q := range asked(v) {
			message, _ := str(get(q.value, "params", "message"))
			if mode, _ := str(get(q.value, "params", "mode")); mode == "url" {
				continue
			}
			r.holds()
			path := "/result/inputRequests" + pointer(q.name) + "/params"
			if hasLink(message) {
				r.fail(path+"/message", "there is a link in the message of a form")
			}
			properties, _ := object(get(q.value, "params", "requestedSchema", "properties"))
			for _, p := range properties {
				for _, name := range []string{"title", "description"} {
					if text, _ := str(get(p.value, name)); hasLink(text) {
						r.fail(path+"/requestedSchema/properties"+pointer(p.name)+pointer(name), "there is a link in the text of a form")
					}
				}
			}
		}
	},
}

func hasLink(text string) bool {
	text = strings.ToLower(text)
	return strings.Contains(text, "https://") || strings.Contains(text, "http://")
}
