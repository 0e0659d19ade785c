// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reprise-mcp/reprise/cmd/reprise/internal/deployserver"
	"github.com/reprise-mcp/reprise/cmd/reprise/internal/fleet"
	"github.com/reprise-mcp/reprise/cmd/reprise/internal/keyfile"
	"github.com/reprise-mcp/reprise/requeststate"
)

func reprise(args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = run(context.Background(), args, streams{strings.NewReader(""), &out, &err})
	return status, out.String(), err.String()
}

// Two replicas with a file each: an operator who waits for compare before each step goes right.
func TestKeysCompare(t *testing.T) {
	dir := t.TempDir()
	files := []string{filepath.Join(dir, "one"), filepath.Join(dir, "two")}
	first, err := keyfile.Create(files[0])
	if err != nil {
		t.Fatal(err)
	}
	give := func() {
		t.Helper()
		text, err := os.ReadFile(files[0])
		if err == nil {
			err = os.WriteFile(files[1], text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	give()
	program, err := exec.LookPath("reprise") // this one, under its name
	if err != nil {
		t.Fatal(err)
	}
	specs := make([]fleet.Spec, len(files))
	for i, file := range files {
		specs[i] = fleet.Spec{Path: program, Args: []string{"deploy-server", "--listen", "127.0.0.1:0", "--audience", "https://deploy.example.com/mcp", "--seed", "--keyring", file, "--data", file + ".data"}}
	}
	replicas, err := fleet.Start(t.Context(), specs...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { replicas.Stop(context.Background()) })
	urls := []string{replicas.Replicas()[0].URL(), replicas.Replicas()[1].URL()}
	compare := func() (int, string, string) { return reprise("keys", "compare", urls[0], urls[1]+"/mcp") }
	has := func(i int, keys ...requeststate.KeyID) {
		t.Helper()
		want := make([]string, len(keys))
		for i, key := range keys {
			want[i] = key.String()
		}
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		late := time.After(20 * time.Second)
		for {
			ready, err := deployserver.AskReady(t.Context(), urls[i])
			if err == nil && strings.Join(ready.Keys, " ") == strings.Join(want, " ") {
				return
			}
			select {
			case <-tick.C:
			case <-late:
				t.Fatalf("replica %d has %v (%v), want %v", i+1, ready.Keys, err, want)
			}
		}
	}

	status, out, stderr := compare()
	want := urls[0] + "  " + first.String() + "\n" + urls[1] + "/mcp  " + first.String() + "\n"
	if status != 0 || out != want || stderr != "" {
		t.Errorf("alike: %d %q %q", status, out, stderr)
	}

	second, err := keyfile.Add(files[0])
	if err != nil {
		t.Fatal(err)
	}
	has(0, first, second)
	if status, out, _ = compare(); status != 0 || !strings.HasSuffix(out, "Go on when they are the same.\n") {
		t.Errorf("a key was added to one: %d %q", status, out)
	}
	if _, err := keyfile.Promote(files[0], time.Now(), second); err != nil {
		t.Fatal(err)
	}
	has(0, second, first)
	status, _, stderr = compare()
	if status != 1 || !strings.Contains(stderr, urls[0]+" seals with "+second.String()+", which "+urls[1]+"/mcp does not have") {
		t.Errorf("promoted too soon: %d %q", status, stderr)
	}
	give()
	has(1, second, first)
	if status, out, _ = compare(); status != 0 || strings.Contains(out, "differ") {
		t.Errorf("alike again: %d %q", status, out)
	}

	if err := replicas.Replicas()[1].Kill(); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr = compare(); status != 1 || !strings.Contains(stderr, urls[1]) {
		t.Errorf("one is gone: %d %q", status, stderr)
	}
}
