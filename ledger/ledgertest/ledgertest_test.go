// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package ledgertest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reprise-mcp/reprise/ledger"
	"github.com/reprise-mcp/reprise/ledger/ledgertest"
)

// A faulty ledger is a good one with one fault.
type faulty struct {
	*ledger.Memory
	claim    func(m *ledger.Memory, ctx context.Context, now time.Time, c ledger.Claim) (ledger.Record, bool, error)
	complete func(m *ledger.Memory, ctx context.Context, now time.Time, flow ledger.FlowID, result []byte) error
	lookup   func(m *ledger.Memory, ctx context.Context, now time.Time, flow ledger.FlowID) (ledger.Record, error)
}

func (f *faulty) Claim(ctx context.Context, now time.Time, c ledger.Claim) (ledger.Record, bool, error) {
	if f.claim == nil {
		return f.Memory.Claim(ctx, now, c)
	}
	return f.claim(f.Memory, ctx, now, c)
}

func (f *faulty) Complete(ctx context.Context, now time.Time, flow ledger.FlowID, result []byte) error {
	if f.complete == nil {
		return f.Memory.Complete(ctx, now, flow, result)
	}
	return f.complete(f.Memory, ctx, now, flow, result)
}

func (f *faulty) Lookup(ctx context.Context, now time.Time, flow ledger.FlowID) (ledger.Record, error) {
	if f.lookup == nil {
		return f.Memory.Lookup(ctx, now, flow)
	}
	return f.lookup(f.Memory, ctx, now, flow)
}

// What implementations get wrong, and the test of the suite that must say so.
var faults = map[string]struct {
	caught string
	faulty func() faulty
}{
	"reads, then writes": {"one_winner", func() faulty {
		var reads sync.WaitGroup // of the first claims on flow 0: they all read before one writes
		reads.Add(2)
		seen := make(chan struct{}, 2)
		return faulty{claim: func(m *ledger.Memory, ctx context.Context, now time.Time, c ledger.Claim) (ledger.Record, bool, error) {
			r, err := m.Lookup(ctx, now, c.Flow)
			if err != nil || r.Status != ledger.Unspent {
				return r, false, err
			}
			select {
			case seen <- struct{}{}:
				reads.Done()
				reads.Wait()
			default:
			}
			_, _, err = m.Claim(ctx, now, c)
			return ledger.Record{Status: ledger.Claimed, Fingerprint: c.Fingerprint}, true, err
		}}
	}},
	"an identical repeat wins": {"life_of_a_flow", func() faulty {
		return faulty{claim: func(m *ledger.Memory, ctx context.Context, now time.Time, c ledger.Claim) (ledger.Record, bool, error) {
			r, won, err := m.Claim(ctx, now, c)
			return r, won || r.Status == ledger.Claimed && r.Fingerprint == c.Fingerprint, err
		}}
	}},
	"the loser's own fingerprint": {"life_of_a_flow", func() faulty {
		return faulty{claim: func(m *ledger.Memory, ctx context.Context, now time.Time, c ledger.Claim) (ledger.Record, bool, error) {
			r, won, err := m.Claim(ctx, now, c)
			if err == nil {
				r.Fingerprint = c.Fingerprint
			}
			return r, won, err
		}}
	}},
	"expiry rounded down": {"kept_until_expiry", func() faulty {
		return faulty{claim: func(m *ledger.Memory, ctx context.Context, now time.Time, c ledger.Claim) (ledger.Record, bool, error) {
			if c.Expires.After(now.Add(time.Millisecond)) {
				c.Expires = c.Expires.Truncate(time.Millisecond)
			}
			return m.Claim(ctx, now, c)
		}}
	}},
	"expiry by a shorter retention": {"kept_until_expiry", func() faulty {
		return faulty{claim: func(m *ledger.Memory, ctx context.Context, now time.Time, c ledger.Claim) (ledger.Record, bool, error) {
			if limit := now.Add(10 * time.Minute); c.Expires.After(limit) {
				c.Expires = limit
			}
			return m.Claim(ctx, now, c)
		}}
	}},
	"the caller's clock is no matter": {"expired_claim", func() faulty {
		return faulty{claim: func(m *ledger.Memory, ctx context.Context, now time.Time, c ledger.Claim) (ledger.Record, bool, error) {
			if !now.Before(c.Expires) {
				c.Expires = now.Add(time.Hour)
			}
			return m.Claim(ctx, now, c)
		}}
	}},
	"full is no matter": {"full", func() faulty {
		return faulty{claim: func(m *ledger.Memory, ctx context.Context, now time.Time, c ledger.Claim) (ledger.Record, bool, error) {
			r, won, err := m.Claim(ctx, now, c)
			if errors.Is(err, ledger.ErrFull) {
				m.Flows++
				return m.Claim(ctx, now, c)
			}
			return r, won, err
		}}
	}},
	"one quota for all": {"quota", func() faulty {
		return faulty{claim: func(m *ledger.Memory, ctx context.Context, now time.Time, c ledger.Claim) (ledger.Record, bool, error) {
			c.Owner = [16]byte{}
			return m.Claim(ctx, now, c)
		}}
	}},
	"the quota hides the record": {"quota", func() faulty {
		return faulty{claim: func(m *ledger.Memory, ctx context.Context, now time.Time, c ledger.Claim) (ledger.Record, bool, error) {
			fresh := c
			fresh.Flow[0] ^= 0xff
			if _, _, err := m.Claim(ctx, now, fresh); errors.Is(err, ledger.ErrQuota) {
				return ledger.Record{}, false, err
			}
			return m.Claim(ctx, now, c)
		}}
	}},
	"a quota that is never freed": {"quota_freed_by_expiry", func() faulty {
		used := make(map[[16]byte]int)
		return faulty{claim: func(m *ledger.Memory, ctx context.Context, now time.Time, c ledger.Claim) (ledger.Record, bool, error) {
			if m.PerOwner == 3 && used[c.Owner] >= 3 {
				if r, _ := m.Lookup(ctx, now, c.Flow); r.Status == ledger.Unspent {
					return ledger.Record{}, false, ledger.ErrQuota
				}
			}
			r, won, err := m.Claim(ctx, now, c)
			if won && m.PerOwner == 3 {
				used[c.Owner]++
			}
			return r, won, err
		}}
	}},
	"the last result stands": {"complete_again", func() faulty {
		var mu sync.Mutex
		last := make(map[ledger.FlowID][]byte)
		return faulty{
			complete: func(m *ledger.Memory, ctx context.Context, now time.Time, flow ledger.FlowID, result []byte) error {
				err := m.Complete(ctx, now, flow, result)
				if errors.Is(err, ledger.ErrCompleted) {
					err = nil
				}
				if err == nil {
					mu.Lock()
					defer mu.Unlock()
					last[flow] = slices.Clone(result)
				}
				return err
			},
			lookup: func(m *ledger.Memory, ctx context.Context, now time.Time, flow ledger.FlowID) (ledger.Record, error) {
				r, err := m.Lookup(ctx, now, flow)
				mu.Lock()
				defer mu.Unlock()
				if r.Status == ledger.Completed {
					r.Result = last[flow]
				}
				return r, err
			},
		}
	}},
	"results shared with the caller": {"results_are_opaque", func() faulty {
		shared := make(map[ledger.FlowID][]byte)
		return faulty{
			complete: func(m *ledger.Memory, ctx context.Context, now time.Time, flow ledger.FlowID, result []byte) error {
				err := m.Complete(ctx, now, flow, result)
				if err == nil && shared[flow] == nil {
					shared[flow] = result
				}
				return err
			},
			lookup: func(m *ledger.Memory, ctx context.Context, now time.Time, flow ledger.FlowID) (ledger.Record, error) {
				r, err := m.Lookup(ctx, now, flow)
				if r.Status == ledger.Completed {
					r.Result = shared[flow]
				}
				return r, err
			},
		}
	}},
	"an empty result is none": {"results_are_opaque", func() faulty {
		return faulty{complete: func(m *ledger.Memory, ctx context.Context, now time.Time, flow ledger.FlowID, result []byte) error {
			if len(result) == 0 {
				return nil
			}
			return m.Complete(ctx, now, flow, result)
		}}
	}},
	"completing claims": {"complete_unclaimed", func() faulty {
		return faulty{complete: func(m *ledger.Memory, ctx context.Context, now time.Time, flow ledger.FlowID, result []byte) error {
			err := m.Complete(ctx, now, flow, result)
			if errors.Is(err, ledger.ErrUnclaimed) {
				m.Claim(ctx, now, ledger.Claim{Flow: flow, Expires: now.Add(time.Hour)})
			}
			return err
		}}
	}},
	"ids cut short": {"flows_are_independent", func() faulty {
		short := func(flow ledger.FlowID) ledger.FlowID { flow[0] &= 0x7f; return flow }
		return faulty{
			claim: func(m *ledger.Memory, ctx context.Context, now time.Time, c ledger.Claim) (ledger.Record, bool, error) {
				c.Flow = short(c.Flow)
				return m.Claim(ctx, now, c)
			},
			lookup: func(m *ledger.Memory, ctx context.Context, now time.Time, flow ledger.FlowID) (ledger.Record, error) {
				return m.Lookup(ctx, now, short(flow))
			},
		}
	}},
	"the context is no matter": {"cancelled_before", func() faulty {
		return faulty{claim: func(m *ledger.Memory, ctx context.Context, now time.Time, c ledger.Claim) (ledger.Record, bool, error) {
			return m.Claim(context.WithoutCancel(ctx), now, c)
		}}
	}},
	"burnt and denied": {"cancelled_during", func() faulty {
		return faulty{claim: func(m *ledger.Memory, ctx context.Context, now time.Time, c ledger.Claim) (ledger.Record, bool, error) {
			r, won, err := m.Claim(context.WithoutCancel(ctx), now, c)
			if c.Owner == [16]byte{} { // the first racer of each round does get cancelled
				<-ctx.Done()
			}
			if ctx.Err() != nil {
				return ledger.Record{}, false, &ledger.UnavailableError{Op: "claim", Err: ctx.Err()}
			}
			return r, won, err
		}}
	}},
}

const faultEnv = "LEDGERTEST_FAULT"

// A suite that cannot fail proves nothing. It is run against each fault in a process of its own, and must fail there.
func TestSuiteFindsFaults(t *testing.T) {
	if name := os.Getenv(faultEnv); name != "" {
		ledgertest.Run(t, ledgertest.Implementation{
			Store: func(_ *testing.T, limits ledgertest.Limits) func() ledger.Ledger {
				f := faults[name].faulty()
				f.Memory = &ledger.Memory{Flows: limits.Flows, PerOwner: limits.PerOwner}
				return func() ledger.Ledger { return &f }
			},
		})
		return
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			// Only the test that must fail: another that fails as well would prove nothing about it.
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run=^TestSuiteFindsFaults$/^"+fault.caught+"$")
			child.Env = append(os.Environ(), faultEnv+"="+name)
			out, err := child.CombinedOutput()
			failed := fmt.Sprintf("--- FAIL: TestSuiteFindsFaults/%s ", fault.caught)
			if err == nil || !strings.Contains(string(out), failed) {
				t.Errorf("%s did not fail: %v\n%s", fault.caught, err, out)
			}
		})
	}
}
