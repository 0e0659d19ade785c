// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package interop

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/reprise-mcp/reprise/transcript"
	"github.com/reprise-mcp/reprise/wirecheck"
)

// recorded keeps what goes over a transport of the SDK, as its LoggingTransport writes it.
type recorded struct{ bytes.Buffer }

func findings(t *testing.T, entries ...*transcript.Entry) []string {
	t.Helper()
	checker, found := wirecheck.New(), map[string]bool{}
	for i, e := range entries {
		e.Line = i + 1
		for _, f := range checker.Check(e) {
			if f.Level != wirecheck.CannotTell {
				found[fmt.Sprintf("%s %s", f.Who, f.Rule)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// What docs/findings.md says of the bare Go SDK, message by message. When one of these fails after an upgrade, the SDK has mended it.
func TestFindingsOfTheGoSDKServer(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1"}, nil)
	form := mcp.InputRequestMap{"q": &mcp.ElicitParams{Mode: "form", Message: "OK?", RequestedSchema: map[string]any{
		"type": "object", "properties": map[string]any{"a": map[string]any{"type": "string"}}}}}
	mcp.AddTool(server, &mcp.Tool{Name: "t"}, func(context.Context, *mcp.CallToolRequest, map[string]any) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{InputRequests: form, RequestState: "s"}, nil, nil
	})
	server.AddResource(&mcp.Resource{Name: "r", URI: "x://r"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{InputRequests: form, RequestState: "s"}, nil
	})
	ts := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}))
	defer ts.Close()
	exchange := func(method, target, name, capabilities string) []*transcript.Entry {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%q:%q,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
			`"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":%s}}}`, method, target, name, capabilities)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, ts.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		headers := map[string]string{"content-type": "application/json", "accept": "application/json, text/event-stream",
			"mcp-protocol-version": "2026-07-28", "mcp-method": method, "mcp-name": name}
		for header, value := range headers {
			req.Header.Set(header, value)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		answer, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return []*transcript.Entry{
			{Direction: transcript.Client, HTTP: true, Headers: headers, Message: []byte(body)},
			{Direction: transcript.Server, HTTP: true, Headers: map[string]string{}, Status: res.StatusCode, Message: answer},
		}
	}
	for _, test := range []struct {
		name    string
		entries []*transcript.Entry
		want    []string
	}{
		{"a tool that asks what was declared", exchange("tools/call", "name", "t", `{"elicitation":{}}`), nil},
		{"a tool that asks what was not declared", exchange("tools/call", "name", "t", `{}`), []string{"server ask-undeclared"}},
		{"a form to a client with URL mode", exchange("tools/call", "name", "t", `{"elicitation":{"url":{}}}`), []string{"server ask-undeclared"}},
		{"a resource that asks", exchange("resources/read", "uri", "x://r", `{"elicitation":{}}`), []string{"server cache-on-ask"}},
	} {
		if got := findings(t, test.entries...); !slices.Equal(got, test.want) {
			t.Errorf("%s: found %q, want %q", test.name, got, test.want)
		}
	}
}

// The Go SDK's client makes a clean round trip on stdio.
func TestFindingsOfTheGoSDKClient(t *testing.T) {
	f, err := newFleet()
	if err != nil {
		t.Fatal(err)
	}
	url, _ := f.serve(t)
	log := &recorded{}
	client := mcp.NewClient(&mcp.Implementation{Name: "go", Version: "1.0.0"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": "approve"}}, nil
		},
	})
	session, err := client.Connect(t.Context(), &mcp.LoggingTransport{
		Transport: &mcp.StreamableClientTransport{Endpoint: url, MaxRetries: -1, DisableStandaloneSSE: true}, Writer: log,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "restart", Arguments: restart}); err != nil {
		t.Fatal(err)
	}
	session.Close()
	report, err := wirecheck.CheckAll("log", transcript.Read(&log.Buffer, ""))
	if err != nil {
		t.Fatal(err)
	}
	for _, finding := range report.Findings {
		t.Errorf("%s", finding)
	}
	if report.Rules["retry-state"].Passed != 1 || report.Rules["answer-schema"].Passed != 1 {
		t.Errorf("no round trip was checked: %v", report.Rules)
	}
}
