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
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/reprise-mcp/reprise/sdk/gosdk"
	"github.com/reprise-mcp/reprise/transcript"
	"github.com/reprise-mcp/reprise/wirecheck"
)

// findings are what the wire checker finds, as who and which rule.
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

// The Go SDK's client makes a clean round trip.
func TestFindingsOfTheGoSDKClient(t *testing.T) {
	f, err := newFleet()
	if err != nil {
		t.Fatal(err)
	}
	server, err := f.server(replica{identity: gosdk.Anonymous()})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var entries []*transcript.Entry
	handler := gosdk.NewHTTPHandler(server, nil)
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		headers := map[string]string{}
		for name := range r.Header {
			headers[strings.ToLower(name)] = r.Header.Get(name)
		}
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, r)
		mu.Lock()
		entries = append(entries, &transcript.Entry{Direction: transcript.Client, HTTP: true, Headers: headers, Message: body},
			&transcript.Entry{Direction: transcript.Server, HTTP: true, Headers: map[string]string{}, Status: answer.Code, Message: []byte(data(answer.Body.String()))})
		mu.Unlock()
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		w.Write(answer.Body.Bytes())
	}))
	defer ts.Close()
	client := mcp.NewClient(&mcp.Implementation{Name: "go", Version: "1.0.0"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": "approve"}}, nil
		},
	})
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: ts.URL, MaxRetries: -1, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "restart", Arguments: restart}); err != nil {
		t.Fatal(err)
	}
	session.Close()
	mu.Lock()
	defer mu.Unlock()
	if got := findings(t, entries...); got != nil {
		t.Errorf("found %q", got)
	}
	if f.deeds.Load() != 1 || len(entries) < 4 {
		t.Errorf("no round trip was made: %d messages", len(entries))
	}
}
