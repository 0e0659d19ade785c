// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package sqlledger

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-mcp/reprise/ledger"
)

// A store whose every step the test takes: SQLite cannot be stopped between two of its own.
type steppedStore struct {
	lock   chan error   // nil: the store is locked for this transaction; else that is what write fails with
	taken  chan []*op   // what the transaction took
	commit chan outcome // its end
}

type outcome struct {
	unknown bool
	err     error
}

func (s *steppedStore) write(take func() []*op) ([]*op, bool, error) {
	if err := <-s.lock; err != nil {
		return nil, false, err
	}
	ops := take()
	s.taken <- ops
	o := <-s.commit
	return ops, o.unknown, o.err
}

var errDisk = errors.New("disk on fire")

// stepped runs test in a bubble, with a ledger on a stepped store.
func stepped(t *testing.T, max int, test func(t *testing.T, l *Ledger, s *steppedStore)) {
	synctest.Test(t, func(t *testing.T) {
		s := &steppedStore{lock: make(chan error), taken: make(chan []*op), commit: make(chan outcome)}
		l := &Ledger{group: newGroup(s, max), wait: time.Second}
		test(t, l, s)
		go l.group.close()
		for { // let what is queued run out
			synctest.Wait()
			select {
			case s.lock <- errDisk:
			case <-l.group.stopped:
				return
			}
		}
	})
}

// call starts a claim and returns a function that waits for its error.
func call(l *Ledger, ctx context.Context, n byte) (wait func() error) {
	done := make(chan error, 1)
	go func() {
		now := time.Now()
		_, _, err := l.Claim(ctx, now, ledger.Claim{Flow: ledger.FlowID{n}, Expires: now.Add(time.Hour)})
		done <- err
	}()
	return func() error { return <-done }
}

// wantUnavailable checks what a failed call says about the flow.
func wantUnavailable(t *testing.T, err error, unknown bool, cause error) {
	t.Helper()
	var u *ledger.UnavailableError
	if !errors.As(err, &u) || u.Unknown != unknown || !errors.Is(err, cause) {
		t.Errorf("got %v; want an UnavailableError with Unknown %v that wraps %v", err, unknown, cause)
	}
}

func TestGroupCommitsWhatWaitsTogether(t *testing.T) {
	stepped(t, 4, func(t *testing.T, l *Ledger, s *steppedStore) {
		first := call(l, t.Context(), 0)
		s.lock <- nil
		if ops := <-s.taken; len(ops) != 1 {
			t.Fatalf("the first transaction has %d ops", len(ops))
		}
		var rest []func() error
		for n := range byte(6) { // they come while the first commits
			rest = append(rest, call(l, t.Context(), 1+n))
		}
		synctest.Wait()
		s.commit <- outcome{}
		if err := first(); err != nil {
			t.Fatal(err)
		}
		for _, want := range []int{4, 2} { // four at most
			s.lock <- nil
			if ops := <-s.taken; len(ops) != want {
				t.Errorf("a transaction of %d ops; want %d", len(ops), want)
			}
			s.commit <- outcome{}
		}
		for _, wait := range rest {
			if err := wait(); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestGroupWithdrawsWhatIsNotTaken(t *testing.T) {
	stepped(t, 4, func(t *testing.T, l *Ledger, s *steppedStore) {
		ctx, cancel := context.WithCancel(t.Context())
		gone, stays := call(l, ctx, 1), call(l, t.Context(), 2)
		synctest.Wait() // both wait for the lock
		cancel()
		wantUnavailable(t, gone(), false, context.Canceled)
		s.lock <- nil
		if ops := <-s.taken; len(ops) != 1 || ops[0].flow != (ledger.FlowID{2}) {
			t.Errorf("took %d ops; want only the one whose caller still waits", len(ops))
		}
		s.commit <- outcome{}
		if err := stays(); err != nil {
			t.Error(err)
		}
	})
}

func TestGroupSaysUnknownOnceTaken(t *testing.T) {
	stepped(t, 4, func(t *testing.T, l *Ledger, s *steppedStore) {
		ctx, cancel := context.WithCancel(t.Context())
		gone := call(l, ctx, 1)
		s.lock <- nil
		<-s.taken
		cancel()
		wantUnavailable(t, gone(), true, context.Canceled)
		s.commit <- outcome{}
	})
}

func TestGroupPassesFailuresOn(t *testing.T) {
	for _, test := range []struct {
		name    string
		lock    error
		commit  outcome
		unknown bool
	}{
		{"no lock", errDisk, outcome{}, false},
		{"rolled back", nil, outcome{false, errDisk}, false},
		{"reply lost", nil, outcome{true, errDisk}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			stepped(t, 4, func(t *testing.T, l *Ledger, s *steppedStore) {
				one, two := call(l, t.Context(), 1), call(l, t.Context(), 2)
				synctest.Wait()
				s.lock <- test.lock
				if test.lock == nil {
					if ops := <-s.taken; len(ops) != 2 {
						t.Fatalf("took %d ops", len(ops))
					}
					s.commit <- test.commit
				}
				wantUnavailable(t, one(), test.unknown, errDisk)
				wantUnavailable(t, two(), test.unknown, errDisk)

				again := call(l, t.Context(), 1) // the next one is not affected
				s.lock <- nil
				<-s.taken
				s.commit <- outcome{}
				if err := again(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A disk that hangs holds nobody for ever, and what it was given is not called back.
func TestGroupHangs(t *testing.T) {
	stepped(t, 4, func(t *testing.T, l *Ledger, s *steppedStore) {
		begun := time.Now()
		hung := call(l, t.Context(), 1)
		s.lock <- nil
		<-s.taken
		queued := call(l, t.Context(), 2)
		wantUnavailable(t, hung(), true, errTimeout)
		wantUnavailable(t, queued(), false, errTimeout)
		if took := time.Since(begun); took != 2*l.wait {
			t.Errorf("the answer took %v; want twice Wait, %v", took, 2*l.wait)
		}
		s.commit <- outcome{}
	})
}

func TestGroupCloseAnswersWhatIsQueued(t *testing.T) {
	stepped(t, 4, func(t *testing.T, l *Ledger, s *steppedStore) {
		committing := call(l, t.Context(), 1)
		s.lock <- nil
		<-s.taken
		queued := call(l, t.Context(), 2)
		synctest.Wait()
		var closing sync.WaitGroup
		closing.Go(func() { l.group.close() })
		synctest.Wait()
		wantUnavailable(t, call(l, t.Context(), 3)(), false, os.ErrClosed)
		s.commit <- outcome{}
		if err := committing(); err != nil {
			t.Error(err)
		}
		s.lock <- nil
		if ops := <-s.taken; len(ops) != 1 {
			t.Errorf("took %d ops", len(ops))
		}
		s.commit <- outcome{}
		if err := queued(); err != nil {
			t.Error(err)
		}
		closing.Wait()
		if l.group.close() {
			t.Error("closed twice")
		}
	})
}
