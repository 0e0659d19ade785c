// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package elicitation_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/reprise-mcp/reprise/elicitation"
)

func message(role string, content ...elicitation.Content) elicitation.SamplingMessage {
	return elicitation.SamplingMessage{Role: role, Content: content}
}

func block(typ, json string) elicitation.Content {
	return elicitation.Content{Type: typ, JSON: jsontext.Value(json)}
}

func TestSamplingParams(t *testing.T) {
	temperature, cost, speed := 0.1, 0.3, 1.0
	request := elicitation.SamplingRequest{
		Messages: []elicitation.SamplingMessage{
			message("user", elicitation.TextContent("Weather?")),
			message("assistant", block("tool_use", `{"type":"tool_use","id":"1","name":"w","input":{"city":"Paris"}}`), block("tool_use", `{"type":"tool_use","id":"2","name":"w","input":{}}`)),
			message("user", block("tool_result", `{"type":"tool_result","toolUseId":"2","content":[]}`), block("tool_result", `{ "type":"tool_result","toolUseId":"1","content":[] }`)),
			message("assistant", elicitation.TextContent("18 °C"), block("image", `{"type":"image","mimeType":"image/png","data":"AAAA"}`)),
		},
		SystemPrompt:  "Be brief.",
		MaxTokens:     100,
		Temperature:   &temperature,
		StopSequences: []string{"\n", "END"},
		Preferences:   elicitation.ModelPreferences{Hints: []string{"small"}, Cost: &cost, Speed: &speed},
		Metadata:      jsontext.Value(`{"a": 1}`),
		Tools:         []jsontext.Value{jsontext.Value(`{"name":"w","inputSchema":{"type":"object"}}`)},
		ToolChoice:    "auto",
	}
	question, err := elicitation.NewSampling(request)
	if err != nil {
		t.Fatal(err)
	}
	if question.Kind() != elicitation.SamplingTools || question.Method() != "sampling/createMessage" {
		t.Errorf("got %q, %q", question.Kind(), question.Method())
	}
	const history = `{"role":"user","content":{"type":"text","text":"Weather?"}},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"w","input":{"city":"Paris"}},{"type":"tool_use","id":"2","name":"w","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","toolUseId":"2","content":[]},{"type":"tool_result","toolUseId":"1","content":[]}]},` +
		`{"role":"assistant","content":[{"type":"text","text":"18 °C"},{"type":"image","mimeType":"image/png","data":"AAAA"}]}`
	const rest = `],"maxTokens":100,"systemPrompt":"Be brief.","temperature":0.1,"stopSequences":["\n","END"],` +
		`"modelPreferences":{"hints":[{"name":"small"}],"costPriority":0.3,"speedPriority":1},"metadata":{"a":1},` +
		`"tools":[{"name":"w","inputSchema":{"type":"object"}}],"toolChoice":{"mode":"auto"}}`
	for prompt, want := range map[string]string{
		"":          `{"messages":[` + history + rest,
		"And \"B\"": `{"messages":[` + history + `,{"role":"user","content":{"type":"text","text":"And \"B\""}}` + rest,
	} {
		got, err := question.Params(prompt)
		if err != nil || string(got) != want {
			t.Errorf("prompt %q:\n got %s, %v\nwant %s", prompt, got, err, want)
		}
	}
	identity := string(question.Identity())
	request.MaxTokens++
	other, err := elicitation.NewSampling(request)
	if err != nil || string(other.Identity()) == identity || string(question.Identity()) != identity {
		t.Errorf("another request is the same question, or the question changed: %v", err)
	}
}

func TestSamplingRefused(t *testing.T) {
	nan, two := math.NaN(), 2.0
	use := block("tool_use", `{"type":"tool_use","id":"1","name":"w","input":{}}`)
	result := block("tool_result", `{"type":"tool_result","toolUseId":"1","content":[]}`)
	text := elicitation.TextContent("x")
	history := func(m ...elicitation.SamplingMessage) elicitation.SamplingRequest {
		return elicitation.SamplingRequest{MaxTokens: 1, Messages: m}
	}
	for name, request := range map[string]elicitation.SamplingRequest{
		"no MaxTokens":            {},
		"negative MaxTokens":      {MaxTokens: -1},
		"temperature":             {MaxTokens: 1, Temperature: &nan},
		"priority above 1":        {MaxTokens: 1, Preferences: elicitation.ModelPreferences{Cost: &two}},
		"priority NaN":            {MaxTokens: 1, Preferences: elicitation.ModelPreferences{Speed: &nan}},
		"text that is not UTF-8":  {MaxTokens: 1, SystemPrompt: "\xff"},
		"hint that is not UTF-8":  {MaxTokens: 1, Preferences: elicitation.ModelPreferences{Hints: []string{"\xff"}}},
		"metadata":                {MaxTokens: 1, Metadata: jsontext.Value(`[]`)},
		"metadata twice":          {MaxTokens: 1, Metadata: jsontext.Value(`{"a":1,"a":2}`)},
		"tool without schema":     {MaxTokens: 1, Tools: []jsontext.Value{jsontext.Value(`{"name":"a"}`)}},
		"tool that is no object":  {MaxTokens: 1, Tools: []jsontext.Value{jsontext.Value(`7`)}},
		"choice without tools":    {MaxTokens: 1, ToolChoice: "auto"},
		"unknown choice":          {MaxTokens: 1, ToolChoice: "any", Tools: []jsontext.Value{jsontext.Value(`{"name":"a","inputSchema":{}}`)}},
		"role":                    history(message("system", text)),
		"no content":              history(message("user")),
		"unknown block":           history(message("user", block("video", `{"type":"video"}`))),
		"type disagrees":          history(message("user", block("image", `{"type":"text","text":"x"}`))),
		"image without data":      history(message("user", block("image", `{"type":"image","mimeType":"image/png"}`))),
		"image not base64":        history(message("user", block("image", `{"type":"image","mimeType":"image/png","data":"%"}`))),
		"block text not UTF-8":    history(message("user", elicitation.TextContent("\xff"))),
		"tool use by the user":    history(message("user", use), message("user", result)),
		"result by the assistant": history(message("assistant", use), message("assistant", result)),
		"use unanswered":          history(message("assistant", use)),
		"use answered too late":   history(message("assistant", use), message("user", text), message("user", result)),
		"use answered by another": history(message("assistant", use), message("user", block("tool_result", `{"type":"tool_result","toolUseId":"2","content":[]}`))),
		"result without a use":    history(message("user", result)),
		"result with text":        history(message("assistant", use), message("user", result, text)),
		"use answered twice":      history(message("assistant", use), message("user", result, result)),
	} {
		if question, err := elicitation.NewSampling(request); err == nil {
			t.Errorf("%s: got %s", name, question.Identity())
		}
	}
	question, err := elicitation.NewSampling(elicitation.SamplingRequest{MaxTokens: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, prompt := range []string{"", "\xff"} {
		if params, err := question.Params(prompt); err == nil {
			t.Errorf("prompt %q: got %s", prompt, params)
		}
	}
}

func TestSamplingDecode(t *testing.T) {
	question, err := elicitation.NewSampling(elicitation.SamplingRequest{MaxTokens: 1})
	if err != nil {
		t.Fatal(err)
	}
	if question.Kind() != elicitation.Sampling {
		t.Errorf("got kind %q", question.Kind())
	}
	for in, want := range map[string]elicitation.SamplingResult{
		`{"role":"assistant","content":{"type":"text","text":"Par\u0069s"},"model":"m","stopReason":"endTurn","_meta":{}}`: {
			Role: "assistant", Model: "m", StopReason: "endTurn",
			Content: []elicitation.Content{{Type: "text", Text: "Paris", JSON: jsontext.Value(`{"type":"text","text":"Par\u0069s"}`)}},
		},
		`{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"1","name":"w","input":{}}],"model":""}`: {
			Role: "assistant",
			Content: []elicitation.Content{
				{Type: "text", Text: "a", JSON: jsontext.Value(`{"type":"text","text":"a"}`)},
				block("tool_use", `{"type":"tool_use","id":"1","name":"w","input":{}}`),
			},
		},
	} {
		reply, err := question.Decode([]byte(in))
		if err != nil || reply.Action != elicitation.Accept || !reflect.DeepEqual(reply.Content, want) {
			t.Errorf("%s: got %+v, %v", in, reply, err)
		}
		if got := reply.Content.Text(); got != want.Content[0].Text {
			t.Errorf("Text: got %q", got)
		}
	}
	const ok = `"role":"assistant","content":{"type":"text","text":"a"},"model":"m"`
	for in, want := range map[string]string{
		`{` + ok + `,"Role":"user"}`:                                                  "json",
		`{` + ok + `,"role":"user"}`:                                                  "json",
		`{` + ok + `,"x":{"a":1,"a":1}}`:                                              "json",
		`{` + ok + `}{}`:                                                              "json",
		`[{` + ok + `}]`:                                                              "type",
		`{` + ok + `,"stopReason":null}`:                                              "type",
		`{"action":"accept","content":{}}`:                                            "enum",
		`{"roots":[]}`:                                                                "enum",
		strings.Replace(`{`+ok+`}`, "assistant", "system", 1):                         "enum",
		`{"role":"assistant","content":{"type":"text","text":"a"}}`:                   "required",
		`{"role":"assistant","model":"m"}`:                                            "type",
		`{"role":"assistant","model":"m","content":"a"}`:                              "type",
		`{"role":"assistant","model":"m","content":{"type":"text"}}`:                  "type",
		`{"role":"assistant","model":"m","content":{"type":"text","text":7}}`:         "type",
		`{"role":"assistant","model":"m","content":[{"type":"tool_use","id":"1"}]}`:   "type",
		`{"role":"assistant","model":"m","content":{"type":"image","data":"AAAA"}}`:   "type",
		`{"role":"assistant","model":"m","content":{"type":"thought","text":"hmm"}}`:  "type",
		`{"role":"assistant","model":"m","content":{"type":"text","text":"a\ud800"}}`: "json",
	} {
		reply, err := question.Decode([]byte(in))
		if err == nil || reply.Action != "" {
			t.Errorf("%s: got %+v", in, reply)
			continue
		}
		wantViolations(t, err, want)
	}
}

func TestRoots(t *testing.T) {
	question := elicitation.NewRoots()
	params, err := question.Params("ignored")
	if question.Kind() != elicitation.Roots || question.Method() != "roots/list" || err != nil || string(params) != "{}" {
		t.Errorf("got %q, %q, %s, %v", question.Kind(), question.Method(), params, err)
	}
	for in, want := range map[string][]elicitation.Root{
		`{"roots":[]}`: {},
		`{"roots":[{"uri":"file:///home/user/a","name":"A"},{"uri":"file:///b","_meta":{}}],"_meta":{}}`: {{URI: "file:///home/user/a", Name: "A"}, {URI: "file:///b"}},
	} {
		reply, err := question.Decode([]byte(in))
		if err != nil || reply.Action != elicitation.Accept || !reflect.DeepEqual(reply.Content, want) {
			t.Errorf("%s: got %+v, %v", in, reply, err)
		}
	}
	for in, want := range map[string]string{
		`{}`:                      "type",
		`{"action":"accept"}`:     "type",
		`{"roots":null}`:          "type",
		`{"roots":{}}`:            "type",
		`{"roots":["file:///a"]}`: "type",
		`{"roots":[{}]}`:          "type",
		`{"roots":[{"uri":7}]}`:   "type",
		`{"roots":[{"uri":"file:///a","name":7}]}`:          "type",
		`{"roots":[{"uri":"https://example.com/"}]}`:        "format",
		`{"roots":[{"uri":"/a"}]}`:                          "format",
		`{"roots":[{"uri":"file:a"}]}`:                      "format",
		`{"roots":[{"uri":"file:///a","URI":"file:///b"}]}`: "json",
		`{"Roots":[]}`:            "json",
		`{"roots":[],"roots":[]}`: "json",
		`{"roots":[]`:             "json",
	} {
		reply, err := question.Decode([]byte(in))
		if err == nil || reply.Action != "" {
			t.Errorf("%s: got %+v", in, reply)
			continue
		}
		wantViolations(t, err, want)
	}
}
