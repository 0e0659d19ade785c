// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-mcp/reprise/transcript"
	"github.com/reprise-mcp/reprise/wirecheck"
)

// check checks a recording, which must be readable.
func check(t testing.TB, recording string) []wirecheck.Finding {
	t.Helper()
	report, err := wirecheck.CheckAll("test", transcript.Read(strings.NewReader(recording), ""))
	if err != nil {
		t.Fatal(err)
	}
	return report.Findings
}

// fixture splits testdata/ID.txtar: a bad and a good recording, and the other rules that the bad one breaks too.
func fixture(t *testing.T, id string) (bad, good string, also []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", id+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), "-- bad --\n")
	bad, good, both := strings.Cut(rest, "-- good --\n")
	if !ok || !both {
		t.Fatalf("%s needs a section bad and a section good", id)
	}
	also = strings.Fields(strings.TrimPrefix(head, "also:"))
	return bad, good, also
}

// Each rule has a bad and a good example: it finds the bad one and nothing else does, and nothing finds the good one.
func TestRules(t *testing.T) {
	for _, rule := range wirecheck.Rules() {
		t.Run(rule.ID, func(t *testing.T) {
			bad, good, also := fixture(t, rule.ID)
			found := false
			for _, f := range check(t, bad) {
				switch {
				case f.Rule == rule.ID:
					found = true
					if f.Who == "" || f.Detail == "" || f.Line == 0 {
						t.Errorf("incomplete: %+v", f)
					}
				case !slices.Contains(also, f.Rule):
					t.Errorf("the bad example: %s", f)
				}
			}
			if !found {
				t.Error("the bad example was not found")
			}
			for _, f := range check(t, good) {
				t.Errorf("the good example: %s", f)
			}
		})
	}
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(wirecheck.Rules()) {
		t.Errorf("%d fixtures for %d rules", len(files), len(wirecheck.Rules()))
	}
}

func TestRulesAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, rule := range wirecheck.Rules() {
		if seen[rule.ID] || rule.Title == "" || rule.Text == "" || rule.Section == "" || rule.Since == "" ||
			rule.Level != wirecheck.Error && rule.Level != wirecheck.Warning {
			t.Errorf("%+v", rule)
		}
		seen[rule.ID] = true
		if _, err := os.Stat("rule_" + strings.ReplaceAll(rule.ID, "-", "_") + ".go"); err != nil {
			t.Error(err)
		}
	}
}
