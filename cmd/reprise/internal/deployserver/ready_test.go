// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package deployserver_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reprise-mcp/reprise/cmd/reprise/internal/deployserver"
	"github.com/reprise-mcp/reprise/cmd/reprise/internal/fleet"
	"github.com/reprise-mcp/reprise/cmd/reprise/internal/keyfile"
	"github.com/reprise-mcp/reprise/requeststate"
)

// until waits for a condition.
func (s *site) until(what string, true func() bool) {
	s.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	late := time.After(20 * time.Second)
	for !true() {
		select {
		case <-tick.C:
		case <-late:
			s.t.Fatalf("waited too long until %s", what)
		}
	}
}

func (s *site) keys() []string {
	s.t.Helper()
	ready, err := deployserver.AskReady(s.t.Context(), s.url)
	if err != nil {
		s.t.Fatal(err)
	}
	return ready.Keys
}

func (s *site) has(keys ...requeststate.KeyID) {
	s.t.Helper()
	var want []string
	for _, key := range keys {
		want = append(want, key.String())
	}
	s.until("the keys are those of the file", func() bool { return slices.Equal(s.keys(), want) })
}

func key(t *testing.T) func(requeststate.KeyID, error) requeststate.KeyID {
	return func(id requeststate.KeyID, err error) requeststate.KeyID {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
}

// A file that cannot be used changes nothing, is told once, and is taken as soon as it is good again; a hangup asks for it.
func TestReload(t *testing.T) {
	s := serve(t, nil)
	ring := filepath.Join(s.config.Data, "keyring")
	first := s.keys()
	good, err := os.ReadFile(ring)
	if err != nil {
		t.Fatal(err)
	}
	alice := s.client("alice")
	state, _ := s.asked(alice, billing("1.4.2"))

	if err := os.WriteFile(ring, []byte("reprise1_half"), 0o600); err != nil {
		t.Fatal(err)
	}
	told := func() int { return strings.Count(s.log.String(), "the keyring stays as it was") }
	s.until("it is told", func() bool { return told() == 1 })
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	s.until("it is told again to who asks", func() bool { return told() == 2 })
	if strings.Contains(s.log.String(), "reprise1_half") {
		t.Error("the log holds what is in the file")
	}
	if !slices.Equal(s.keys(), first) {
		t.Errorf("the keys are %v, want %v still", s.keys(), first)
	}
	if err := os.WriteFile(ring, good, 0o600); err != nil {
		t.Fatal(err)
	}
	second := key(t)(keyfile.Add(ring))
	s.until("both keys are there", func() bool { return slices.Equal(s.keys(), append(first, second.String())) })
	if r := s.retry(alice, billing("1.4.2"), state, approve); r.Result == nil || r.Result.IsError {
		t.Errorf("the question from before: %s", said(r))
	}
}

// Two replicas whose operator goes wrong: one seals with a key that the other does not have yet. The refusal says so, burns
// nothing, and the same retry is good once the other has the key.
func TestPromotedTooSoon(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	here, there := filepath.Join(dir, "here"), filepath.Join(dir, "there")
	first := key(t)(keyfile.Create(here))
	text, err := os.ReadFile(here)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(there, text, 0o600); err != nil {
		t.Fatal(err)
	}
	one := serve(t, func(c *deployserver.Config) { c.Keyring = here })
	other := serve(t, func(c *deployserver.Config) {
		c.Keyring, c.Root, c.Ledger, c.Tokens = there, one.config.Root, "sqlite:"+filepath.Join(one.config.Data, "ledger.db"), filepath.Join(one.config.Data, "tokens")
	})
	other.tokens = one.tokens

	second := key(t)(keyfile.Add(here))
	key(t)(keyfile.Promote(here, time.Now(), second))
	one.has(second, first)
	state, _ := one.asked(one.client("alice"), billing("1.4.2"))
	r := other.retry(other.client("alice"), billing("1.4.2"), state, approve)
	other.toolError(r, "sealed with a key that this server does not hold")
	if strings.Contains(said(r), "verified") || strings.Contains(said(r), "tampered") {
		t.Errorf("it is not said that anybody cheated: %s", said(r))
	}

	if text, err = os.ReadFile(here); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(there, text, 0o600); err != nil {
		t.Fatal(err)
	}
	other.has(second, first)
	if r := other.retry(other.client("alice"), billing("1.4.2"), state, approve); r.Result == nil || r.Result.IsError {
		t.Errorf("the same retry: %s", said(r))
	}
	one.runs("staging", "billing", "1.4.2")
}

// Questions are asked and answered without a pause while the keys change, and none is lost.
func TestRotationUnderLoad(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	ring := filepath.Join(s.config.Data, "keyring")
	alice := s.client("alice")
	stop, done := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		defer func() { done <- n }()
		for {
			select {
			case <-stop:
				return
			default:
			}
			r, err := alice.Call(t.Context(), tool, billing("1.4.2"), fleet.Extra{})
			if err != nil || r.Result == nil || r.Result.RequestState == "" {
				t.Errorf("question %d: %v", n, err)
				return
			}
			r, err = alice.Call(t.Context(), tool, billing("1.4.2"), fleet.Extra{RequestState: r.Result.RequestState, InputResponses: reject})
			if err != nil || r.Result == nil || r.Result.IsError {
				t.Errorf("answer %d: %v %s", n, err, said(r))
				return
			}
			n++
		}
	}()
	old := s.keys()
	for range 2 {
		added := key(t)(keyfile.Add(ring))
		s.until("the new key opens", func() bool { return slices.Equal(s.keys(), append(slices.Clone(old), added.String())) })
		key(t)(keyfile.Promote(ring, time.Now(), added))
		old = append([]string{added.String()}, old...)
		s.until("the new key seals", func() bool { return slices.Equal(s.keys(), old) })
	}
	close(stop)
	if n := <-done; n == 0 {
		t.Error("no question was answered")
	}
}
