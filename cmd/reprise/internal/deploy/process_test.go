// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package deploy_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/reprise-mcp/reprise/cmd/reprise/internal/deploy"
)

// deployer is the process that the tests below start: this test binary with REPRISE_TEST_DEPLOYER set. Without a line on
// its input, it deploys in a loop, as fast as it can. For each line "FROM TO", it tries that one deployment.
func deployer(root string) {
	e, err := deploy.Open(root)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	ctx := context.Background()
	if os.Getenv("REPRISE_TEST_LOOP") != "" {
		for {
			current, _, err := e.Resolve(ctx, "billing", "staging", "")
			if err == nil {
				to := map[string]string{"1.4.1": "1.4.2", "1.4.2": "1.4.3", "1.4.3": "1.4.1"}[current]
				_, err = e.Swap(ctx, billing(current, to))
			}
			if err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
			fmt.Println("deployed")
		}
	}
	fmt.Println("ready")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		from, to, _ := strings.Cut(in.Text(), " ")
		_, err := e.Swap(ctx, billing(from, to))
		switch {
		case err == nil:
			fmt.Println("won")
		case is[*deploy.ConflictError](err):
			fmt.Println("conflict")
		default:
			fmt.Println(err)
		}
	}
}

type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func start(t *testing.T, root string, env ...string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), "REPRISE_TEST_DEPLOYER="+root), env...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return &process{cmd, in, bufio.NewReader(out)}
}

func (p *process) line(t *testing.T) string {
	t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatalf("the other process said %q and ended: %v", line, err)
	}
	return strings.TrimSuffix(line, "\n")
}

// holdLock takes the lock of another deployer, as another open file does, and returns what lets go of it.
func holdLock(t *testing.T, name string) func() {
	t.Helper()
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	return func() { file.Close() }
}

// liveRelease looks at the disk as whoever runs the release would, without the engine, and says which release is live. It
// must be whole: each file of the sample, as it was seeded.
func liveRelease(root string) (string, error) {
	current := filepath.Join(root, "staging/billing/current")
	target, err := os.Readlink(current)
	if err != nil {
		return "", err
	}
	version := filepath.Base(target)
	want := map[string]string{
		"VERSION":   version + "\n",
		"README.md": "billing " + version + ", a sample release for staging\n",
	}
	sums, err := os.ReadFile(filepath.Join(root, "staging/billing", target, "SHA256SUMS"))
	if err != nil {
		return "", err
	}
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join(root, "staging/billing", target, name))
		if err != nil || string(got) != text {
			return "", fmt.Errorf("%s of %s is %q, %v", name, version, got, err)
		}
		if line := fmt.Sprintf("%x  %s\n", sha256.Sum256(got), name); !strings.Contains(string(sums), line) {
			return "", fmt.Errorf("SHA256SUMS of %s has not the digest of %s", version, name)
		}
	}
	entries, err := os.ReadDir(current) // through the link
	if err != nil || len(entries) != len(want)+1 {
		return "", fmt.Errorf("current holds %d files, %v", len(entries), err)
	}
	return version, nil
}

// TestKilledAtRandomPoints kills 1,000 processes while they deploy. current must lead to a complete release after each of
// them, and the history must tell how it came to be there.
func TestKilledAtRandomPoints(t *testing.T) {
	kills := 1000
	if testing.Short() {
		kills = 100
	}
	var root, history string
	var e *deploy.Engine
	var known int // deployments in the history
	var cut, recovered, deployments int
	took := time.Millisecond // about what a deployment takes here; corrected below
	for i := range kills {
		if i%50 == 0 { // a fresh tree now and then, so that reading all of the history stays quick
			root, e = seeded(t)
			history = filepath.Join(root, "staging/billing/history")
			known = 1
		}
		p := start(t, root, "REPRISE_TEST_LOOP=1")
		if line := p.line(t); line != "deployed" { // it is at work
			t.Fatalf("kill %d: the deployer says %q", i, line)
		}
		begun := time.Now()
		if i%10 == 0 {
			if line := p.line(t); line != "deployed" {
				t.Fatalf("kill %d: the deployer says %q", i, line)
			}
			took = time.Since(begun)
		}
		// The random point: anywhere within the next deployment.
		<-time.After(time.Duration(rand.Int64N(int64(took) + 1)))
		if err := p.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		p.cmd.Wait()
		p.in.Close()

		live, err := liveRelease(root)
		if err != nil {
			t.Fatalf("kill %d: %v", i, err)
		}
		raw, err := os.ReadFile(history)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(raw), "\n")
		if whole := lines[:len(lines)-1]; strings.Contains(whole[len(whole)-1], `"begin"`) || lines[len(lines)-1] != "" {
			cut++ // this kill came between the intent and the mark
		}
		before, err := e.Status("billing", "staging")
		if err != nil || before.Running != live || before.Last == nil {
			t.Fatalf("kill %d: Status = %+v, %v, want %s", i, before, err, live)
		}
		told, err := e.History(t.Context(), "billing", "staging")
		if err != nil {
			t.Fatalf("kill %d: %v", i, err)
		}
		if len(told) <= known {
			t.Fatalf("kill %d: the history went from %d to %d deployments although one was reported", i, known, len(told))
		}
		runs := told[known-1].To
		for _, d := range told[known:] {
			if d.From != runs {
				t.Fatalf("kill %d: deployment %d replaced %q while %q ran", i, d.Number, d.From, runs)
			}
			runs = d.To
		}
		if last := told[len(told)-1]; runs != live || last != *before.Last {
			t.Fatalf("kill %d: the history ends with %+v, but %s runs", i, last, live)
		}
		if last := told[len(told)-1]; !strings.Contains(string(raw), fmt.Sprintf(`{"number":%d,"event":"done"`, last.Number)) {
			recovered++ // it was live, and only the mark was missing
		}
		deployments += len(told) - known
		known = len(told)
	}
	if cut == 0 || recovered == 0 {
		t.Errorf("of %d kills, %d came between intent and mark and %d of them after the rename: the test did not hit what it is for", kills, cut, recovered)
	}
	t.Logf("%d kills, %d of them between intent and mark, %d of those after the rename; %d deployments in all", kills, cut, recovered, deployments)
}

// TestOneOfManyWins lets goroutines on one engine, goroutines on another engine of the same process, and processes deploy
// from the same release at once.
func TestOneOfManyWins(t *testing.T) {
	root, e := seeded(t)
	other := open(t, root)
	const goroutines, processes, rounds = 16, 4, 25
	var children []*process
	for range processes {
		p := start(t, root)
		if line := p.line(t); line != "ready" {
			t.Fatal(line)
		}
		children = append(children, p)
	}
	versions := []string{"1.4.1", "1.4.2", "1.4.3", "1.5.0-rc.1"}
	from := "1.4.1"
	for round := range rounds {
		target := func(i int) string { // any of the releases but the running one
			for {
				if to := versions[(round+i)%len(versions)]; to != from {
					return to
				}
				i++
			}
		}
		var mu sync.Mutex
		var winners []string
		var conflicts int
		report := func(to string, err error, what string) {
			mu.Lock()
			defer mu.Unlock()
			switch conflict, ok := errors.AsType[*deploy.ConflictError](err); {
			case what == "won", what == "" && err == nil:
				winners = append(winners, to)
			case what == "conflict", ok && conflict.Shown == from && conflict.Running != from:
				conflicts++
			default:
				t.Errorf("round %d: a loser got %v %s", round, err, what)
			}
		}
		var done sync.WaitGroup
		for i, p := range children {
			to := target(i)
			done.Go(func() {
				fmt.Fprintln(p.in, from, to)
				line, err := p.out.ReadString('\n')
				report(to, err, strings.TrimSpace(line))
			})
		}
		for i := range goroutines {
			to, engine := target(i), e
			if i%2 == 1 {
				engine = other
			}
			done.Go(func() {
				_, err := engine.Swap(t.Context(), billing(from, to))
				report(to, err, "")
			})
		}
		done.Wait()
		if len(winners) != 1 || conflicts != goroutines+processes-1 {
			t.Fatalf("round %d: %d winners and %d conflicts of %d, want exactly one winner", round, len(winners), conflicts, goroutines+processes)
		}
		live, err := liveRelease(root)
		if err != nil || live != winners[0] {
			t.Fatalf("round %d: %s is live (%v), the winner deployed %s", round, live, err, winners[0])
		}
		if told := steps(t, e); len(told) != round+2 || told[round+1] != from+">"+live { // the seed's, and one a round
			t.Fatalf("round %d: the history is %v", round, told)
		}
		from = live
	}
}
