// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"strconv"
	"strings"
)

var ruleToolName = Rule{
	ID:      "tool-name",
	Level:   Warning,
	Section: "server/tools#tool-names",
	Since:   "2026-07-28",
	Title:   "A tool has a name of letters, digits, underscores, hyphens and dots, and no other has it",
	Text:    "Clients and models mangle other names, and cannot tell equal ones apart.",
	check: func(v *view, r *result) {
		tools, ok := listedTools(v)
		if !ok {
			return
		}
		r.holds()
		seen := map[string]bool{}
		for i, tool := range tools {
			name, _ := str(get(tool, "name"))
			path := "/result/tools/" + strconv.Itoa(i) + "/name"
			switch {
			case len(name) < 1 || len(name) > 128:
				r.fail(path, "a name has 1 to 128 characters")
			case strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") != "":
				r.fail(path, "a name is of ASCII letters, digits, underscore, hyphen and dot")
			case seen[name]:
				r.fail(path, "another tool has this name")
			}
			seen[name] = true
		}
	},
}

// listedTools are the tools of a complete result of tools/list.
func listedTools(v *view) ([]value, bool) {
	if v.kind != success || v.clientSays() || v.req == nil || v.method != "tools/list" || !v.complete() {
		return nil, false
	}
	return array(v.member("tools"))
}
