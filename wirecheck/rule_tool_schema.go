// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"strconv"
)

var ruleToolSchema = Rule{
	ID:      "tool-schema",
	Level:   Error,
	Section: "server/tools#tool",
	Since:   "2026-07-28",
	Title:   "The input of a tool has a schema, which is an object",
	Text:    "A client cannot call a tool whose arguments it does not know.",
	check: func(v *view, r *result) {
		tools, ok := listedTools(v)
		if !ok {
			return
		}
		r.holds()
		for i, tool := range tools {
			path := "/result/tools/" + strconv.Itoa(i)
			if get(tool, "inputSchema").Kind() != '{' {
				r.fail(path+"/inputSchema", "inputSchema must be an object")
			}
			if schema := get(tool, "outputSchema"); schema != nil && schema.Kind() != '{' {
				r.fail(path+"/outputSchema", "outputSchema must be an object")
			}
		}
	},
}
