// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

// Package store stands for what the servers of docs/adopt.md would destroy.
package store

import (
	"context"
	"fmt"
	"sync"
)

// A Table holds rows; deleting one counts.
type Table struct {
	ID   string
	Rows int
}

// DB is a set of tables by name.
type DB struct {
	mu     sync.Mutex
	tables map[string]Table
}

// New returns a DB with these tables.
func New(tables map[string]Table) *DB { return &DB{tables: tables} }

// Get returns a table.
func (db *DB) Get(_ context.Context, name string) (Table, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	table, ok := db.tables[name]
	if !ok {
		return Table{}, fmt.Errorf("there is no table %q", name)
	}
	return table, nil
}

// Drop deletes a table if it is still the one with this id; an empty id means whichever it is. It returns the number of rows.
func (db *DB) Drop(_ context.Context, name, id string) (int, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	table, ok := db.tables[name]
	if !ok || id != "" && table.ID != id {
		return 0, fmt.Errorf("there is no table %q", name)
	}
	delete(db.tables, name)
	return table.Rows, nil
}
