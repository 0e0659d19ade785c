// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"strconv"
)

var ruleToolContent = Rule{
	ID:      "tool-content",
	Level:   Error,
	Section: "server/tools#tool-result",
	Since:   "2026-07-28",
	Title:   "A complete result of a tool has a list of content",
	Text:    "Each block says what type it is; without it a client cannot show the result.",
	check: func(v *view, r *result) {
		if v.kind != success || v.clientSays() || v.req == nil || v.method != "tools/call" || !v.complete() || v.result.Kind() != '{' {
			return
		}
		r.holds()
		list, ok := array(v.member("content"))
		if !ok {
			r.fail("/result/content", "content must be a list")
		}
		for i, block := range list {
			path := "/result/content/" + strconv.Itoa(i)
			kind, _ := str(get(block, "type"))
			switch {
			case kind == "":
				r.fail(path+"/type", "a block of content has a type")
			case kind == "text" && get(block, "text").Kind() != '"':
				r.fail(path+"/text", "a block of text has a text")
			}
		}
	},
}
