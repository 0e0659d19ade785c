// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-mcp/reprise/transcript"
	"github.com/reprise-mcp/reprise/wirecheck"
)

const (
	cached = `"resultType":"complete","ttlMs":0,"cacheScope":"private"`
	named  = `,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}`
	text   = `"resultType":"complete","content":[{"type":"text","text":"done"}]`
)

// asks is a request without headers; more is JSON after a comma, or empty.
func asks(id int, method, more string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s%s}}`, id, method, meta, more)
}

// asksMeta is a request with more members of _meta.
func asksMeta(id int, method, member string) string {
	return strings.Replace(asks(id, method, ""), `"_meta":{`, `"_meta":{`+member+`,`, 1)
}

func answers(id int, result string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{%s}}`, id, result)
}

func fails(id, code int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":%d,"message":"no"}}`, id, code)
}

func notifies(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":{%s}}`, method, params)
}

func lists(id int, tools string) string {
	return asks(id, "tools/list", "") + "\n" + answers(id, cached+`,"tools":[`+tools+`]`)
}

func discovers(id int, capabilities string) string {
	return asks(id, "server/discover", "") + "\n" + answers(id, cached+`,"supportedVersions":["2026-07-28"],"capabilities":{`+capabilities+`}`)
}

func calls(id int) string { return asks(id, "tools/call", `,"name":"t"`) }

const (
	aTool      = `{"name":"t","inputSchema":{"type":"object"}}`
	aTypedTool = `{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}`
)

// What rules say of recordings that their fixtures do not show.
func TestCases(t *testing.T) {
	ack := notifies("notifications/subscriptions/acknowledged", `"_meta":{"io.modelcontextprotocol/subscriptionId":1},"notifications":{}`)
	listen := asks(1, "subscriptions/listen", `,"notifications":{}`)
	changed := notifies("notifications/tools/list_changed", "")
	initialize := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`
	prompt := asks(1, "prompts/list", "") + "\n" + answers(1, cached+`,"prompts":[{"name":"p","arguments":[{"name":"a","required":true}]}]`)
	get := func(id int, more string) string { return asks(id, "prompts/get", `,"name":"p"`+more) }
	message := `"resultType":"complete","messages":[{"role":"user","content":{"type":"text","text":"x"}}]`
	marked := func(schema string) string { return lists(1, `{"name":"t","inputSchema":`+schema+`}`) }
	for _, c := range []struct{ name, rule, recording, want string }{
		{"a bare prefix", "meta-key", asksMeta(1, "tools/list", `"/x":1`), "error"},
		{"an empty name", "meta-key", asksMeta(1, "tools/list", `"com.example/":1,"":1`), ""},
		{"a digit ends a label", "meta-key", asksMeta(1, "tools/list", `"com.example2/x_y.z-1":1`), ""},
		{"a digit begins a label", "meta-key", asksMeta(1, "tools/list", `"2com.example/x":1`), "error"},
		{"a hyphen ends a label", "meta-key", asksMeta(1, "tools/list", `"com-/x":1`), "error"},
		{"a dot too many", "meta-key", asksMeta(1, "tools/list", `"com..example/x":1`), "error"},
		{"a notification", "meta-key", notifies("notifications/message", `"_meta":{"_x":1}`), "error"},
		{"_meta that is data", "meta-key", asks(1, "tools/call", `,"name":"t","arguments":{"_meta":{"_x":1}}`) + "\n" + answers(1, text+`,"structuredContent":{"_meta":{"_x":1}}`), ""},
		{"an older revision", "meta-key", initialize + "\n" + notifies("notifications/message", `"_meta":{"_x":1}`), ""},
		{"an extension without a prefix", "meta-key", strings.Replace(asks(1, "tools/list", ""), `{"elicitation":{}}`, `{"extensions":{"ui":{}}}`, 1), "error"},
		{"an extension", "meta-key", strings.Replace(asks(1, "tools/list", ""), `{"elicitation":{}}`, `{"extensions":{"io.modelcontextprotocol/ui":{}}}`, 1), ""},

		{"a server that never says who it is", "meta-server", lists(1, aTool) + "\n" + lists(2, aTool), ""},
		{"one that does so late", "meta-server", lists(1, aTool) + "\n" + calls(2) + "\n" + answers(2, text+named) + "\n" + lists(3, aTool), "warning"},
		{"one that stops", "meta-server", calls(1) + "\n" + answers(1, text+named) + "\n" + lists(2, aTool) + "\n" + lists(3, aTool), "warning"},
		{"no version", "meta-server", calls(1) + "\n" + answers(1, text+strings.Replace(named, `,"version":"1"`, "", 1)), "warning"},

		{"no elicitation", "meta-capabilities", strings.Replace(asks(1, "tools/list", ""), `{"elicitation":{}}`, `{}`, 1), ""},
		{"a mode that is null", "meta-capabilities", strings.Replace(asks(1, "tools/list", ""), `{"elicitation":{}}`, `{"elicitation":{"form":null}}`, 1), "error"},

		{"progress of nothing known", "meta-progress", calls(1) + "\n" + notifies("notifications/progress", `"progressToken":1,"progress":1`), "cannot tell"},
		{"progress of an older revision", "meta-progress", initialize + "\n" + notifies("notifications/progress", `"progressToken":1,"progress":1`), ""},
		{"a token in another spelling", "meta-progress", asksMeta(1, "tools/list", `"progressToken":10`) + "\n" + notifies("notifications/progress", `"progressToken":1e1,"progress":1`), ""},
		{"a token that is used again", "meta-progress", asksMeta(1, "tools/list", `"progressToken":1`) + "\n" + fails(1, -32603) + "\n" + asksMeta(2, "tools/list", `"progressToken":1`) + "\n" + notifies("notifications/progress", `"progressToken":1,"progress":1`), ""},
		{"a token that two requests have", "meta-progress", asksMeta(1, "tools/list", `"progressToken":1`) + "\n" + asksMeta(2, "tools/list", `"progressToken":1`) + "\n" + fails(1, -32603) + "\n" + notifies("notifications/progress", `"progressToken":1,"progress":1`), ""},
		{"progress after an error", "meta-progress", asksMeta(1, "tools/list", `"progressToken":1`) + "\n" + fails(1, -32603) + "\n" + notifies("notifications/progress", `"progressToken":1,"progress":1`), "error"},

		{"nobody listens", "meta-subscription", changed, ""},
		{"an older revision", "meta-subscription", initialize + "\n" + changed, ""},
		{"an acknowledgment of nothing", "meta-subscription", notifies("notifications/subscriptions/acknowledged", `"notifications":{}`), "error"},
		{"a subscription from before", "meta-subscription", ack, "cannot tell"},
		{"a subscription", "meta-subscription", listen + "\n" + ack, ""},
		{"a subscription that is null", "meta-subscription", listen + "\n" + strings.Replace(ack, `Id":1`, `Id":null`, 1), "error"},
		{"a notification of another kind", "meta-subscription", listen + "\n" + notifies("notifications/message", `"level":"info","data":1`), ""},

		{"no trace id", "meta-trace", asksMeta(1, "tools/list", `"traceparent":"00-00000000000000000000000000000000-00f067aa0ba902b7-01"`), "error"},
		{"a version to come", "meta-trace", asksMeta(1, "tools/list", `"traceparent":"01-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01-more"`), ""},
		{"this version, and more", "meta-trace", asksMeta(1, "tools/list", `"traceparent":"00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01-more"`), "error"},
		{"an object", "meta-trace", asksMeta(1, "tools/list", `"traceparent":{}`), "error"},
		{"a state of empty members", "meta-trace", asksMeta(1, "tools/list", `"tracestate":"a=1, ,b=x y"`), ""},
		{"a key twice", "meta-trace", asksMeta(1, "tools/list", `"tracestate":"a=1,a=2"`), "error"},
		{"baggage without a value", "meta-trace", asksMeta(1, "tools/list", `"baggage":"a"`), "error"},
		{"baggage with a property", "meta-trace", asksMeta(1, "tools/list", `"baggage":"a = 1 ; p ; q = 2 , b=%20"`), ""},
		{"a key of one's own", "meta-trace", asksMeta(1, "tools/list", `"com.example/traceparent":"x"`), ""},

		{"an empty list shows nothing", "tool-capability", discovers(1, "") + "\n" + lists(2, ""), ""},
		{"a failed tool shows nothing", "tool-capability", discovers(1, "") + "\n" + calls(2) + "\n" + answers(2, text+`,"isError":true`), ""},
		{"a tool, once", "tool-capability", discovers(1, `"tools":null`) + "\n" + calls(2) + "\n" + answers(2, text) + "\n" + calls(3) + "\n" + answers(3, text), "error"},
		{"declared afterwards", "tool-capability", lists(1, aTool) + "\n" + discovers(2, `"tools":{}`), ""},
		{"not declared afterwards", "tool-capability", lists(1, aTool) + "\n" + discovers(2, ""), "error"},
		{"declared, and not there", "tool-capability", discovers(1, `"tools":{}`) + "\n" + asks(2, "tools/list", "") + "\n" + fails(2, -32601), "error"},
		{"declared, and failing", "tool-capability", discovers(1, `"tools":{}`) + "\n" + asks(2, "tools/list", "") + "\n" + fails(2, -32603), ""},
		{"neither declared nor there", "tool-capability", discovers(1, "") + "\n" + asks(2, "tools/list", "") + "\n" + fails(2, -32601), ""},
		{"never discovered", "tool-capability", lists(1, aTool) + "\n" + asks(2, "tools/list", "") + "\n" + fails(2, -32601), ""},

		{"prompts before they are discovered", "prompt-capability", get(1, "") + "\n" + discovers(2, ""), ""},
		{"prompts that were not declared", "prompt-capability", discovers(1, "") + "\n" + get(2, ""), "warning"},
		{"all arguments", "prompt-error", prompt + "\n" + get(2, `,"arguments":{"a":"1"}`) + "\n" + answers(2, message), ""},
		{"asked for instead", "prompt-error", prompt + "\n" + get(2, "") + "\n" + answers(2, question(`"s"`)) + "\n" + get(3, `,"inputResponses":`+yes+`,"requestState":"s"`) + "\n" + answers(3, message), ""},
		{"a list that changed", "prompt-error", prompt + "\n" + notifies("notifications/prompts/list_changed", "") + "\n" + get(2, "") + "\n" + answers(2, message), ""},
		{"an argument short", "prompt-error", prompt + "\n" + get(2, "") + "\n" + answers(2, message), "warning"},
		{"no such method", "prompt-error", discovers(1, `"prompts":{}`) + "\n" + get(2, "") + "\n" + fails(2, -32601), "warning"},
		{"some other error", "prompt-error", discovers(1, `"prompts":{}`) + "\n" + get(2, "") + "\n" + fails(2, -32603), ""},

		{"an embedded resource", "resource-capability", discovers(1, `"tools":{}`) + "\n" + calls(2) + "\n" + answers(2, `"resultType":"complete","content":[{"type":"resource","resource":{"uri":"a:b","text":"x"}}]`), "warning"},
		{"a link", "resource-capability", discovers(1, `"tools":{}`) + "\n" + calls(2) + "\n" + answers(2, `"resultType":"complete","content":[{"type":"resource_link","uri":"a:b","name":"x"}]`), ""},
		{"a link that is no URI", "resource-uri", calls(1) + "\n" + answers(1, `"resultType":"complete","content":[{"type":"resource_link","uri":"a:\u00e9","name":"x"}]`), "error"},
		{"bad percent signs", "resource-uri", calls(1) + "\n" + answers(1, `"resultType":"complete","content":[{"type":"resource_link","uri":"a:%2","name":"x"}]`), "error"},
		{"half a percent sign", "resource-uri", calls(1) + "\n" + answers(1, `"resultType":"complete","content":[{"type":"resource_link","uri":"a:%2xb","name":"x"}]`), "error"},
		{"all that a URI may have", "resource-uri", calls(1) + "\n" + answers(1, `"resultType":"complete","content":[{"type":"resource_link","uri":"a+b-c.1://u@[::1]:80/p;q=(1)!$&'*,~_/%C3%A9?x=[y]#z?","name":"x"}]`), ""},

		{"a number of tokens", "tool-header-secret", marked(`{"type":"object","properties":{"token_count":{"type":"integer","x-mcp-header":"N"},"maxTokens":{"type":"string","x-mcp-header":"M"}}}`), ""},
		{"a secret by its title", "tool-header-secret", marked(`{"type":"object","properties":{"x":{"type":"string","title":"Password","x-mcp-header":"N"}}}`), "warning"},
		{"a secret in an object", "tool-header-secret", marked(`{"type":"object","properties":{"o":{"type":"object","properties":{"password":{"type":"string","x-mcp-header":"N"}}}}}`), "warning"},
		{"a mark within a list", "tool-header", marked(`{"type":"object","properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"N"}}}}`), "error"},
		{"a mark in a choice", "tool-header", marked(`{"type":"object","anyOf":[{"properties":{"a":{"type":"string","x-mcp-header":"N"}}}]}`), "error"},
		{"a mark in a definition", "tool-header", marked(`{"type":"object","$defs":{"a":{"type":"string","x-mcp-header":"N"}}}`), "error"},
		{"a mark on the root", "tool-header", marked(`{"type":"object","x-mcp-header":"N"}`), "error"},
		{"a parameter of that name, and values", "tool-header", marked(`{"type":"object","properties":{"x-mcp-header":{"type":"string","default":{"x-mcp-header":1},"enum":[{"x-mcp-header":1}]}}}`), ""},
		{"not over HTTP", "tool-header-called", marked(`{"type":"object","properties":{"a":{"type":"number","x-mcp-header":"N"}}}`) + "\n" + calls(2), ""},
		{"over HTTP", "tool-header-called", marked(`{"type":"object","properties":{"a":{"type":"number","x-mcp-header":"N"}}}`) + "\n" + sent(headers, 2, meta), "error"},
		{"a list that changed", "tool-header-called", marked(`{"type":"object","properties":{"a":{"type":"number","x-mcp-header":"N"}}}`) + "\n" + changed + "\n" + sent(headers, 2, meta), ""},

		{"other tools", "tool-order", lists(1, `{"name":"a"},{"name":"b"}`) + "\n" + lists(2, `{"name":"b"},{"name":"c"}`), ""},
		{"a tool that changed", "tool-order", lists(1, `{"name":"a"},{"name":"b"}`) + "\n" + lists(2, `{"name":"b","title":"B"},{"name":"a"}`), ""},
		{"another order", "tool-order", lists(1, `{"name":"a"},{"name":"b"}`) + "\n" + lists(2, `{"name":"b"},{"name":"a"}`), "warning"},
		{"after a notification", "tool-order", lists(1, `{"name":"a"},{"name":"b"}`) + "\n" + changed + "\n" + lists(2, `{"name":"b"},{"name":"a"}`), ""},
		{"another page", "tool-order", lists(1, `{"name":"a"},{"name":"b"}`) + "\n" + asks(2, "tools/list", `,"cursor":"x"`) + "\n" + answers(2, cached+`,"tools":[{"name":"b"},{"name":"a"}]`), ""},

		{"a tool of the first page", "tool-output", lists(1, aTypedTool) + "\n" + asks(2, "tools/list", `,"cursor":"x"`) + "\n" + answers(2, cached+`,"tools":[{"name":"b"}]`) + "\n" + calls(3) + "\n" + answers(3, text+`,"structuredContent":[]`), "error"},
		{"more tools than are remembered", "tool-output", lists(1, strings.Repeat(`{"name":"b"},`, 10_000)+aTypedTool) + "\n" + calls(3) + "\n" + answers(3, text+`,"structuredContent":[]`), ""},
		{"larger tools than are remembered", "tool-output", lists(1, aTypedTool+`,{"name":"b","outputSchema":{"title":"`+strings.Repeat("x", 5<<20)+`"}}`) + "\n" + calls(3) + "\n" + answers(3, text+`,"structuredContent":[]`), ""},

		{"structured, and no text", "tool-text", calls(1) + "\n" + answers(1, `"resultType":"complete","content":[{"type":"image","data":"","mimeType":"image/png"}],"structuredContent":null`), "warning"},
		{"structured, and prose", "tool-text", calls(1) + "\n" + answers(1, text+`,"structuredContent":[1,2]`), ""},

		{"refused", "answer-accepted", calls(1) + "\n" + answers(1, question(`"s"`)) + "\n" + asks(2, "tools/call", `,"name":"t","inputResponses":[],"requestState":"s"`) + "\n" + fails(2, -32602), ""},
		{"asked again", "answer-accepted", calls(1) + "\n" + answers(1, question(`"s"`)) + "\n" + asks(2, "tools/call", `,"name":"t","inputResponses":[],"requestState":"s"`) + "\n" + answers(2, question(`"s2"`)), ""},
		{"a tool that failed", "answer-accepted", calls(1) + "\n" + answers(1, question(`"s"`)) + "\n" + asks(2, "tools/call", `,"name":"t","inputResponses":{"confirm":{"action":"maybe"}},"requestState":"s"`) + "\n" + answers(2, text+`,"isError":true`), ""},
		{"taken", "answer-accepted", calls(1) + "\n" + answers(1, question(`"s"`)) + "\n" + asks(2, "tools/call", `,"name":"t","inputResponses":{"confirm":{"action":"maybe"}},"requestState":"s"`) + "\n" + answers(2, text), "warning"},
		{"an answer that is missing", "answer-accepted", calls(1) + "\n" + answers(1, question(`"s"`)) + "\n" + asks(2, "tools/call", `,"name":"t","inputResponses":{},"requestState":"s"`) + "\n" + answers(2, text), ""},
	} {
		t.Run(c.rule+"/"+c.name, func(t *testing.T) {
			if got := levels(t, c.rule, c.recording); got != c.want {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}

// levels are those of the findings of one rule.
func levels(t *testing.T, rule, recording string) string {
	t.Helper()
	var got []string
	for _, f := range check(t, recording) {
		if f.Rule == rule {
			got = append(got, string(f.Level))
		}
	}
	return strings.Join(got, ", ")
}

// A schema is judged where that is certain, and nowhere else.
func TestOutputSchemas(t *testing.T) {
	deep := `{"$ref":"#/$defs/n","$defs":{"n":{"properties":{"n":{"$ref":"#/$defs/n"}},"type":["object","integer"]}}}`
	for _, c := range []struct{ schema, content, want string }{
		{`{"type":"object"}`, `{}`, ""},
		{`{"type":"object"}`, `[]`, "error"},
		{`{"type":["string","null"]}`, `null`, ""},
		{`{"type":"integer"}`, `1.0`, ""},
		{`{"type":"integer"}`, `1.5`, "error"},
		{`{"type":"integer"}`, `1e99999`, "cannot tell"},
		{`{"type":"number"}`, `1e99999`, ""},
		{`{"type":"strange"}`, `1`, "cannot tell"},
		{`{"required":["a"]}`, `{"b":1}`, "error"},
		{`{"required":["a"]}`, `{"a":null}`, ""},
		{`{"required":["a"]}`, `7`, ""},
		{`{"required":true}`, `{}`, "cannot tell"},
		{`{"enum":[1,{"a":[true]}]}`, `{"a":[true]}`, ""},
		{`{"enum":[1,{"a":[true]}]}`, `{"a":[false]}`, "error"},
		{`{"const":10}`, `1e1`, ""},
		{`{"const":null}`, `0`, "error"},
		{`{"properties":{"a":{"type":"string"}}}`, `{"a":1}`, "error"},
		{`{"properties":{"a":{"type":"string"}},"additionalProperties":false}`, `{"a":"","b":1}`, "error"},
		{`{"properties":{"a":true},"additionalProperties":{"type":"string"}}`, `{"a":1,"b":"x"}`, ""},
		{`{"patternProperties":{"^b":{}},"additionalProperties":false}`, `{"b":1}`, "cannot tell"},
		{`{"properties":{"a":false}}`, `{"a":1}`, "error"},
		{`{"items":{"type":"string"}}`, `["a",1]`, "error"},
		{`{"items":{"type":"string"}}`, `{"a":1}`, ""},
		{`{"prefixItems":[{}],"items":{"type":"string"}}`, `[1]`, "cannot tell"},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}]}`, `[1]`, "cannot tell"},
		{`{"minimum":1}`, `1`, ""},
		{`{"minimum":1}`, `0.9`, "error"},
		{`{"exclusiveMinimum":1}`, `1`, "error"},
		{`{"maximum":1}`, `2`, "error"},
		{`{"exclusiveMaximum":1}`, `1`, "error"},
		{`{"exclusiveMaximum":true,"maximum":1}`, `1`, "cannot tell"},
		{`{"minLength":2}`, `"é"`, "error"},
		{`{"maxLength":1}`, `"é"`, ""},
		{`{"minItems":1}`, `[]`, "error"},
		{`{"maxProperties":1}`, `{"a":1,"b":2}`, "error"},
		{`{"minLength":2}`, `1`, ""},
		{`{"pattern":"^a"}`, `"b"`, "cannot tell"},
		{`{"pattern":"^a","type":"string"}`, `1`, "error"},
		{`{"not":{}}`, `1`, "cannot tell"},
		{`{"format":"date","title":"T","x-own":1}`, `"b"`, ""},
		{`{"allOf":[{"type":"string"},{"minLength":3}]}`, `"ab"`, "error"},
		{`{"anyOf":[{"type":"integer"},{"type":"null"}]}`, `null`, ""},
		{`{"anyOf":[{"type":"integer"},{"type":"null"}]}`, `"x"`, "error"},
		{`{"anyOf":[{"type":"integer"},{"pattern":"x"}]}`, `"x"`, "cannot tell"},
		{`{"oneOf":[{"type":"integer"},{"type":"number"}]}`, `1`, "error"},
		{`{"oneOf":[{"type":"integer"},{"type":"number"}]}`, `1.5`, ""},
		{`{"oneOf":[{"type":"string"},{"pattern":"x"}]}`, `"x"`, "cannot tell"},
		{`{"$ref":"#/$defs/a~1b","$defs":{"a/b":{"type":"string"}}}`, `1`, "error"},
		{`{"$ref":"#/definitions/a","minLength":9,"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a":{"type":"string"}}}`, `"x"`, ""},
		{`{"$ref":"#/$defs/a","minLength":9,"$defs":{"a":{"type":"string"}}}`, `"x"`, "error"},
		{`{"$ref":"https://example.com/x"}`, `1`, "cannot tell"},
		{`{"$ref":"#/$defs/none"}`, `1`, "cannot tell"},
		{`{"$ref":"#a","$defs":{"a":{"$anchor":"a"}}}`, `1`, "cannot tell"},
		{`{"$id":"https://example.com/s","properties":{"n":{"$ref":"#"}},"type":"object"}`, `{"n":{"n":1}}`, "error"},
		{`{"properties":{"n":{"$id":"https://example.com/s","type":"string"}}}`, `{"n":1}`, "cannot tell"},
		{deep, `{"n":{"n":7}}`, ""},
		{deep, `{"n":{"n":"x"}}`, "error"},
		{deep, strings.Repeat(`{"n":`, 300) + `7` + strings.Repeat(`}`, 300), "cannot tell"},
		{`{"$ref":"#"}`, `1`, "cannot tell"},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","type":"object"}`, `1`, "cannot tell"},
		{`{"items":{"type":"string"}}`, `[` + strings.Repeat(`"",`, 200_000) + `""]`, "cannot tell"},
	} {
		recording := lists(1, `{"name":"t","inputSchema":{"type":"object"},"outputSchema":`+c.schema+`}`) + "\n" + calls(2) + "\n" +
			answers(2, text+`,"structuredContent":`+c.content)
		if got := levels(t, "tool-output", recording); got != c.want {
			t.Errorf("%s for %.40s: found %q, want %q", c.schema, c.content, got, c.want)
		}
	}
}

// Without a list of tools in the recording, or for a tool that failed, a schema is not judged at all.
func TestOutputSchemasThatDoNotApply(t *testing.T) {
	list := lists(1, `{"name":"t","outputSchema":{"type":"object"}}`)
	for name, recording := range map[string]string{
		"no list":           calls(2) + "\n" + answers(2, text+`,"structuredContent":1`),
		"a failed tool":     list + "\n" + calls(2) + "\n" + answers(2, text+`,"isError":true`),
		"a question":        list + "\n" + calls(2) + "\n" + answers(2, question(`"s"`)),
		"a list that moved": list + "\n" + notifies("notifications/tools/list_changed", "") + "\n" + calls(2) + "\n" + answers(2, text+`,"structuredContent":1`),
	} {
		report, err := wirecheck.CheckAll("test", transcript.Read(strings.NewReader(recording), ""))
		if err != nil {
			t.Fatal(err)
		}
		if n, applied := report.Rules["tool-output"]; applied {
			t.Errorf("%s: %+v", name, n)
		}
	}
}
