// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package reprise_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reprise-mcp/reprise"
	"github.com/reprise-mcp/reprise/ledger"
	"github.com/reprise-mcp/reprise/requeststate"
	"github.com/reprise-mcp/reprise/wire"
)

func TestAFlowIsRedeemedOnce(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		w := &world{current: "1"}
		req := r.first()
		out := r.engine.Run(t.Context(), req, strict, w.deploy)
		again := r.retry(req, out, answered(yes))
		completes(t, r.engine.Run(t.Context(), again, strict, w.deploy), "deployed")
		runs := w.ran()
		for _, answer := range []string{yes, no, decline} {
			refusal := refuses(t, r.replica().Run(t.Context(), r.retry(req, out, answered(answer)), strict, w.deploy), reprise.ErrRedeemed)
			if !strings.Contains(refusal.Error(), "already redeemed") {
				t.Errorf("the client is told: %s", refusal)
			}
		}
		if w.ran() != runs {
			t.Error("the handler ran for a spent flow")
		}
		w.did(t, 1)
	})
}

// Forks of one flow, made by retrying a round twice, are one flow.
func TestForksAreOneFlow(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		req := r.first()
		first := r.engine.Run(t.Context(), req, strict, wizard)
		retry := r.retry(req, first, map[string]string{"window": `{"action":"accept","content":{"hour":3}}`})
		var forks []reprise.Outcome
		for range 3 {
			out := r.replica().Run(t.Context(), retry, strict, wizard) // suspended rounds redeem nothing
			asks(t, out, "confirm")
			forks = append(forks, out)
		}
		won := 0
		for _, fork := range forks {
			out := r.replica().Run(t.Context(), r.retry(retry, fork, answered(yes)), strict, wizard)
			if out.Err == nil {
				won++
			} else {
				refuses(t, out, reprise.ErrRedeemed)
			}
		}
		if won != 1 {
			t.Errorf("%d forks were redeemed", won)
		}
		refuses(t, r.engine.Run(t.Context(), retry, strict, wizard), reprise.ErrRedeemed) // and so is where they parted
	})
}

// A decline ends the flow also where the handler has an error for it, as those of prompts and resources must.
func TestDeclineWithAnErrorEndsTheFlow(t *testing.T) {
	for answer, ends := range map[string]bool{decline: true, cancel: true, no: false} {
		both(t, func(t *testing.T, r *rig) {
			failed := errors.New("it was not wanted")
			h := func(ctx context.Context, call *reprise.Call) (any, error) {
				decision, err := reprise.Confirm(ctx, call, "confirm", "Go on?")
				if err != nil {
					return nil, err
				}
				if _, yes := decision.Approved(); !yes {
					return nil, failed
				}
				return "went on", nil
			}
			req := r.first()
			out := r.engine.Run(t.Context(), req, strict, h)
			if got := r.engine.Run(t.Context(), r.retry(req, out, answered(answer)), strict, h); !errors.Is(got.Err, failed) {
				t.Errorf("error %v", got.Err)
			}
			again := r.replica().Run(t.Context(), r.retry(req, out, answered(yes)), strict, h)
			if ends {
				refuses(t, again, reprise.ErrRedeemed)
			} else { // an accept whose run failed may be tried again
				completes(t, again, "went on")
			}
		})
	}
}

// A decline ends the flow: the yes that comes after it is too late.
func TestADeclineEndsTheFlow(t *testing.T) {
	for _, answer := range []string{decline, cancel, no} {
		r := newRig(t, requeststate.AES256GCM)
		w := &world{current: "1"}
		req := r.first()
		out := r.engine.Run(t.Context(), req, strict, w.deploy)
		if got := r.engine.Run(t.Context(), r.retry(req, out, answered(answer)), strict, w.deploy); got.Err != nil {
			t.Fatal(got.Err)
		}
		refuses(t, r.engine.Run(t.Context(), r.retry(req, out, answered(yes)), strict, w.deploy), reprise.ErrRedeemed)
		w.did(t, 0)
	}
}

func TestManyRedeemAtOnce(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		w := &world{current: "1"}
		req := r.first()
		out := r.engine.Run(t.Context(), req, strict, w.deploy)
		engines := []*replica{r.engine, r.replica(), r.replica(), r.replica()}
		again := r.retry(req, out, answered(yes))
		var won, lost atomic.Int64
		var wg sync.WaitGroup
		for i := range 64 {
			wg.Go(func() {
				got := engines[i%len(engines)].Run(t.Context(), again, strict, w.deploy)
				switch {
				case got.Result == "deployed":
					won.Add(1)
				case errors.Is(got.Err, reprise.ErrRedeemed):
					lost.Add(1)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 || lost.Load() != 63 {
			t.Errorf("%d won, %d lost", won.Load(), lost.Load())
		}
		w.did(t, 1)
	})
}

// A broken store is a ledger that fails as it is told, and works otherwise.
type brokenStore struct {
	ledger.Ledger
	lookup, claim, complete error
	claimed                 bool // the claim is made all the same, and its reply lost
	calls                   int
}

func (b *brokenStore) Lookup(ctx context.Context, now time.Time, flow ledger.FlowID) (ledger.Record, error) {
	b.calls++
	if b.lookup != nil {
		return ledger.Record{}, b.lookup
	}
	return b.Ledger.Lookup(ctx, now, flow)
}

func (b *brokenStore) Claim(ctx context.Context, now time.Time, c ledger.Claim) (ledger.Record, bool, error) {
	b.calls++
	if b.claim != nil {
		if b.claimed {
			b.Ledger.Claim(ctx, now, c)
		}
		return ledger.Record{}, false, b.claim
	}
	return b.Ledger.Claim(ctx, now, c)
}

func (b *brokenStore) Complete(ctx context.Context, now time.Time, flow ledger.FlowID, result []byte) error {
	b.calls++
	if b.complete != nil {
		return b.complete
	}
	return b.Ledger.Complete(ctx, now, flow, result)
}

func TestWithoutALedgerNothingRuns(t *testing.T) {
	down := &ledger.UnavailableError{Op: "claim", Err: errors.New("connection refused")}
	lost := &ledger.UnavailableError{Op: "claim", Err: errors.New("connection reset"), Unknown: true}
	odd := errors.New("dial db.internal: connection refused") // not of the kind that the ledger promises
	for _, test := range []struct {
		name  string
		store brokenStore
		says  string
		spent bool // afterwards
	}{
		{"down at the lookup", brokenStore{lookup: down}, "still good", false},
		{"down at the claim", brokenStore{claim: down}, "still good", false},
		{"full", brokenStore{claim: ledger.ErrFull}, "still good", false},
		{"quota", brokenStore{claim: ledger.ErrQuota}, "still good", false},
		{"another error at the lookup", brokenStore{lookup: odd}, "still good", false},
		{"another error at the claim", brokenStore{claim: odd}, "may be spent", false},
		{"another error at the claim, which was made", brokenStore{claim: odd, claimed: true}, "may be spent", true},
		{"the reply was lost, the claim not made", brokenStore{claim: lost}, "may be spent", false},
		{"the reply was lost, the claim made", brokenStore{claim: lost, claimed: true}, "may be spent", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, requeststate.AES256GCM)
			store := test.store
			store.Ledger = &ledger.Memory{}
			r.ledger = &store
			e := r.replica()
			w := &world{current: "1"}
			req := r.first()
			out := e.Run(t.Context(), req, strict, w.deploy) // asking needs no store
			asks(t, out, "confirm")
			again := r.retry(req, out, answered(yes))
			got := e.Run(t.Context(), again, strict, w.deploy)
			refusal, ok := errors.AsType[*reprise.Refusal](got.Err)
			if !ok || !strings.Contains(refusal.Error(), test.says) || !strings.Contains(refusal.Error(), "Nothing was done") {
				t.Errorf("the client is told: %v", got.Err)
			}
			if strings.Contains(got.Err.Error(), "connection") || strings.Contains(got.Err.Error(), "ledger") {
				t.Errorf("the client is told of the store: %v", got.Err)
			}
			for _, reason := range []error{test.store.lookup, test.store.claim} {
				if reason != nil && !strings.Contains(r.log.String(), reason.Error()) {
					t.Errorf("the operator is not told the reason: %s", r.log)
				}
			}
			w.did(t, 0)

			store.lookup, store.claim = nil, nil // it is back
			got = e.Run(t.Context(), again, strict, w.deploy)
			if test.spent {
				if refusal := refuses(t, got, reprise.ErrRedeemed); !strings.Contains(refusal.Error(), "unknown") {
					t.Errorf("the client is told: %s", refusal)
				}
				w.did(t, 0)
			} else {
				completes(t, got, "deployed")
				w.did(t, 1)
			}
		})
	}
}

// A lost claim is lost, also where the store does not say to whom.
func TestALostClaimWithoutARecord(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	r.ledger = mute{&ledger.Memory{}}
	e := r.replica()
	w := &world{current: "1"}
	req := r.first()
	out := e.Run(t.Context(), req, strict, w.deploy)
	for _, answer := range []string{yes, decline} {
		refuses(t, e.Run(t.Context(), r.retry(req, out, answered(answer)), strict, w.deploy), reprise.ErrRedeemed)
	}
	w.did(t, 0)
	l := &legacy{ask: map[string]string{"name": nameForm}, state: "s"}
	out = e.Protect(t.Context(), req, strict, l.next)
	refuses(t, e.Protect(t.Context(), r.retry(req, out, named("Ann")), strict, l.next), reprise.ErrRedeemed)
	if l.deeds != 0 {
		t.Error("the handler ran")
	}
}

type mute struct{ ledger.Ledger }

func (mute) Claim(context.Context, time.Time, ledger.Claim) (ledger.Record, bool, error) {
	return ledger.Record{}, false, nil
}

// A client that leaves once the flow is claimed does not keep its end from being recorded.
func TestTheEndIsRecordedForAClientThatLeft(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	store := &farewell{Ledger: &ledger.Memory{}}
	r.ledger = store
	e := r.replica()
	w := &world{current: "1"}
	for _, answer := range []string{yes, decline} {
		req := r.first()
		out := e.Run(t.Context(), req, strict, w.deploy)
		again := r.retry(req, out, answered(answer))
		ctx, leave := context.WithCancel(t.Context())
		store.leave = leave
		if got := e.Run(ctx, again, strict, w.deploy); got.Err != nil {
			t.Fatal(got.Err)
		}
		if refusal := refuses(t, e.Run(t.Context(), again, strict, w.deploy), reprise.ErrRedeemed); !strings.Contains(refusal.Error(), "its call completed") {
			t.Errorf("the client is told: %s", refusal)
		}
	}
	l := &legacy{ask: map[string]string{"name": nameForm}, state: "s"}
	req := r.first()
	out := e.Protect(t.Context(), req, strict, l.next)
	again := r.retry(req, out, named("Ann"))
	ctx, leave := context.WithCancel(t.Context())
	store.leave = leave
	completes(t, e.Protect(ctx, again, strict, l.next), "done")
	if refusal := refuses(t, e.Protect(t.Context(), again, strict, l.next), reprise.ErrRedeemed); !strings.Contains(refusal.Error(), "its call completed") {
		t.Errorf("the client is told: %s", refusal)
	}
}

// A farewell is a ledger whose client leaves as soon as the claim is won.
type farewell struct {
	ledger.Ledger
	leave func()
}

func (f *farewell) Claim(ctx context.Context, now time.Time, c ledger.Claim) (ledger.Record, bool, error) {
	defer f.leave()
	return f.Ledger.Claim(ctx, now, c)
}

// The deed is done, so its result goes out; a repeat is told that the outcome is not known here.
func TestALedgerThatCannotRecordTheEnd(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	r.ledger = &brokenStore{Ledger: &ledger.Memory{}, complete: &ledger.UnavailableError{Op: "complete", Err: errors.New("gone")}}
	e := r.replica()
	w := &world{current: "1"}
	req := r.first()
	out := e.Run(t.Context(), req, strict, w.deploy)
	again := r.retry(req, out, answered(yes))
	completes(t, e.Run(t.Context(), again, strict, w.deploy), "deployed")
	if !strings.Contains(r.log.String(), "did not record") {
		t.Error("the operator is not told")
	}
	if refusal := refuses(t, e.Run(t.Context(), again, strict, w.deploy), reprise.ErrRedeemed); !strings.Contains(refusal.Error(), "outcome is unknown") {
		t.Errorf("the client is told: %s", refusal)
	}
}

// What does no harm twice touches no store.
func TestReusableTouchesNoStore(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	store := &brokenStore{lookup: errors.New("touched"), claim: errors.New("touched"), complete: errors.New("touched")}
	r.ledger = store
	for _, e := range []*replica{r.replica(), withoutLedger(r)} {
		w := &world{current: "1"}
		req := r.first()
		o := reprise.Options{Reusable: true}
		out := e.Run(t.Context(), req, o, w.deploy)
		for range 3 {
			completes(t, e.Run(t.Context(), r.retry(req, out, answered(yes)), o, w.deploy), "deployed")
		}
		completes(t, e.Run(t.Context(), r.retry(req, out, answered(decline)), o, w.deploy), "declined")
		w.did(t, 3)
	}
	if store.calls != 0 {
		t.Errorf("the store was called %d times", store.calls)
	}
}

func withoutLedger(r *rig) *replica {
	other := *r
	other.ledger = nil
	return other.replica()
}

func TestAFailedEffectSpendsTheConfirmation(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	broken := errors.New("the disk is full")
	fails := func(ctx context.Context, call *reprise.Call) (any, error) {
		decision, err := reprise.Confirm(ctx, call, "confirm", "Well?")
		if err != nil {
			return nil, err
		}
		approval, _ := decision.Approved()
		return reprise.Do(ctx, call, approval, func(context.Context) (any, error) { return nil, broken })
	}
	req := r.first()
	out := r.engine.Run(t.Context(), req, strict, fails)
	again := r.retry(req, out, answered(yes))
	got := r.engine.Run(t.Context(), again, strict, fails)
	if !errors.Is(got.Err, broken) || !strings.Contains(got.Err.Error(), "confirmation is spent") {
		t.Errorf("%v", got.Err)
	}
	refuses(t, r.engine.Run(t.Context(), again, strict, fails), reprise.ErrRedeemed)

	// The author's own channel and a refusal from elsewhere change nothing about that.
	elsewhere := r.first()
	elsewhere.Version = "2025-11-25"
	refused := r.engine.Run(t.Context(), elsewhere, strict, fails).Err
	for _, broken = range []error{&wire.Error{Code: wire.CodeInternalError, Message: "no leader", Data: []byte(`{"a":1}`)}, refused} {
		out = r.engine.Run(t.Context(), req, strict, fails)
		got = r.engine.Run(t.Context(), r.retry(req, out, answered(yes)), strict, fails)
		if !strings.Contains(got.Err.Error(), "confirmation is spent") {
			t.Errorf("%v", got.Err)
		}
		if e, ok := got.Err.(*wire.Error); ok != (broken != refused) || ok && (e.Code != wire.CodeInternalError || string(e.Data) != `{"a":1}`) {
			t.Errorf("%+v", got.Err)
		}
	}
	broken = errors.New("the disk is full")

	// Where a confirmation counts any number of times, it is not spent and nothing says so.
	o := reprise.Options{Reusable: true}
	out = r.engine.Run(t.Context(), req, o, fails)
	got = r.engine.Run(t.Context(), r.retry(req, out, answered(yes)), o, fails)
	if !errors.Is(got.Err, broken) || strings.Contains(got.Err.Error(), "spent") {
		t.Errorf("%v", got.Err)
	}
}

func TestAnEffectThatPanicsSpendsTheConfirmation(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	panics := func(ctx context.Context, call *reprise.Call) (any, error) {
		decision, err := reprise.Confirm(ctx, call, "confirm", "Well?")
		if err != nil {
			return nil, err
		}
		approval, _ := decision.Approved()
		return reprise.Do(ctx, call, approval, func(context.Context) (any, error) { panic("boom") })
	}
	req := r.first()
	out := r.engine.Run(t.Context(), req, strict, panics)
	again := r.retry(req, out, answered(yes))
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		r.engine.Run(t.Context(), again, strict, panics)
	}()
	if refusal := refuses(t, r.engine.Run(t.Context(), again, strict, panics), reprise.ErrRedeemed); !strings.Contains(refusal.Error(), "unknown") {
		t.Errorf("the client is told: %s", refusal)
	}
}

// What Do refused stays refused, whatever the handler makes of it.
func TestARefusalIsRecordedInTheCall(t *testing.T) {
	for name, h := range map[string]func(err error) (any, error){
		"swallowed": func(error) (any, error) { return "deployed", nil },
		"wrapped":   func(err error) (any, error) { return nil, fmt.Errorf("deploy: %w", err) },
		"replaced":  func(error) (any, error) { return nil, errors.New("something else") },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, requeststate.AES256GCM)
			r.ledger = &briefly{Ledger: &ledger.Memory{}}
			e := r.replica()
			w := &world{current: "1"}
			then := func(ctx context.Context, call *reprise.Call) (any, error) {
				_, err := w.deploy(ctx, call)
				return h(err)
			}
			req := r.first()
			out := e.Run(t.Context(), req, strict, then)
			again := r.retry(req, out, answered(yes))
			refuses(t, e.Run(t.Context(), again, strict, then), ledger.ErrFull)
			w.did(t, 0)
			completes(t, e.Run(t.Context(), again, strict, w.deploy), "deployed") // nothing was burnt
		})
	}
}

// Briefly full: the first claim finds no room.
type briefly struct {
	ledger.Ledger
	over bool
}

func (b *briefly) Claim(ctx context.Context, now time.Time, c ledger.Claim) (ledger.Record, bool, error) {
	if !b.over {
		b.over = true
		return ledger.Record{}, false, ledger.ErrFull
	}
	return b.Ledger.Claim(ctx, now, c)
}

// Do is hard to enter by mistake.
func TestDoRefuses(t *testing.T) {
	var other reprise.Approval // of another call
	for name, h := range map[string]func(t *testing.T, ctx context.Context, call *reprise.Call, effect func(context.Context) (any, error)) (any, error){
		"the zero approval": func(_ *testing.T, ctx context.Context, call *reprise.Call, effect func(context.Context) (any, error)) (any, error) {
			if _, err := reprise.Confirm(ctx, call, "confirm", "Well?"); err != nil {
				return nil, err
			}
			return reprise.Do(ctx, call, reprise.Approval{}, effect)
		},
		"the approval of another call": func(_ *testing.T, ctx context.Context, call *reprise.Call, effect func(context.Context) (any, error)) (any, error) {
			if _, err := reprise.Confirm(ctx, call, "confirm", "Well?"); err != nil {
				return nil, err
			}
			return reprise.Do(ctx, call, other, effect)
		},
		"a pending question, its error swallowed": func(_ *testing.T, ctx context.Context, call *reprise.Call, effect func(context.Context) (any, error)) (any, error) {
			decision, err := reprise.Confirm(ctx, call, "confirm", "Well?")
			if err != nil {
				return nil, err
			}
			approval, _ := decision.Approved()
			reprise.Confirm(ctx, call, "second", "Really?")
			return reprise.Do(ctx, call, approval, effect)
		},
		"a refusal that was swallowed": func(_ *testing.T, ctx context.Context, call *reprise.Call, effect func(context.Context) (any, error)) (any, error) {
			decision, err := reprise.Confirm(ctx, call, "confirm", "Well?")
			if err != nil {
				return nil, err
			}
			reprise.Do(ctx, call, reprise.Approval{}, effect)
			approval, _ := decision.Approved()
			return reprise.Do(ctx, call, approval, effect)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, requeststate.AES256GCM)
			keep := func(ctx context.Context, call *reprise.Call) (any, error) {
				decision, err := reprise.Confirm(ctx, call, "confirm", "Well?")
				other, _ = decision.Approved()
				return nil, err
			}
			req := r.first()
			out := r.engine.Run(t.Context(), req, strict, keep)
			r.engine.Run(t.Context(), r.retry(req, out, answered(yes)), strict, keep)

			ran := 0
			handler := func(ctx context.Context, call *reprise.Call) (any, error) {
				return h(t, ctx, call, func(context.Context) (any, error) { ran++; return nil, nil })
			}
			out = r.engine.Run(t.Context(), req, strict, handler)
			again := r.retry(req, out, answered(yes))
			if got := r.engine.Run(t.Context(), again, strict, handler); got.Err == nil && got.Ask == nil {
				t.Errorf("%+v", got)
			}
			if ran != 0 {
				t.Error("the effect ran")
			}
			// Nothing was burnt.
			w := &world{current: "1", message: "Well?"}
			completes(t, r.engine.Run(t.Context(), again, strict, w.deploy), "deployed")
		})
	}
}

func TestDoRunsOnce(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	ran := 0
	twice := func(ctx context.Context, call *reprise.Call) (any, error) {
		decision, err := reprise.Confirm(ctx, call, "confirm", "Well?")
		if err != nil {
			return nil, err
		}
		approval, _ := decision.Approved()
		effect := func(context.Context) (any, error) { ran++; return "done", nil }
		if _, err := reprise.Do(ctx, call, approval, effect); err != nil {
			return nil, err
		}
		if _, err := reprise.Confirm(ctx, call, "late", "And now?"); err == nil {
			t.Error("asked after Do")
		}
		if err := call.Later(); err == nil {
			t.Error("put off after Do")
		}
		return reprise.Do(ctx, call, approval, effect)
	}
	req := r.first()
	out := r.engine.Run(t.Context(), req, strict, twice)
	if got := r.engine.Run(t.Context(), r.retry(req, out, answered(yes)), strict, twice); got.Err == nil {
		t.Errorf("%+v", got)
	}
	if ran != 1 {
		t.Errorf("the effect ran %d times", ran)
	}

	// What was done is reported, whatever is tried after it.
	more := func(ctx context.Context, call *reprise.Call) (any, error) {
		decision, err := reprise.Confirm(ctx, call, "confirm", "Well?")
		if err != nil {
			return nil, err
		}
		approval, _ := decision.Approved()
		effect := func(ctx context.Context) (any, error) {
			if _, err := reprise.Do(ctx, call, approval, func(context.Context) (any, error) { ran++; return nil, nil }); err == nil {
				t.Error("an effect within an effect")
			}
			return "done", nil
		}
		result, err := reprise.Do(ctx, call, approval, effect)
		reprise.Do(ctx, call, reprise.Approval{}, effect)
		reprise.Confirm(ctx, call, "", "")
		return result, err
	}
	out = r.engine.Run(t.Context(), req, strict, more)
	completes(t, r.engine.Run(t.Context(), r.retry(req, out, answered(yes)), strict, more), "done")
	if ran != 1 {
		t.Errorf("the effect ran %d times", ran)
	}
}

// What a handler leaves behind can ask nothing and do nothing.
func TestACallEndsWithItsHandler(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		for _, o := range []reprise.Options{{}, {Reusable: true}} {
			var (
				left     *reprise.Call
				approval reprise.Approval
			)
			h := func(ctx context.Context, call *reprise.Call) (any, error) {
				decision, err := reprise.Confirm(ctx, call, "confirm", "Well?")
				left = call
				approval, _ = decision.Approved()
				return "done", err
			}
			req := r.first()
			out := r.engine.Run(t.Context(), req, o, h)
			completes(t, r.engine.Run(t.Context(), r.retry(req, out, answered(yes)), o, h), "done")
			if _, err := reprise.Do(t.Context(), left, approval, func(context.Context) (any, error) {
				t.Error("the effect ran")
				return nil, nil
			}); err == nil {
				t.Error("an effect after the end")
			}
			if _, err := reprise.Confirm(t.Context(), left, "confirm", "Well?"); err == nil {
				t.Error("asked after the end")
			}
			if err := left.Later(); err == nil {
				t.Error("put off after the end")
			}
		}
	})
}

// A run that uses no answer redeems nothing.
func TestARunWithoutAnAnswerRedeemsNothing(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	w := &world{current: "1"}
	req := r.first()
	out := r.engine.Run(t.Context(), req, strict, w.deploy)
	again := r.retry(req, out, answered(yes))
	early := func(context.Context, *reprise.Call) (any, error) { return "nothing to do", nil }
	completes(t, r.engine.Run(t.Context(), again, strict, early), "nothing to do")
	completes(t, r.engine.Run(t.Context(), again, strict, w.deploy), "deployed")
}

// One principal cannot fill the ledger for another.
func TestQuotaOfAPrincipal(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	r.ledger = &ledger.Memory{PerOwner: 2}
	e := r.replica()
	w := &world{current: "1"}
	flow := func(subject string) reprise.Outcome {
		req := r.first()
		req.Principal = user(t, subject)
		out := e.Run(t.Context(), req, strict, w.deploy)
		return e.Run(t.Context(), r.retry(req, out, answered(yes)), strict, w.deploy)
	}
	completes(t, flow("mallory"), "deployed")
	completes(t, flow("mallory"), "deployed")
	refuses(t, flow("mallory"), ledger.ErrQuota)
	completes(t, flow("alice"), "deployed")
}

// What the ledger keeps outlives every state of the flow.
func TestAClaimIsKeptUntilNoStateOfTheFlowIsLeft(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	r.config.Lifetime = time.Hour
	e := r.replica()
	w := &world{current: "1"}
	req := r.first()
	out := e.Run(t.Context(), req, strict, w.deploy)
	again := r.retry(req, out, answered(yes))
	completes(t, e.Run(t.Context(), again, strict, w.deploy), "deployed")
	for _, after := range []time.Duration{time.Minute, ttl - time.Millisecond, ttl, time.Hour - 1, time.Hour, 2 * time.Hour, 24 * time.Hour} {
		late := *again
		late.Received = start.Add(after)
		if got := e.Run(t.Context(), &late, strict, w.deploy); got.Err == nil {
			t.Errorf("%v later: %+v", after, got)
		}
	}
	w.did(t, 1)
}
