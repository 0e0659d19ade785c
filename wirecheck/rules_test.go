// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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

var update = flag.Bool("update", false, "write docs/rules.md anew")

// docs/rules.md is made from the rules.
func TestRulesPage(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(rulesIntro)
	for _, rule := range wirecheck.Rules() {
		fmt.Fprintf(&b, "| [`%s`](../wirecheck/testdata/%s.txtar) | %s | %s. %s | %s |\n", rule.ID, rule.ID, rule.Level, rule.Title, rule.Text, rule.Section)
	}
	b.WriteString(dutiesIntro)
	rules := map[string]bool{}
	for _, rule := range wirecheck.Rules() {
		rules[rule.ID] = true
	}
	page, shown, hidden, open := "", 0, 0, 0
	for _, d := range wirecheck.Duties() {
		if d.Page != page {
			page = d.Page
			fmt.Fprintf(&b, "\n### %s\n\n| section | level | who | what | shown by |\n| --- | --- | --- | --- | --- |\n", page)
		}
		var by []string
		for _, id := range d.Rules {
			if rules[id] {
				by = append(by, "`"+id+"`")
			}
		}
		switch {
		case d.Why != "":
			hidden++
			by = []string{"not in a recording: " + d.Why}
		case by == nil:
			open++
			by = []string{"no rule yet"}
		default:
			shown++
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", d.Section, d.Level, d.Who, d.Gist, strings.Join(by, ", "))
	}
	fmt.Fprintf(&b, "\n%d duties: %d are shown by a rule, %d cannot be seen in a recording, %d have no rule yet.\n", shown+hidden+open, shown, hidden, open)
	const path = "../docs/rules.md"
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Error("docs/rules.md is not what the rules say; write it with -update")
	}
}

const dutiesIntro = `
## What the specification demands

Every MUST and SHOULD of the pages on the base protocol, multi round-trip requests, elicitation, the transports, tools, prompts, resources and
caching, in our own words, and the rule that shows it. Where the level has a NOT, what is said is what is forbidden.
`

const rulesIntro = `# Rules of the wire checker

What ` + "`reprise check`" + ` looks for in a recording. This page is made from the rules themselves. An error breaks a MUST of revision 2026-07-28; a
warning breaks a SHOULD, or is legal and surely not meant. The link leads to a bad and a good example, which are the rule's test. Sections are
pages of the [specification](https://modelcontextprotocol.io/specification/2026-07-28).

| rule | level | what it demands, and why | section |
| --- | --- | --- | --- |
`

// Every line of the checklist names the rules that show it, or says that no recording does.
func TestChecklistNamesRules(t *testing.T) {
	text, err := os.ReadFile("../docs/checklist.md")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, rule := range wirecheck.Rules() {
		known[rule.ID] = true
	}
	lines := 0
	for _, m := range regexp.MustCompile(`(?m)^\| (\d+) \|.*\| ([^|]+) \|$`).FindAllStringSubmatch(string(text), -1) {
		if lines++; m[1] != fmt.Sprint(lines) {
			t.Errorf("line %s comes in place %d", m[1], lines)
		}
		if m[2] == "not on the wire" {
			continue
		}
		for _, link := range strings.Split(m[2], ", ") {
			id := strings.TrimSuffix(strings.TrimPrefix(link, "[`"), "`](rules.md)")
			if !known[id] {
				t.Errorf("line %s names no rule: %s", m[1], link)
			}
		}
	}
	if lines < 36 {
		t.Errorf("%d lines", lines)
	}
}
