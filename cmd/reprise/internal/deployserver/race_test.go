// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package deployserver_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/reprise-mcp/reprise/cmd/reprise/internal/deploy"
	"github.com/reprise-mcp/reprise/cmd/reprise/internal/deployserver"
	"github.com/reprise-mcp/reprise/cmd/reprise/internal/fleet"
	"github.com/reprise-mcp/reprise/ledger"
	"github.com/reprise-mcp/reprise/ledger/sqlledger"
	"github.com/reprise-mcp/reprise/requeststate"
)

// pair starts two replicas.
func pair(t *testing.T) (one, two *site) {
	t.Helper()
	one = serve(t, nil)
	two = serve(t, func(c *deployserver.Config) {
		c.Data, c.Root, c.Tokens = one.config.Data, one.config.Root, filepath.Join(one.config.Data, "tokens")
	})
	two.tokens = one.tokens
	return one, two
}

func (s *site) history(environment, service string) []deploy.Deployment {
	s.t.Helper()
	releases, err := deploy.Open(s.config.Root)
	if err != nil {
		s.t.Fatal(err)
	}
	defer releases.Close()
	history, err := releases.History(s.t.Context(), service, environment)
	if err != nil {
		s.t.Fatal(err)
	}
	return history
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(30 * time.Second); !is(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("it never came about that %s", what)
		}
	}
}

// claimed reports whether the confirmation in state was redeemed and its deployment has not ended.
func (s *site) claimed(store ledger.Ledger, state string) bool {
	s.t.Helper()
	ring, err := requeststate.ReadKeyring(filepath.Join(s.config.Data, "keyring"))
	if err != nil {
		s.t.Fatal(err)
	}
	in, err := ring.Inspect(state)
	if err != nil {
		s.t.Fatal(err)
	}
	record, err := store.Lookup(s.t.Context(), time.Now(), ledger.FlowID(in.State.Flow))
	if err != nil {
		s.t.Fatal(err)
	}
	return record.Status == ledger.Claimed
}

// Two people confirmed to replace the same release by different ones, and both confirmations are redeemed before either
// deployment happens. One takes place. The other is told that its confirmation is spent.
func TestTwoConfirmationsForOneRelease(t *testing.T) {
	t.Parallel()
	one, two := pair(t)
	alice, bob := one.client("alice"), two.client("bob")
	first, _ := one.asked(alice, billing("1.4.2"))
	second, _ := two.asked(bob, billing("1.4.3"))

	lock, err := os.OpenFile(filepath.Join(one.config.Root, "staging", "billing", ".lock"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	var results [2]*fleet.Response
	var calls sync.WaitGroup
	calls.Go(func() { results[0] = one.retry(alice, billing("1.4.2"), first, approve) })
	calls.Go(func() { results[1] = two.retry(bob, billing("1.4.3"), second, approve) })
	store, err := sqlledger.Open(t.Context(), filepath.Join(one.config.Data, "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	eventually(t, "both confirmations are redeemed", func() bool { return one.claimed(store, first) && one.claimed(store, second) })
	one.runs("staging", "billing", "1.4.1")
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	calls.Wait()

	winner, loser, version, other := results[0], results[1], "1.4.2", "1.4.3"
	if winner == nil || loser == nil { // said already
		t.FailNow()
	}
	if winner.Result == nil || winner.Result.IsError {
		winner, loser, version, other = loser, winner, other, version
	}
	if winner.Result == nil || winner.Result.IsError || !strings.Contains(string(winner.Result.StructuredContent), `"deployed":true`) {
		t.Fatalf("neither was deployed: %s; %s", said(results[0]), said(results[1]))
	}
	one.toolError(loser, "billing in staging runs "+version+", not 1.4.1", "nothing was deployed", "The confirmation is spent", "to be asked anew")
	one.runs("staging", "billing", version)
	history := one.history("staging", "billing")
	if len(history) != 2 || history[1].To != version {
		t.Errorf("the history is %+v", history)
	}
	// Spent means spent: the same request gets its own end once more, another answer nothing.
	for _, name := range []string{"alice", "bob"} {
		state, v := first, "1.4.2"
		if name == "bob" {
			state, v = second, "1.4.3"
		}
		if again := two.retry(two.client(name), billing(v), state, approve); !recorded(again) || again.Result.IsError != (v == other) {
			t.Errorf("%s again: %s", name, said(again))
		}
		two.toolError(two.retry(two.client(name), billing(v), state, decline), "already redeemed")
	}
	// Asked anew, the question is about what runs now.
	name := map[string]string{"1.4.2": "alice", "1.4.3": "bob"}[other]
	if _, message := two.asked(two.client(name), billing(other)); !strings.Contains(message, "replacing "+version+"?") {
		t.Errorf("asked anew: %q", message)
	}
}

// One confirmation that comes to two replicas at once, several times, is redeemed once, and all hear of that.
func TestOneConfirmationAtOnce(t *testing.T) {
	t.Parallel()
	one, two := pair(t)
	state, _ := one.asked(one.client("alice"), billing("1.4.2"))
	results := make([]*fleet.Response, 16)
	var calls sync.WaitGroup
	for i := range results {
		s := []*site{one, two}[i%2]
		calls.Go(func() { results[i] = s.retry(s.client("alice"), billing("1.4.2"), state, approve) })
	}
	calls.Wait()
	won := 0
	for _, r := range results {
		switch {
		case r == nil:
			t.FailNow()
		case r.Result == nil || r.Result.IsError:
			t.Errorf("it says %s", said(r))
		case recorded(r) && strings.Contains(string(r.Result.StructuredContent), `"deployed":true`): // by the one that won
		case strings.Contains(string(r.Result.StructuredContent), `"deployed":true`):
			won++
		case !strings.Contains(string(r.Result.StructuredContent), `"outcome":"unchanged"`): // it came just after the deployment
			t.Errorf("a further one got %s", said(r))
		}
	}
	if won != 1 {
		t.Errorf("%d of them deployed", won)
	}
	if history := one.history("staging", "billing"); len(history) != 2 {
		t.Errorf("the history has %d deployments, want that of the seed and one more", len(history))
	}
	one.runs("staging", "billing", "1.4.2")
}
