// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"bytes"
	"strconv"

	"github.com/reprise-mcp/reprise/internal/scan"
)

var ruleMetaKey = Rule{
	ID:      "meta-key",
	Level:   Error,
	Section: "basic#meta",
	Since:   "2026-07-28",
	Title:   "A key of _meta is a name, with a domain and a slash before it where it is one's own; an extension has both",
	Text:    "Others find their own members by such keys, and stumble over what is spelt in another way.",
	check: func(v *view, r *result) {
		if v.legacy || v.entry.Legacy || v.talk.legacy {
			return
		}
		switch v.kind {
		case request, notification:
			checkKeys(r, "/params/_meta", v.param("_meta"))
			if v.kind == request {
				checkExtensions(r, "/params/_meta/io.modelcontextprotocol~1clientCapabilities", v.self.caps)
			}
		case success:
			meta := v.member("_meta")
			checkKeys(r, "/result/_meta", meta)
			if v.method == "server/discover" {
				checkExtensions(r, "/result/capabilities", v.member("capabilities"))
			}
			if inner := bytes.Count(v.result, []byte(`"_meta"`)); inner == 0 || inner == 1 && meta != nil {
				return
			}
			for _, m := range v.resultList {
				switch m.name {
				case "tools", "prompts", "resources", "resourceTemplates", "content", "contents":
					i := 0
					for element := range scan.Elements(m.value) {
						if meta := get(element, "_meta"); meta != nil {
							checkKeys(r, "/result/"+m.name+"/"+strconv.Itoa(i)+"/_meta", meta)
						}
						i++
					}
				}
			}
		}
	},
}

func checkKeys(r *result, path string, meta value) {
	for key := range scan.Members(meta) {
		r.holds()
		if fault := keyFault(key); fault != "" {
			r.fail(path+pointer(string(key)), "%s", fault)
		}
	}
}

// checkExtensions looks at the names of the extensions among capabilities.
func checkExtensions(r *result, path string, capabilities value) {
	for name := range scan.Members(get(capabilities, "extensions")) {
		r.holds()
		fault := keyFault(name)
		if fault == "" && bytes.IndexByte(name, '/') < 0 {
			fault = "an extension has a domain and a slash before its name"
		}
		if fault != "" {
			r.fail(path+"/extensions"+pointer(string(name)), "%s", fault)
		}
	}
}

// keyFault is what is wrong with a key of _meta; empty: nothing.
func keyFault(key []byte) string {
	prefix, name, ok := bytes.Cut(key, []byte("/"))
	if !ok {
		prefix, name = nil, key
	}
	for ok {
		var label []byte
		label, prefix, ok = bytes.Cut(prefix, []byte("."))
		if len(label) == 0 || !letter(label[0]) || !letter(label[len(label)-1]) && !digit(label[len(label)-1]) {
			return "a label before the slash starts with a letter, and ends with a letter or a digit"
		}
		for _, c := range label {
			if !letter(c) && !digit(c) && c != '-' {
				return "a label before the slash is of letters, digits and hyphens"
			}
		}
	}
	if len(name) > 0 {
		for _, c := range [...]byte{name[0], name[len(name)-1]} {
			if !letter(c) && !digit(c) {
				return "a name starts and ends with a letter or a digit"
			}
		}
	}
	return ""
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func digit(c byte) bool  { return '0' <= c && c <= '9' }
