// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package elicitation_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/reprise-mcp/reprise/elicitation"
)

// content returns {"a": text}.
func content(t *testing.T, text string) []byte {
	t.Helper()
	b, err := json.Marshal(map[string]string{"a": text})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestParseResult(t *testing.T) {
	tests := []struct {
		in      string
		action  elicitation.Action
		content string
	}{
		{`{"action":"accept","content":{"a":1}}`, elicitation.Accept, `{"a":1}`},
		{` { "content" : { "a" : 1 } , "action" : "accept" } `, elicitation.Accept, `{ "a" : 1 }`},
		{`{"action":"accept"}`, elicitation.Accept, ``},
		{`{"action":"accept","content":null}`, elicitation.Accept, ``},
		{`{"action":"accept","content":{}}`, elicitation.Accept, `{}`},
		{`{"action":"\u0061ccept"}`, elicitation.Accept, ``},
		{`{"\u0061ction":"accept"}`, elicitation.Accept, ``},
		{`{"action":"decline"}`, elicitation.Decline, ``},
		{`{"action":"cancel"}`, elicitation.Cancel, ``},
		{`{"action":"decline","resultType":"complete","_meta":{"a":[{}]}}`, elicitation.Decline, ``},
		{`{"action":"cancel","content":null}`, elicitation.Cancel, ``},
		{`{"action":"decline","content":{}}`, elicitation.Decline, ``},
		{`{"action":"decline","content":{"decision":"go"}}`, elicitation.Decline, ``},
		{`{"action":"decline","content":["go"]}`, elicitation.Decline, ``},
		{`{"action":"cancel","content":7}`, elicitation.Cancel, ``},
	}
	for _, test := range tests {
		action, content, err := elicitation.ParseResult([]byte(test.in))
		if err != nil || action != test.action || string(content) != test.content || (test.content == "") != (content == nil) {
			t.Errorf("%s: got %q, %q, %v", test.in, action, content, err)
		}
	}
}

func TestParseResultRefused(t *testing.T) {
	for in, want := range map[string]string{
		`{}`:                                "action",
		`{"content":{"a":1}}`:               "action",
		`{"action":null}`:                   "action",
		`{"action":true}`:                   "action",
		`{"action":["accept"]}`:             "action",
		`{"action":""}`:                     "action",
		`{"action":"ACCEPT"}`:               "action",
		`{"action":"Accept"}`:               "action",
		`{"action":"accept "}`:              "action",
		`{"action":"approve"}`:              "action",
		`{"action":"accept\u0000"}`:         "action",
		`{"role":"assistant","content":{}}`: "action",
		`{"roots":[]}`:                      "action",
		`{"Action":"accept"}`:               "json",
		`{"action":"decline","Action":"accept","content":{"decision":"go"}}`: "json",
		`{"Action":"accept","action":"decline","content":{"decision":"go"}}`: "json",
		`{"action":"accept","CONTENT":{},"content":{}}`:                      "json",
		`{"action":"decline","action":"accept"}`:                             "json",
		`{"action":"decline","\u0061ction":"accept"}`:                        "json",
		`{"action":"accept","content":{"a":1,"a":2}}`:                        "json",
		`{"action":"decline","content":{"a":1,"a":2}}`:                       "json",
		`{"action":"accept","_meta":{"a":{"b":1,"b":1}}}`:                    "json",
		`{"action":"accept"}{"action":"accept"}`:                             "json",
		`{"action":"accept"} x`:                                              "json",
		`{"action":"accept"`:                                                 "json",
		`{"action":"accept",}`:                                               "json",
		"{\"action\":\"accept\",\"x\":\"\xff\"}":                             "json",
		`{"action":"accept","content":{"a":"\ud800"}}`:                       "json",
		`{"action":"decline","content":"\udc00"}`:                            "json",
		"\ufeff" + `{"action":"accept"}`:                                     "json",
		``:                                                                   "json",
		`7`:                                                                  "type",
		`"accept"`:                                                           "type",
		`null`:                                                               "type",
		`[]`:                                                                 "type",
		`[{"action":"accept"}]`:                                              "type",
		`{"action":"accept","content":[]}`:                                   "type",
		`{"action":"accept","content":"go"}`:                                 "type",
		`{"action":"accept","content":true}`:                                 "type",
		`{"action":"accept","content":0}`:                                    "type",
		`{"action":"accept","x":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`: "json",
	} {
		action, content, err := elicitation.ParseResult([]byte(in))
		if err == nil || action != "" || content != nil {
			t.Errorf("%.80s: got %q, %q, %v", in, action, content, err)
			continue
		}
		wantViolations(t, err, want)
	}
}
