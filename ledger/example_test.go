// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"context"
	"crypto/sha256"
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
