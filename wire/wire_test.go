// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wire_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/reprise-mcp/reprise/wire"
)

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`

func code(err error) int {
	var e *wire.Error
	if err == nil {
		return 0
	}
	if !errors.As(err, &e) {
		return 1 // every refusal of this package must be a *wire.Error
	}
	return e.Code
}

func TestParse(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 200) + `{"x":1,"x":2}` + strings.Repeat(`}`, 200)
	for _, test := range []struct {
		name, in string
		code     int
		id       string // of the message, also beside an error
	}{
		{"request", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`, 0, "1"},
		{"request with white space", " {\n\t\"jsonrpc\" : \"2.0\", \"id\" : \"a\" , \"method\":\"m\" }\r\n", 0, `"a"`},
		{"string id in escapes", `{"jsonrpc":"2.0","id":"\u0061","method":"m"}`, 0, `"a"`},
		{"empty string id", `{"jsonrpc":"2.0","id":"","method":"m"}`, 0, `""`},
		{"integer id of any size", `{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"m"}`, 0, "123456789012345678901234567890"},
		{"negative zero id", `{"jsonrpc":"2.0","id":-0,"method":"m"}`, 0, "0"},
		{"notification", `{"jsonrpc":"2.0","method":"m"}`, 0, ""},
		{"result", `{"jsonrpc":"2.0","id":1,"result":{}}`, 0, "1"},
		{"error", `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m","data":[1]}}`, 0, "1"},
		{"error without id", `{"jsonrpc":"2.0","error":{"code":-1,"message":"m"}}`, 0, ""},
		{"unknown member", `{"jsonrpc":"2.0","id":1,"method":"m","trace":{"a":1}}`, 0, "1"},
		{"genuine replacement character", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\ufffd"}}`, 0, "1"},
		{"surrogate pair", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\ud83d\ude00"}}`, 0, "1"},

		{"nothing", ``, wire.CodeParseError, ""},
		{"white space", " \n", wire.CodeParseError, ""},
		{"cut off", `{"jsonrpc":"2.0","id":1,"method":"m"`, wire.CodeParseError, "1"},
		{"cut off array", `[{"jsonrpc":"2.0"`, wire.CodeParseError, ""},
		{"not JSON", `{jsonrpc:"2.0"}`, wire.CodeParseError, ""},
		{"NaN", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":NaN}}`, wire.CodeParseError, "1"},
		{"second value behind", `{"jsonrpc":"2.0","id":1,"method":"m"}{"params":{}}`, wire.CodeParseError, "1"},
		{"byte order mark", "\xef\xbb\xbf" + `{"jsonrpc":"2.0","id":1,"method":"m"}`, wire.CodeParseError, ""},
		{"bad syntax outweighs bad shape", `{"jsonrpc":"1.0","id":null,"method":7,`, wire.CodeParseError, ""},
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\"a\":\"\xff\"}}", wire.CodeParseError, "1"},
		{"lone high surrogate", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"x\ud800"}}`, wire.CodeParseError, "1"},
		{"lone low surrogate", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"x\udfff"}}`, wire.CodeParseError, "1"},
		{"reversed surrogate pair", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\ude00\ud83d"}}`, wire.CodeParseError, "1"},
		{"lone surrogate in a name", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"\ud800":1}}`, wire.CodeParseError, "1"},

		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"m"}]`, wire.CodeInvalidRequest, ""},
		{"null", `null`, wire.CodeInvalidRequest, ""},
		{"string", `"x"`, wire.CodeInvalidRequest, ""},
		{"no version", `{"id":1,"method":"m"}`, wire.CodeInvalidRequest, "1"},
		{"other version", `{"jsonrpc":"2.1","id":1,"method":"m"}`, wire.CodeInvalidRequest, "1"},
		{"version as number", `{"jsonrpc":2.0,"id":1,"method":"m"}`, wire.CodeInvalidRequest, "1"},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"m"}`, wire.CodeInvalidRequest, ""},
		{"object id", `{"jsonrpc":"2.0","id":{},"method":"m"}`, wire.CodeInvalidRequest, ""},
		{"fractional id", `{"jsonrpc":"2.0","id":1.5,"method":"m"}`, wire.CodeInvalidRequest, ""},
		{"id with exponent", `{"jsonrpc":"2.0","id":1e3,"method":"m"}`, wire.CodeInvalidRequest, ""},
		{"no method", `{"jsonrpc":"2.0","id":1}`, wire.CodeInvalidRequest, "1"},
		{"empty method", `{"jsonrpc":"2.0","id":1,"method":""}`, wire.CodeInvalidRequest, "1"},
		{"method and result", `{"jsonrpc":"2.0","id":1,"method":"m","result":{}}`, wire.CodeInvalidRequest, "1"},
		{"result and error", `{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}`, wire.CodeInvalidRequest, "1"},
		{"result without id", `{"jsonrpc":"2.0","result":{}}`, wire.CodeInvalidRequest, ""},
		{"result with params", `{"jsonrpc":"2.0","id":1,"params":{},"result":{}}`, wire.CodeInvalidRequest, "1"},
		{"result is an array", `{"jsonrpc":"2.0","id":1,"result":[]}`, wire.CodeInvalidRequest, "1"},
		{"error is null", `{"jsonrpc":"2.0","id":1,"error":null}`, wire.CodeInvalidRequest, "1"},
		{"error without code", `{"jsonrpc":"2.0","id":1,"error":{"message":"m"}}`, wire.CodeInvalidRequest, "1"},
		{"error code as string", `{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":"m"}}`, wire.CodeInvalidRequest, "1"},
		{"error code with fraction", `{"jsonrpc":"2.0","id":1,"error":{"code":1.0,"message":"m"}}`, wire.CodeInvalidRequest, "1"},
		{"name in other case", `{"jsonrpc":"2.0","id":1,"method":"m","Params":{}}`, wire.CodeInvalidRequest, "1"},
		{"name with a long s", `{"jsonrpc":"2.0","id":1,"method":"m","param` + "\u017f" + `":{}}`, wire.CodeInvalidRequest, "1"},
		{"duplicate method", `{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}`, wire.CodeInvalidRequest, "1"},
		{"duplicate id", `{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}`, wire.CodeInvalidRequest, ""},
		{"duplicate in escapes", `{"jsonrpc":"2.0","id":1,"method":"a","\u006dethod":"b"}`, wire.CodeInvalidRequest, "1"},
		{"duplicate in arguments", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"arguments":{"environment":"staging","environment":"production"}}}`, wire.CodeInvalidRequest, "1"},
		{"duplicate in _meta", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"a":{"b":1,"b":1}}}}`, wire.CodeInvalidRequest, "1"},
		{"duplicate answer", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"inputResponses":{"confirm":{},"confirm":{}}}}`, wire.CodeInvalidRequest, "1"},
		{"duplicate far down", `{"jsonrpc":"2.0","id":1,"method":"m","params":` + deep + `}`, wire.CodeInvalidRequest, "1"},
		{"as deep as allowed", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":` + strings.Repeat("[", 254) + strings.Repeat("]", 254) + `}}`, 0, "1"},
		{"one deeper", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":` + strings.Repeat("[", 255) + strings.Repeat("]", 255) + `}}`, wire.CodeInvalidRequest, "1"},
		{"brackets in strings nest nothing", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\\\"` + strings.Repeat("[{", 500) + `","b":"\\"}}`, 0, "1"},
		{"params is an array", `{"jsonrpc":"2.0","id":1,"method":"m","params":[]}`, wire.CodeInvalidParams, "1"},
		{"params is null", `{"jsonrpc":"2.0","id":1,"method":"m","params":null}`, wire.CodeInvalidParams, "1"},
		{"too deep to read", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}}`, wire.CodeParseError, "1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, err := wire.Parse([]byte(test.in))
			if code(err) != test.code {
				t.Fatalf("error %v, want code %d", err, test.code)
			}
			if m == nil || m.ID.String() != test.id {
				t.Fatalf("message %+v, want id %q", m, test.id)
			}
		})
	}
}

func TestParseKeepsRawBytes(t *testing.T) {
	const params = `{ "arguments":{"b": 1.0e0, "a":"\u003c"} }`
	m, err := wire.Parse([]byte(`{"params":` + params + `,"jsonrpc":"2.0","method":"tools/call","id":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	if string(m.Params) != params || m.Method != "tools/call" || !m.IsRequest() {
		t.Fatalf("%+v", m)
	}
}

func TestIDsCompare(t *testing.T) {
	parse := func(id string) wire.ID {
		m, err := wire.Parse([]byte(`{"jsonrpc":"2.0","method":"m","id":` + id + `}`))
		if err != nil {
			t.Fatal(err)
		}
		return m.ID
	}
	if parse(`"\u0061"`) != wire.StringID("a") || parse("7") != wire.IntID(7) {
		t.Error("one id in two spellings differs")
	}
	if parse(`"1"`) == parse("1") || parse("9007199254740993") == parse("9007199254740992") || parse(`""`).IsZero() {
		t.Error("two ids are one")
	}
}

func TestMessageMarshal(t *testing.T) {
	for _, test := range []struct {
		m    wire.Message
		want string
	}{
		{wire.Message{ID: wire.IntID(2), Method: "tools/call", Params: jsontext.Value(`{"a":"<"}`)}, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"a":"<"}}`},
		{wire.Message{Method: "m"}, `{"jsonrpc":"2.0","method":"m"}`},
		{wire.Message{ID: wire.StringID("a"), Result: jsontext.Value(`{}`)}, `{"jsonrpc":"2.0","id":"a","result":{}}`},
		{wire.Message{Error: &wire.Error{Code: -32700, Message: `a "b"`}}, `{"jsonrpc":"2.0","error":{"code":-32700,"message":"a \"b\""}}`},
		{wire.Message{ID: wire.IntID(1), Error: &wire.Error{Code: wire.CodeUnsupportedVersion, Message: "m", Data: wire.UnsupportedVersion("1900-01-01", "2026-07-28", "2025-11-25")}},
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"m","data":{"supported":["2026-07-28","2025-11-25"],"requested":"1900-01-01"}}}`},
	} {
		got, err := test.m.MarshalJSON()
		if err != nil || string(got) != test.want {
			t.Errorf("got  %s (%v)\nwant %s", got, err, test.want)
		}
	}
	if _, err := (&wire.Message{ID: wire.IntID(1), Result: jsontext.Value(`{"a":`)}).MarshalJSON(); err == nil {
		t.Error("a broken raw value was written")
	}
}

func TestParseParams(t *testing.T) {
	const call = `"name":"deploy",` + meta
	for _, test := range []struct {
		name, method, in string
		bad              bool
	}{
		{"call", "tools/call", `{` + call + `}`, false},
		{"retry", "tools/call", `{` + call + `,"inputResponses":{"confirm":{"action":"accept","content":{"decision":"go"}}},"requestState":"s"}`, false},
		{"answer that says resultType", "tools/call", `{` + call + `,"inputResponses":{"confirm":{"action":"decline","resultType":"complete"}}}`, false},
		{"answers of unknown shape", "tools/call", `{` + call + `,"inputResponses":{"confirm":7,"other":{"foo":1},"x":null,"":"","undefined":{}}}`, false},
		{"no answers", "tools/call", `{` + call + `,"inputResponses":{}}`, false},
		{"empty state", "tools/call", `{` + call + `,"requestState":""}`, false},
		{"resource", "resources/read", `{"uri":"file:///a",` + meta + `}`, false},
		{"resource with a member called arguments", "resources/read", `{"uri":"file:///a","arguments":7,` + meta + `}`, false},
		{"prompt", "prompts/get", `{"name":"p","arguments":{"a":"b"},` + meta + `}`, false},
		{"state where nothing may be asked", "tools/list", `{` + meta + `,"requestState":7,"inputResponses":[]}`, false},
		{"unknown member", "tools/call", `{` + call + `,"task":{}}`, false},

		{"missing params", "tools/call", ``, true},
		{"no target", "tools/call", `{` + meta + `}`, true},
		{"uri for a tool", "tools/call", `{"uri":"deploy",` + meta + `}`, true},
		{"target is a number", "tools/call", `{"name":7,` + meta + `}`, true},
		{"no _meta", "tools/call", `{"name":"deploy"}`, true},
		{"no _meta on a list", "tools/list", `{}`, true},
		{"_meta is null", "tools/call", `{"name":"deploy","_meta":null}`, true},
		{"no version", "tools/call", `{"name":"deploy","_meta":{"io.modelcontextprotocol/clientCapabilities":{}}}`, true},
		{"no capabilities", "tools/call", `{"name":"deploy","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`, true},
		{"version is a number", "tools/call", `{"name":"deploy","_meta":{"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/protocolVersion":2026}}`, true},
		{"arguments is an array", "tools/call", `{` + call + `,"arguments":[]}`, true},
		{"arguments is null", "tools/call", `{` + call + `,"arguments":null}`, true},
		{"inputResponses is an array", "tools/call", `{` + call + `,"inputResponses":[]}`, true},
		{"inputResponses is a string", "tools/call", `{` + call + `,"inputResponses":"x"}`, true},
		{"inputResponses is a number", "tools/call", `{` + call + `,"inputResponses":12345}`, true},
		{"inputResponses is null", "tools/call", `{` + call + `,"inputResponses":null}`, true},
		{"requestState is a number", "tools/call", `{` + call + `,"requestState":7}`, true},
		{"requestState is null", "tools/call", `{` + call + `,"requestState":null}`, true},
		{"requestState with a long s", "tools/call", `{` + call + `,"reque` + "\u017f" + `tState":"s"}`, true},
		{"inputResponses with a long s", "tools/call", `{` + call + `,"inputRe` + "\u017f" + `ponses":{}}`, true},
		{"requeststate in lower case", "tools/call", `{` + call + `,"requeststate":"s"}`, true},
		{"duplicate answer", "tools/call", `{` + call + `,"inputResponses":{"confirm":{},"confirm":{}}}`, true},
		{"duplicate inside an answer", "tools/call", `{` + call + `,"inputResponses":{"confirm":{"action":"decline","action":"accept"}}}`, true},
		{"duplicate inside arguments", "tools/call", `{` + call + `,"arguments":{"a":{"b":1,"b":2}}}`, true},
		{"trailing data", "tools/call", `{` + call + `}{}`, true},
		{"array", "tools/call", `[]`, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := wire.ParseParams(test.method, jsontext.Value(test.in))
			want := 0
			if test.bad {
				want = wire.CodeInvalidParams
			}
			if code(err) != want {
				t.Fatalf("error %v, want code %d", err, want)
			}
			if (p != nil) == test.bad {
				t.Fatalf("params %+v beside error %v", p, err)
			}
		})
	}
}

func TestMessageParseParams(t *testing.T) {
	m, err := wire.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"n",` + meta + `}}`))
	if err != nil {
		t.Fatal(err)
	}
	if p, err := m.ParseParams(); err != nil || p.Target != "n" {
		t.Errorf("%+v, %v", p, err)
	}
	// Params that Parse has not seen are checked.
	for _, params := range []string{`{"name":"n","name":"m",` + meta + `}`, `{"name":`, ``, `null`} {
		m.Params = jsontext.Value(params)
		if p, err := m.ParseParams(); code(err) != wire.CodeInvalidParams {
			t.Errorf("%q: %+v, %v", params, p, err)
		}
	}
	if _, err := (&wire.Message{Method: "tools/call", Params: jsontext.Value(`{"a"`)}).ParseParams(); code(err) != wire.CodeInvalidParams {
		t.Errorf("%v", err)
	}
	none, err := wire.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := none.ParseParams(); code(err) != wire.CodeInvalidParams {
		t.Errorf("%v", err)
	}
}

func TestParamsTellAbsentFromEmpty(t *testing.T) {
	parse := func(more string) *wire.Params {
		p, err := wire.ParseParams("tools/call", jsontext.Value(`{"name":"n",`+meta+more+`}`))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if p := parse(""); p.RequestState != nil || p.InputResponses != nil || p.Arguments != nil {
		t.Errorf("absent members are set: %+v", p)
	}
	p := parse(`,"requestState":"","inputResponses":{},"arguments":{ }`)
	if p.RequestState == nil || *p.RequestState != "" || p.InputResponses == nil || string(p.Arguments) != "{ }" {
		t.Errorf("empty members are absent: %+v", p)
	}
	p = parse(`,"requestState":"a\u002db","inputResponses":{"\u0063onfirm":{"action": "accept"},"x":12345}`)
	if *p.RequestState != "a-b" || string(p.InputResponses["confirm"]) != `{"action": "accept"}` || string(p.InputResponses["x"]) != "12345" {
		t.Errorf("%+v", p)
	}
	if p.Version != wire.Version || !p.Capabilities.Has("elicitation.form") || p.Target != "n" {
		t.Errorf("%+v", p)
	}
	if p, _ := wire.ParseParams("tools/list", jsontext.Value(`{`+meta+`,"name":"n","requestState":"s","inputResponses":{"a":{}}}`)); p.RequestState != nil || p.InputResponses != nil || p.Target != "" {
		t.Errorf("a list carries state: %+v", p)
	}
}

func TestParseCapabilities(t *testing.T) {
	for _, test := range []struct {
		in, want string
		bad      bool
	}{
		{`{}`, "", false},
		{`{"elicitation":{}}`, "elicitation.form", false},
		{`{"elicitation":{"form":{}}}`, "elicitation.form", false},
		{`{"elicitation":{"url":{}}}`, "elicitation.url", false},
		{`{"elicitation":{"url":{},"form":null}}`, "elicitation.url", false},
		{`{"elicitation":{"form":{"x":1},"url":{}}}`, "elicitation.form elicitation.url", false},
		{`{"elicitation":{"form":null}}`, "", false},
		{`{"elicitation":{"voice":{}}}`, "", false},
		{`{"elicitation":null}`, "", false},
		{`{"sampling":{}}`, "sampling", false},
		{`{"sampling":{"tools":{},"context":{}}}`, "sampling sampling.tools sampling.context", false},
		{`{"roots":{"listChanged":true}}`, "roots", false},
		{`{"roots":null,"sampling":null}`, "", false},
		{`{"extensions":{"a/b":{}},"experimental":7}`, "", false},
		{`{"elicitation":"yes"}`, "", true},
		{`{"elicitation":[]}`, "", true},
		{`{"elicitation":true}`, "", true},
		{`{"elicitation":{"form":true}}`, "", true},
		{`{"sampling":{"tools":[]}}`, "", true},
		{`{"Elicitation":{}}`, "", true},
		{`{"elicitation":{"Form":{}}}`, "", true},
		{`{"elicitation":{},"elicitation":{}}`, "", true},
		{`null`, "", true},
		{`[]`, "", true},
		{`{`, "", true},
	} {
		c, err := wire.ParseCapabilities(jsontext.Value(test.in))
		if c.String() != test.want && !test.bad || (code(err) == wire.CodeInvalidParams) != test.bad {
			t.Errorf("%s: %q, %v", test.in, c, err)
		}
		if err != nil && c != (wire.Capabilities{}) {
			t.Errorf("%s: %q is granted beside an error", test.in, c)
		}
	}
	c := wire.Declare("elicitation.url", "sampling.tool", "")
	if c != wire.Declare("elicitation.url") || c.Has("elicitation.form") || c.Has("") || c.Has("sampling.tool") || !c.Has("elicitation.url") {
		t.Errorf("%q", c)
	}
}

func TestRequiredCapabilities(t *testing.T) {
	for _, test := range []struct {
		paths []string
		want  string
	}{
		{[]string{"elicitation.form"}, `{"requiredCapabilities":{"elicitation":{"form":{}}}}`},
		{[]string{"roots", "sampling", "elicitation.url", "sampling.tools", "elicitation.form", "roots"},
			`{"requiredCapabilities":{"elicitation":{"form":{},"url":{}},"roots":{},"sampling":{"tools":{}}}}`},
		{[]string{"sampling"}, `{"requiredCapabilities":{"sampling":{}}}`},
		{nil, `{"requiredCapabilities":{}}`},
	} {
		if got := wire.RequiredCapabilities(test.paths...); string(got) != test.want {
			t.Errorf("%v: %s", test.paths, got)
		}
	}
}

func TestInputRequired(t *testing.T) {
	form := wire.InputRequest{Method: wire.MethodElicit, Params: jsontext.Value(`{"mode":"form"}`)}
	for _, test := range []struct {
		name string
		in   wire.InputRequired
		want string // empty: an error
	}{
		{"questions and state", wire.InputRequired{Requests: map[string]wire.InputRequest{"b": form, "a": {Method: wire.MethodRoots}, "": form}, State: "s"},
			`{"resultType":"input_required","inputRequests":{"":{"method":"elicitation/create","params":{"mode":"form"}},"a":{"method":"roots/list"},"b":{"method":"elicitation/create","params":{"mode":"form"}}},"requestState":"s"}`},
		{"state only", wire.InputRequired{State: "s"}, `{"resultType":"input_required","requestState":"s"}`},
		{"questions only", wire.InputRequired{Requests: map[string]wire.InputRequest{"undefined": form}},
			`{"resultType":"input_required","inputRequests":{"undefined":{"method":"elicitation/create","params":{"mode":"form"}}}}`},
		{"no questions but the member", wire.InputRequired{Requests: map[string]wire.InputRequest{}}, `{"resultType":"input_required","inputRequests":{}}`},
		{"neither", wire.InputRequired{}, ""},
		{"a method that may not be embedded", wire.InputRequired{Requests: map[string]wire.InputRequest{"a": {Method: "tools/call", Params: jsontext.Value(`{}`)}}}, ""},
		{"no params", wire.InputRequired{Requests: map[string]wire.InputRequest{"a": {Method: wire.MethodElicit}}}, ""},
		{"params that are no object", wire.InputRequired{Requests: map[string]wire.InputRequest{"a": {Method: wire.MethodElicit, Params: jsontext.Value(`[]`)}}}, ""},
		{"broken params", wire.InputRequired{Requests: map[string]wire.InputRequest{"a": {Method: wire.MethodElicit, Params: jsontext.Value(`{"a"}`)}}}, ""},
		{"params that would close the object", wire.InputRequired{Requests: map[string]wire.InputRequest{"a": {Method: wire.MethodElicit, Params: jsontext.Value(`{}},"a":{"x":{}`)}}}, ""},
	} {
		got, err := test.in.MarshalJSON()
		if (err != nil) != (test.want == "") || err == nil && string(got) != test.want {
			t.Errorf("%s: %s, %v", test.name, got, err)
		}
	}
}

// What a peer sends must not come back in an error: it may be an answer, a state, or somebody's password.
func TestErrorsDoNotEchoThePeer(t *testing.T) {
	const secret = "hunter2"
	for _, in := range []string{
		`{"jsonrpc":"2.0","id":1,"method":["hunter2"]}`,
		`{"jsonrpc":"2.0","id":1,"method":"m","params":"hunter2"}`,
		`{"jsonrpc":"2.0","id":{"hunter2":1},"method":"m"}`,
		`{"jsonrpc":"hunter2","id":1,"method":"m"}`,
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{"hunter2":1,"hunter2":1}}`,
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"hunter2` + "\xff" + `"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"m"} hunter2`,
	} {
		_, err := wire.Parse([]byte(in))
		if err == nil || strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), secret) {
			t.Errorf("%s: %v", in, err)
		}
	}
	for _, more := range []string{
		`"inputResponses":"hunter2"`, `"inputResponses":["hunter2"]`, `"inputResponses":{"hunter2":1,"hunter2":1}`,
		`"requestState":["hunter2"]`, `"arguments":"hunter2"`, `"inputResponses":{"a":"hunter2` + "\xff" + `"}`,
	} {
		_, err := wire.ParseParams("tools/call", jsontext.Value(`{"name":"n",`+meta+`,`+more+`}`))
		if err == nil || strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), secret) {
			t.Errorf("%s: %v", more, err)
		}
	}
}

func TestMayAsk(t *testing.T) {
	for method, want := range map[string]bool{
		"tools/call": true, "prompts/get": true, "resources/read": true,
		"tools/list": false, "completion/complete": false, "server/discover": false, "Tools/call": false, "": false,
	} {
		if wire.MayAsk(method) != want {
			t.Errorf("MayAsk(%q) = %v", method, !want)
		}
	}
}
