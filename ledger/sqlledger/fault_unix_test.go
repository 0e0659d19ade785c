// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package sqlledger_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/reprise-mcp/reprise/ledger"
	"github.com/reprise-mcp/reprise/ledger/sqlledger"
)

func init() {
	children["failing-disk"] = failingDisk
	children["no-right-to-write"] = noRightToWrite
}

// passes runs a child that checks for itself.
func passes(t *testing.T, name, path string) {
	t.Helper()
	c := startChild(t, name, path)
	for c.out.Scan() {
		t.Log(c.out.Text())
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// A write that fails while the transaction is committed: SQLite cannot tell how far it came, and so neither can we.
func TestFailingDisk(t *testing.T) {
	passes(t, "failing-disk", filepath.Join(t.TempDir(), "ledger.db"))
}

func failingDisk(path string) error {
	ctx := context.Background()
	l, err := sqlledger.Open(ctx, path)
	if err != nil {
		return err
	}
	if _, won, err := l.Claim(ctx, now, claim(1)); !won {
		return err
	}
	// From here on, no file can become longer than the write-ahead log is.
	signal.Ignore(syscall.SIGXFSZ)
	wal, err := os.Stat(path + "-wal")
	if err != nil {
		return err
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	unlimited := limit.Cur
	limit.Cur = uint64(wal.Size())
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	for range 3 {
		_, won, err := l.Claim(ctx, now, claim(2))
		var u *ledger.UnavailableError
		if won || !errors.As(err, &u) || !u.Unknown || !strings.Contains(err.Error(), "the claim may stand") {
			return fmt.Errorf("with a disk that fails: %v, %v; want an UnavailableError with Unknown true", won, err)
		}
	}
	if r, err := l.Lookup(ctx, now, claim(1).Flow); r.Status != ledger.Claimed {
		return fmt.Errorf("what was won before is %v, %w", r.Status, err)
	}

	// The disk is back. Nothing needs to be done, and the flow is settled.
	limit.Cur = unlimited
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	before, err := l.Lookup(ctx, now, claim(2).Flow)
	if err != nil {
		return err
	}
	if _, won, err := l.Claim(ctx, now, claim(2)); err != nil || won != (before.Status == ledger.Unspent) {
		return fmt.Errorf("flow 2 was %v, and then %v, %v", before.Status, won, err)
	}
	if _, won, err := l.Claim(ctx, now, claim(3)); !won {
		return fmt.Errorf("with the disk back: %w", err)
	}
	if err := l.Close(); err != nil {
		return err
	}
	l, err = sqlledger.Open(ctx, path)
	if err != nil {
		return err
	}
	for flow := range byte(3) {
		if r, err := l.Lookup(ctx, now, claim(1+flow).Flow); r.Status != ledger.Claimed {
			return fmt.Errorf("after opening again, flow %d is %v, %w", 1+flow, r.Status, err)
		}
	}
	return l.Close()
}

func TestFileMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := open(t, path, sqlledger.Config{})
	mustWin(t, l, 1)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(path + suffix)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("ledger.db%s: %v, %v; want 0600", suffix, info.Mode(), err)
		}
	}
}

// A ledger that cannot be written is noticed when the server starts.
func TestNoRightToWrite(t *testing.T) {
	for _, test := range []struct {
		name         string
		dir, file    os.FileMode
		makeFirst    bool
		wantFileLeft bool
	}{
		{"file", 0o755, 0o444, true, true},
		{"folder", 0o555, 0o644, true, true},
		{"folder, no file yet", 0o555, 0, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "ledger.db")
			if test.makeFirst {
				l, err := sqlledger.Open(t.Context(), path)
				if err != nil {
					t.Fatal(err)
				}
				mustWin(t, l, 1)
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
				if err := os.Chmod(path, test.file); err != nil {
					t.Fatal(err)
				}
			}
			// The user without rights has to get there.
			if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(dir, test.dir); err != nil {
				t.Fatal(err)
			}
			passes(t, "no-right-to-write", path)
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(path); (err == nil) != test.wantFileLeft {
				t.Errorf("the file: %v", err)
			}
		})
	}
}

func noRightToWrite(path string) error {
	if os.Geteuid() == 0 { // whom no mode keeps out
		const nobody = 65534
		if err := errors.Join(syscall.Setgid(nobody), syscall.Setuid(nobody)); err != nil {
			return err
		}
	}
	l, err := sqlledger.Open(context.Background(), path)
	if err == nil {
		l.Close()
		return errors.New("opened")
	}
	var u *ledger.UnavailableError
	if !errors.As(err, &u) || u.Op != "open" || u.Unknown || !strings.Contains(err.Error(), "give this user the right to write to it and to its folder") {
		return fmt.Errorf("got %w; want it to say what to do", err)
	}
	return nil
}
