// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package gosdk_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/reprise-mcp/reprise"
	"github.com/reprise-mcp/reprise/ledger"
	"github.com/reprise-mcp/reprise/requeststate"
	"github.com/reprise-mcp/reprise/sdk/gosdk"
)

type Args struct{ Service string }

func restart(ctx context.Context, call *reprise.Call, in Args) (string, error) {
	decision, err := reprise.Confirm(ctx, call, "confirm", "Restart "+in.Service+"?")
	approval, yes := decision.Approved()
	if err != nil || !yes {
		return "not restarted", err
	}
	return reprise.Do(ctx, call, approval, func(context.Context) (string, error) { return "restarted", nil })
}

func newHandler(keys *requeststate.Keyring) (http.Handler, error) {
	sealer, err := requeststate.New(requeststate.Config{Keyring: keys, Audience: "https://ops.example.com/mcp"})
	if err != nil {
		return nil, err
	}
	engine, err := reprise.New(reprise.Config{Sealer: sealer, Ledger: &ledger.Memory{}})
	if err != nil {
		return nil, err
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "ops", Version: "1.0.0"}, nil)
	adapter, err := gosdk.New(server, gosdk.Config{Engine: engine, Identity: gosdk.Anonymous()})
	if err != nil {
		return nil, err
	}
	return gosdk.NewHTTPHandler(server, nil), gosdk.AddTool(adapter, &mcp.Tool{Name: "restart"}, reprise.Options{}, restart)
}

// A whole server that asks before it restarts a service, and the official client that answers.
func Example() {
	keys, err := requeststate.NewKeyring(requeststate.NewKey())
	if err != nil {
		panic(err)
	}
	handler, err := newHandler(keys)
	if err != nil {
		panic(err)
	}
	result := callWith(handler, "restart", Args{"billing"}, func(message string) *mcp.ElicitResult {
		fmt.Println("the user is asked:", message)
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": "approve"}}
	})
	fmt.Println("the model hears:", result)
	// Output:
	// the user is asked: Restart billing?
	// the model hears: "restarted"
}
