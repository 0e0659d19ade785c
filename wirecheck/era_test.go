// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-mcp/reprise/wirecheck"
)

// What a conversation shows of the revisions of its server, and of what its client makes of that. A + before a rule says that
// it fails, a ? that it cannot be told, and a - that it is not applied at all.
func TestRevisions(t *testing.T) {
	const (
		supports = `,"data":{"supported":["2026-07-28"],"requested":"2027-01-01"}`
		both     = `,"data":{"supported":["2026-07-28","2025-11-25"],"requested":"2027-01-01"}`
		itself   = `,"data":{"supported":["2026-07-28"],"requested":"2026-07-28"}`
	)
	in := func(version, line string) string { return strings.ReplaceAll(line, "2026-07-28", version) }
	other := func(line string) string { return strings.ReplaceAll(line, `{"name":"c",`, `{"name":"d",`) }
	call := func(id int) string { return sent(headers, id, meta) }
	discovered := func(id int, versions string) string {
		return over(id, "server/discover", meta) + "\n" + got(id, `"resultType":"complete","supportedVersions":[`+versions+`],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"public"`)
	}
	initialize := func(id int) string {
		return strings.Replace(over(id, "initialize", `"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}`), `"MCP-Protocol-Version":"2026-07-28",`, "", 1)
	}
	noDiscover := over(1, "server/discover", meta) + "\n" + refused(1, -32601, "")
	stdio := func(line string) string { return strings.ReplaceAll(line, `"http"`, `"other"`) }
	const session = `"headers":{"Content-Type":"application/json","Mcp-Session-Id":"x"}`

	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"served in a version that is listed", []string{discovered(1, `"2026-07-28"`), call(2), got(2, done)}, ""},
		{"served in a version that is not", []string{discovered(1, `"2026-07-28"`), in("2027-01-01", call(2)), got(2, done)}, "+version-accepted"},
		{"served in a version that an error did not list", []string{in("2027-01-01", call(1)), refused(1, -32022, supports), in("2027-01-01", call(2)), got(2, done)}, "+version-accepted ?version-ignored"},
		{"served, and nothing was listed", []string{in("2027-01-01", call(2)), got(2, done)}, "-version-accepted"},
		{"served, and the list is not one of versions", []string{discovered(1, `1`), in("2027-01-01", call(2)), got(2, done)}, "-version-accepted"},
		{"another conversation listed", []string{strings.ReplaceAll(discovered(1, `"2026-07-28"`), `"http"`, `"client":"x","http"`), in("2027-01-01", call(2)), got(2, done)}, "-version-accepted"},
		{"discovered in a version that is not", []string{discovered(1, `"2026-07-28"`), in("2027-01-01", over(2, "server/discover", meta)), got(2, `"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"public"`)}, "-version-accepted"},
		{"a version that is listed is refused", []string{call(1), refused(1, -32022, itself)}, "+version-accepted"},

		{"no server/discover, and then a result of this revision", []string{noDiscover, call(2), got(2, done), call(3), got(3, done)}, "+version-discover"},
		{"no server/discover, and then an error of this revision", []string{noDiscover, call(2), refused(2, -32021, `,"data":{"requiredCapabilities":{}}`)}, "+version-discover"},
		{"no server/discover after a result of this revision", []string{call(2), got(2, done), noDiscover}, "+version-discover"},
		{"no server/discover, and then a result of an older one", []string{noDiscover, call(2), got(2, `"content":[]`)}, "-version-discover"},
		{"no server/discover, and then initialize", []string{noDiscover, initialize(2), got(2, `"protocolVersion":"2025-11-25","capabilities":{}`), call(3), got(3, done)}, "-version-discover"},
		{"no server/discover after a result of an older one", []string{call(2), got(2, `"content":[]`), noDiscover}, "-version-discover"},
		{"no server/discover alone", []string{noDiscover}, "-version-discover"},
		{"another error of server/discover", []string{call(2), got(2, done), over(1, "server/discover", meta), refused(1, -32603, "")}, "-version-discover"},

		{"goes on in a version that is listed", []string{in("2027-01-01", call(1)), refused(1, -32022, supports), call(2), got(2, done)}, ""},
		{"goes on in another", []string{in("2027-01-01", call(1)), refused(1, -32022, supports), in("2026-12-01", call(2)), refused(2, -32022, supports)}, "+version-ignored"},
		{"goes on as before", []string{in("2027-01-01", call(1)), refused(1, -32022, supports), in("2027-01-01", call(2)), refused(2, -32022, supports)}, "?version-ignored"},
		{"asks for the versions in another", []string{in("2027-01-01", call(1)), refused(1, -32022, supports), in("2026-12-01", over(2, "server/discover", meta))}, "-version-ignored"},
		{"another client comes in another", []string{in("2027-01-01", call(1)), refused(1, -32022, supports), other(in("2026-12-01", call(2)))}, "-version-ignored"},
		{"another client comes before", []string{in("2027-01-01", call(1)), refused(1, -32022, supports), other(call(2)), in("2026-12-01", call(3))}, "+version-ignored"},
		{"a violation was refused", []string{in("2027-01-01", strings.Replace(call(1), `"http"`, `"violation":"version","http"`, 1)), refused(1, -32022, supports), in("2026-12-01", call(2))}, "-version-ignored"},
		{"on stdio", []string{stdio(in("2027-01-01", call(1))), stdio(refused(1, -32022, supports)), stdio(in("2026-12-01", call(2)))}, "+version-ignored"},

		{"falls back after -32022", []string{in("2027-01-01", call(1)), refused(1, -32022, supports), initialize(2)}, "+legacy-fallback"},
		{"falls back after -32022, on stdio", []string{stdio(in("2027-01-01", call(1))), stdio(refused(1, -32022, supports)), stdio(initialize(2))}, "+legacy-fallback"},
		{"falls back after -32021", []string{call(1), refused(1, -32021, `,"data":{"requiredCapabilities":{}}`), initialize(2)}, "+legacy-fallback"},
		{"goes on with an older version that is listed", []string{in("2027-01-01", call(1)), refused(1, -32022, both), initialize(2)}, "-legacy-fallback"},
		{"falls back after an error of any revision", []string{call(1), refused(1, -32601, ""), initialize(2)}, "-legacy-fallback"},
		{"falls back after another status", []string{call(1), strings.Replace(refused(1, -32021, `,"data":{"requiredCapabilities":{}}`), "400", "404", 1), initialize(2)}, "+http-status -legacy-fallback"},
		{"another client begins", []string{call(1), refused(1, -32021, `,"data":{"requiredCapabilities":{}}`), other(initialize(2))}, "-legacy-fallback"},
		{"falls back later", []string{in("2027-01-01", call(1)), refused(1, -32022, supports), call(2), got(2, done), initialize(3)}, ""},

		{"initialize is unknown", []string{initialize(1), refused(1, -32601, "")}, "+legacy-initialize"},
		{"initialize lacks headers", []string{initialize(1), refused(1, -32020, "")}, "+legacy-initialize"},
		{"the data has the versions", []string{initialize(1), refused(1, -32601, `,"data":{"supported":["2026-07-28"]}`)}, ""},
		{"the message has a version", []string{initialize(1), strings.Replace(refused(1, -32601, ""), `"no"`, `"this server has 2026-07-28"`, 1)}, ""},
		{"the message has only an older version", []string{initialize(1), strings.Replace(refused(1, -32601, ""), `"no"`, `"2025-11-25 is not supported"`, 1)}, "+legacy-initialize"},
		{"initialize is refused by whom nobody knows", []string{initialize(1), refused(1, -32602, "")}, "-legacy-initialize"},
		{"initialize is refused by a server of this revision only", []string{discovered(1, `"2026-07-28"`), initialize(2), refused(2, -32602, "")}, "+legacy-initialize"},
		{"initialize is refused by a server of both", []string{discovered(1, `"2026-07-28","2025-11-25"`), initialize(2), refused(2, -32602, "")}, "-legacy-initialize"},
		{"initialize is answered", []string{initialize(1), got(1, `"protocolVersion":"2025-11-25","capabilities":{}`)}, "-legacy-initialize"},

		{"a session", []string{call(1), strings.Replace(got(1, done), `"headers":{}`, session, 1)}, "+legacy-session"},
		{"a session of an older revision", []string{initialize(1), strings.Replace(got(1, `"protocolVersion":"2025-11-25","capabilities":{}`), `"headers":{}`, session, 1)}, "-legacy-session"},
		{"headers that were not recorded", []string{call(1), got(1, done)}, "-legacy-session -http-content-type"},

		{"plain text", []string{call(1), typed(got(1, done), "text/plain")}, "+http-content-type"},
		{"JSON in capitals", []string{call(1), typed(got(1, done), "Application/JSON;charset=utf-8")}, ""},
		{"a stream", []string{call(1), typed(got(1, done), "text/event-stream")}, ""},
		{"no type", []string{call(1), strings.Replace(got(1, done), `"headers":{}`, `"headers":{"Date":"x"}`, 1)}, "?http-content-type"},
		{"an error in plain text", []string{call(1), typed(refused(1, -32021, `,"data":{"requiredCapabilities":{}}`), "text/plain")}, "+http-content-type"},
		{"an error of nothing in plain text", []string{call(1), typed(strings.Replace(refused(1, -32700, ""), `"id":1,`, "", 1), "text/plain")}, "-http-content-type"},
		{"plain text of an older revision", []string{initialize(1), typed(got(1, done), "text/plain")}, "-http-content-type"},
		{"a page instead of a message", []string{call(1), typed(nothing(200), "text/html")}, "+http-content-type"},
		{"a page for an older request", []string{in("2025-11-25", call(1)), typed(nothing(200), "text/html")}, "-http-content-type"},
		{"a page that says no", []string{call(1), typed(nothing(401), "text/html")}, "-http-content-type"},
		{"a stream that broke off", []string{call(1), typed(nothing(200), "text/event-stream")}, "-http-content-type"},
		{"a page for a notification", []string{`{"message":{"jsonrpc":"2.0","method":"notifications/cancelled"},"direction":"client","http":{"headers":{}}}`, typed(nothing(202), "text/html")}, "-http-content-type"},

		{"_meta lacks all, with another status", []string{sent(headers, 1, `"arguments":{}`), strings.Replace(refused(1, -32602, ""), "400", "200", 1)}, "+http-status"},
		{"_meta lacks all", []string{sent(headers, 1, `"arguments":{}`), refused(1, -32602, "")}, ""},
		{"something else is wrong, with another status", []string{call(1), strings.Replace(refused(1, -32602, ""), "400", "200", 1)}, "-http-status"},
	} {
		t.Run(c.name, func(t *testing.T) {
			recording := strings.Join(c.lines, "\n")
			var found []string
			for _, f := range check(t, recording) {
				mark := "+"
				if f.Level == wirecheck.CannotTell {
					mark = "?"
				}
				switch f.Rule {
				case "version-accepted", "version-discover", "version-ignored", "legacy-fallback", "legacy-initialize", "legacy-session", "http-content-type", "http-status":
					found = append(found, mark+f.Rule)
				}
			}
			var want []string
			for _, rule := range strings.Fields(c.want) {
				switch name, absent := strings.CutPrefix(rule, "-"); {
				case !absent:
					want = append(want, rule)
				case applied(t, recording, name):
					t.Errorf("%s is applied", name)
				}
			}
			slices.Sort(found)
			slices.Sort(want)
			if !slices.Equal(found, want) {
				t.Errorf("found %q, want %q", found, want)
			}
		})
	}
}

// typed gives a response a Content-Type.
func typed(line, media string) string {
	return strings.Replace(line, `"headers":{}`, `"headers":{"Content-Type":"`+media+`"}`, 1)
}

// nothing is a response without a message.
func nothing(status int) string {
	return fmt.Sprintf(`{"message":null,"direction":"server","http":{"headers":{},"status":%d}}`, status)
}
