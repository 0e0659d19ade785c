// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

// Package sqlledger is a [ledger.Ledger] in an SQLite file: single use for every process of one host, kept across
// restarts.
//
//	led, err := sqlledger.Open(ctx, "/var/lib/myserver/ledger.db")
//	if err != nil {
//		return err
//	}
//	defer led.Close()
//
// Several processes may have the same file open; of their claims on a flow one wins. The file must be on a local disk:
// network file systems do not keep the locks that this rests on. It is made with mode 0600, and while it is open SQLite
// keeps two more beside it whose names end in -wal and -shm, which hold claims too. After a crash they stay, and the next
// Open reads them. Nobody may remove or replace any of them while a flow is live: that would forget claims. A ledger
// whose file is gone from its path refuses to answer.
//
// # Durability
//
// A claim is reported as won after its transaction has been synced to disk (write-ahead log, synchronous=FULL), so it
// survives a crash of the process and of the machine, as far as the disk keeps what it says it has synced. Claims that
// arrive while another transaction is being synced share the next one.
//
// # Limits
//
// The quota counts in the transaction that claims, across all processes; its cost grows with the number of live flows
// that the owner has. There is no capacity other than the disk's: a full disk refuses with an error that wraps both
// [ledger.ErrFull] and an [*ledger.UnavailableError]. Expired records are deleted in batches while others are claimed,
// faster than new ones come in, and their space is used again. A flow without a result takes about 200 bytes.
//
// # Failure
//
// A file that is locked by somebody else, read-only, damaged or full, a disk that does not answer and a closed ledger
// all give an [*ledger.UnavailableError] within the time that [Config] states. Nothing needs to be done for the ledger
// to work again once the cause is gone, except where the file was replaced.
//
// Its Unknown is true, because the transaction may have been written, in two cases only: the context ended, or twice
// Config.Wait passed, while it was being committed; or the disk reported an error, other than being full, for the
// commit itself. Until then everything is rolled back, and a call that still waits for its turn is withdrawn. A process
// that is killed answers nobody: a claim that it was committing may stand.
package sqlledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/reprise-mcp/reprise/ledger"
)

// A Config holds what can be chosen about a ledger. The zero Config is what [Open] uses.
type Config struct {
	// PerOwner is how many flows may count against one owner. Zero means 1,000. More are refused with
	// ledger.ErrQuota. All processes that share a file should say the same; each applies its own.
	PerOwner int

	// Wait is how long to wait for other processes to unlock the file. Zero means 5 seconds. Calls return within
	// Wait if the file stays locked, and within twice Wait whatever else goes wrong; only a Lookup on a disk that
	// does not answer at all can take as long as the disk does.
	Wait time.Duration
}

// Ledger is an open ledger file. It is safe for concurrent use.
type Ledger struct {
	group *group
	db    *sqlite
	wait  time.Duration
}

var _ ledger.Ledger = (*Ledger)(nil)

// Open opens the ledger in the file at path, and makes it if there is none yet. The folder must exist. It is short for
// Config{}.Open.
func Open(ctx context.Context, path string) (*Ledger, error) { return Config{}.Open(ctx, path) }

// Open opens the ledger in the file at path, and makes it if there is none yet. The folder must exist.
//
// It returns a [*SchemaError] for a file that a newer version wrote, and an [*ledger.UnavailableError] with Op "open" if
// the file cannot be opened for writing. A server that cannot open its ledger must not start.
func (c Config) Open(ctx context.Context, path string) (*Ledger, error) {
	if c.PerOwner < 0 || c.Wait < 0 {
		return nil, fmt.Errorf("sqlledger: PerOwner %d or Wait %v is negative; use zero for the default", c.PerOwner, c.Wait)
	}
	if c.PerOwner == 0 {
		c.PerOwner = 1_000
	}
	if c.Wait == 0 {
		c.Wait = 5 * time.Second
	}
	db, err := openSQLite(ctx, path, c)
	if err != nil {
		return nil, err
	}
	return &Ledger{group: newGroup(db, maxBatch), db: db, wait: c.Wait}, nil
}

// Close finishes the calls that are under way, waits for them and closes the file. Calls after it fail with an
// [*ledger.UnavailableError] that wraps [os.ErrClosed]. Closing again does nothing.
func (l *Ledger) Close() error {
	if !l.group.close() {
		return nil
	}
	return l.db.close()
}

var errClosed = fmt.Errorf("the ledger is closed: %w", os.ErrClosed)

// Lookup implements [ledger.Ledger].
func (l *Ledger) Lookup(ctx context.Context, _ time.Time, flow ledger.FlowID) (ledger.Record, error) {
	record, err := l.lookup(ctx, flow)
	if err != nil {
		return ledger.Record{}, &ledger.UnavailableError{Op: "lookup", Err: err}
	}
	return record, nil
}

func (l *Ledger) lookup(ctx context.Context, flow ledger.FlowID) (ledger.Record, error) {
	if err := ctx.Err(); err != nil {
		return ledger.Record{}, err
	}
	if l.group.closed() {
		return ledger.Record{}, errClosed
	}
	bounded, cancel := context.WithTimeoutCause(ctx, 2*l.wait, errTimeout)
	defer cancel()
	record, err := l.db.lookup(bounded, flow)
	switch {
	case err != nil && bounded.Err() != nil:
		err = context.Cause(bounded)
	case err != nil && l.group.closed():
		err = errClosed
	}
	return record, err
}

// Claim implements [ledger.Ledger].
func (l *Ledger) Claim(ctx context.Context, now time.Time, c ledger.Claim) (ledger.Record, bool, error) {
	if !now.Before(c.Expires) {
		return ledger.Record{}, false, ledger.ErrExpired
	}
	o := newOp(c.Flow, now)
	o.claim = &c
	if err := l.do(ctx, "claim", o); err != nil {
		return ledger.Record{}, false, err
	}
	return o.record, o.won, nil
}

// Complete implements [ledger.Ledger].
func (l *Ledger) Complete(ctx context.Context, now time.Time, flow ledger.FlowID, result []byte) error {
	if len(result) > ledger.MaxResult {
		return ledger.ErrResultSize
	}
	o := newOp(flow, now)
	// A copy: if the caller gives up, the writer may still be reading it. Not nil, which the store reads as no result.
	o.result = append([]byte{}, result...)
	return l.do(ctx, "complete", o)
}

// do has the writer carry out o and turns what goes wrong around it into an UnavailableError.
func (l *Ledger) do(ctx context.Context, name string, o *op) error {
	if err := ctx.Err(); err != nil {
		return &ledger.UnavailableError{Op: name, Err: err}
	}
	bounded, cancel := context.WithTimeoutCause(ctx, 2*l.wait, errTimeout)
	defer cancel()
	unknown, err := l.group.do(bounded, o)
	if err != nil {
		return &ledger.UnavailableError{Op: name, Err: err, Unknown: unknown}
	}
	return o.refusal
}

var errTimeout = errors.New("the disk of the ledger file did not answer in time")

// milli is a time as the store keeps it, in Unix milliseconds.
func milli(t time.Time) int64 { return t.UnixMilli() }

// ceilMilli rounds up, so that a record never goes before its time.
func ceilMilli(t time.Time) int64 { return t.Add(time.Millisecond - 1).UnixMilli() }

func sameResult(recorded, given []byte) error {
	if bytes.Equal(recorded, given) {
		return nil
	}
	return ledger.ErrCompleted
}
