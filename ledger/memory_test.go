// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reprise-mcp/reprise/ledger"
	"github.com/reprise-mcp/reprise/ledger/ledgertest"
)

func TestMemoryContract(t *testing.T) {
	ledgertest.Run(t, ledgertest.Implementation{
		Store: func(t *testing.T, limits ledgertest.Limits) func() ledger.Ledger {
			m := &ledger.Memory{Flows: limits.Flows, PerOwner: limits.PerOwner}
			return func() ledger.Ledger { return m }
		},
	})
}

var epoch = time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)

func claim(n, owner uint64, expires time.Time) (c ledger.Claim) {
	binary.LittleEndian.PutUint64(c.Flow[:], n*0x9e3779b97f4a7c15) // spread like random ids
	binary.BigEndian.PutUint64(c.Owner[:], owner)
	c.Expires = expires
	return c
}

func mustWin(t testing.TB, m *ledger.Memory, now time.Time, c ledger.Claim) {
	t.Helper()
	if _, won, err := m.Claim(t.Context(), now, c); !won || err != nil {
		t.Fatalf("Claim = %v, %v; want it won", won, err)
	}
}

func TestMemoryDefaultQuota(t *testing.T) {
	m := ledger.Memory{Flows: -1, PerOwner: -1} // no less than the defaults
	for n := range uint64(1000) {
		mustWin(t, &m, epoch, claim(n, 1, epoch.Add(time.Hour)))
	}
	if _, won, err := m.Claim(t.Context(), epoch, claim(1000, 1, epoch.Add(time.Hour))); won || !errors.Is(err, ledger.ErrQuota) {
		t.Errorf("claim 1,001 of one owner = %v, %v; want ErrQuota", won, err)
	}
}

func TestMemoryDefaultCapacity(t *testing.T) {
	var m ledger.Memory
	for n := range uint64(100_000) {
		mustWin(t, &m, epoch, claim(n, n/1000, epoch.Add(time.Hour)))
	}
	last := epoch.Add(time.Hour - 1)
	if _, won, err := m.Claim(t.Context(), last, claim(100_000, 100, epoch.Add(2*time.Hour))); won || !errors.Is(err, ledger.ErrFull) {
		t.Errorf("claim 100,001 = %v, %v; want ErrFull", won, err)
	}
	mustWin(t, &m, epoch.Add(time.Hour), claim(100_000, 100, epoch.Add(2*time.Hour)))
}

// Expiries come in any order when tools have different lifetimes. Records must go in the order in which they expire.
func TestMemoryForgetsInOrder(t *testing.T) {
	const flows = 997
	m := ledger.Memory{Flows: flows}
	expiry := func(n uint64) time.Time { return epoch.Add(time.Duration(1+n*n%flows) * time.Minute) }
	for n := range uint64(flows) {
		mustWin(t, &m, epoch, claim(n, n, expiry(n)))
	}
	next := uint64(flows)
	for minute := range flows / 2 {
		now := epoch.Add(time.Duration(minute) * time.Minute)
		for { // take all the room that there is
			_, won, err := m.Claim(t.Context(), now, claim(next, next, epoch.Add(10_000*time.Hour)))
			if errors.Is(err, ledger.ErrFull) {
				break
			}
			if !won {
				t.Fatal(err)
			}
			next++
		}
	}
	now := epoch.Add(time.Duration(flows/2-1) * time.Minute)
	live := 0
	for n := range uint64(flows) {
		r, err := m.Lookup(t.Context(), now, claim(n, n, now).Flow)
		if err != nil {
			t.Fatal(err)
		}
		want := ledger.Claimed
		if !now.Before(expiry(n)) {
			want = ledger.Unspent
		} else {
			live++
		}
		if r.Status != want {
			t.Fatalf("flow %d, which expires %v from now, is %v", n, expiry(n).Sub(now), r.Status)
		}
	}
	if forgotten := flows - live; forgotten == 0 || int(next)-flows != forgotten {
		t.Errorf("%d forgotten made room for %d", forgotten, int(next)-flows)
	}
}

func TestMemoryResultBytes(t *testing.T) {
	const size = 1000
	t.Run("all together", func(t *testing.T) {
		m := ledger.Memory{ResultBytes: 3 * size}
		hour := epoch.Add(time.Hour)
		for n := range uint64(4) {
			mustWin(t, &m, epoch, claim(n, n, hour))
		}
		for n := range uint64(3) {
			if err := m.Complete(t.Context(), epoch, claim(n, n, hour).Flow, make([]byte, size)); err != nil {
				t.Fatal(err)
			}
		}
		flow := claim(3, 3, hour).Flow
		if err := m.Complete(t.Context(), epoch, flow, []byte{1}); !errors.Is(err, ledger.ErrFull) {
			t.Errorf("a result with no room left: %v; want ErrFull", err)
		}
		if r, _ := m.Lookup(t.Context(), epoch, flow); r.Status != ledger.Claimed {
			t.Errorf("flow whose result found no room is %v", r.Status)
		}
		if err := m.Complete(t.Context(), epoch, flow, nil); err != nil {
			t.Errorf("an empty result needs no room: %v", err)
		}
		// Expiry gives the bytes back.
		mustWin(t, &m, hour, claim(10, 10, hour.Add(time.Hour)))
		mustWin(t, &m, hour, claim(11, 10, hour.Add(time.Hour)))
		if err := m.Complete(t.Context(), hour, claim(10, 10, hour).Flow, make([]byte, 3*size)); err != nil {
			t.Errorf("after expiry: %v", err)
		}
	})
	t.Run("one owner", func(t *testing.T) {
		// A hundredth of the flows, so a hundredth of the bytes: two results of the greatest length.
		m := ledger.Memory{Flows: 1000, PerOwner: 10, ResultBytes: 200 * ledger.MaxResult}
		hour := epoch.Add(time.Hour)
		for n := range uint64(3) {
			mustWin(t, &m, epoch, claim(n, 1, hour))
		}
		mustWin(t, &m, epoch, claim(3, 2, hour))
		long := make([]byte, ledger.MaxResult)
		for n, want := range []error{nil, nil, ledger.ErrQuota} {
			if err := m.Complete(t.Context(), epoch, claim(uint64(n), 1, hour).Flow, long); !errors.Is(err, want) {
				t.Errorf("result %d: %v; want %v", n, err, want)
			}
		}
		if err := m.Complete(t.Context(), epoch, claim(3, 2, hour).Flow, long); err != nil {
			t.Errorf("another owner: %v", err)
		}
	})
}

// However many flows expire, the store is no bigger than what is live.
func TestMemoryStaysSmall(t *testing.T) {
	var m ledger.Memory
	heap := func() uint64 {
		runtime.GC()
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return s.HeapAlloc
	}
	before := heap()
	now := epoch
	for n := range uint64(300_000) {
		mustWin(t, &m, now, claim(n, n, now.Add(time.Second)))
		now = now.Add(time.Millisecond) // about 1,000 are live at any time
	}
	if after := heap(); after > before+4<<20 {
		t.Errorf("heap grew from %d to %d bytes", before, after)
	}
	runtime.KeepAlive(&m)
}

// At that very instant, no earlier and no later.
func TestMemoryForgetsAtTheExactInstant(t *testing.T) {
	m := ledger.Memory{Flows: 1}
	end := epoch.Add(time.Hour)
	mustWin(t, &m, epoch, claim(1, 1, end))
	next := claim(2, 2, end.Add(time.Hour))
	if _, won, err := m.Claim(t.Context(), end.Add(-1), next); won || !errors.Is(err, ledger.ErrFull) {
		t.Errorf("a nanosecond before: %v, %v; want ErrFull", won, err)
	}
	mustWin(t, &m, end, next)
	if r, err := m.Lookup(t.Context(), end, claim(1, 1, end).Flow); r.Status != ledger.Unspent || err != nil {
		t.Errorf("the expired flow is %v, %v", r.Status, err)
	}
}

func TestStatusText(t *testing.T) {
	for s, want := range map[ledger.Status]string{ledger.Unspent: "unspent", ledger.Claimed: "claimed", ledger.Completed: "completed", 9: "Status(9)"} {
		if got := s.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// What a person reads in the log must say whether the flow is spent.
func TestUnavailableErrorSaysWhatItMeans(t *testing.T) {
	cause := errors.New("no answer")
	for _, test := range []struct {
		op      string
		unknown bool
		says    string
	}{
		{"lookup", false, "nothing was burnt"},
		{"claim", false, "nothing was burnt"},
		{"claim", true, "the claim may stand"},
		{"complete", false, "stays claimed"},
		{"complete", true, "the flow is spent"},
		{"open", false, "ledger: open: no answer"},
	} {
		err := error(&ledger.UnavailableError{Op: test.op, Err: cause, Unknown: test.unknown})
		if !strings.Contains(err.Error(), test.says) || !errors.Is(err, cause) || test.unknown && strings.Contains(err.Error(), "nothing was burnt") {
			t.Errorf("%s, unknown %v: %v", test.op, test.unknown, err)
		}
	}
}

func BenchmarkMemoryClaim(b *testing.B) {
	// Each claim comes a microsecond after the one before and lives for 50 ms, so that 50,000 are live and as many
	// expire as are claimed.
	b.Run("1", func(b *testing.B) {
		var m ledger.Memory
		now := epoch
		n := uint64(0)
		for b.Loop() {
			n++
			now = now.Add(time.Microsecond)
			if _, won, err := m.Claim(b.Context(), now, claim(n, n>>4, now.Add(50*time.Millisecond))); !won {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "claims/s")
	})
	b.Run("64", func(b *testing.B) {
		var m ledger.Memory
		var clock atomic.Uint64
		b.SetParallelism(64 / runtime.GOMAXPROCS(0))
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				n := clock.Add(1)
				now := epoch.Add(time.Duration(n) * time.Microsecond)
				if _, won, err := m.Claim(b.Context(), now, claim(n, n>>4, now.Add(50*time.Millisecond))); !won {
					b.Error(err)
					return
				}
			}
		})
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "claims/s")
	})
}
