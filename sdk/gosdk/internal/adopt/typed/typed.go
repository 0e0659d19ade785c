// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

// Package typed asks the human to type a table's name before the table is dropped.
package typed

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/reprise-mcp/reprise"
	"github.com/reprise-mcp/reprise/elicitation"
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
		func(ctx context.Context, call *reprise.Call, in args) (result, error) { return drop(ctx, call, in, db) })
}

// begin

type typedName struct {
	Name string `json:"name" title:"Name of the table"`
}

var form = elicitation.MustForm[typedName]()

func drop(ctx context.Context, call *reprise.Call, in args, db *store.DB) (result, error) {
	table, err := db.Get(ctx, in.Table)
	if err != nil {
		return result{}, err
	}
	answer, err := reprise.Ask(ctx, call, "name", form, "Type "+in.Table+" to drop it for good.", table.ID)
	approval, yes := answer.Approve(func(t typedName) bool { return t.Name == in.Table })
	if err != nil || !yes {
		return result{}, err
	}
	return reprise.Do(ctx, call, approval, func(ctx context.Context) (result, error) {
		rows, err := db.Drop(ctx, in.Table, table.ID)
		return result{Dropped: err == nil, Rows: rows}, err
	})
}

// end
