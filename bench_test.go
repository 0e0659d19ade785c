// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package reprise_test

import (
	"context"
	"testing"

	"github.com/reprise-mcp/reprise"
	"github.com/reprise-mcp/reprise/ledger"
)

// BenchmarkRoundTrip is both rounds of a confirmed call: all of what the engine adds to a handler.
func BenchmarkRoundTrip(b *testing.B) {
	confirm := func(ctx context.Context, call *reprise.Call) (any, error) {
		decision, err := reprise.Confirm(ctx, call, "confirm", "Deploy 2, replacing 1?", "1", "2")
		if err != nil {
			return nil, err
		}
		approval, _ := decision.Approved()
		return reprise.Do(ctx, call, approval, func(context.Context) (any, error) { return "done", nil })
	}
	for name, algorithm := range algorithms {
		for _, o := range []struct {
			name string
			reprise.Options
		}{{"reusable", reprise.Options{Reusable: true}}, {"single-use", reprise.Options{}}} {
			b.Run(name+"/"+o.name, func(b *testing.B) {
				fresh := func() *rig {
					r := newRig(b, algorithm)
					r.ledger = &ledger.Memory{Flows: 1 << 20, PerOwner: 1 << 20}
					r.engine = r.replica()
					return r
				}
				r := fresh()
				req := r.first()
				answers := r.retry(req, r.engine.Run(b.Context(), req, o.Options, confirm), answered(yes)).Responses
				b.ReportAllocs()
				for n := 0; b.Loop(); n++ {
					if n%(1<<19) == 1<<19-1 {
						b.StopTimer() // the memory of redeemed flows is bounded
						r = fresh()
						b.StartTimer()
					}
					out := r.engine.Engine.Run(b.Context(), req, o.Options, confirm)
					again := *req
					again.State, again.Responses = &out.Ask.State, answers
					if out = r.engine.Engine.Run(b.Context(), &again, o.Options, confirm); out.Result != "done" {
						b.Fatal(out.Err)
					}
				}
			})
		}
	}
}
