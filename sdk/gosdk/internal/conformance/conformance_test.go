// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/reprise-mcp/reprise/sdk/gosdk/internal/npm"
)

const (
	suite    = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
	revision = "2026-07-28"
)

// TestConformance runs every server scenario of the official suite at our revision. A warning counts as a failure.
func TestConformance(t *testing.T) {
	dir, node := npm.Install(t, suite)
	h, err := handler()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	defer server.Close()
	main := filepath.Join(dir, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")

	listed, err := exec.Command(node, main, "list", "--server", "--spec-version", revision).Output()
	if err != nil {
		t.Fatal(err)
	}
	var scenarios []string
	for _, m := range regexp.MustCompile(`(?m)^\s*- (\S+) \[`).FindAllSubmatch(listed, -1) {
		scenarios = append(scenarios, string(m[1]))
	}
	if len(scenarios) < 40 {
		t.Errorf("the suite lists %d scenarios, fewer than it had", len(scenarios))
	}

	out := t.TempDir()
	said, err := exec.Command(node, main, "server", "--url", server.URL+"/", "--suite", "all", "--spec-version", revision, "-o", out).CombinedOutput()
	if err != nil {
		t.Errorf("the suite: %v\n%s", err, said)
	}
	count := map[string]int{}
	var seen []string
	files, err := filepath.Glob(filepath.Join(out, "server-*", "checks.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := regexp.MustCompile(`^server-(.*)-\d{4}-\d\d-\d\dT.*$`).ReplaceAllString(filepath.Base(filepath.Dir(file)), "$1")
		seen = append(seen, name)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var checks []struct {
			ID, Status, ErrorMessage string
		}
		if err := json.Unmarshal(text, &checks); err != nil {
			t.Fatal(err)
		}
		if len(checks) == 0 {
			t.Errorf("%s has no checks", name)
		}
		for _, c := range checks {
			count[c.Status]++
			switch c.Status {
			case "SUCCESS", "INFO":
			case "SKIPPED":
				t.Logf("%s: %s was not exercised: %s", name, c.ID, c.ErrorMessage)
			default:
				t.Errorf("%s: %s: %s: %s", name, c.ID, c.Status, c.ErrorMessage)
			}
		}
	}
	slices.Sort(seen)
	slices.Sort(scenarios)
	if !slices.Equal(seen, scenarios) {
		t.Errorf("ran %q\nof  %q", seen, scenarios)
	}
	t.Logf("%d scenarios: %v", len(seen), count)
}
