// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package sqlledger_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/reprise-mcp/reprise/ledger"
	"github.com/reprise-mcp/reprise/ledger/sqlledger"
)

// A flow that was redeemed stays redeemed when the server starts again.
func ExampleOpen() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	for range 2 {
		led, err := sqlledger.Open(ctx, filepath.Join(dir, "ledger.db"))
		if err != nil {
			fmt.Println(err)
			return
		}
		now := time.Now()
		record, won, err := led.Claim(ctx, now, ledger.Claim{Flow: ledger.FlowID{1}, Expires: now.Add(time.Hour)})
		fmt.Println(record.Status, won, err)
		if err := led.Close(); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// claimed true <nil>
	// claimed false <nil>
}

// A server that cannot open its ledger must not start.
func ExampleConfig_Open() {
	_, err := sqlledger.Config{PerOwner: 100, Wait: time.Second}.Open(context.Background(), "/no/such/folder/ledger.db")
	fmt.Println(err)
	// Output:
	// sqlledger: there is no folder /no/such/folder for the ledger; make one on a local disk that outlives restarts, for this user only (mkdir -p -m 700), or name another
}

// After Close, every call says that nothing was burnt.
func ExampleLedger_Close() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	led, err := sqlledger.Open(ctx, filepath.Join(dir, "ledger.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(led.Close())

	_, err = led.Lookup(ctx, time.Now(), ledger.FlowID{1})
	fmt.Println(errors.Is(err, os.ErrClosed))
	fmt.Println(err)
	// Output:
	// <nil>
	// true
	// ledger: lookup: the ledger is closed: file already closed; nothing was burnt, the same request can be tried again once the store is back
}
