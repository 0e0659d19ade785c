// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package sqlledger

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reprise-mcp/reprise/ledger"
)

var epoch = time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)

func openTemp(t testing.TB, c Config) *Ledger {
	t.Helper()
	l, err := c.Open(t.Context(), filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func numbered(n uint64, expires time.Time) ledger.Claim {
	c := ledger.Claim{Expires: expires}
	binary.LittleEndian.PutUint64(c.Flow[:], n*0x9e3779b97f4a7c15) // spread like random ids
	binary.BigEndian.PutUint64(c.Owner[:], n)
	return c
}

// A pragma that SQLite does not know, or knows by another name, is ignored without a word.
func TestPragmas(t *testing.T) {
	l := openTemp(t, Config{Wait: 1234 * time.Millisecond})
	reader, err := l.db.readers.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for _, test := range []struct{ pragma, writer, reader string }{
		{"journal_mode", "wal", "wal"},
		{"synchronous", "2", "2"}, // FULL: each commit waits for the disk
		{"fullfsync", "1", "1"},
		{"checkpoint_fullfsync", "1", "1"},
		{"trusted_schema", "0", "0"},
		{"query_only", "0", "1"},
		{"busy_timeout", "0", "1234"},
		{"application_id", fmt.Sprint(applicationID), fmt.Sprint(applicationID)},
		{"user_version", fmt.Sprint(schemaVersion), fmt.Sprint(schemaVersion)},
	} {
		var writer, read string
		if err := l.db.writer.conn.QueryRowContext(t.Context(), "PRAGMA "+test.pragma).Scan(&writer); err != nil {
			t.Fatal(err)
		}
		if err := reader.QueryRowContext(t.Context(), "PRAGMA "+test.pragma).Scan(&read); err != nil {
			t.Fatal(err)
		}
		if writer != test.writer || read != test.reader {
			t.Errorf("%s is %s for the writer and %s for readers; want %s and %s", test.pragma, writer, read, test.writer, test.reader)
		}
	}
}

// A new connection after a failure must be as durable as the first.
func TestWriterAfterAFailure(t *testing.T) {
	l := openTemp(t, Config{Wait: 100 * time.Millisecond})
	if _, won, err := l.Claim(t.Context(), epoch, numbered(1, epoch.Add(time.Hour))); !won || err != nil {
		t.Fatal(won, err)
	}
	// The writer's goroutine is idle, as nothing is queued. Its connection fails in the middle of a transaction: the lock
	// that it holds must go with it.
	if _, err := l.db.writer.conn.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	l.db.disconnect()
	if _, won, err := l.Claim(t.Context(), epoch, numbered(2, epoch.Add(time.Hour))); !won || err != nil {
		t.Fatal(won, err)
	}
	var synchronous int
	if err := l.db.writer.conn.QueryRowContext(t.Context(), "PRAGMA synchronous").Scan(&synchronous); err != nil || synchronous != 2 {
		t.Errorf("synchronous is %d, %v", synchronous, err)
	}
	for n := range uint64(2) {
		if r, err := l.Lookup(t.Context(), epoch, numbered(1+n, epoch).Flow); r.Status != ledger.Claimed || err != nil {
			t.Errorf("flow %d is %v, %v", 1+n, r.Status, err)
		}
	}
}

// SQLite's own limit stands in for the end of the disk: it gives the same error at the same place.
func TestFull(t *testing.T) {
	l := openTemp(t, Config{})
	var pages int
	if err := l.db.writer.conn.QueryRowContext(t.Context(), "PRAGMA max_page_count = 20").Scan(&pages); err != nil || pages != 20 {
		t.Fatal(pages, err)
	}
	end := epoch.Add(time.Hour)
	taken := uint64(0)
	for {
		_, won, err := l.Claim(t.Context(), epoch, numbered(taken, end))
		if err != nil {
			var u *ledger.UnavailableError
			if won || !errors.Is(err, ledger.ErrFull) || !errors.As(err, &u) || u.Unknown {
				t.Fatalf("full: %v, %v; want ErrFull and an UnavailableError that burnt nothing", won, err)
			}
			break
		}
		taken++
	}
	if taken < 50 {
		t.Fatalf("full after %d claims", taken)
	}
	if r, err := l.Lookup(t.Context(), epoch, numbered(taken, end).Flow); r.Status != ledger.Unspent || err != nil {
		t.Errorf("the refused flow is %v, %v", r.Status, err)
	}
	for n := range taken { // nothing was dropped to make room, and repeats learn what stands
		if r, won, err := l.Claim(t.Context(), end.Add(-1), numbered(n, end)); won || r.Status != ledger.Claimed || err != nil {
			t.Fatalf("flow %d: %v, %v, %v", n, r.Status, won, err)
		}
	}
	// Once they have expired, the next claim makes its own room.
	if _, won, err := l.Claim(t.Context(), end, numbered(taken, end.Add(time.Hour))); !won || err != nil {
		t.Errorf("after expiry: %v, %v", won, err)
	}
}

// Expired records go, and only they; the file does not grow with what has been.
func TestSweep(t *testing.T) {
	l := openTemp(t, Config{})
	lasting := numbered(1<<40, epoch.Add(24*time.Hour))
	if _, won, err := l.Claim(t.Context(), epoch, lasting); !won || err != nil {
		t.Fatal(won, err)
	}
	const flows, life = 1_500, 100 // at any time, the last 100 are live
	for n := range uint64(flows) {
		now := epoch.Add(time.Duration(n) * time.Second)
		if _, won, err := l.Claim(t.Context(), now, numbered(n, now.Add(life*time.Second))); !won || err != nil {
			t.Fatal(won, err)
		}
		if oldest := n - life + 1; n >= life { // which expires in a second
			if r, err := l.Lookup(t.Context(), now, numbered(oldest, now).Flow); r.Status != ledger.Claimed || err != nil {
				t.Fatalf("live flow %d is %v, %v", oldest, r.Status, err)
			}
		}
	}
	var rows int
	if err := l.db.readers.QueryRowContext(t.Context(), "SELECT count(*) FROM flow").Scan(&rows); err != nil {
		t.Fatal(err)
	}
	if most := 1 + life + sweepEvery; rows > most {
		t.Errorf("%d records are left; want at most %d", rows, most)
	}
	if r, err := l.Lookup(t.Context(), epoch.Add(flows*time.Second), lasting.Flow); r.Status != ledger.Claimed || err != nil {
		t.Errorf("the lasting flow is %v, %v", r.Status, err)
	}
}

// Callers whose clocks differ share a transaction. Its sweep goes by the clock that is furthest behind.
func TestSweepGoesByTheSlowestClock(t *testing.T) {
	l := openTemp(t, Config{})
	live := numbered(1, epoch.Add(time.Minute))
	if _, won, err := l.Claim(t.Context(), epoch, live); !won || err != nil {
		t.Fatal(won, err)
	}
	l.group.close() // from here on, the test is the writer
	l.db.unswept = sweepEvery
	var ops []*op
	for n, now := range []time.Time{epoch.Add(time.Hour), epoch.Add(time.Minute - 1), epoch.Add(2 * time.Hour)} {
		o, c := newOp(ledger.FlowID{}, now), numbered(uint64(2+n), now.Add(time.Hour))
		o.claim = &c
		ops = append(ops, o)
	}
	if _, unknown, err := l.db.write(func() []*op { return ops }); unknown || err != nil {
		t.Fatal(unknown, err)
	}
	if l.db.unswept >= sweepEvery {
		t.Error("nothing was swept")
	}
	if r, err := l.db.lookup(t.Context(), live.Flow); r.Status != ledger.Claimed || err != nil {
		t.Errorf("a flow that is live by one of the clocks is %v, %v", r.Status, err)
	}
	l.group = newGroup(l.db, maxBatch) // for Close
}

// The quota is read from an index: a sweep or a claim that scanned the table would grow with it.
func TestQueriesUseTheIndexes(t *testing.T) {
	l := openTemp(t, Config{})
	for name, query := range map[string]string{"claim": claimSQL, "lookup": lookupSQL, "complete": completeSQL, "sweep": sweepSQL} {
		args := []any{[]byte{}, []byte{}, []byte{}, 0, 0, 0}
		switch name {
		case "lookup":
			args = args[:1]
		case "complete", "sweep":
			args = args[:2]
		}
		rows, err := l.db.readers.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, args...)
		if err != nil {
			t.Fatal(name, err)
		}
		steps := 0
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				t.Fatal(err)
			}
			steps++
			if len(detail) >= 9 && detail[:9] == "SCAN flow" {
				t.Errorf("%s: %s", name, detail)
			}
		}
		if err := rows.Err(); err != nil || steps == 0 {
			t.Errorf("%s: %d steps, %v", name, steps, err)
		}
		rows.Close()
	}
}

// One claim, and 64 at a time: as they are committed, and with a transaction for each.
func BenchmarkClaim(b *testing.B) {
	for _, bench := range []struct {
		name    string
		callers int
		batch   int
	}{
		{"1", 1, maxBatch},
		{"64", 64, maxBatch},
		{"64_one_commit_each", 64, 1},
	} {
		b.Run(bench.name, func(b *testing.B) {
			l := openTemp(b, Config{})
			l.group.close()
			l.group = newGroup(l.db, bench.batch)
			expires := epoch.Add(time.Hour)
			var last atomic.Uint64
			claim := func() bool {
				_, won, err := l.Claim(context.Background(), epoch, numbered(last.Add(1), expires))
				if !won {
					b.Error(err)
				}
				return won
			}
			if bench.callers == 1 {
				for b.Loop() && claim() {
				}
			} else {
				b.SetParallelism(max(1, bench.callers/runtime.GOMAXPROCS(0)))
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() && claim() {
					}
				})
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "claims/s")
		})
	}
}

func BenchmarkLookup(b *testing.B) {
	l := openTemp(b, Config{})
	c := numbered(1, epoch.Add(time.Hour))
	if _, won, err := l.Claim(b.Context(), epoch, c); !won {
		b.Fatal(err)
	}
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if r, err := l.Lookup(context.Background(), epoch, c.Flow); r.Status != ledger.Claimed {
				b.Error(err)
				return
			}
		}
	})
}
