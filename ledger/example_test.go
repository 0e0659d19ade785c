// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/reprise-mcp/reprise/ledger"
)

func Example() {
	ctx := context.Background()
	now := time.Now()
	var led ledger.Memory // one process; sqlledger.Open where several share a host

	redeem := func(flow ledger.FlowID, answers string) {
		record, won, err := led.Claim(ctx, now, ledger.Claim{
			Flow:        flow,
			Owner:       [16]byte{1},
			Fingerprint: sha256.Sum256([]byte(answers)),
			Expires:     now.Add(time.Hour + time.Minute), // the flow's absolute end plus twice the leeway
		})
		switch {
		case err != nil:
			fmt.Println("refused:", err)
		case won:
			fmt.Println("deploying")
			if err := led.Complete(ctx, now, flow, []byte("v42 is live")); err != nil {
				fmt.Println("the result is not on record:", err)
			}
		case record.Fingerprint != sha256.Sum256([]byte(answers)):
			fmt.Println("redeemed before, with other answers")
		default:
			fmt.Printf("redeemed before (%v): %s\n", record.Status, record.Result)
		}
	}

	flow := ledger.FlowID{0xf1, 0x0e}
	redeem(flow, `{"confirm":true}`)
	redeem(flow, `{"confirm":true}`)
	redeem(flow, `{"confirm":true,"force":true}`)
	// Output:
	// deploying
	// redeemed before (completed): v42 is live
	// redeemed before, with other answers
}

// The quota keeps one caller from filling the ledger for the others.
func ExampleMemory() {
	ctx := context.Background()
	now := time.Now()
	led := ledger.Memory{Flows: 1_000, PerOwner: 2}
	alice, bob := [16]byte{1}, [16]byte{2}

	for i, owner := range [][16]byte{alice, alice, alice, bob} {
		_, won, err := led.Claim(ctx, now, ledger.Claim{Flow: ledger.FlowID{byte(i)}, Owner: owner, Expires: now.Add(time.Hour)})
		fmt.Println(won, errors.Is(err, ledger.ErrQuota))
	}
	// Output:
	// true false
	// true false
	// false true
	// true false
}

// Whether a claim that failed may have burnt the flow.
func ExampleUnavailableError() {
	var led ledger.Memory
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	now := time.Now()
	_, _, err := led.Claim(gone, now, ledger.Claim{Flow: ledger.FlowID{1}, Expires: now.Add(time.Hour)})
	if store, ok := errors.AsType[*ledger.UnavailableError](err); ok {
		fmt.Println(store.Op, store.Unknown)
		fmt.Println(err)
	}
	// Output:
	// claim false
	// ledger: claim: context canceled; nothing was burnt, the same request can be tried again once the store is back
}
