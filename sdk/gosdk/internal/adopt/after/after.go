// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

// Package after is the server of package before, and asks first.
package after

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/reprise-mcp/reprise"
	"github.com/reprise-mcp/reprise/sdk/gosdk"
	"github.com/reprise-mcp/reprise/sdk/gosdk/internal/adopt/store"
)

type args struct {
	Table string `json:"table"`
}

type result struct {
	Dropped bool `json:"dropped"`
	Rows    int  `json:"rows"`
}

// AddTools registers drop_table.
func AddTools(adapter *gosdk.Adapter, db *store.DB) error {
	return gosdk.AddTool(adapter, &mcp.Tool{Name: "drop_table", Description: "Drop a table."}, reprise.Options{},
		func(ctx context.Context, call *reprise.Call, in args) (result, error) {
			decision, err := reprise.Confirm(ctx, call, "confirm", "Drop the table "+in.Table+"?")
			approval, yes := decision.Approved()
			if err != nil || !yes {
				return result{}, err
			}
			return reprise.Do(ctx, call, approval, func(ctx context.Context) (result, error) {
				rows, err := db.Drop(ctx, in.Table, "")
				return result{Dropped: err == nil, Rows: rows}, err
			})
		})
}
