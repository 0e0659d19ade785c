// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package sqlledger

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reprise-mcp/reprise/ledger"
)

// An op is one call that writes: a claim, or, without one, the completion of flow with result.
type op struct {
	flow   ledger.FlowID
	now    time.Time
	claim  *ledger.Claim
	result []byte

	stage atomic.Int32 // waiting, then taken or withdrawn
	done  chan struct{}

	// What came of it. Written by the writer before done is closed, read by the caller after.
	record  ledger.Record
	won     bool
	refusal error // of the ledger's contract: the op was answered, and changed nothing
	failure error // of the store
	unknown bool
}

const (
	waiting int32 = iota
	taken         // its transaction is being written; it can no longer be called off
	withdrawn
)

func newOp(flow ledger.FlowID, now time.Time) *op {
	return &op{flow: flow, now: now, done: make(chan struct{})}
}

// A backend is what a group writes to.
type backend interface {
	// write waits for the right to write, calls take, carries out the ops that it returns in one transaction, and
	// returns when that is durable. If it fails, none of the ops has happened, unless unknown is true.
	// If it fails before it gets to call take, ops is nil.
	write(take func() []*op) (ops []*op, unknown bool, err error)
}

// A group commits ops in transactions as large as the store's pace makes them. Waiting for the disk is what a commit
// costs, and it costs the same for one op and for hundreds. It knows nothing of SQL.
type group struct {
	backend backend
	max     int // ops in one transaction
	queue   chan *op
	closing chan struct{} // closed when no more ops are accepted
	stopped chan struct{} // closed when the writer has ended
	once    sync.Once
}

// maxBatch bounds how long one transaction keeps other processes out.
const maxBatch = 512

func newGroup(b backend, max int) *group {
	g := &group{
		backend: b,
		max:     max,
		queue:   make(chan *op, 2*maxBatch),
		closing: make(chan struct{}),
		stopped: make(chan struct{}),
	}
	go g.run()
	return g
}

// do returns when o has been answered, or when ctx is done; then unknown says whether o may have happened.
func (g *group) do(ctx context.Context, o *op) (unknown bool, err error) {
	if g.closed() {
		return false, errClosed
	}
	select {
	case g.queue <- o:
	case <-ctx.Done():
		return false, context.Cause(ctx)
	case <-g.closing:
		return false, errClosed
	}
	select {
	case <-o.done:
		return o.unknown, o.failure
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-g.stopped:
		err = errClosed
	}
	if o.stage.CompareAndSwap(waiting, withdrawn) {
		return false, err
	}
	select {
	case <-o.done: // both were ready; an answer is worth more
		return o.unknown, o.failure
	default:
		return true, err
	}
}

func (g *group) run() {
	defer close(g.stopped)
	for {
		select {
		case o := <-g.queue:
			g.commit(o)
		case <-g.closing:
			for {
				select {
				case o := <-g.queue:
					g.commit(o)
				default:
					return
				}
			}
		}
	}
}

func (g *group) commit(first *op) {
	// The ops are taken when the lock is held. Until then they can be withdrawn with nothing burnt, and more join.
	take := func() []*op {
		var ops []*op
		for o := first; ; {
			if o.stage.CompareAndSwap(waiting, taken) {
				ops = append(ops, o)
			}
			if len(ops) == g.max {
				return ops
			}
			select {
			case o = <-g.queue:
			default:
				return ops
			}
		}
	}
	ops, unknown, err := g.backend.write(take)
	if ops == nil && err != nil {
		ops = take()
	}
	for _, o := range ops {
		o.failure, o.unknown = err, unknown
		close(o.done)
	}
}

func (g *group) closed() bool {
	select {
	case <-g.closing:
		return true
	default:
		return false
	}
}

// close answers what is queued, ends the writer and returns true, the first time.
func (g *group) close() (first bool) {
	g.once.Do(func() {
		close(g.closing)
		first = true
	})
	<-g.stopped
	return first
}
