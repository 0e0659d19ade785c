// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

// Package ledgertest tests whether an implementation keeps the contract of [ledger.Ledger].
//
//	func TestContract(t *testing.T) {
//		ledgertest.Run(t, ledgertest.Implementation{
//			Store: func(t *testing.T, limits ledgertest.Limits) func() ledger.Ledger {
//				store := newStore(t, limits)
//				return func() ledger.Ledger { return store.connect(t) }
//			},
//		})
//	}
//
// The suite judges by what the ledger answers and by nothing else. It never waits for time to pass: it tells the ledger
// what time it is. What differs between implementations they say themselves, in the fields of [Implementation].
package ledgertest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/reprise-mcp/reprise/ledger"
)

// Limits are what a test wants to find limited. Zero leaves a limit at the implementation's default, which must allow
// at least 1,000 flows of one owner and 10,000 altogether.
type Limits struct {
	Flows    int // the whole store's capacity
	PerOwner int // the quota
}

// An Implementation tells the suite how to open a ledger, and where it differs from others within the contract.
type Implementation struct {
	// Store makes a new, empty store with those limits and returns a function that opens one more ledger on it, as
	// another replica would. Where a store cannot be shared, the function returns the same ledger each time.
	// Cleaning up is up to it, with t.Cleanup. Required.
	Store func(t *testing.T, limits Limits) (open func() ledger.Ledger)

	// Unlimited says that the store has no capacity of its own and ignores Limits.Flows. The tests that need one
	// are then left out.
	Unlimited bool

	// OwnClock says that records expire by the store's clock and not by the now that it is told. The tests that
	// move now past the expiry are then left out; those that move it close to the expiry stay.
	OwnClock bool
}

// Run runs the suite as subtests of t. The first one, one_winner, is what a ledger is for.
func Run(t *testing.T, impl Implementation) {
	if impl.Store == nil {
		t.Fatal("ledgertest: Implementation.Store is nil")
	}
	for _, test := range []struct {
		name string
		run  func(*testing.T, Implementation)
		skip bool
	}{
		{"one_winner", testOneWinner, false},
		{"many_flows_raced", testManyFlows, false},
		{"unknown_flow", testUnknown, false},
		{"life_of_a_flow", testLife, false},
		{"complete_unclaimed", testCompleteUnclaimed, false},
		{"complete_again", testCompleteAgain, false},
		{"complete_raced", testCompleteRaced, false},
		{"results_are_opaque", testResults, false},
		{"flows_are_independent", testIndependent, false},
		{"kept_until_expiry", testKept, false},
		{"clocks_apart", testClocksApart, false},
		{"expired_claim", testExpiredClaim, false},
		{"quota", testQuota, false},
		{"quota_raced", testQuotaRaced, false},
		{"quota_freed_by_expiry", testQuotaFreed, impl.OwnClock},
		{"full", testFull, impl.Unlimited},
		{"full_freed_by_expiry", testFullFreed, impl.Unlimited || impl.OwnClock},
		{"cancelled_before", testCancelledBefore, false},
		{"cancelled_during", testCancelledDuring, false},
	} {
		if !test.skip {
			t.Run(test.name, func(t *testing.T) { test.run(t, impl) })
		}
	}
}

// A fixture is a store with several ledgers on it. Its methods fail the test at once; they must not be called from
// other goroutines than the test's.
type fixture struct {
	*testing.T
	replicas []ledger.Ledger
	next     int
	now      time.Time
	expires  time.Time
}

const replicas = 3

func open(t *testing.T, impl Implementation, limits Limits) *fixture {
	t.Helper()
	connect := impl.Store(t, limits)
	// A time that is valid for stores with a clock of their own, and has a part below the millisecond.
	now := time.Now().UTC().Truncate(time.Millisecond).Add(300 * time.Microsecond)
	f := &fixture{T: t, now: now, expires: now.Add(time.Hour)}
	for range replicas {
		f.replicas = append(f.replicas, connect())
	}
	return f
}

// replica takes turns, so that what one wrote is read from another.
func (f *fixture) replica() ledger.Ledger {
	f.next++
	return f.replicas[f.next%replicas]
}

func (f *fixture) claim(flow, owner, answers int) ledger.Claim {
	return ledger.Claim{Flow: flowID(flow), Owner: ownerID(owner), Fingerprint: fingerprint(answers), Expires: f.expires}
}

func flowID(n int) (id ledger.FlowID) {
	binary.BigEndian.PutUint64(id[8:], uint64(n))
	return id
}

func ownerID(n int) (id [16]byte) {
	binary.BigEndian.PutUint64(id[8:], uint64(n))
	return id
}

func fingerprint(n int) (fp [32]byte) {
	binary.BigEndian.PutUint64(fp[:], uint64(n))
	fp[31] = 0xff
	return fp
}

func (f *fixture) wins(now time.Time, c ledger.Claim) {
	f.Helper()
	r, won, err := f.replica().Claim(f.Context(), now, c)
	if err != nil || !won {
		f.Fatalf("Claim(%v) = %v, %v, %v; want it won", c.Flow, r.Status, won, err)
	}
	f.same("Claim", r, ledger.Record{Status: ledger.Claimed, Fingerprint: c.Fingerprint})
}

func (f *fixture) loses(now time.Time, c ledger.Claim, want ledger.Record) {
	f.Helper()
	r, won, err := f.replica().Claim(f.Context(), now, c)
	if err != nil || won {
		f.Fatalf("Claim(%v) = %v, %v, %v; want it lost", c.Flow, r.Status, won, err)
	}
	f.same("Claim", r, want)
}

// refused also checks that nothing was burnt.
func (f *fixture) refused(now time.Time, c ledger.Claim, want error) {
	f.Helper()
	r, won, err := f.replica().Claim(f.Context(), now, c)
	if won || !errors.Is(err, want) {
		f.Fatalf("Claim(%v) = %v, %v, %v; want error %v", c.Flow, r.Status, won, err, want)
	}
	f.same("refused Claim", r, ledger.Record{})
	f.holds(now, c.Flow, ledger.Record{})
}

// holds looks at every replica.
func (f *fixture) holds(now time.Time, flow ledger.FlowID, want ledger.Record) {
	f.Helper()
	for range replicas {
		r, err := f.replica().Lookup(f.Context(), now, flow)
		if err != nil {
			f.Fatalf("Lookup(%v): %v", flow, err)
		}
		f.same("Lookup", r, want)
	}
}

func (f *fixture) same(what string, got, want ledger.Record) {
	f.Helper()
	if got.Status != want.Status || got.Fingerprint != want.Fingerprint || !bytes.Equal(got.Result, want.Result) {
		f.Fatalf("%s: record = %v, fingerprint %x, %d bytes of result; want %v, %x, %d bytes", what,
			got.Status, got.Fingerprint, len(got.Result), want.Status, want.Fingerprint, len(want.Result))
	}
}

func (f *fixture) completes(flow ledger.FlowID, result []byte, want error) {
	f.Helper()
	if err := f.replica().Complete(f.Context(), f.now, flow, result); !errors.Is(err, want) {
		f.Fatalf("Complete(%v, %d bytes) = %v; want %v", flow, len(result), err, want)
	}
}

// race calls do from n goroutines that start together, each with a replica, and waits for them.
func (f *fixture) race(n int, do func(i int, l ledger.Ledger)) {
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			do(i, f.replicas[i%replicas])
		})
	}
	close(start)
	wg.Wait()
}

type answer struct {
	record ledger.Record
	won    bool
	err    error
}

func testOneWinner(t *testing.T, impl Implementation) {
	f := open(t, impl, Limits{})
	const racers = 64
	for flow := range 20 {
		answers := make([]answer, racers)
		f.race(racers, func(i int, l ledger.Ledger) {
			a := &answers[i]
			a.record, a.won, a.err = l.Claim(t.Context(), f.now, f.claim(flow, i, i))
		})
		winner := -1
		for i, a := range answers {
			if a.err != nil {
				t.Fatalf("racer %d: %v", i, a.err)
			}
			if a.won && winner >= 0 {
				t.Fatalf("both %d and %d won flow %d", winner, i, flow)
			}
			if a.won {
				winner = i
			}
		}
		if winner < 0 {
			t.Fatalf("nobody won flow %d", flow)
		}
		stands := ledger.Record{Status: ledger.Claimed, Fingerprint: fingerprint(winner)}
		for _, a := range answers {
			f.same("racer", a.record, stands)
		}
		f.holds(f.now, flowID(flow), stands)
		f.loses(f.now, f.claim(flow, racers, racers), stands)
	}
}

func testManyFlows(t *testing.T, impl Implementation) {
	f := open(t, impl, Limits{})
	const racers, flows = 12, 150
	answers := make([][flows]answer, racers)
	f.race(racers, func(i int, l ledger.Ledger) {
		for n := range flows {
			flow := (n + i*7) % flows // different orders, so that neighbours meet on different flows
			a := &answers[i][flow]
			a.record, a.won, a.err = l.Claim(t.Context(), f.now, f.claim(flow, flow, i))
		}
	})
	for flow := range flows {
		winners := 0
		var stands ledger.Record
		for i := range racers {
			a := answers[i][flow]
			if a.err != nil {
				t.Fatalf("racer %d, flow %d: %v", i, flow, a.err)
			}
			if a.won {
				winners++
				stands = a.record
			}
		}
		if winners != 1 {
			t.Fatalf("flow %d has %d winners", flow, winners)
		}
		for i := range racers {
			f.same("racer", answers[i][flow].record, stands)
		}
		f.holds(f.now, flowID(flow), stands)
	}
}

func testUnknown(t *testing.T, impl Implementation) {
	f := open(t, impl, Limits{})
	f.holds(f.now, flowID(1), ledger.Record{})
	// Looking must not leave anything behind.
	f.holds(f.now, flowID(1), ledger.Record{})
	f.wins(f.now, f.claim(1, 1, 1))
}

func testLife(t *testing.T, impl Implementation) {
	f := open(t, impl, Limits{})
	first, other := f.claim(1, 1, 1), f.claim(1, 2, 2)
	f.holds(f.now, first.Flow, ledger.Record{})
	f.wins(f.now, first)

	claimed := ledger.Record{Status: ledger.Claimed, Fingerprint: first.Fingerprint}
	f.holds(f.now, first.Flow, claimed)
	f.loses(f.now, other, claimed)
	f.loses(f.now, first, claimed) // the same answers again are a repeat too

	f.completes(first.Flow, []byte("done"), nil)
	completed := ledger.Record{Status: ledger.Completed, Fingerprint: first.Fingerprint, Result: []byte("done")}
	f.holds(f.now, first.Flow, completed)
	f.loses(f.now, other, completed)
	f.loses(f.now, first, completed)
}

func testCompleteUnclaimed(t *testing.T, impl Implementation) {
	f := open(t, impl, Limits{})
	f.wins(f.now, f.claim(2, 1, 1))
	f.completes(flowID(1), []byte("done"), ledger.ErrUnclaimed)
	f.completes(flowID(1), nil, ledger.ErrUnclaimed)
	f.holds(f.now, flowID(1), ledger.Record{})
	f.wins(f.now, f.claim(1, 1, 1))
}

func testCompleteAgain(t *testing.T, impl Implementation) {
	f := open(t, impl, Limits{})
	for i, test := range []struct {
		name          string
		first, second []byte
		want          error
	}{
		{"same", []byte("done"), []byte("done"), nil},
		{"other", []byte("done"), []byte("gone"), ledger.ErrCompleted},
		{"longer", []byte("done"), []byte("done."), ledger.ErrCompleted},
		{"shorter", []byte("done"), []byte("don"), ledger.ErrCompleted},
		{"emptied", []byte("done"), nil, ledger.ErrCompleted},
		{"filled", nil, []byte("done"), ledger.ErrCompleted},
		{"nil then empty", nil, []byte{}, nil},
		{"empty then nil", []byte{}, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			f.T = t
			c := f.claim(i, 1, i)
			f.wins(f.now, c)
			f.completes(c.Flow, test.first, nil)
			f.completes(c.Flow, test.second, test.want)
			f.holds(f.now, c.Flow, ledger.Record{Status: ledger.Completed, Fingerprint: c.Fingerprint, Result: test.first})
		})
	}
}

func testCompleteRaced(t *testing.T, impl Implementation) {
	f := open(t, impl, Limits{})
	f.wins(f.now, f.claim(1, 1, 1))
	const racers = 16
	errs := make([]error, racers)
	f.race(racers, func(i int, l ledger.Ledger) {
		errs[i] = l.Complete(t.Context(), f.now, flowID(1), []byte{byte(i)})
	})
	winner := -1
	for i, err := range errs {
		switch {
		case err == nil && winner >= 0:
			t.Fatalf("results %d and %d were both recorded", winner, i)
		case err == nil:
			winner = i
		case !errors.Is(err, ledger.ErrCompleted):
			t.Fatalf("racer %d: %v", i, err)
		}
	}
	f.holds(f.now, flowID(1), ledger.Record{Status: ledger.Completed, Fingerprint: fingerprint(1), Result: []byte{byte(winner)}})
}

func testResults(t *testing.T, impl Implementation) {
	f := open(t, impl, Limits{})
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	for i, test := range []struct {
		name   string
		result []byte
	}{
		{"nil", nil},
		{"empty", []byte{}},
		{"zero bytes", make([]byte, 3)},
		{"every byte", every},
		{"null", []byte("null")},
		{"not UTF-8", []byte("\xff\xfe'\"\\")},
		{"longest", bytes.Repeat([]byte{0xa5}, ledger.MaxResult)},
	} {
		t.Run(test.name, func(t *testing.T) {
			f.T = t
			c := f.claim(i, i, i)
			f.wins(f.now, c)
			given := bytes.Clone(test.result)
			f.completes(c.Flow, given, nil)
			// Neither side may reach into the other's memory.
			clear(given)
			want := ledger.Record{Status: ledger.Completed, Fingerprint: c.Fingerprint, Result: test.result}
			got, err := f.replicas[0].Lookup(t.Context(), f.now, c.Flow)
			if err != nil {
				t.Fatal(err)
			}
			f.same("Lookup", got, want)
			for i := range got.Result {
				got.Result[i] ^= 0xff
			}
			f.holds(f.now, c.Flow, want)
			f.loses(f.now, c, want)
		})
	}
	t.Run("too long", func(t *testing.T) {
		f.T = t
		c := f.claim(100, 100, 100)
		f.wins(f.now, c)
		f.completes(c.Flow, make([]byte, ledger.MaxResult+1), ledger.ErrResultSize)
		f.holds(f.now, c.Flow, ledger.Record{Status: ledger.Claimed, Fingerprint: c.Fingerprint})
		f.completes(c.Flow, []byte("short"), nil)
	})
}

func testIndependent(t *testing.T, impl Implementation) {
	f := open(t, impl, Limits{})
	var ids []ledger.FlowID
	var zero, ones ledger.FlowID
	for i := range ones {
		ones[i] = 0xff
	}
	ids = append(ids, zero, ones)
	for bit := range 8 * len(zero) {
		one, hole := zero, ones
		one[bit/8] |= 1 << (bit % 8)
		hole[bit/8] &^= 1 << (bit % 8)
		ids = append(ids, one, hole)
	}
	// Ids that text, numbers or collations would take for each other.
	ids = append(ids, ledger.FlowID([]byte("abcdefghijklmnop")), ledger.FlowID([]byte("ABCDEFGHIJKLMNOP")),
		ledger.FlowID([]byte("abcdefghijklmno\x00")), ledger.FlowID([]byte("abcdefghijklmno ")), ledger.FlowID([]byte("0000000000000001")))

	claim := func(i int) ledger.Claim {
		c := f.claim(0, i, i)
		c.Flow = ids[i]
		return c
	}
	for i, id := range ids {
		f.holds(f.now, id, ledger.Record{})
		f.wins(f.now, claim(i))
		if i%2 == 0 {
			f.completes(id, id[:], nil)
		}
	}
	for i, id := range ids {
		want := ledger.Record{Status: ledger.Claimed, Fingerprint: fingerprint(i)}
		if i%2 == 0 {
			want.Status, want.Result = ledger.Completed, id[:]
		}
		f.holds(f.now, id, want)
	}
}

func testKept(t *testing.T, impl Implementation) {
	f := open(t, impl, Limits{})
	// Just before a whole millisecond, on it, just behind it; in the order in which time passes them.
	whole := f.expires.Truncate(time.Millisecond)
	ends := []time.Time{whole.Add(-1), whole, whole.Add(1)}
	for i, end := range ends {
		c := f.claim(i, i, i)
		c.Expires = end
		f.wins(f.now, c)
	}
	f.completes(flowID(0), []byte("done"), nil)
	for i, end := range ends {
		want := ledger.Record{Status: ledger.Claimed, Fingerprint: fingerprint(i)}
		if i == 0 {
			want.Status, want.Result = ledger.Completed, []byte("done")
		}
		last := end.Add(-1)
		f.holds(last, flowID(i), want)
		// What others do at that time must not sweep it away, even if they say other times.
		for n := range 40 {
			c := f.claim(1000+100*i+n, 1000+n, n)
			c.Expires = last.Add(time.Hour)
			f.wins(last, c)
		}
		f.holds(last, flowID(i), want)
		c := f.claim(i, i, 999)
		c.Expires = last.Add(time.Hour)
		f.loses(last, c, want)
	}
}

// Replicas whose clocks disagree by less than a record's life agree about the record.
func testClocksApart(t *testing.T, impl Implementation) {
	f := open(t, impl, Limits{})
	f.wins(f.now, f.claim(1, 1, 1))
	stands := ledger.Record{Status: ledger.Claimed, Fingerprint: fingerprint(1)}
	for i, apart := range []time.Duration{-time.Hour, -time.Minute, -time.Millisecond, time.Millisecond, time.Minute, time.Hour - 1} {
		now := f.now.Add(apart)
		f.holds(now, flowID(1), stands)
		f.loses(now, f.claim(1, 2, 2), stands)
		f.wins(now, f.claim(10+i, 2, 2)) // which may sweep, by that clock
		f.holds(f.now, flowID(1), stands)
		f.loses(f.now, f.claim(1, 2, 2), stands)
	}
}

func testExpiredClaim(t *testing.T, impl Implementation) {
	f := open(t, impl, Limits{})
	for i, early := range []time.Duration{0, time.Nanosecond, time.Millisecond, time.Hour} {
		c := f.claim(i, 1, 1)
		c.Expires = f.now.Add(-early)
		f.refused(f.now, c, ledger.ErrExpired)
	}
	c := f.claim(10, 1, 1)
	c.Expires = time.Time{}
	f.refused(f.now, c, ledger.ErrExpired)
	c.Expires = f.expires
	f.wins(f.now, c)
}

func testQuota(t *testing.T, impl Implementation) {
	f := open(t, impl, Limits{PerOwner: 3})
	for i := range 3 {
		f.wins(f.now, f.claim(i, 1, i))
	}
	f.refused(f.now, f.claim(3, 1, 3), ledger.ErrQuota)
	f.completes(flowID(0), []byte("done"), nil)
	f.refused(f.now, f.claim(3, 1, 3), ledger.ErrQuota) // a completed flow counts until it expires
	f.refused(f.expires.Add(-1), ledger.Claim{Flow: flowID(3), Owner: ownerID(1), Expires: f.expires.Add(time.Hour)}, ledger.ErrQuota)

	// A repeat learns what stands, not that there is no room.
	f.loses(f.now, f.claim(1, 1, 99), ledger.Record{Status: ledger.Claimed, Fingerprint: fingerprint(1)})
	// The others are not held up, and a claim that lost counts against nobody.
	f.wins(f.now, f.claim(3, 2, 3))
	for range 5 {
		f.loses(f.now, f.claim(0, 2, 0), ledger.Record{Status: ledger.Completed, Fingerprint: fingerprint(0), Result: []byte("done")})
	}
	f.wins(f.now, f.claim(4, 2, 4))
	f.wins(f.now, f.claim(5, 2, 5))
	f.refused(f.now, f.claim(6, 2, 6), ledger.ErrQuota)
}

func testQuotaRaced(t *testing.T, impl Implementation) {
	const racers, quota = 48, 10
	f := open(t, impl, Limits{PerOwner: quota})
	answers := make([]answer, racers)
	f.race(racers, func(i int, l ledger.Ledger) {
		a := &answers[i]
		a.record, a.won, a.err = l.Claim(t.Context(), f.now, f.claim(i, 1, i))
	})
	won := 0
	for i, a := range answers {
		if a.won {
			won++
			f.holds(f.now, flowID(i), ledger.Record{Status: ledger.Claimed, Fingerprint: fingerprint(i)})
		} else if !errors.Is(a.err, ledger.ErrQuota) {
			t.Fatalf("racer %d: %v, %v", i, a.won, a.err)
		} else {
			f.holds(f.now, flowID(i), ledger.Record{})
		}
	}
	if won != quota {
		t.Fatalf("%d claims won against a quota of %d", won, quota)
	}
}

func testQuotaFreed(t *testing.T, impl Implementation) {
	f := open(t, impl, Limits{PerOwner: 3})
	end := f.expires.Truncate(time.Millisecond)
	for i := range 3 {
		c := f.claim(i, 1, i)
		c.Expires = end.Add(time.Duration(i) * time.Second)
		f.wins(f.now, c)
	}
	next := f.claim(3, 1, 3)
	next.Expires = end.Add(time.Hour)
	f.refused(end.Add(-1), next, ledger.ErrQuota)
	f.wins(end, next) // only the first has expired
	next = f.claim(4, 1, 4)
	next.Expires = end.Add(time.Hour)
	f.refused(end, next, ledger.ErrQuota)
	f.holds(end, flowID(1), ledger.Record{Status: ledger.Claimed, Fingerprint: fingerprint(1)})
}

func testFull(t *testing.T, impl Implementation) {
	const capacity = 50
	f := open(t, impl, Limits{Flows: capacity})
	for i := range capacity {
		f.wins(f.now, f.claim(i, i, i))
	}
	// A flood of other people's flows is refused, and pushes nothing out.
	for i := range 2 * capacity {
		f.refused(f.expires.Add(-1), ledger.Claim{Flow: flowID(capacity + i), Owner: ownerID(capacity + i), Expires: f.expires.Add(time.Hour)}, ledger.ErrFull)
	}
	for i := range capacity {
		f.loses(f.now, f.claim(i, 1, 999), ledger.Record{Status: ledger.Claimed, Fingerprint: fingerprint(i)})
	}
	f.completes(flowID(0), []byte("done"), nil)
}

func testFullFreed(t *testing.T, impl Implementation) {
	const capacity = 50
	f := open(t, impl, Limits{Flows: capacity})
	end := f.expires.Truncate(time.Millisecond)
	// Several generations, so that what is freed can be used again and again.
	for generation := range 5 {
		now, expires := f.now, end
		for i := range capacity {
			c := f.claim(generation*1000+i, i, i)
			c.Expires = expires
			f.wins(now, c)
		}
		c := f.claim(generation*1000+999, 999, 999)
		c.Expires = expires.Add(time.Hour)
		f.refused(expires.Add(-1), c, ledger.ErrFull)
		f.now, end = expires, expires.Add(time.Hour)
	}
}

func testCancelledBefore(t *testing.T, impl Implementation) {
	f := open(t, impl, Limits{})
	claimed := f.claim(2, 1, 2)
	f.wins(f.now, claimed)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	for _, test := range []struct {
		name string
		ctx  context.Context
		want error
	}{{"cancelled", cancelled, context.Canceled}, {"deadline", late, context.DeadlineExceeded}} {
		t.Run(test.name, func(t *testing.T) {
			f.T = t
			check := func(op string, err error) {
				t.Helper()
				var u *ledger.UnavailableError
				if !errors.As(err, &u) || u.Unknown || u.Op != op || !errors.Is(err, test.want) {
					t.Errorf("%s: error %v; want an UnavailableError of op %q that wraps %v and burnt nothing", op, err, op, test.want)
				}
			}
			l := f.replica()
			_, err := l.Lookup(test.ctx, f.now, claimed.Flow)
			check("lookup", err)
			r, won, err := l.Claim(test.ctx, f.now, f.claim(1, 1, 1))
			check("claim", err)
			if won {
				t.Error("a cancelled claim won")
			}
			f.same("cancelled Claim", r, ledger.Record{})
			check("complete", l.Complete(test.ctx, f.now, claimed.Flow, []byte("done")))
			f.holds(f.now, flowID(1), ledger.Record{})
			f.holds(f.now, claimed.Flow, ledger.Record{Status: ledger.Claimed, Fingerprint: claimed.Fingerprint})
		})
	}
	f.T = t
	f.wins(f.now, f.claim(1, 1, 1))
}

// Callers give up at whatever point the race brings them to. What the ledger then says about the flow must be true.
func testCancelledDuring(t *testing.T, impl Implementation) {
	f := open(t, impl, Limits{})
	const racers = 64
	for round := range 10 {
		ctx, cancel := context.WithCancel(t.Context())
		answers := make([]answer, racers)
		f.race(racers+1, func(i int, l ledger.Ledger) {
			if i == racers {
				cancel()
				return
			}
			a := &answers[i]
			a.record, a.won, a.err = l.Claim(ctx, f.now, f.claim(round*racers+i, i, i))
		})
		cancel()
		for i, a := range answers {
			flow := flowID(round*racers + i)
			stands := ledger.Record{Status: ledger.Claimed, Fingerprint: fingerprint(i)}
			var u *ledger.UnavailableError
			switch {
			case a.err == nil && a.won:
				f.holds(f.now, flow, stands)
			case !errors.As(a.err, &u) || !errors.Is(a.err, context.Canceled):
				t.Fatalf("racer %d: %v, %v; want it won or cancelled", i, a.won, a.err)
			case !u.Unknown:
				f.holds(f.now, flow, ledger.Record{})
				f.wins(f.now, f.claim(round*racers+i, i, i))
			default:
				// Either is true; but it must be settled, so that a claim now cannot win if Lookup says it stands.
				settled, err := f.replica().Lookup(t.Context(), f.now, flow)
				if err != nil {
					t.Fatal(err)
				}
				if settled.Status != ledger.Unspent {
					f.loses(f.now, f.claim(round*racers+i, i, i), stands)
				}
			}
		}
	}
}
