// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-mcp/reprise/transcript"
	"github.com/reprise-mcp/reprise/wirecheck"
)

// marked are the properties of a tool that is called t.
const marked = `"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"},"dry":{"type":"boolean","x-mcp-header":"Dry"},` +
	`"at":{"type":"object","properties":{"a/b":{"type":"string","x-mcp-header":"Zone"}}},"free":{"type":"string"}`

// over is a request of any method with the headers that go with it.
func over(id int, method, params string) string {
	return fmt.Sprintf(`{"message":{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}},"direction":"client","http":{"headers":{"Accept":"*/*","MCP-Protocol-Version":"2026-07-28","Mcp-Method":%q}}}`,
		id, method, params, method)
}

// refused is an error, with a status that goes with it.
func refused(id, code int, data string) string {
	status := 400
	if code == -32601 {
		status = 404
	}
	return fmt.Sprintf(`{"message":{"jsonrpc":"2.0","id":%d,"error":{"code":%d,"message":"no"%s}},"direction":"server","http":{"headers":{},"status":%d}}`, id, code, data, status)
}

// page is a page of tools, of which one is t.
func page(id int, properties, more string) string {
	return got(id, `"resultType":"complete","tools":[{"name":"t","inputSchema":{"type":"object","properties":{`+properties+`}}}],"ttlMs":0,"cacheScope":"private"`+more)
}

func listing(id int, properties string) string {
	return over(id, "tools/list", meta) + "\n" + page(id, properties, "")
}

// of are the findings of one rule, without those that cannot be told.
func of(findings []wirecheck.Finding, rule string) (found []string) {
	for _, f := range findings {
		if f.Rule == rule && f.Level != wirecheck.CannotTell {
			found = append(found, fmt.Sprintf("line %d, at %s: %s", f.Line, f.Path, f.Detail))
		}
	}
	return found
}

// applied reports whether a rule was applied to a recording at all.
func applied(t *testing.T, recording, rule string) bool {
	t.Helper()
	report, err := wirecheck.CheckAll("test", transcript.Read(strings.NewReader(recording), ""))
	if err != nil {
		t.Fatal(err)
	}
	_, ok := report.Rules[rule]
	return ok
}

func TestParametersInHeaders(t *testing.T) {
	for _, c := range []struct{ name, arguments, headers, want string }{
		{"nothing given", `{}`, ``, ""},
		{"null", `{"region":null}`, ``, ""},
		{"null, with a header", `{"region":null}`, `"Mcp-Param-Region":"null"`, "at /params/arguments/region: the header Mcp-Param-Region is there"},
		{"not given, with a header", `{}`, `"Mcp-Param-Region":""`, "the header Mcp-Param-Region is there"},
		{"plain", `{"region":"us west 1"}`, `"mcp-param-REGION":"us west 1"`, ""},
		{"a header that no parameter has", `{}`, `"Mcp-Param-Other":"x"`, ""},
		{"missing", `{"region":"eu"}`, ``, "Mcp-Param-Region is missing"},
		{"different", `{"region":"eu"}`, `"Mcp-Param-Region":"us"`, "Mcp-Param-Region says something else"},
		{"different in case", `{"region":"eu"}`, `"Mcp-Param-Region":"EU"`, "Mcp-Param-Region says something else"},
		{"base64", `{"region":"日本語"}`, `"Mcp-Param-Region":"=?base64?5pel5pys6Kqe?="`, ""},
		{"base64 that nothing asked for", `{"region":"Hello"}`, `"Mcp-Param-Region":"=?base64?SGVsbG8=?="`, ""},
		{"base64 without its padding", `{"region":"Hello"}`, `"Mcp-Param-Region":"=?base64?SGVsbG8?="`, "something else"},
		{"base64 with other markers", `{"region":"Hello"}`, `"Mcp-Param-Region":"=?BASE64?SGVsbG8=?="`, "something else"},
		{"base64 of something else", `{"region":"hello"}`, `"Mcp-Param-Region":"=?base64?SGVsbG8=?="`, "something else"},
		{"what looks like base64, plain", `{"region":"=?base64?literal?="}`, `"Mcp-Param-Region":"=?base64?literal?="`, "has to be in base64"},
		{"what looks like base64, in base64", `{"region":"=?base64?literal?="}`, `"Mcp-Param-Region":"=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="`, ""},
		{"not ASCII", `{"region":"日本語"}`, `"Mcp-Param-Region":"日本語"`, "not visible ASCII"},
		{"spaces around", `{"region":" x "}`, `"Mcp-Param-Region":" x "`, "something else"},
		{"spaces around, in base64", `{"region":" x "}`, `"Mcp-Param-Region":"=?base64?IHgg?="`, ""},
		{"escapes in the body", `{"region":"\u0065u"}`, `"Mcp-Param-Region":"eu"`, ""},
		{"empty", `{"region":""}`, `"Mcp-Param-Region":""`, ""},
		{"empty, and the header was not recorded", `{"region":""}`, ``, ""},
		{"an integer", `{"n":42}`, `"Mcp-Param-N":"42"`, ""},
		{"an integer in another spelling", `{"n":42}`, `"Mcp-Param-N":"42.0"`, ""},
		{"an integer in another spelling in the body", `{"n":4.2e1}`, `"Mcp-Param-N":"42"`, ""},
		{"another integer", `{"n":42}`, `"Mcp-Param-N":"-42"`, "something else"},
		{"a fraction for a header", `{"n":42}`, `"Mcp-Param-N":"84/2"`, "something else"},
		{"hexadecimal digits for a header", `{"n":42}`, `"Mcp-Param-N":"0x2a"`, "something else"},
		{"the largest integer", `{"n":9007199254740991}`, `"Mcp-Param-N":"9007199254740991"`, ""},
		{"a larger one", `{"n":9007199254740992}`, `"Mcp-Param-N":"9007199254740992"`, "a double holds exactly"},
		{"the smallest integer", `{"n":-9007199254740991}`, `"Mcp-Param-N":"-9007199254740991"`, ""},
		{"the next smaller one", `{"n":-9007199254740992}`, `"Mcp-Param-N":"-9007199254740992"`, "a double holds exactly"},
		{"a smaller one", `{"n":-1e16}`, `"Mcp-Param-N":"-10000000000000000"`, "a double holds exactly"},
		{"false", `{"dry":false}`, `"Mcp-Param-Dry":"false"`, ""},
		{"false, with a capital", `{"dry":false}`, `"Mcp-Param-Dry":"False"`, "something else"},
		{"false, without a header", `{"dry":false}`, ``, "Mcp-Param-Dry is missing"},
		{"an inner parameter", `{"at":{"a/b":"z"}}`, `"Mcp-Param-Zone":"z"`, ""},
		{"an inner parameter without a header", `{"at":{"a/b":"z"}}`, ``, "at /params/arguments/at/a~1b: the header Mcp-Param-Zone is missing"},
		{"no object around it", `{"at":"z"}`, ``, ""},
		{"a text for an integer", `{"n":"42"}`, ``, ""},
		{"a fraction for an integer", `{"n":1.5}`, ``, ""},
		{"an object for a text", `{"region":{}}`, ``, ""},
		{"a boolean for a text", `{"region":true}`, ``, ""},
		{"a name that repeats", `{"region":"a","region":"b"}`, `"Mcp-Param-Region":"c"`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := headers
			if c.headers != "" {
				h += "," + c.headers
			}
			recording := listing(1, marked) + "\n" + sent(h, 2, `"arguments":`+c.arguments+`,`+meta) + "\n" + got(2, done)
			found := of(check(t, recording), "header-param")
			if c.want == "" && found != nil || c.want != "" && (len(found) != 1 || !strings.Contains(found[0], c.want)) {
				t.Errorf("found %q, want %q", found, c.want)
			}
			// Whoever serves what has to be refused is found as well.
			accepted := len(of(check(t, recording), "header-mismatch")) > 0
			if must := strings.Contains(c.want, "missing") || strings.Contains(c.want, "else") || strings.Contains(c.want, "ASCII"); accepted != must {
				t.Errorf("the server is found: %t, want %t", accepted, must)
			}
		})
	}
}

// What the client was not shown in this conversation, or may not know any more, it is not held to.
func TestParametersInHeadersThatAreNotKnown(t *testing.T) {
	call := sent(headers, 5, `"arguments":{"region":"eu"},`+meta)
	other := func(line string) string { return strings.ReplaceAll(line, `{"name":"c",`, `{"name":"d",`) }
	for _, c := range []struct {
		name, recording string
		want            bool
	}{
		{"listed", listing(1, marked) + "\n" + call, true},
		{"never listed", call, false},
		{"listed without marks", listing(1, `"region":{"type":"string"}`) + "\n" + call, false},
		{"listed later", call + "\n" + got(5, done) + "\n" + listing(1, marked), false},
		{"asked for, and the list comes later", over(1, "tools/list", meta) + "\n" + call + "\n" + page(1, marked, ""), false},
		{"the list failed", over(1, "tools/list", meta) + "\n" + refused(1, -32603, "") + "\n" + call, false},
		{"listed to another client", other(listing(1, marked)) + "\n" + call, false},
		{"listed to another client in its own conversation", strings.ReplaceAll(listing(1, marked), `"http"`, `"client":"x","http"`) + "\n" + call, false},
		{"listed anew without marks", listing(1, marked) + "\n" + listing(2, `"region":{"type":"string"}`) + "\n" + call, false},
		{"listed anew with marks", listing(1, `"region":{"type":"string"}`) + "\n" + listing(2, marked) + "\n" + call, true},
		{"the tools changed", listing(1, marked) + "\n" + `{"message":{"jsonrpc":"2.0","method":"notifications/tools/list_changed"},"direction":"server"}` + "\n" + call, false},
		{"on the first of two pages", over(1, "tools/list", meta) + "\n" + page(1, marked, `,"nextCursor":"2"`) + "\n" +
			over(2, "tools/list", `"cursor":"2",`+meta) + "\n" + got(2, `"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"private"`) + "\n" + call, true},
		{"a tool with a bad mark", listing(1, marked+`,"x":{"type":"array","items":{"x-mcp-header":"X"}}`) + "\n" + call, false},
		{"not over HTTP", listing(1, marked) + "\n" + strings.Replace(call, `"http"`, `"other"`, 1), false},
		{"of an older revision", listing(1, marked) + "\n" + strings.ReplaceAll(call, "2026-07-28", "2025-11-25"), false},
		{"in an older conversation", listing(1, marked) + "\n" + strings.Replace(call, `"http"`, `"legacy":true,"http"`, 1), false},
		{"another tool", listing(1, marked) + "\n" + strings.ReplaceAll(call, `"t"`, `"u"`), false},
		{"who spoke is not known", strings.ReplaceAll(listing(1, marked)+"\n"+call, `"direction"`, `"x"`), true},
		{"the server spoke", listing(1, marked) + "\n" + strings.Replace(call, `"client"`, `"server"`, 1), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if found := of(check(t, c.recording), "header-param"); (found != nil) != c.want {
				t.Errorf("found %q, want %t", found, c.want)
			}
			if applied(t, c.recording, "header-param") != c.want {
				t.Errorf("applied: %t, want %t", !c.want, c.want)
			}
		})
	}
}

// A refusal is wrong for sure only where nothing else can be its reason.
func TestRefusedHeaders(t *testing.T) {
	const region = `,"Mcp-Param-Region":"=?base64?ZXU=?="`
	read := func(headers string) string {
		return `{"message":{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///ü",` + meta + `}},"direction":"client","http":{"headers":{"Accept":"*/*","MCP-Protocol-Version":"2026-07-28",` + headers + `}}}` +
			"\n" + refused(1, -32020, "")
	}
	const right = `"mcp-method":"resources/read","MCP-NAME":"=?base64?ZmlsZTovLy/DvA==?="`
	call := sent(headers+region, 2, `"arguments":{"region":"eu","n":null},`+meta) + "\n" + refused(2, -32020, "")
	for _, c := range []struct {
		name, recording string
		wrong, unsure   bool
	}{
		{"a name in base64", read(right), true, false},
		{"a list", over(1, "tools/list", meta) + "\n" + refused(1, -32020, ""), true, false},
		{"another name in base64", read(`"Mcp-Method":"resources/read","Mcp-Name":"=?base64?ZmlsZTovLy/DvQ==?="`), false, false},
		{"a name that is not ASCII", read(`"Mcp-Method":"resources/read","Mcp-Name":"file:///ü"`), false, false},
		{"no name", read(`"Mcp-Method":"resources/read"`), false, false},
		{"another method", read(`"Mcp-Method":"resources/READ","Mcp-Name":"=?base64?ZmlsZTovLy/DvA==?="`), false, false},
		{"a method of an extension", over(1, "tasks/get", meta) + "\n" + refused(1, -32020, ""), false, false},
		{"a violation", strings.Replace(read(right), `"http"`, `"violation":"wrong Host","http"`, 1), false, false},
		{"another error", over(1, "tools/list", meta) + "\n" + refused(1, -32603, ""), false, false},
		{"not over HTTP", strings.ReplaceAll(read(right), `"http"`, `"other"`), false, false},
		{"no request", refused(7, -32020, ""), false, false},
		{"a call whose tool is not known", call, false, true},
		{"a call whose tool was listed", listing(1, marked) + "\n" + call, false, true},
		{"a call whose tool was listed before and after", listing(1, marked) + "\n" + call + "\n" + listing(3, marked), true, true},
		{"a call whose tool has no marks before and after", listing(1, `"region":{}`) + "\n" + call + "\n" + listing(3, `"region":{"title":"x"}`), true, true},
		{"a call whose tool has other marks after", listing(1, marked) + "\n" + call + "\n" + listing(3, marked+`,"new":{"type":"string","x-mcp-header":"New"}`), false, true},
		{"a call whose list was asked for before", listing(1, marked) + "\n" + over(3, "tools/list", meta) + "\n" + call + "\n" + page(3, marked, ""), false, true},
		{"a call whose list was asked for before, and again", listing(1, marked) + "\n" + over(3, "tools/list", meta) + "\n" + call + "\n" + page(3, marked, "") + "\n" + listing(4, marked), true, true},
		{"a call whose tool was listed to another client after", listing(1, marked) + "\n" + call + "\n" + strings.ReplaceAll(listing(3, marked), `{"name":"c",`, `{"name":"d",`), false, true},
		{"a call without its header", listing(1, marked) + "\n" + strings.Replace(call, region, "", 1) + "\n" + listing(3, marked), false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			findings := check(t, c.recording)
			if found := of(findings, "header-refused"); (len(found) == 1) != c.wrong || len(found) > 1 {
				t.Errorf("found %q, want %t", found, c.wrong)
			}
			unsure := slices.ContainsFunc(findings, func(f wirecheck.Finding) bool { return f.Rule == "header-refused" && f.Level == wirecheck.CannotTell })
			if unsure != c.unsure {
				t.Errorf("cannot be told: %t, want %t", unsure, c.unsure)
			}
		})
	}
}

// Findings on headers quote no value of theirs.
func TestFindingsQuoteNoHeader(t *testing.T) {
	const secret = "hunter2hunter2"
	recording := listing(1, marked) + "\n" + sent(headers+`,"Mcp-Param-Region":"`+secret+`","Mcp-Param-Dry":"`+secret+`"`, 2, `"arguments":{"region":"`+secret+`x"},`+meta)
	found := of(check(t, recording), "header-param")
	if len(found) != 2 || strings.Contains(strings.Join(found, " "), secret) {
		t.Errorf("%q", found)
	}
}
