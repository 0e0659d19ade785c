// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package sqlledger_test

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/reprise-mcp/reprise/ledger"
	"github.com/reprise-mcp/reprise/ledger/sqlledger"
)

const childEnv = "SQLLEDGER_TEST_CHILD"

// What this test binary does instead of its tests where a test runs it as another process on the same ledger. Each
// prints what it has done, a line at a time, and never anything that it has not.
var children = map[string]func(path string) error{
	"race":   raceInChild,
	"redeem": redeemUntilKilled,
	"lock":   lockUntilKilled,
}

func TestMain(m *testing.M) {
	if name, path, is := strings.Cut(os.Getenv(childEnv), " "); is {
		if err := children[name](path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A child is another process on the ledger at path.
type child struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func startChild(t *testing.T, name, path string) *child {
	t.Helper()
	c := &child{Cmd: exec.CommandContext(t.Context(), os.Args[0])}
	c.Env = append(os.Environ(), childEnv+"="+name+" "+path, "GORACE=atexit_sleep_ms=0")
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.in, c.out = in, bufio.NewScanner(out)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// line returns the next thing that the child says it has done.
func (c *child) line(t *testing.T) string {
	t.Helper()
	if !c.out.Scan() {
		t.Fatalf("the child ended: %v, %v", c.out.Err(), c.Wait())
	}
	return c.out.Text()
}

func nthClaim(n int, fingerprint uint64) ledger.Claim {
	c := claim(0)
	binary.BigEndian.PutUint64(c.Flow[:], uint64(n))
	binary.BigEndian.PutUint64(c.Owner[:], uint64(n))
	binary.BigEndian.PutUint64(c.Fingerprint[:], fingerprint)
	return c
}

const (
	racers     = 64 // in each process
	racedFlows = 100
)

// raceInChild has many goroutines claim all flows, each beginning with another, and prints those that it won.
func raceInChild(path string) error {
	l, err := sqlledger.Open(context.Background(), path)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	errs := make(chan error, racers)
	var all sync.WaitGroup
	for i := range racers {
		all.Go(func() {
			for n := range racedFlows {
				flow := (n + i) % racedFlows
				_, won, err := l.Claim(context.Background(), now, nthClaim(flow, uint64(os.Getpid())))
				if err != nil {
					errs <- err
					return
				}
				if won {
					fmt.Printf("%d\n", flow)
				}
			}
		})
	}
	all.Wait()
	select {
	case err := <-errs:
		return err
	default:
		return l.Close()
	}
}

// Two processes, 64 goroutines in each, on a file that neither has made yet.
func TestTwoProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	children := []*child{startChild(t, "race", path), startChild(t, "race", path)}
	for _, c := range children {
		if got := c.line(t); got != "ready" {
			t.Fatal(got)
		}
	}
	for _, c := range children {
		if _, err := io.WriteString(c.in, "go\n"); err != nil {
			t.Fatal(err)
		}
	}
	winner := make(map[int]int)
	wins := make([]int, len(children))
	for i, c := range children {
		for c.out.Scan() {
			flow, err := strconv.Atoi(c.out.Text())
			if err != nil {
				t.Fatal(err)
			}
			if before, twice := winner[flow]; twice {
				t.Errorf("flow %d was won by %d and by %d", flow, before, c.Process.Pid)
			}
			winner[flow] = c.Process.Pid
			wins[i]++
		}
		if err := c.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	if len(winner) != racedFlows {
		t.Errorf("%d of %d flows were won", len(winner), racedFlows)
	}
	t.Logf("wins of the two processes: %v", wins)
	l := open(t, path, sqlledger.Config{})
	for flow, pid := range winner {
		r, won, err := l.Claim(t.Context(), now, nthClaim(flow, 1))
		if won || err != nil || r.Fingerprint != nthClaim(flow, uint64(pid)).Fingerprint {
			t.Errorf("flow %d: %v, %v; want the record of the process that reported to have won", flow, won, err)
		}
	}
}

// redeemUntilKilled claims and completes one flow after another in several goroutines and reports each step behind it.
func redeemUntilKilled(path string) error {
	l, err := sqlledger.Open(context.Background(), path)
	if err != nil {
		return err
	}
	first, err := strconv.Atoi(os.Getenv("FIRST_FLOW"))
	if err != nil {
		return err
	}
	errs := make(chan error)
	for i := range 8 {
		go func() {
			for n := first + i; ; n += 8 {
				c := nthClaim(n, 7)
				if _, won, err := l.Claim(context.Background(), now, c); !won {
					errs <- fmt.Errorf("flow %d: %w", n, err)
					return
				}
				fmt.Printf("claimed %d\n", n)
				if err := l.Complete(context.Background(), now, c.Flow, []byte(strconv.Itoa(n))); err != nil {
					errs <- err
					return
				}
				fmt.Printf("completed %d\n", n)
			}
		}()
	}
	return <-errs
}

// Whatever a process reported before it was killed is there afterwards.
func TestKilledProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	reported := make(map[int]ledger.Status)
	first := 0
	for round, lines := range []int{1, 3, 10, 30, 100, 40} {
		t.Setenv("FIRST_FLOW", strconv.Itoa(first))
		c := startChild(t, "redeem", path)
		note := func(line string) {
			what, number, _ := strings.Cut(line, " ")
			flow, err := strconv.Atoi(number)
			if err != nil {
				t.Fatalf("the child said %q", line)
			}
			status := map[string]ledger.Status{"claimed": ledger.Claimed, "completed": ledger.Completed}[what]
			reported[flow] = max(reported[flow], status)
			first = max(first, flow+8)
		}
		for range lines {
			note(c.line(t))
		}
		if err := c.Process.Kill(); err != nil { // SIGKILL, while others are under way
			t.Fatal(err)
		}
		for c.out.Scan() {
			note(c.out.Text())
		}
		c.Wait()
		first += 8 // one that each goroutine may have claimed without a word

		l, err := sqlledger.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		for flow, status := range reported {
			r, won, err := l.Claim(t.Context(), now, nthClaim(flow, 8))
			if won || err != nil || r.Status < status || r.Fingerprint != nthClaim(flow, 7).Fingerprint {
				t.Fatalf("round %d: flow %d was reported %v, and is %v, %v, %v", round, flow, status, r.Status, won, err)
			}
			if r.Status == ledger.Completed && string(r.Result) != strconv.Itoa(flow) {
				t.Fatalf("round %d: flow %d has the result %q", round, flow, r.Result)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		var verdict string
		if err := database(t, path).QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
			t.Fatalf("round %d: the file is %q, %v", round, verdict, err)
		}
	}
	t.Logf("%d flows were reported by processes that were killed", len(reported))
}

func lockUntilKilled(path string) error {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	conn, err := db.Conn(context.Background())
	if err != nil {
		return err
	}
	if _, err := conn.ExecContext(context.Background(), "BEGIN IMMEDIATE; DELETE FROM flow"); err != nil {
		return err
	}
	fmt.Println("locked")
	select {}
}

// A process that dies with the lock in its hands, half way through a change, takes neither with it.
func TestKilledLockHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	impatient := open(t, path, sqlledger.Config{Wait: wait})
	patient := open(t, path, sqlledger.Config{})
	mustWin(t, patient, 1)
	c := startChild(t, "lock", path)
	if got := c.line(t); got != "locked" {
		t.Fatal(got)
	}
	_, won, err := impatient.Claim(t.Context(), now, claim(2))
	if won {
		t.Error("won")
	}
	wantRefused(t, err, "claim", "keeps the ledger file locked")
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c.Wait()
	wantStatus(t, patient, 1, ledger.Claimed)
	mustWin(t, patient, 2)
}
