// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/reprise-mcp/reprise/internal/scan"
	"github.com/reprise-mcp/reprise/wire"
)

var ruleResourceUri = Rule{
	ID:      "resource-uri",
	Level:   Error,
	Section: "server/resources#custom-uri-schemes",
	Since:   "2026-07-28",
	Title:   "The URI of a resource is one by RFC 3986",
	Text:    "It has a scheme, and no characters that a URI may not have: those are written with percent signs.",
	check: func(v *view, r *result) {
		if v.kind != success || v.clientSays() || v.req == nil || !v.modern || !v.complete() {
			return
		}
		look := func(path string, holder value) {
			uri, ok := str(get(holder, "uri"))
			r.holds()
			if fault := uriFault(uri); !ok || fault != "" {
				r.fail(path+"/uri", "%s", cmp.Or(fault, "the URI is missing"))
			}
		}
		i := 0
		switch v.method {
		case "resources/list":
			for resource := range scan.Elements(v.member("resources")) {
				look("/result/resources/"+strconv.Itoa(i), resource)
				i++
			}
		case wire.MethodToolsCall:
			for block := range scan.Elements(v.member("content")) {
				if kind, _ := str(get(block, "type")); kind == "resource_link" {
					look("/result/content/"+strconv.Itoa(i), block)
				}
				i++
			}
		case wire.MethodPromptsGet:
			for message := range scan.Elements(v.member("messages")) {
				if kind, _ := str(get(message, "content", "type")); kind == "resource_link" {
					look("/result/messages/"+strconv.Itoa(i)+"/content", get(message, "content"))
				}
				i++
			}
		}
	},
}

// uriFault is what makes a text no URI (RFC 3986, appendix A); empty: nothing. Brackets may stand anywhere.
func uriFault(uri string) string {
	scheme, rest, ok := strings.Cut(uri, ":")
	if !ok || scheme == "" || !letter(scheme[0]) || strings.ContainsFunc(scheme, func(r rune) bool {
		return r >= 0x80 || !letter(byte(r)) && !digit(byte(r)) && !strings.ContainsRune("+-.", r)
	}) {
		return "a URI begins with a scheme and a colon"
	}
	fragment := false
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case letter(c), digit(c), strings.IndexByte("-._~:/?[]@!$&'()*+,;=", c) >= 0:
		case c == '#' && !fragment:
			fragment = true
		case c == '%' && i+2 < len(rest) && hex(rest[i+1]) && hex(rest[i+2]):
		default:
			return "a URI has no such characters; they are written with percent signs"
		}
	}
	return ""
}

func hex(c byte) bool { return digit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }
