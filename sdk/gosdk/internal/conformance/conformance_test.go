// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-mcp/reprise/sdk/gosdk/internal/npm"
)

const (
	suite    = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
	revision = "2026-07-28"
)

// TestConformance runs every server scenario of the official suite at our revision, against a server of its own. A warning counts as a
// failure. With -v it says how many checks each scenario made, and what was not exercised.
func TestConformance(t *testing.T) {
	dir, node := npm.Install(t, suite)
	h, err := handler()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	defer server.Close()
	run := func(args ...string) ([]byte, error) {
		main := filepath.Join(dir, "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")
		return exec.CommandContext(t.Context(), node, append([]string{main}, args...)...).CombinedOutput()
	}

	listed, err := run("list", "--server")
	if err != nil {
		t.Fatalf("%v\n%s", err, listed)
	}
	var scenarios, others []string
	for _, m := range regexp.MustCompile(`(?m)^\s*- (\S+) \[(.*)\]`).FindAllStringSubmatch(string(listed), -1) {
		if slices.Contains(strings.Split(m[2], ","), revision) {
			scenarios = append(scenarios, m[1])
		} else {
			others = append(others, fmt.Sprintf("%s [%s]", m[1], m[2]))
		}
	}

	out := t.TempDir()
	said, err := run("server", "--url", server.URL+"/", "--suite", "all", "--spec-version", revision, "-o", out)
	if err != nil {
		t.Errorf("the suite: %v\n%s", err, said)
	}
	files, err := filepath.Glob(filepath.Join(out, "server-*", "checks.json"))
	if err != nil {
		t.Fatal(err)
	}
	var seen, skipped []string
	var table strings.Builder
	passed := 0
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
		good := 0
		for _, c := range checks {
			switch c.Status {
			case "SUCCESS":
				good++
			case "INFO":
			case "SKIPPED":
				skipped = append(skipped, name+": "+c.ID+" "+c.ErrorMessage)
			default:
				t.Errorf("%s: %s: %s: %s", name, c.ID, c.Status, c.ErrorMessage)
			}
		}
		if good == 0 {
			t.Errorf("%s has no check that passed", name)
		}
		passed += good
		fmt.Fprintf(&table, "%4d %s\n", good, name)
	}
	slices.Sort(seen)
	slices.Sort(scenarios)
	if !slices.Equal(seen, scenarios) {
		t.Errorf("ran %q\nof  %q", seen, scenarios)
	}
	// A fixture that is not there any more can take a check away without failing one.
	if len(seen) < 40 || passed < 153 {
		t.Errorf("%d scenarios and %d checks; this version of the suite has 40 and 153", len(seen), passed)
	}
	t.Logf("checks by scenario\n%s%4d checks passed in %d scenarios", &table, passed, len(seen))
	t.Logf("not exercised: scenarios of other revisions and of extensions: %s", strings.Join(others, ", "))
	t.Logf("not exercised: checks that the suite skipped: %q", skipped)
}
