// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

// Package before is a server that drops a table as soon as a model says so.
package before

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
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
func AddTools(server *mcp.Server, db *store.DB) {
	mcp.AddTool(server, &mcp.Tool{Name: "drop_table", Description: "Drop a table."},
		func(ctx context.Context, _ *mcp.CallToolRequest, in args) (*mcp.CallToolResult, result, error) {
			rows, err := db.Drop(ctx, in.Table, "")
			return nil, result{Dropped: err == nil, Rows: rows}, err
		})
}
