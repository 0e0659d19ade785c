// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package demo_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-mcp/reprise/cmd/reprise/internal/demo"
)

var update = flag.Bool("update", false, "write docs/walkthrough.md anew")

// build builds the real command.
func build(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "reprise")
	if out, err := exec.Command("go", "build", "-o", path, "github.com/reprise-mcp/reprise/cmd/reprise").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

func TestDemoUnderBothSealers(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	program := build(t)
	for _, sealer := range []string{"aes-256-gcm", "hmac-sha256"} {
		t.Run(sealer, func(t *testing.T) {
			var out, transcript bytes.Buffer
			steps, err := demo.Run(t.Context(), demo.Config{Program: program, Sealer: sealer, Out: &out, Transcript: &transcript})
			if err != nil {
				t.Fatalf("%v\n%s", err, &out)
			}
			if len(steps) != 12 {
				t.Errorf("%d steps", len(steps))
			}
			lines, violations := 0, 0
			for line := range bytes.Lines(transcript.Bytes()) {
				var e demo.Exchange
				if err := json.Unmarshal(line, &e); err != nil {
					t.Fatalf("the transcript is no JSON: %v", err)
				}
				lines++
				if e.Violation != "" {
					violations++
					if e.Direction != "client" {
						t.Errorf("a violation of the %s", e.Direction)
					}
				}
			}
			if lines == 0 || lines%2 != 0 || violations != 8 {
				t.Errorf("the transcript has %d lines and %d violations", lines, violations)
			}
			if strings.Contains(transcript.String(), "Bearer") {
				t.Error("the transcript has a token in it")
			}
		})
	}
	left, err := os.ReadDir(os.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range left {
		if strings.HasPrefix(entry.Name(), "reprise-demo-") {
			t.Errorf("%s was left behind", entry.Name())
		}
	}
}

// A demonstration that cannot fail shows nothing: each fleet here is broken in one way, and the step that is about it must
// notice.
func TestDemoNotices(t *testing.T) {
	program := build(t)
	for _, test := range []struct{ name, script, step string }{
		{"a ledger for each replica", `exec "$REPRISE" "$@" --ledger "sqlite:$DIR/ledger-$$.db"`, "step 8 did not come out as it must"},
		{"a keyring for each replica", `"$REPRISE" keys new -o "$DIR/keyring-$$" >/dev/null && exec "$REPRISE" "$@" --keyring "$DIR/keyring-$$"`, "step 2 did not come out as it must"},
		{"an audience for each replica", `exec "$REPRISE" "$@" --audience "https://replica-$$.example.com"`, "step 2 did not come out as it must"},
		{"a time to live that is not what was asked", `exec "$REPRISE" "$@" --ttl 5m`, "step 5 did not come out as it must"},
		{"a release root of its own", `exec "$REPRISE" "$@" --root "$DIR/releases-$$" --seed`, "step 2 did not come out as it must"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("REPRISE", program)
			t.Setenv("DIR", dir)
			wrapper := filepath.Join(dir, "reprise")
			if err := os.WriteFile(wrapper, []byte("#!/bin/sh\n"+test.script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			_, err := demo.Run(t.Context(), demo.Config{Program: wrapper, Out: &out})
			if err == nil || !strings.Contains(err.Error(), test.step) || !strings.Contains(out.String(), "WRONG") {
				t.Errorf("got %v, want %q", err, test.step)
			}
		})
	}
}

func TestDemoNeedsItsProgram(t *testing.T) {
	if _, err := demo.Run(t.Context(), demo.Config{Program: filepath.Join(t.TempDir(), "none")}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestWalkthrough(t *testing.T) {
	steps, err := demo.Run(t.Context(), demo.Config{Program: build(t)})
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := demo.Walkthrough(&got, steps); err != nil {
		t.Fatal(err)
	}
	const path = "../../../../docs/walkthrough.md"
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Error("docs/walkthrough.md is not what the demonstration does; look at it with -update")
	}
}
