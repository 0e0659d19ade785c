// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package sqlledger_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reprise-mcp/reprise/ledger"
	"github.com/reprise-mcp/reprise/ledger/sqlledger"
)

var now = time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)

func claim(flow byte) ledger.Claim {
	return ledger.Claim{Flow: ledger.FlowID{flow}, Owner: [16]byte{flow}, Fingerprint: [32]byte{flow}, Expires: now.Add(time.Hour)}
}

func mustWin(t *testing.T, l *sqlledger.Ledger, flow byte) {
	t.Helper()
	if r, won, err := l.Claim(t.Context(), now, claim(flow)); !won || err != nil {
		t.Fatalf("Claim(%d) = %v, %v, %v; want it won", flow, r.Status, won, err)
	}
}

func wantStatus(t *testing.T, l *sqlledger.Ledger, flow byte, want ledger.Status) {
	t.Helper()
	if r, err := l.Lookup(t.Context(), now, ledger.FlowID{flow}); r.Status != want || err != nil {
		t.Errorf("flow %d is %v, %v; want %v", flow, r.Status, err, want)
	}
}

// wantRefused checks that err refuses without burning anything, and what it says.
func wantRefused(t *testing.T, err error, op, says string) {
	t.Helper()
	var u *ledger.UnavailableError
	if !errors.As(err, &u) || u.Op != op || u.Unknown || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v; want an UnavailableError of op %q with Unknown false that says %q", err, op, says)
	}
}

// database opens the file beside the ledger, as another program would.
func database(t *testing.T, path string) *sql.Conn {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func run(t *testing.T, conn *sql.Conn, statement string) {
	t.Helper()
	if _, err := conn.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func TestKeptAcrossRestarts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a ledger?mode=ro&#.db") // a path, not an address
	l, err := sqlledger.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	mustWin(t, l, 1)
	mustWin(t, l, 2)
	if err := l.Complete(t.Context(), now, ledger.FlowID{2}, []byte("done")); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	// Who stops the server and moves the file must have all of it.
	for _, suffix := range []string{"-wal", "-shm"} {
		if _, err := os.Stat(path + suffix); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the file ending in %s is still there after Close: %v", suffix, err)
		}
	}
	l = open(t, path, sqlledger.Config{})
	for flow, want := range map[byte]ledger.Record{
		1: {Status: ledger.Claimed, Fingerprint: [32]byte{1}},
		2: {Status: ledger.Completed, Fingerprint: [32]byte{2}, Result: []byte("done")},
	} {
		r, won, err := l.Claim(t.Context(), now, claim(flow))
		if won || err != nil || r.Status != want.Status || r.Fingerprint != want.Fingerprint || !bytes.Equal(r.Result, want.Result) {
			t.Errorf("flow %d: %v, %v, %v", flow, r, won, err)
		}
	}
	mustWin(t, l, 3)
}

func TestDefaultQuota(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "ledger.db"), sqlledger.Config{})
	errs := make([]error, 1001)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			c := claim(0)
			c.Flow = ledger.FlowID{1, byte(i), byte(i >> 8)}
			_, _, errs[i] = l.Claim(t.Context(), now, c)
		})
	}
	all.Wait()
	refused := 0
	for _, err := range errs {
		if errors.Is(err, ledger.ErrQuota) {
			refused++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if refused != 1 {
		t.Errorf("%d of 1,001 claims of one owner were refused; want 1", refused)
	}
}

// What is no ledger is refused, told what to do about, and left alone.
func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	inDir := func(name string, content []byte, mode fs.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil { // whatever the umask is
			t.Fatal(err)
		}
		return path
	}
	other := filepath.Join(dir, "other.db")
	run(t, database(t, other), "CREATE TABLE song (title TEXT); INSERT INTO song VALUES ('la la')")
	tagged := filepath.Join(dir, "tagged.db")
	run(t, database(t, tagged), "PRAGMA application_id = 7")
	version := func(name, number string) string {
		path := filepath.Join(dir, name)
		l, err := sqlledger.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		mustWin(t, l, 1)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		run(t, database(t, path), "PRAGMA user_version = "+number)
		return path
	}
	page := make([]byte, 4096)
	copy(page, "SQLite format 3\x00")

	for _, test := range []struct {
		name, path string
		config     sqlledger.Config
		says       string
		schema     *sqlledger.SchemaError // without its path
		store      bool                   // an UnavailableError
	}{
		{name: "no path", path: "", says: "not the path of a file"},
		{name: "memory", path: ":memory:", says: "use ledger.Memory"},
		{name: "address", path: "file:ledger.db?mode=memory", says: "not the path of a file"},
		{name: "no folder", path: filepath.Join(dir, "none", "ledger.db"), says: "mkdir -p"},
		{name: "a file for a folder", path: filepath.Join(inDir("flat", nil, 0o600), "ledger.db"), says: "mkdir -p"},
		{name: "a folder", path: dir, says: "not a regular file"},
		{name: "anybody can write", path: inDir("open.db", nil, 0o606), says: "chmod 600"},
		{name: "quota below zero", path: filepath.Join(dir, "new.db"), config: sqlledger.Config{PerOwner: -1}, says: "use zero"},
		{name: "wait below zero", path: filepath.Join(dir, "new.db"), config: sqlledger.Config{Wait: -1}, says: "use zero"},
		{name: "text", path: inDir("text.db", bytes.Repeat([]byte("not a database\n"), 100), 0o600), says: "damaged or no ledger; keep it aside", store: true},
		{name: "short text", path: inDir("short.db", []byte("hello"), 0o600), says: "damaged or no ledger; keep it aside", store: true},
		{name: "a damaged first page", path: inDir("page.db", page, 0o600), says: "damaged or no ledger; keep it aside", store: true},
		{name: "another program's", path: other, says: "another program", schema: &sqlledger.SchemaError{Known: 1}},
		{name: "another program's, empty", path: tagged, says: "another program", schema: &sqlledger.SchemaError{Known: 1}},
		{name: "of a newer version", path: version("newer.db", "2"), says: "upgrade this program", schema: &sqlledger.SchemaError{Found: 2, Known: 1}},
		{name: "of no version", path: version("zero.db", "0"), says: "another program", schema: &sqlledger.SchemaError{Known: 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			before, _ := os.ReadFile(test.path)
			l, err := test.config.Open(t.Context(), test.path)
			if err == nil {
				l.Close()
				t.Fatal("opened")
			}
			if !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v; want it to say %q", err, test.says)
			}
			if test.store {
				wantRefused(t, err, "open", test.says)
			}
			schema, is := errors.AsType[*sqlledger.SchemaError](err)
			if is != (test.schema != nil) || is && (schema.Found != test.schema.Found || schema.Known != test.schema.Known || schema.Path != test.path) {
				t.Errorf("got %#v; want %+v", err, test.schema)
			}
			if after, _ := os.ReadFile(test.path); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
}

func TestOpenStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l, err := sqlledger.Open(ctx, filepath.Join(t.TempDir(), "ledger.db"))
	if err == nil {
		l.Close()
		t.Fatal("opened")
	}
	wantRefused(t, err, "open", "context canceled")
}

// Pages that are damaged behind the first: the ledger opens, and then says no to everything that it has to read there.
func TestDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l, err := sqlledger.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	mustWin(t, l, 1)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096; i < len(content); i++ {
		content[i] = 0xff
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	l = open(t, path, sqlledger.Config{})
	const says = "damaged or no ledger; keep it aside"
	_, won, err := l.Claim(t.Context(), now, claim(2))
	if won {
		t.Error("won")
	}
	wantRefused(t, err, "claim", says)
	_, err = l.Lookup(t.Context(), now, ledger.FlowID{1})
	wantRefused(t, err, "lookup", says)
	wantRefused(t, l.Complete(t.Context(), now, ledger.FlowID{1}, nil), "complete", says)
}

// How long the impatient wait for a lock. Long enough that a slow machine is not taken for a hanging disk.
const wait = 500 * time.Millisecond

func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	impatient := open(t, path, sqlledger.Config{Wait: wait})
	patient := open(t, path, sqlledger.Config{Wait: time.Hour})
	mustWin(t, patient, 1)
	conn := database(t, path)

	run(t, conn, "BEGIN IMMEDIATE")
	_, won, err := impatient.Claim(t.Context(), now, claim(2))
	if won {
		t.Error("won")
	}
	wantRefused(t, err, "claim", "keeps the ledger file locked")
	wantRefused(t, impatient.Complete(t.Context(), now, ledger.FlowID{1}, nil), "complete", "keeps the ledger file locked")
	wantStatus(t, patient, 1, ledger.Claimed) // reading goes on
	wantStatus(t, patient, 2, ledger.Unspent)

	// A caller that gives up while it waits for the lock has burnt nothing.
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, _, err = patient.Claim(ctx, now, claim(3))
	wantRefused(t, err, "claim", "deadline exceeded")

	// One that waits gets its turn.
	waited := make(chan error, 1)
	go func() {
		_, won, err := patient.Claim(t.Context(), now, claim(4))
		if !won && err == nil {
			err = errors.New("lost")
		}
		waited <- err
	}()
	run(t, conn, "ROLLBACK")
	if err := <-waited; err != nil {
		t.Error(err)
	}
	wantStatus(t, patient, 3, ledger.Unspent) // neither has it been carried out later
	mustWin(t, patient, 2)
	mustWin(t, patient, 3)
}

// A file that is not where others look for it does not count.
func TestFileGone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "ledger.db")
	l := open(t, path, sqlledger.Config{})
	mustWin(t, l, 1)
	refuses := func(flow byte) {
		t.Helper()
		_, won, err := l.Claim(t.Context(), now, claim(flow))
		if won {
			t.Error("won")
		}
		wantRefused(t, err, "claim", "moved or removed")
		_, err = l.Lookup(t.Context(), now, ledger.FlowID{1})
		wantRefused(t, err, "lookup", "moved or removed")
	}
	if err := os.Rename(path, path+".aside"); err != nil {
		t.Fatal(err)
	}
	refuses(2)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refuses(3)
	if err := os.Rename(path+".aside", path); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, l, 1, ledger.Claimed)
	mustWin(t, l, 2)
	mustWin(t, l, 3)
}

func TestClosed(t *testing.T) {
	l, err := sqlledger.Open(t.Context(), filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, _, errClaim := l.Claim(t.Context(), now, claim(1))
	_, errLookup := l.Lookup(t.Context(), now, ledger.FlowID{1})
	for op, err := range map[string]error{"claim": errClaim, "lookup": errLookup, "complete": l.Complete(t.Context(), now, ledger.FlowID{1}, nil)} {
		wantRefused(t, err, op, "closed")
		if !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s: %v does not wrap os.ErrClosed", op, err)
		}
	}
}

// Each call that Close meets is carried out or refused, and says which.
func TestCloseWhileClaimsRun(t *testing.T) {
	const callers = 64
	path := filepath.Join(t.TempDir(), "ledger.db")
	for round := range byte(4) {
		l, err := sqlledger.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		wins := make([][]byte, callers)
		first := make(chan struct{})
		var once sync.Once
		var all sync.WaitGroup
		for i := range callers {
			all.Go(func() {
				for n := range byte(255) {
					c := claim(round)
					c.Flow, c.Owner = ledger.FlowID{round, byte(i), n}, [16]byte{byte(i)}
					_, won, err := l.Claim(t.Context(), now, c)
					if !won {
						wantRefused(t, err, "claim", "closed")
						if _, err := l.Lookup(t.Context(), now, c.Flow); !errors.Is(err, os.ErrClosed) {
							t.Errorf("Lookup after Close: %v", err)
						}
						return
					}
					wins[i] = append(wins[i], n)
					once.Do(func() { close(first) })
				}
			})
		}
		<-first
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		all.Wait()

		l = open(t, path, sqlledger.Config{})
		for i := range callers {
			for n := range byte(len(wins[i])) {
				if r, err := l.Lookup(t.Context(), now, ledger.FlowID{round, byte(i), n}); r.Status != ledger.Claimed || err != nil {
					t.Fatalf("a claim that was won is %v, %v", r.Status, err)
				}
			}
			if r, err := l.Lookup(t.Context(), now, ledger.FlowID{round, byte(i), byte(len(wins[i]))}); r.Status != ledger.Unspent || err != nil {
				t.Fatalf("a claim that was refused is %v, %v", r.Status, err)
			}
		}
	}
}
