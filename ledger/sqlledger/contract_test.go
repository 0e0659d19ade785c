// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package sqlledger_test

import (
	"path/filepath"
	"testing"

	"github.com/reprise-mcp/reprise/ledger"
	"github.com/reprise-mcp/reprise/ledger/ledgertest"
	"github.com/reprise-mcp/reprise/ledger/sqlledger"
)

func TestContract(t *testing.T) {
	ledgertest.Run(t, ledgertest.Implementation{
		Store: func(t *testing.T, limits ledgertest.Limits) func() ledger.Ledger {
			path := filepath.Join(t.TempDir(), "ledger.db")
			return func() ledger.Ledger {
				return open(t, path, sqlledger.Config{PerOwner: limits.PerOwner})
			}
		},
		Unlimited: true,
	})
}

func open(t testing.TB, path string, c sqlledger.Config) *sqlledger.Ledger {
	t.Helper()
	l, err := c.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}
