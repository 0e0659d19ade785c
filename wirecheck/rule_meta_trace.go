// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"strings"

	"github.com/reprise-mcp/reprise/internal/scan"
)

var ruleMetaTrace = Rule{
	ID:      "meta-trace",
	Level:   Error,
	Section: "basic#meta",
	Since:   "2026-07-28",
	Title:   "traceparent, tracestate and baggage have the formats of the W3C",
	Text:    "Whoever follows a call through several programs drops what it cannot read, and the trail ends.",
	check: func(v *view, r *result) {
		path, meta := "/params/_meta/", v.param("_meta")
		switch v.kind {
		case request:
			if !v.modern {
				return
			}
		case notification:
			if !v.talk.server.modern || v.entry.Legacy || v.talk.legacy {
				return
			}
		case success:
			if !v.modern {
				return
			}
			path, meta = "/result/_meta/", v.member("_meta")
		default:
			return
		}
		for name, inner := range scan.Members(meta) {
			var fits func(string) bool
			switch string(name) {
			case "traceparent":
				fits = isTraceparent
			case "tracestate":
				fits = isTracestate
			case "baggage":
				fits = isBaggage
			default:
				continue
			}
			r.holds()
			if text, ok := str(inner); !ok || !fits(text) {
				r.fail(path+string(name), "%s does not have the format of the W3C", name)
			}
		}
	},
}

// isTraceparent is W3C Trace Context, section 3.2. Versions to come may be longer.
func isTraceparent(s string) bool {
	if len(s) < 55 || s[2] != '-' || s[35] != '-' || s[52] != '-' || s[:2] == "ff" || len(s) > 55 && (s[:2] == "00" || s[55] != '-') {
		return false
	}
	for _, part := range []string{s[:2], s[3:35], s[36:52], s[53:55]} {
		if strings.Trim(part, "0123456789abcdef") != "" {
			return false
		}
	}
	return strings.Trim(s[3:35], "0") != "" && strings.Trim(s[36:52], "0") != ""
}

// isTracestate is W3C Trace Context, section 3.3. A list may have empty members.
func isTracestate(s string) bool {
	seen := map[string]bool{}
	for member := range strings.SplitSeq(s, ",") {
		member = strings.Trim(member, " \t")
		if member == "" {
			continue
		}
		key, text, ok := strings.Cut(member, "=")
		if !ok || key == "" || text == "" || seen[key] || len(seen) == 32 || len(text) > 256 {
			return false
		}
		seen[key] = true
		if strings.Trim(key, "abcdefghijklmnopqrstuvwxyz0123456789_-*/@") != "" ||
			strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' || r == '=' }) {
			return false
		}
	}
	return true
}

// isBaggage is W3C Baggage, section 3.3.1.
func isBaggage(s string) bool {
	for member := range strings.SplitSeq(s, ",") {
		first := true
		for part := range strings.SplitSeq(member, ";") {
			key, text, ok := strings.Cut(part, "=")
			key, text = strings.Trim(key, " \t"), strings.Trim(text, " \t")
			if key == "" || strings.ContainsFunc(key, notToken) || first && !ok ||
				strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }) {
				return false
			}
			first = false
		}
	}
	return true
}
