// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/fips140"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reprise-mcp/reprise/requeststate"
	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write the expected outputs in testdata/script anew")

// The test binary is also the command, under its name: the replicas of the demonstration run it through os.Executable.
func TestMain(m *testing.M) {
	// By default a program under the race detector waits for a second before it exits, and the tests start a hundred of them.
	if os.Getenv(race) == "" {
		os.Setenv(race, "atexit_sleep_ms=10")
	}
	testscript.Main(m, map[string]func(){
		"reprise": main,
		"fips":    func() { fmt.Println(fips140.Enabled()) },
	})
}

const race = "GORACE"

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		WorkdirRoot:         t.TempDir(), // testscript's own is sometimes left behind
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv(race, os.Getenv(race))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"mode": scriptMode, "fill": scriptFill, "seal": scriptSeal, "transcript": scriptTranscript,
		},
	})
}

func check(ts *testscript.TestScript, neg bool, args []string, n int, usage string) {
	if neg || len(args) != n {
		ts.Fatalf("usage: %s", usage)
	}
}

// mode 0600 FILE checks the permissions of a file.
func scriptMode(ts *testscript.TestScript, neg bool, args []string) {
	check(ts, neg, args, 2, "mode PERM FILE")
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := fmt.Sprintf("%04o", info.Mode().Perm()); got != args[0] {
		ts.Fatalf("%s has mode %s", args[1], got)
	}
}

// fill N FILE makes a file of N letters.
func scriptFill(ts *testscript.TestScript, neg bool, args []string) {
	check(ts, neg, args, 2, "fill N FILE")
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), bytes.Repeat([]byte("A"), n), 0o600))
}

// seal SEALER AGE KEYRING FILE writes a requestState with an answer, a value and a state of a handler's own in it, sealed
// that long ago, and into FILE.changed the same with one character changed.
func scriptSeal(ts *testscript.TestScript, neg bool, args []string) {
	check(ts, neg, args, 4, "seal SEALER AGE KEYRING FILE")
	ring, err := requeststate.ReadKeyring(ts.MkAbs(args[2]))
	ts.Check(err)
	algorithm := requeststate.AES256GCM
	if args[0] == "hmac-sha256" {
		algorithm = requeststate.HMACSHA256
	}
	sealer, err := requeststate.New(requeststate.Config{Keyring: ring, Algorithm: algorithm, Audience: "https://deploy.example.com/mcp", Readable: true})
	ts.Check(err)
	digest, err := requeststate.RequestDigest("tools/call", "deploy_release", []byte(`{"service":"billing"}`))
	ts.Check(err)
	principal, err := requeststate.User("https://id.example.com", "alice", "", "")
	ts.Check(err)
	age, err := time.ParseDuration(args[1])
	ts.Check(err)
	now := time.Now().Add(-age)
	token, err := sealer.Seal(now, requeststate.Binding{Principal: principal, Request: digest}, &requeststate.State{
		Flow: requeststate.FlowID{0xab, 15: 0xcd}, Started: now, Round: 2, Drift: 1, Inner: "cursor 91000",
		Questions: []requeststate.Question{{Key: "confirm", Pin: [32]byte{1, 2, 3, 4, 5, 6, 7, 8}}},
		Answers:   []requeststate.Answer{{Key: "note", Response: []byte(`{"action":"accept","content":{"note":"salary 91000"}}`)}},
		Values:    []requeststate.Value{{Name: "quote", JSON: []byte(`91000`)}},
	})
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[3]), []byte(token+"\n"), 0o600))
	changed := []byte(token)
	if i := len(token) / 2; changed[i] == 'A' {
		changed[i] = 'B'
	} else {
		changed[i] = 'A'
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[3]+".changed"), changed, 0o600))
}

// transcript FILE checks that each line has the documented shape, that each request is followed by its response, and that
// violations stand on requests. It prints how many of them there are.
func scriptTranscript(ts *testscript.TestScript, neg bool, args []string) {
	check(ts, neg, args, 1, "transcript FILE")
	type line struct {
		Message   json.RawMessage `json:"message"`
		Direction string          `json:"direction"`
		HTTP      struct {
			Headers map[string]string `json:"headers"`
			Status  int               `json:"status"`
		} `json:"http"`
		Client    string  `json:"client"`
		Violation *string `json:"violation"`
	}
	text := ts.ReadFile(args[0])
	var lines []line
	for i, row := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		var l line
		d := json.NewDecoder(strings.NewReader(row))
		d.DisallowUnknownFields()
		if err := d.Decode(&l); err != nil {
			ts.Fatalf("line %d: %v", i+1, err)
		}
		if _, err := d.Token(); err != io.EOF {
			ts.Fatalf("line %d holds more than one object", i+1)
		}
		var message struct {
			JSONRPC, Method string
			ID              json.RawMessage
			Result, Error   json.RawMessage
		}
		if err := json.Unmarshal(l.Message, &message); err != nil || message.JSONRPC != "2.0" || len(message.ID) == 0 {
			ts.Fatalf("line %d holds no JSON-RPC message: %v", i+1, err)
		}
		request := i%2 == 0
		switch {
		case l.Client == "" || l.HTTP.Headers == nil:
			ts.Fatalf("line %d lacks its client or its headers", i+1)
		case request && (l.Direction != "client" || message.Method == "" || l.HTTP.Status != 0):
			ts.Fatalf("line %d is no request", i+1)
		case !request && (l.Direction != "server" || message.Method != "" || l.HTTP.Status == 0 || (message.Result == nil) == (message.Error == nil)):
			ts.Fatalf("line %d is no response", i+1)
		case !request && l.Client != lines[i-1].Client:
			ts.Fatalf("line %d is for another client", i+1)
		case l.Violation != nil && (!request || *l.Violation == ""):
			ts.Fatalf("line %d has a violation that it should not have", i+1)
		case request && l.HTTP.Headers["Authorization"] != "[redacted]":
			ts.Fatalf("line %d does not hide its Authorization", i+1)
		}
		lines = append(lines, l)
	}
	if len(lines)%2 != 0 {
		ts.Fatalf("the last request has no response")
	}
	violations := 0
	for _, l := range lines {
		if l.Violation != nil {
			violations++
		}
	}
	fmt.Fprintf(ts.Stdout(), "%d violations\n", violations)
}

// process is the real command, as another process.
func process(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("reprise") // of testscript.Main
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = t.TempDir()
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// Success is 0, a failure 1, and a command line that is not understood 2. What a person is told is one line.
func TestExitStatus(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		line   string
		status int
	}{
		{"", 0},
		{"help", 0},
		{"--help", 0},
		{"demo -h", 0},
		{"deploy-server --help", 0},
		{"keys --help", 0},
		{"state help", 0},
		{"keys new", 0},

		{"keys list none", 1},
		{"keys new -o none/keyring", 1},
		{"state inspect --keyring none", 1},
		{"demo --transcript none/t.jsonl", 1},
		{"deploy-server", 1}, // no release root
		{"deploy-server --stdio", 1},
		{"deploy-server --seed --keyring env:NONE", 1},
		{"deploy-server --listen 0.0.0.0:8931 --audience https://a.example", 1}, // no tokens
		{"deploy-server --listen 192.0.2.1:1 --audience https://a.example --tokens ../none", 1},

		{"deploy", 2},
		{"-v", 2},
		{"demo now", 2},
		{"demo --fast", 2},
		{"demo --ask=perhaps", 2},
		{"demo --sealer rot13", 2},
		{"keys", 2},
		{"keys show", 2},
		{"keys list", 2},
		{"keys list a b", 2},
		{"keys new keyring", 2},
		{"state", 2},
		{"state show", 2},
		{"state inspect", 2},
		{"state inspect --keyring none token", 2},
		{"deploy-server --seed --ttl 0", 2},
		{"deploy-server --seed --ttl 5", 2},
		{"deploy-server --seed --ttl 300ms", 2},
		{"deploy-server --seed --lifetime 0s", 2},
		{"deploy-server --seed --sealer rot13", 2},
		{"deploy-server --seed --ledger redis", 2},
		{"deploy-server --seed --ledger memory", 2},
		{"deploy-server --seed --listen 127.0.0.1", 2},
		{"deploy-server --seed --listen 127.0.0.1:0", 2},
		{"deploy-server --seed staging", 2},

		{"record -o r.jsonl -- none/server", 1},
		{"record -o none/r.jsonl -- reprise keys new", 1},
		{"record -o r.jsonl --upstream http://127.0.0.1:1/mcp --listen 127.0.0.1:99999", 2},
		{"record -o r.jsonl --upstream http://127.0.0.1:1/mcp --listen 0.0.0.0:0", 2},
		{"record -o r.jsonl --upstream ftp://127.0.0.1/mcp", 2},
		{"record -o r.jsonl --upstream http://a:b@127.0.0.1/mcp", 2},
		{"record -o r.jsonl --upstream http://127.0.0.1:1/mcp -- reprise keys new", 2},
		{"record -o r.jsonl", 2},
		{"record -- reprise keys new", 2},
		{"record -o r.jsonl -- reprise keys new", 0},
	} {
		t.Run(test.line, func(t *testing.T) {
			t.Parallel()
			cmd := process(t, strings.Fields(test.line)...)
			var out, said bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &said
			err := cmd.Run()
			if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			if got := cmd.ProcessState.ExitCode(); got != test.status {
				t.Errorf("exit status %d, want %d: %s", got, test.status, &said)
			}
			if test.status == 0 {
				if out.Len() == 0 || said.Len() != 0 {
					t.Errorf("%d bytes to standard output, and to standard error: %s", out.Len(), &said)
				}
				return
			}
			if out.Len() != 0 || !strings.HasPrefix(said.String(), "reprise: ") || strings.Count(said.String(), "\n") != 1 {
				t.Errorf("%d bytes to standard output, and to standard error: %s", out.Len(), &said)
			}
			if left, err := os.ReadDir(cmd.Dir); test.status == 2 && (err != nil || len(left) != 0) {
				t.Errorf("it left %v behind (%v)", left, err)
			}
		})
	}
}

// With --ask the person at the terminal answers the question of step 2, whatever it is; the other steps go on as ever.
func TestDemoAsksAPerson(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		input, outcome string
		deployed       bool
	}{
		{"what?\ny\n", "approved", true},
		{"n\n", "rejected", false},
		{"d", "declined", false},
		{" CANCEL \r\n", "cancelled", false},
	} {
		t.Run(test.outcome, func(t *testing.T) {
			t.Parallel()
			cmd := process(t, "demo", "--ask")
			cmd.Stdin = strings.NewReader(test.input)
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			_, step, _ := strings.Cut(string(out), "\n 2. ")
			step, rest, _ := strings.Cut(step, "\n 3. ")
			runs := "1.4.1"
			if test.deployed {
				runs = "1.4.2"
			}
			for _, want := range []string{
				"Deploy billing 1.4.2 to staging, replacing 1.4.1?\n    [y] yes  [n] no  [d] decline to answer  [c] cancel > ",
				fmt.Sprintf("completed the call: deployed %t, outcome %q\n", test.deployed, test.outcome),
				"on the disk billing runs " + runs + " in staging\n",
			} {
				if !strings.Contains(step, want) {
					t.Errorf("step 2 lacks %q:\n%s", want, step)
				}
			}
			if !strings.Contains(rest, "All 12 steps came out as they must") {
				t.Errorf("the steps after it:\n%s", rest)
			}
		})
	}
}

// Whoever interrupts a command that waits for its input gets rid of it, and of what it made.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	interrupted := func(t *testing.T, cmd *exec.Cmd, said *bytes.Buffer) {
		t.Helper()
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 1 {
			t.Errorf("it ended with %v", err)
		}
		if !strings.HasPrefix(said.String(), "reprise: ") || !strings.Contains(said.String(), "interrupt") || strings.Count(said.String(), "\n") != 1 {
			t.Errorf("it said %q", said)
		}
	}
	t.Run("demo at its question", func(t *testing.T) {
		t.Parallel()
		cmd := process(t, "demo", "--ask")
		cmd.Env = append(os.Environ(), "TMPDIR="+cmd.Dir)
		if _, err := cmd.StdinPipe(); err != nil { // which stays open
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(out)
		if _, err := r.ReadString('>'); err != nil {
			t.Fatalf("there was no prompt: %v\n%s", err, &said)
		}
		go io.Copy(io.Discard, r)
		interrupted(t, cmd, &said)
		if left, err := os.ReadDir(cmd.Dir); err != nil || len(left) != 0 {
			t.Errorf("it left %v behind (%v)", left, err)
		}
	})
	t.Run("state at its token", func(t *testing.T) {
		t.Parallel()
		cmd := process(t, "state", "inspect", "--keyring", "ring")
		ring, err := requeststate.NewKeyring(requeststate.NewKey())
		if err != nil {
			t.Fatal(err)
		}
		text, err := ring.AppendText(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(cmd.Dir, "ring"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := in.Write(make([]byte, 256<<10)); err != nil { // more than a pipe holds: it is reading
			t.Fatal(err)
		}
		interrupted(t, cmd, &said)
	})
}
