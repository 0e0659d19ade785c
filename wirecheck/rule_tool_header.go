// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"strconv"
	"strings"
)

var ruleToolHeader = Rule{
	ID:      "tool-header",
	Level:   Error,
	Section: "server/tools#x-mcp-header",
	Since:   "2026-07-28",
	Title:   "An x-mcp-header is a token, on a plain parameter, and no two of a tool are the same",
	Text:    "A client has to leave the tool out, since it cannot make the header.",
	check: func(v *view, r *result) {
		tools, ok := listedTools(v)
		if !ok {
			return
		}
		for i, tool := range tools {
			seen := map[string]bool{}
			eachMark("/result/tools/"+strconv.Itoa(i)+"/inputSchema", get(tool, "inputSchema"), func(path string, property, mark value) {
				r.holds()
				name, isText := str(mark)
				lower := strings.ToLower(name)
				switch kind, _ := str(get(property, "type")); {
				case !isText || name == "" || strings.ContainsFunc(name, notToken):
					r.fail(path+"/x-mcp-header", "an x-mcp-header is a token, as names of headers are")
				case seen[lower]:
					r.fail(path+"/x-mcp-header", "another parameter of this tool has this header")
				case kind != "string" && kind != "integer" && kind != "boolean":
					r.fail(path+"/type", "only strings, integers and booleans become headers")
				}
				seen[lower] = true
			})
		}
	},
}

// eachMark visits the properties of a schema that have an x-mcp-header and are reached through properties alone.
func eachMark(path string, schema value, visit func(path string, property, mark value)) {
	properties, _ := object(get(schema, "properties"))
	for _, p := range properties {
		at := path + "/properties" + pointer(p.name)
		if mark := get(p.value, "x-mcp-header"); mark != nil {
			visit(at, p.value, mark)
		}
		eachMark(at, p.value, visit)
	}
}

// notToken reports whether r may not be in the name of a header (RFC 9110, section 5.6.2).
func notToken(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
}
