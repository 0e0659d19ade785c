// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/reprise-mcp/reprise/cmd/reprise/internal/fleet"
)

// recorded runs record between a client and a deploy-server, and a round trip through it.
func recorded(t *testing.T, flags ...string) (proxy *serving, file string, client *fleet.Client, state string) {
	t.Helper()
	s := serve(t, t.TempDir(), nil, "--seed", "--listen", "127.0.0.1:0", "--audience", audience)
	file = filepath.Join(t.TempDir(), "r.jsonl")
	proxy = listening(t, t.TempDir(), nil, append([]string{"record", "-o", file, "--upstream", s.url + "/mcp", "--listen", "127.0.0.1:0"}, flags...)...)
	client = s.client()
	client.URL = proxy.url + "/mcp"
	state = ask(t, client)
	r, err := client.Call(t.Context(), "deploy_release", upgrade, fleet.Extra{RequestState: state, InputResponses: yes})
	if err != nil {
		t.Fatal(err)
	}
	if r.Result == nil || r.Result.IsError {
		t.Errorf("it was not deployed: status %d", r.Status)
	}
	return proxy, file, client, state
}

// checked is what the checker says of a file.
func checked(t *testing.T, file string) string {
	t.Helper()
	out, err := process(t, "check", "--strict", file).CombinedOutput()
	if err != nil {
		t.Errorf("check: %v\n%s", err, out)
	}
	return strings.TrimPrefix(string(out), file)
}

func TestRecordProxy(t *testing.T) {
	t.Parallel()
	proxy, file, client, state := recorded(t)
	proxy.stop()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(file); info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %v", info.Mode())
	}
	if n := bytes.Count(text, []byte("\n")); n != 4 {
		t.Errorf("%d messages, not 4", n)
	}
	if bytes.Contains(text, []byte(client.Token)) {
		t.Error("the bearer token stands in the recording")
	}
	if n := bytes.Count(text, []byte(state)); n != 2 {
		t.Errorf("the state is there %d times, not in the question and in the retry", n)
	}
	if said := checked(t, file); !strings.Contains(said, ": 4 messages, 0 errors, 0 warnings, 0 cannot be told") {
		t.Error(said)
	}
}

func TestRecordRedacted(t *testing.T) {
	t.Parallel()
	proxy, file, client, state := recorded(t, "--redact", "--check")
	proxy.stop()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{client.Token, state, `"decision":"approve"`} {
		if bytes.Contains(text, []byte(secret)) {
			t.Error("a token, a state or an answer stands in the recording")
		}
	}
	for _, said := range []string{checked(t, file), proxy.said()} {
		if !strings.Contains(said, "4 messages, 0 errors, 0 warnings, 1 cannot be told") || !strings.Contains(said, "answers are redacted") {
			t.Error(said)
		}
	}
}

// What is wrong is said while it happens, and makes the status 1.
func TestRecordChecks(t *testing.T) {
	t.Parallel()
	proxy, _, client, state := recorded(t, "--check")
	if strings.Contains(proxy.said(), "error") {
		t.Error(proxy.said())
	}
	other := strings.Repeat("A", len(state))
	if _, err := client.Call(t.Context(), "deploy_release", upgrade, fleet.Extra{RequestState: other, InputResponses: yes}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(proxy.said(), "line 5, tools/call") || !strings.Contains(proxy.said(), "(retry-state)") {
		t.Error(proxy.said())
	}
	if strings.Contains(proxy.said(), other) {
		t.Error("it quotes the state")
	}
	proxy.cmd.Process.Signal(syscall.SIGTERM)
	if err := proxy.cmd.Wait(); proxy.cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("exit: %v", err)
	}
	if !strings.Contains(proxy.said(), "6 messages, 1 errors") {
		t.Error(proxy.said())
	}
}

// Over stdio the recorder is in the place of the server, and says nothing of its own on its standard output.
func TestRecordStdio(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	requests := []string{`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + meta + `}}`, `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{` + meta + `}}`}
	run := func(args ...string) (string, string) {
		var said bytes.Buffer
		cmd := process(t, args...)
		cmd.Dir, cmd.Stderr = dir, &said
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		answers := bufio.NewReader(out)
		var got string
		for _, request := range requests {
			io.WriteString(in, request+"\n")
			line, _ := answers.ReadString('\n')
			got += line
		}
		in.Close()
		rest, _ := io.ReadAll(answers)
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v\n%s", err, said.String())
		}
		return got + string(rest), said.String()
	}
	path, err := exec.LookPath("reprise")
	if err != nil {
		t.Fatal(err)
	}
	server := []string{"deploy-server", "--stdio", "--seed", "--ledger", "memory", "--single-process"}
	alone, _ := run(server...)
	out, said := run(append([]string{"record", "--check", "-o", "r.jsonl", "--", path}, server...)...)
	if out != alone {
		t.Errorf("it answered\n%s\nand without the recorder\n%s", out, alone)
	}
	if !strings.Contains(said, "4 messages, 0 errors") {
		t.Error(said)
	}
	if said := checked(t, filepath.Join(dir, "r.jsonl")); !strings.Contains(said, "4 messages, 0 errors") {
		t.Error(said)
	}
}

// The status of a command is that of the recording.
func TestRecordExitStatus(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		status  int
		command []string
	}{
		{1, []string{"reprise", "keys", "list", "none"}},
		{2, []string{"reprise", "keys", "show"}},
		{143, []string{"sh", "-c", "kill -TERM $$"}},
	} {
		cmd := process(t, append([]string{"record", "-o", "r.jsonl", "--check", "--"}, test.command...)...)
		cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != test.status {
			t.Errorf("%q: status %d, not %d", test.command, got, test.status)
		}
	}
}
