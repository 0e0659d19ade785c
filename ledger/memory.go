// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"container/heap"
	"context"
	"sync"
	"time"
)

// Memory is a [Ledger] for a single process. The zero value is ready for use and must not be copied. Set the fields
// before the first call; they bound what it holds, by default at about 20 MB for flows and 64 MiB for results.
//
// It forgets everything when the process ends. See the package documentation for where that is safe.
//
// Every call answers at once; ctx only matters if it is done before. Expired records are dropped bit by bit while
// others are claimed, and all of them before a claim is refused for lack of room.
type Memory struct {
	// Flows is how many flows it holds. Zero or less means 100,000. More are refused with ErrFull.
	Flows int

	// PerOwner is how many of them may count against one owner. Zero or less means 1,000. More are refused with ErrQuota.
	// All anonymous callers are one owner.
	PerOwner int

	// ResultBytes is the sum of the lengths of all results that it holds. Zero or less means 64 MiB. Results beyond it are
	// refused with ErrFull. One owner may use as much of it as of Flows: the part PerOwner/Flows, but always at
	// least MaxResult; beyond that, ErrQuota.
	ResultBytes int

	mu     sync.Mutex
	flows  map[FlowID]*entry
	owners map[[16]byte]*usage
	expiry queue
	bytes  int
}

// An entry is one record. It knows where else it is counted, so that forgetting costs few look-ups.
type entry struct {
	flow        FlowID
	owner       [16]byte
	usage       *usage
	expires     int64 // Unix milliseconds, rounded up
	fingerprint [32]byte
	completed   bool
	result      []byte
}

type usage struct{ flows, bytes int }

func (e *entry) record() Record {
	r := Record{Status: Claimed, Fingerprint: e.fingerprint}
	if e.completed {
		r.Status, r.Result = Completed, bytes.Clone(e.result)
	}
	return r
}

// Lookup implements [Ledger].
func (m *Memory) Lookup(ctx context.Context, _ time.Time, flow FlowID) (Record, error) {
	if err := ctx.Err(); err != nil {
		return Record{}, &UnavailableError{Op: "lookup", Err: err}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.flows[flow]; e != nil {
		return e.record(), nil
	}
	return Record{}, nil
}

// Claim implements [Ledger].
func (m *Memory) Claim(ctx context.Context, now time.Time, c Claim) (Record, bool, error) {
	if err := ctx.Err(); err != nil {
		return Record{}, false, &UnavailableError{Op: "claim", Err: err}
	}
	if !now.Before(c.Expires) {
		return Record{}, false, ErrExpired
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.flows[c.Flow]; e != nil {
		return e.record(), false, nil
	}
	// Two for one claimed: more than come in, so that expired records cannot pile up.
	m.forget(now, 2)
	if err := m.room(c.Owner); err != nil {
		m.forget(now, len(m.expiry))
		if err := m.room(c.Owner); err != nil {
			return Record{}, false, err
		}
	}
	if m.flows == nil {
		m.flows = make(map[FlowID]*entry)
		m.owners = make(map[[16]byte]*usage)
	}
	u := m.owners[c.Owner]
	if u == nil {
		u = new(usage)
		m.owners[c.Owner] = u
	}
	u.flows++
	e := &entry{flow: c.Flow, owner: c.Owner, usage: u, expires: ceilMilli(c.Expires), fingerprint: c.Fingerprint}
	m.flows[c.Flow] = e
	heap.Push(&m.expiry, e)
	return e.record(), true, nil
}

// Complete implements [Ledger].
func (m *Memory) Complete(ctx context.Context, _ time.Time, flow FlowID, result []byte) error {
	if err := ctx.Err(); err != nil {
		return &UnavailableError{Op: "complete", Err: err}
	}
	if len(result) > MaxResult {
		return ErrResultSize
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.flows[flow]
	switch {
	case e == nil:
		return ErrUnclaimed
	case e.completed && bytes.Equal(e.result, result):
		return nil
	case e.completed:
		return ErrCompleted
	}
	total := orDefault(m.ResultBytes, 64<<20)
	if len(result) > total-m.bytes {
		return ErrFull
	}
	share := float64(total) * float64(m.perOwner()) / float64(m.capacity())
	if float64(e.usage.bytes+len(result)) > max(share, MaxResult) {
		return ErrQuota
	}
	m.bytes += len(result)
	e.usage.bytes += len(result)
	e.completed, e.result = true, bytes.Clone(result)
	return nil
}

func (m *Memory) capacity() int { return orDefault(m.Flows, 100_000) }
func (m *Memory) perOwner() int { return orDefault(m.PerOwner, 1_000) }

func orDefault(n, otherwise int) int {
	if n <= 0 {
		return otherwise
	}
	return n
}

func (m *Memory) room(owner [16]byte) error {
	if u := m.owners[owner]; u != nil && u.flows >= m.perOwner() {
		return ErrQuota
	}
	if len(m.flows) >= m.capacity() {
		return ErrFull
	}
	return nil
}

// forget drops at most n records that have expired, the oldest first.
func (m *Memory) forget(now time.Time, n int) {
	for ; n > 0 && len(m.expiry) > 0 && now.UnixMilli() >= m.expiry[0].expires; n-- {
		e := heap.Pop(&m.expiry).(*entry)
		delete(m.flows, e.flow)
		m.bytes -= len(e.result)
		e.usage.bytes -= len(e.result)
		if e.usage.flows--; e.usage.flows == 0 {
			delete(m.owners, e.owner)
		}
	}
}

// ceilMilli rounds up, so that a record never goes before its time.
func ceilMilli(t time.Time) int64 { return t.Add(time.Millisecond - 1).UnixMilli() }

// A queue is a [heap.Interface] of entries, the one that expires first in front.
type queue []*entry

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].expires < q[j].expires }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(*entry)) }

func (q *queue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return e
}
