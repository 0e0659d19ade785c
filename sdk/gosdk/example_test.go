// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package gosdk_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/reprise-mcp/reprise"
	"github.com/reprise-mcp/reprise/ledger"
	"github.com/reprise-mcp/reprise/requeststate"
	"github.com/reprise-mcp/reprise/sdk/gosdk"
)

// callWith calls a tool with the client of the SDK, which asks its user and sends the call again.
func callWith(handler http.Handler, tool string, args any, answer func(message string) *mcp.ElicitResult) string {
	srv := httptest.NewServer(handler)
	defer srv.Close()
	client := mcp.NewClient(&mcp.Implementation{Name: "example", Version: "1.0.0"}, &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return answer(req.Params.Message), nil
		},
	})
	session, err := client.Connect(context.Background(), &mcp.StreamableClientTransport{Endpoint: srv.URL, DisableStandaloneSSE: true}, nil)
	if err != nil {
		panic(err)
	}
	defer session.Close()
	result, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		panic(err)
	}
	return result.Content[0].(*mcp.TextContent).Text
}

func engine() *reprise.Engine {
	keys, err := requeststate.NewKeyring(requeststate.NewKey())
	if err != nil {
		panic(err)
	}
	sealer, err := requeststate.New(requeststate.Config{Keyring: keys, Audience: "https://ops.example.com/mcp"})
	if err != nil {
		panic(err)
	}
	engine, err := reprise.New(reprise.Config{Sealer: sealer, Ledger: &ledger.Memory{}})
	if err != nil {
		panic(err)
	}
	return engine
}

// A handler that asks by itself stays as it is; one line puts it under the engine.
func ExampleAdapter_Protect() {
	server := mcp.NewServer(&mcp.Implementation{Name: "ops", Version: "1.0.0"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "rename"}, func(_ context.Context, req *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
		if answer, ok := req.Params.InputResponses["name"].(*mcp.ElicitResult); ok {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(req.Params.RequestState, " is now ", answer.Content["name"])}}}, nil, nil
		}
		return &mcp.CallToolResult{
			RequestState: "row 7", // the client sees it sealed
			InputRequests: mcp.InputRequestMap{"name": &mcp.ElicitParams{Message: "What is the new name?", RequestedSchema: map[string]any{
				"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}, "required": []string{"name"},
			}}},
		}, nil, nil
	})
	adapter, err := gosdk.New(server, gosdk.Config{Engine: engine(), Identity: gosdk.Anonymous()})
	if err != nil {
		panic(err)
	}
	if err := adapter.Protect(reprise.Options{}); err != nil {
		panic(err)
	}
	fmt.Println(callWith(gosdk.NewHTTPHandler(server, nil), "rename", nil, func(message string) *mcp.ElicitResult {
		fmt.Println(message)
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "billing"}}
	}))
	// Output:
	// What is the new name?
	// row 7 is now billing
}

// Who is asked is who the token says. The token's check stands around the handler.
func ExampleAuthenticated() {
	server := mcp.NewServer(&mcp.Implementation{Name: "ops", Version: "1.0.0"}, nil)
	adapter, err := gosdk.New(server, gosdk.Config{Engine: engine(), Identity: gosdk.Authenticated("https://issuer.example.com")})
	if err != nil {
		panic(err)
	}
	if err := gosdk.AddTool(adapter, &mcp.Tool{Name: "whoami"}, reprise.Options{}, func(_ context.Context, call *reprise.Call, _ any) (string, error) {
		return call.Principal().String(), nil
	}); err != nil {
		panic(err)
	}
	verify := func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		if token != "alices-token" { // a real server checks the signature, the audience and the expiry
			return nil, auth.ErrInvalidToken
		}
		return &auth.TokenInfo{UserID: "alice"}, nil
	}
	handler := auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(gosdk.NewHTTPHandler(server, nil))
	withToken := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer alices-token") // the client's part
		handler.ServeHTTP(w, r)
	})
	fmt.Println(callWith(withToken, "whoami", nil, nil))
	// Output:
	// "user \"https://issuer.example.com\" \"alice\""
}

func ExampleFilter() {
	server := mcp.NewServer(&mcp.Implementation{Name: "example", Version: "1"}, nil)
	handler := gosdk.Filter(mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true},
	), nil)

	srv := httptest.NewServer(handler)
	defer srv.Close()
	resp, err := http.Post(srv.URL, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}`))
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	fmt.Println(resp.Status)
	fmt.Println(string(body))
	// Output:
	// 400 Bad Request
	// {"jsonrpc":"2.0","error":{"code":-32600,"message":"invalid request: a member name appears twice in one object"}}
}
