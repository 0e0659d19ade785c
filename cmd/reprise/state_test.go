// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/reprise-mcp/reprise/requeststate"
)

func TestStateInspect(t *testing.T) {
	dir := t.TempDir()
	keyring := func(name string) (*requeststate.Keyring, string) {
		ring, err := requeststate.NewKeyring(requeststate.NewKey())
		if err != nil {
			t.Fatal(err)
		}
		text, err := ring.AppendText(nil)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("RING_"+strings.ToUpper(name), string(text))
		return ring, path
	}
	ring, path := keyring("ours")
	_, other := keyring("theirs")
	for _, algorithm := range []requeststate.Algorithm{requeststate.AES256GCM, requeststate.HMACSHA256} {
		sealer, err := requeststate.New(requeststate.Config{Keyring: ring, Audience: "urn:test", Algorithm: algorithm, Readable: true})
		if err != nil {
			t.Fatal(err)
		}
		alice, err := requeststate.User("https://issuer.example", "alice", "", "")
		if err != nil {
			t.Fatal(err)
		}
		digest, err := requeststate.RequestDigest("tools/call", "deploy", nil)
		if err != nil {
			t.Fatal(err)
		}
		token, err := sealer.Seal(time.Now(), requeststate.Binding{Principal: alice, Request: digest}, &requeststate.State{
			Flow: requeststate.NewFlowID(), Round: 2, Drift: 1,
			Questions: []requeststate.Question{{Key: "confirm"}},
			Answers:   []requeststate.Answer{{Key: "note", Response: []byte(`{"action":"accept","content":{"note":"hunter2"}}`)}},
			Values:    []requeststate.Value{{Name: "quote", JSON: []byte(`"hunter2"`)}},
		})
		if err != nil {
			t.Fatal(err)
		}
		inspect := func(stdin string, args ...string) (int, string, string) {
			var stdout, stderr bytes.Buffer
			status := run(t.Context(), append([]string{"state", "inspect"}, args...), streams{strings.NewReader(stdin), &stdout, &stderr})
			return status, stdout.String(), stderr.String()
		}
		for _, args := range [][]string{{"--keyring", path}, {"--keyring", "env:RING_OURS"}} {
			status, out, said := inspect(token+"\n", args...)
			if status != 0 {
				t.Fatalf("status %d: %s", status, said)
			}
			for _, want := range []string{
				`(?m)^algorithm +` + algorithm.String() + `$`, `(?m)^key +` + ring.IDs()[0].String() + `$`, `(?m)^flow +\S+$`,
				`(?m)^expires +\S+Z \(holds for another (10m0s|9m5\ds)\)$`, `(?m)^round +2, asked again 1 times`,
				`(?m)^question +"confirm"`, `(?m)^answer +"note", \d+ bytes, not shown$`, `(?m)^value +"quote", 9 bytes, not shown$`,
			} {
				if !regexp.MustCompile(want).MatchString(out) {
					t.Errorf("no %s in:\n%s", want, out)
				}
			}
			if strings.Contains(out, "hunter2") || strings.Contains(out, "alice") {
				t.Errorf("an answer or the principal is shown:\n%s", out)
			}
		}
		for name, test := range map[string]struct{ stdin, ring, says string }{
			"another ring": {token, other, "not in the ring"},
			"changed":      {token[:40] + "A" + token[41:] + "\n", path, "seal does not hold"},
			"garbage":      {"garbage", path, "malformed"},
			"nothing":      {"\n", path, "no token"},
			"too long":     {strings.Repeat("A", 2<<20), path, ""},
			"no ring":      {token, filepath.Join(dir, "none"), "no such file"},
		} {
			status, out, said := inspect(test.stdin, "--keyring", test.ring)
			if status != 1 || out != "" || !strings.Contains(said, test.says) {
				t.Errorf("%s: status %d, %q, %q", name, status, out, said)
			}
			if strings.Contains(said, token[:40]) {
				t.Errorf("%s: the error has the token in it", name)
			}
		}
	}
}
