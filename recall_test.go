// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package reprise_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-mcp/reprise"
	"github.com/reprise-mcp/reprise/ledger"
	"github.com/reprise-mcp/reprise/requeststate"
	"github.com/reprise-mcp/reprise/wire"
)

var recording = reprise.Options{Record: true, Status: "deploy_status"}

type deployment struct {
	Version int    `json:"version"`
	Note    string `json:"note"`
}

// A job deploys, as its fields say.
type job struct {
	deeds  int
	result any
	err    error
	hold   chan struct{} // nil: the effect does not wait
}

func (j *job) handle(ctx context.Context, call *reprise.Call) (any, error) {
	decision, err := reprise.Confirm(ctx, call, "confirm", "Deploy?")
	if err != nil {
		return nil, err
	}
	approval, yes := decision.Approved()
	if !yes {
		return deployment{Note: decision.String()}, nil
	}
	return reprise.Do(ctx, call, approval, func(context.Context) (any, error) {
		j.deeds++
		if j.hold != nil {
			<-j.hold
		}
		return j.result, j.err
	})
}

// recorded fails the test unless out is the recorded result.
func isRecorded(t testing.TB, out reprise.Outcome, want string) {
	t.Helper()
	raw, ok := out.Result.(json.RawMessage)
	if !ok || !out.Recorded || out.Err != nil || out.Ask != nil || string(raw) != want {
		t.Fatalf("want the recorded result %s, got %s, recorded %t, error %v", want, out.Result, out.Recorded, out.Err)
	}
}

// The commonest fault: it was done, and the response was lost. The very same request gets what came of it.
func TestLostAnswer(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		j := &job{result: deployment{2, "done"}}
		req := r.first()
		out := r.engine.Run(t.Context(), req, recording, j.handle)
		again := r.retry(req, out, answered(yes))
		if got := r.replica().Run(t.Context(), again, recording, j.handle); got.Result != (deployment{2, "done"}) || got.Recorded {
			t.Fatalf("%+v", got)
		}
		const want = `{"version":2,"note":"done"}`
		isRecorded(t, r.replica().Run(t.Context(), again, recording, j.handle), want)
		spelled := *again // the same answer, spelled otherwise
		spelled.Responses = wire.InputResponses{"confirm": []byte(` { "content" : {"decision":"\u0061pprove"}, "action":"accept"}`)}
		isRecorded(t, r.replica().Run(t.Context(), &spelled, recording, j.handle), want)

		// Whoever cannot repeat the request learns nothing.
		for name, edit := range map[string]func(*reprise.Request){
			"another answer":    func(q *reprise.Request) { q.Responses = wire.InputResponses{"confirm": []byte(no)} },
			"a decline":         func(q *reprise.Request) { q.Responses = wire.InputResponses{"confirm": []byte(decline)} },
			"one more answer":   func(q *reprise.Request) { q.Responses = wire.InputResponses{"confirm": []byte(yes), "x": []byte(yes)} },
			"no answer":         func(q *reprise.Request) { q.Responses = nil },
			"somebody else":     func(q *reprise.Request) { q.Principal = user(t, "bob") },
			"another call":      func(q *reprise.Request) { q.Arguments = []byte(`{"service":"billing","version":3}`) },
			"after the state's": func(q *reprise.Request) { q.Received = start.Add(ttl) },
		} {
			other := *again
			edit(&other)
			got := r.replica().Run(t.Context(), &other, recording, j.handle)
			if got.Err == nil || got.Recorded || got.Result != nil || strings.Contains(got.Err.Error(), "done\"") {
				t.Errorf("%s: %+v", name, got)
			}
		}
		// A tool that does not ask for it has no recorded result, also where there is one.
		refuses(t, r.replica().Run(t.Context(), again, strict, j.handle), reprise.ErrRedeemed)
		if j.deeds != 1 {
			t.Errorf("done %d times", j.deeds)
		}
	})
}

// Another state of the same flow is not the same request, although it redeemed nothing.
func TestLostAnswerOfAForkedRound(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	j := &job{result: 1}
	req := r.first()
	out := r.engine.Run(t.Context(), req, recording, j.handle)
	fork := r.engine.Run(t.Context(), r.retry(req, out, map[string]string{}), recording, j.handle) // asked again
	r.engine.Run(t.Context(), r.retry(req, out, answered(yes)), recording, j.handle)
	refuses(t, r.engine.Run(t.Context(), r.retry(req, fork, answered(yes)), recording, j.handle), reprise.ErrRedeemed)
}

func TestRecordedEnds(t *testing.T) {
	protocolError := &wire.Error{Code: wire.CodeInvalidParams, Message: "no such release", Data: []byte(`{"known":["1"]}`)}
	for name, test := range map[string]struct {
		job    *job
		answer string
		want   string // of the result
		err    string
		code   int
	}{
		"nothing returned":  {&job{}, yes, "null", "", 0},
		"declined":          {&job{}, decline, `{"version":0,"note":"declined"}`, "", 0},
		"an explicit no":    {&job{}, no, `{"version":0,"note":"rejected"}`, "", 0},
		"the effect failed": {&job{err: errors.New("disk is full")}, yes, "", "disk is full. The confirmation is spent; call deploy again to be asked anew", 0},
		"a protocol error":  {&job{err: protocolError}, yes, "", "no such release", wire.CodeInvalidParams},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, requeststate.AES256GCM)
			req := r.first()
			out := r.engine.Run(t.Context(), req, recording, test.job.handle)
			again := r.retry(req, out, answered(test.answer))
			first := r.engine.Run(t.Context(), again, recording, test.job.handle)
			got := r.replica().Run(t.Context(), again, recording, test.job.handle)
			if test.err == "" {
				isRecorded(t, got, test.want)
				return
			}
			if !got.Recorded || got.Err == nil || first.Err == nil || got.Err.Error() != first.Err.Error() || !strings.Contains(got.Err.Error(), test.err) {
				t.Fatalf("recorded %t, error %v, first %v", got.Recorded, got.Err, first.Err)
			}
			if e, ok := got.Err.(*wire.Error); ok != (test.code != 0) || ok && (e.Code != test.code || string(e.Data) != string(protocolError.Data)) {
				t.Errorf("error %#v", got.Err)
			}
			if test.job.deeds != 1 {
				t.Errorf("done %d times", test.job.deeds)
			}
		})
	}
}

// While the first still runs, a repeat waits for it, as long as it may.
func TestRepeatWhileTheFirstRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, requeststate.AES256GCM)
		j := &job{result: "done", hold: make(chan struct{})}
		req := r.first()
		out := r.engine.Run(t.Context(), req, recording, j.handle)
		again := r.retry(req, out, answered(yes))
		ended := make(chan reprise.Outcome)
		go func() { ended <- r.engine.Run(t.Context(), again, recording, j.handle) }()
		synctest.Wait()
		begin := time.Now()
		refusal := refuses(t, r.replica().Run(t.Context(), again, recording, j.handle), reprise.ErrRedeemed)
		if waited := time.Since(begin); waited < 5*time.Second || waited > 6*time.Second {
			t.Errorf("it waited %v", waited)
		}
		if !strings.Contains(refusal.Error(), "unknown") || !strings.Contains(refusal.Error(), "Call deploy_status") {
			t.Errorf("it says %q", refusal)
		}
		repeat := make(chan reprise.Outcome)
		go func() { repeat <- r.replica().Run(t.Context(), again, recording, j.handle) }()
		time.AfterFunc(2*time.Second, func() { close(j.hold) })
		isRecorded(t, <-repeat, `"done"`)
		completes(t, <-ended, "done")
		if j.deeds != 1 {
			t.Errorf("done %d times", j.deeds)
		}
	})
}

// Two that arrive together: both find the flow unspent, one redeems it, and the other gets what came of that.
func TestRepeatAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, requeststate.AES256GCM)
		j := &job{result: "done", hold: make(chan struct{})}
		req := r.first()
		out := r.engine.Run(t.Context(), req, recording, j.handle)
		gate := &gatedLedger{Ledger: r.ledger, looked: make(chan struct{})}
		r.ledger = gate
		again := r.retry(req, out, answered(yes))
		ends := make(chan reprise.Outcome)
		for range 2 {
			e := r.replica()
			go func() { ends <- e.Run(t.Context(), again, recording, j.handle) }()
		}
		synctest.Wait() // both have looked
		close(gate.looked)
		synctest.Wait()
		close(j.hold)
		one, other := <-ends, <-ends
		if one.Recorded {
			one, other = other, one
		}
		completes(t, one, "done")
		isRecorded(t, other, `"done"`)
		if j.deeds != 1 {
			t.Errorf("done %d times", j.deeds)
		}
	})
}

// gatedLedger holds whoever looked until looked is closed.
type gatedLedger struct {
	ledger.Ledger
	looked chan struct{}
}

func (g *gatedLedger) Lookup(ctx context.Context, now time.Time, flow ledger.FlowID) (ledger.Record, error) {
	record, err := g.Ledger.Lookup(ctx, now, flow)
	<-g.looked
	return record, err
}

// A process that died in the effect leaves a claim. Nothing runs again, whatever comes.
func TestRepeatAfterTheProcessDied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, requeststate.AES256GCM)
		j := &job{}
		dies := func(ctx context.Context, call *reprise.Call) (any, error) {
			decision, err := reprise.Confirm(ctx, call, "confirm", "Deploy?")
			if err != nil {
				return nil, err
			}
			approval, _ := decision.Approved()
			return reprise.Do(ctx, call, approval, func(context.Context) (any, error) { panic("killed") })
		}
		req := r.first()
		out := r.engine.Run(t.Context(), req, recording, dies)
		again := r.retry(req, out, answered(yes))
		func() {
			defer func() { recover() }()
			r.engine.Run(t.Context(), again, recording, dies)
		}()
		for range 2 {
			refusal := refuses(t, r.replica().Run(t.Context(), again, recording, j.handle), reprise.ErrRedeemed)
			if !strings.Contains(refusal.Error(), "its outcome is unknown here") || !strings.Contains(refusal.Error(), "deploy_status") {
				t.Errorf("it says %q", refusal)
			}
		}
		if j.deeds != 0 {
			t.Error("it ran again")
		}
	})
}

// What the store holds of a result tells nobody what it is, and is of no use for another flow.
func TestRecordedResultsAreSealed(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		spy := &spyLedger{Ledger: r.ledger}
		r.ledger = spy
		j := &job{result: "the salary is 91000"}
		req := r.first()
		var retries []*reprise.Request
		for range 2 {
			out := r.replica().Run(t.Context(), req, recording, j.handle)
			again := r.retry(req, out, answered(yes))
			r.replica().Run(t.Context(), again, recording, j.handle)
			retries = append(retries, again)
		}
		if len(spy.results) != 2 || strings.Contains(string(spy.results[0]), "91000") {
			t.Fatalf("%d results, or one of them can be read", len(spy.results))
		}
		spy.swap = spy.results[1]
		got := r.replica().Run(t.Context(), retries[0], recording, j.handle)
		if got.Err == nil || got.Recorded || got.Result != nil {
			t.Errorf("the result of one flow was given for another: %+v", got)
		}
	})
}

type spyLedger struct {
	ledger.Ledger
	results [][]byte
	swap    []byte // what lookups find in place of a result
}

func (s *spyLedger) Complete(ctx context.Context, now time.Time, flow ledger.FlowID, result []byte) error {
	s.results = append(s.results, result)
	return s.Ledger.Complete(ctx, now, flow, result)
}

func (s *spyLedger) Lookup(ctx context.Context, now time.Time, flow ledger.FlowID) (ledger.Record, error) {
	record, err := s.Ledger.Lookup(ctx, now, flow)
	if s.swap != nil {
		record.Result = s.swap
	}
	return record, err
}

// What is too large or no JSON is not recorded; it was done all the same, and the repeat is told so.
func TestResultsThatCannotBeRecorded(t *testing.T) {
	for name, result := range map[string]any{"too large": strings.Repeat("x", ledger.MaxResult), "no JSON": make(chan int)} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, requeststate.AES256GCM)
			j := &job{result: result}
			req := r.first()
			out := r.engine.Run(t.Context(), req, recording, j.handle)
			again := r.retry(req, out, answered(yes))
			completes(t, r.engine.Run(t.Context(), again, recording, j.handle), result)
			refusal := refuses(t, r.engine.Run(t.Context(), again, recording, j.handle), reprise.ErrRedeemed)
			if !strings.Contains(refusal.Error(), "its call completed") || !strings.Contains(r.log.String(), "is not recorded") {
				t.Errorf("it says %q, the log %q", refusal, r.log.String())
			}
		})
	}
	if max := ledger.MaxResult - 200; max > 0 {
		r := newRig(t, requeststate.AES256GCM)
		j := &job{result: strings.Repeat("x", max)}
		req := r.first()
		out := r.engine.Run(t.Context(), req, recording, j.handle)
		again := r.retry(req, out, answered(yes))
		r.engine.Run(t.Context(), again, recording, j.handle)
		isRecorded(t, r.engine.Run(t.Context(), again, recording, j.handle), fmt.Sprintf("%q", j.result))
	}
}

// After the rotation of keys a result opens as long as its key is there.
func TestRecordedResultAfterRotation(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	j := &job{result: "done"}
	req := r.first()
	out := r.engine.Run(t.Context(), req, recording, j.handle)
	again := r.retry(req, out, answered(yes))
	r.engine.Run(t.Context(), again, recording, j.handle)
	old, err := r.config.Keyring.AppendText(nil)
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := requeststate.NewKeyring(requeststate.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	text, err := fresh.AppendText(nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.config.Keyring, err = requeststate.ParseKeyring(append(text, old...)); err != nil {
		t.Fatal(err)
	}
	isRecorded(t, r.replica().Run(t.Context(), again, recording, j.handle), `"done"`)
}
