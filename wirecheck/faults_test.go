// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-mcp/reprise/transcript"
	"github.com/reprise-mcp/reprise/wirecheck"
)

const (
	meta    = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`
	noCaps  = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	headers = `"Accept":"application/json, text/event-stream","MCP-Protocol-Version":"2026-07-28","Mcp-Method":"tools/call","Mcp-Name":"t"`
	yes     = `{"confirm":{"action":"accept","content":{"confirmed":true}}}`
	done    = `"resultType":"complete","content":[]`
)

func sent(headers string, id int, params string) string {
	return fmt.Sprintf(`{"message":{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"t",%s}},"direction":"client","http":{"headers":{%s}}}`, id, params, headers)
}

func got(id int, result string) string {
	return fmt.Sprintf(`{"message":{"jsonrpc":"2.0","id":%d,"result":{%s}},"direction":"server","http":{"headers":{},"status":200}}`, id, result)
}

func question(state string) string {
	if state != "" {
		state = `,"requestState":` + state
	}
	return `"resultType":"input_required","inputRequests":{"confirm":{"method":"elicitation/create","params":{"message":"OK?","requestedSchema":{"type":"object","properties":{"confirmed":{"type":"boolean"}},"required":["confirmed"]}}}}` + state
}

// The faults of a client that another suite's client scenario lets pass, all but two, and those two as well.
func TestFaultsOfClients(t *testing.T) {
	const state, args = `"{\"step\":1}"`, `"arguments":{},`
	retry := func(arguments, answers, state, meta string) string {
		params := arguments
		if answers != "" {
			params += `"inputResponses":` + answers + ","
		}
		if state != "" {
			params += `"requestState":` + state + ","
		}
		return params + meta
	}
	type fault struct{ name, first, asks, headers, retry, rule string }
	for _, f := range []fault{
		{"none", args + meta, question(state), headers, retry(args, yes, state, meta), ""},
		{"none, without a state", args + meta, question(""), headers, retry(args, yes, "", meta), ""},
		{"wrong keys", args + meta, question(state), headers, retry(args, `{"bogus":{"action":"accept"}}`, state, meta), "answer-missing"},
		{"no answers", args + meta, question(state), headers, retry(args, `{}`, state, meta), "answer-missing"},
		{"a wrapped result", args + meta, question(state), headers, retry(args, `{"confirm":{"method":"elicitation/create","result":{"action":"accept"}}}`, state, meta), "answer-shape"},
		{"content that breaks the schema", args + meta, question(state), headers, retry(args, `{"confirm":{"action":"accept","content":{"confirmed":"not-a-boolean"}}}`, state, meta), "answer-schema"},
		{"garbage for answers", args + meta, question(state), headers, retry(args, `"garbage"`, state, meta), "answer-object"},
		{"arguments dropped", args + meta, question(state), headers, retry("", yes, state, meta), "retry-arguments"},
		{"arguments changed", args + meta, question(state), headers, retry(`"arguments":{"x":1},`, yes, state, meta), "retry-arguments"},
		{"no _meta on the retry", args + meta, question(state), headers, retry(args, yes, state, `"x":1`), "meta-missing"},
		{"no capability declared", args + noCaps, question(state), headers, retry(args, yes, state, noCaps), "ask-undeclared"},
		{"no headers", args + meta, question(state), `"Accept":"application/json, text/event-stream"`, retry(args, yes, state, meta), "header-method"},
		{"the state serialised anew", args + meta, question(state), headers, retry(args, yes, `"{\n \"step\": 1\n}"`, meta), "retry-state"},
		{"a null state where none came", args + meta, question(""), headers, retry(args, yes, "null", meta), "retry-state"},
		{"a state where none came", args + meta, question(""), headers, retry(args, yes, state, meta), "retry-state"},
		{"the state left out", args + meta, question(state), headers, retry(args, yes, "", meta), "retry-state"},
	} {
		t.Run(f.name, func(t *testing.T) {
			findings := check(t, strings.Join([]string{sent(headers, 1, f.first), got(1, f.asks), sent(f.headers, 2, f.retry), got(2, done)}, "\n"))
			var found []string
			for _, finding := range findings {
				found = append(found, finding.Rule)
			}
			if f.rule == "" && found != nil || f.rule != "" && !slices.Contains(found, f.rule) {
				t.Errorf("found %q, want %q", found, f.rule)
			}
		})
	}
}

// Several flows of one tool are open at once, and each retry belongs to its own.
func TestInterleavedFlows(t *testing.T) {
	const flows = 50
	var lines []string
	for i := range flows {
		lines = append(lines, sent(headers, i, fmt.Sprintf(`"arguments":{"n":%d},%s`, i, meta)))
	}
	for i := range flows {
		lines = append(lines, got(i, question(fmt.Sprintf(`"s%d"`, i))))
	}
	for i := flows - 1; i >= 0; i-- {
		n := i
		if i == 7 {
			n = 8 // the arguments of another flow
		}
		lines = append(lines, sent(headers, 100+i, fmt.Sprintf(`"arguments":{"n":%d},"inputResponses":%s,"requestState":"s%d",%s`, n, yes, i, meta)), got(100+i, done))
	}
	findings := check(t, strings.Join(lines, "\n"))
	if len(findings) != 1 || findings[0].Rule != "retry-arguments" || findings[0].ID != "107" {
		t.Errorf("%v", findings)
	}
}

// What happened before the recording began cannot be told, and is no failure.
func TestARecordingThatBeginsLate(t *testing.T) {
	late := strings.Join([]string{
		sent(headers, 2, `"arguments":{},"inputResponses":`+yes+`,"requestState":"s",`+meta), got(2, done),
		got(9, done),
	}, "\n")
	findings := check(t, late)
	if len(findings) == 0 {
		t.Error("nothing was said")
	}
	for _, f := range findings {
		if f.Level != wirecheck.CannotTell {
			t.Errorf("%s", f)
		}
	}
}

// Conversations of older revisions are not judged by this one.
func TestOlderRevisionsAreLeftAlone(t *testing.T) {
	old := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}}
{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{}}}
{"jsonrpc":"2.0","id":"e1","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}}
{"jsonrpc":"2.0","id":"e1","result":{"action":"decline"}}
{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`
	for _, f := range check(t, old) {
		if f.Level != wirecheck.CannotTell {
			t.Errorf("%s", f)
		}
	}
}

// A state and an answer appear in no finding.
func TestFindingsQuoteNothingSecret(t *testing.T) {
	const secret = "hunter2hunter2"
	recording := strings.Join([]string{
		sent(headers, 1, `"arguments":{"p":"`+secret+`"},`+meta), got(1, question(`"`+secret+`"`)),
		sent(headers, 2, `"arguments":{"p":"other"},"inputResponses":{"confirm":{"action":"`+secret+`","content":{"confirmed":"`+secret+`"}},"x":{}},"requestState":"`+secret+`x",`+meta),
		got(2, `"resultType":"`+secret+`"`),
		sent(headers, 3, `"arguments":{"p":"`+secret+`"},"inputResponses":{"confirm":{"action":"accept","content":{"confirmed":"`+secret+`"}}},"requestState":"`+secret+`",`+meta),
	}, "\n")
	text, err := json.Marshal(check(t, recording))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), secret) || len(text) < 100 {
		t.Errorf("%s", text)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add(sent(headers, 1, meta) + "\n" + got(1, question(`"s"`)) + "\n" + sent(headers, 2, `"inputResponses":`+yes+`,"requestState":"s",`+meta))
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"a":1,"a":2}}}` + "\n" + `[]` + "\n" + `{`)
	f.Add("{0\n{\"\n{\"a\"\n{\"a\":\n[{]")
	f.Add(`{"message":null,"direction":"server","http":{"headers":{},"status":500}}`)
	f.Fuzz(func(t *testing.T, recording string) {
		checkAnything(recording)
	})
}

// checkAnything never panics, whatever it is given.
func checkAnything(recording string) {
	c := wirecheck.New()
	for e, err := range transcript.Read(strings.NewReader(recording), "") {
		if err != nil {
			return
		}
		c.Check(e)
	}
}
