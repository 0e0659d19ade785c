// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/reprise-mcp/reprise/elicitation"
)

var ruleToolHeaderSecret = Rule{
	ID:      "tool-header-secret",
	Level:   Warning,
	Section: "server/tools#x-mcp-header",
	Since:   "2026-07-28",
	Title:   "A secret parameter has no x-mcp-header",
	Text:    "Every gateway on the way sees a header, and logs it. Names are read in English.",
	check: func(v *view, r *result) {
		tools, ok := listedTools(v)
		if !ok || !bytes.Contains(v.result, []byte("x-mcp-header")) {
			return
		}
		for i, tool := range tools {
			eachMark("/result/tools/"+strconv.Itoa(i)+"/inputSchema", get(tool, "inputSchema"), func(path string, property, _ value) {
				r.holds()
				if secret(path[strings.LastIndexByte(path, '/')+1:], property) {
					r.fail(path+"/x-mcp-header", "this looks like a secret, and would be in a header")
				}
			})
		}
	},
}

// secret reports whether a form could not ask for such a parameter, because it asks for a secret.
func secret(name string, property value) bool {
	form := map[string]any{"type": "string"}
	for _, member := range []string{"title", "description"} {
		if text, ok := str(get(property, member)); ok {
			form[member] = text
		}
	}
	if kind, _ := str(get(property, "type")); kind != "string" {
		return false
	}
	schema, err := json.Marshal(map[string]any{"type": "object", "properties": map[string]any{name: form}})
	if err != nil {
		return false
	}
	var bad *elicitation.SchemaError
	_, err = elicitation.ParseSchema(schema)
	return errors.As(err, &bad) && bad.Sensitive
}
