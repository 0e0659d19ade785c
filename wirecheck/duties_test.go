// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/reprise-mcp/reprise/wirecheck"
)

// dutyWords is how often each page has each word. It is what this prints in a checkout of the specification at b0f60ba5:
//
//	for p in basic/index basic/versioning basic/patterns/index basic/patterns/mrtr client/elicitation basic/transports/index \
//	  basic/transports/streamable-http basic/transports/stdio server/tools server/prompts server/resources server/utilities/caching
//	do git show b0f60ba5:docs/specification/2026-07-28/$p.mdx | tr -s '\n ' ' ' |
//	  grep -oE '\b(MUST|SHALL|REQUIRED|SHOULD|RECOMMENDED)( NOT)?\b' |
//	  sed -E 's/SHALL|REQUIRED/MUST/;s/RECOMMENDED/SHOULD/' | sort | uniq -c | sed "s|^|$p|"
//	done
const dutyWords = `
basic/index     33 MUST
basic/index     12 MUST NOT
basic/index     14 SHOULD
basic/index      6 SHOULD NOT
basic/versioning      4 MUST
basic/versioning      5 SHOULD
basic/patterns/index      1 MUST NOT
basic/patterns/mrtr     13 MUST
basic/patterns/mrtr      8 MUST NOT
basic/patterns/mrtr      5 SHOULD
client/elicitation     22 MUST
client/elicitation     12 MUST NOT
client/elicitation     11 SHOULD
client/elicitation      3 SHOULD NOT
basic/transports/index      3 MUST
basic/transports/index      2 SHOULD
basic/transports/streamable-http     53 MUST
basic/transports/streamable-http      8 MUST NOT
basic/transports/streamable-http     14 SHOULD
basic/transports/streamable-http      1 SHOULD NOT
basic/transports/stdio      2 MUST
basic/transports/stdio      7 MUST NOT
basic/transports/stdio      7 SHOULD
basic/transports/stdio      1 SHOULD NOT
server/tools     15 MUST
server/tools      3 MUST NOT
server/tools     15 SHOULD
server/tools      3 SHOULD NOT
server/prompts      7 MUST
server/prompts      1 MUST NOT
server/prompts      5 SHOULD
server/resources      8 MUST
server/resources      2 MUST NOT
server/resources      7 SHOULD
server/utilities/caching      7 MUST
server/utilities/caching      4 MUST NOT
server/utilities/caching      8 SHOULD
server/utilities/caching      1 SHOULD NOT
`

// dutyLists is where a word makes another number of duties than one.
var dutyLists = []struct {
	page, level string
	more        int
	why         string
}{
	{"basic/patterns/mrtr", "SHOULD", 2, "three things that bind a requestState"},
	{"client/elicitation", "MUST", 3, "four things that clients show"},
	{"basic/transports/streamable-http", "MUST", 4, "five steps to a tools/call"},
	{"basic/transports/streamable-http", "SHOULD", 2, "three answers to older clients"},
	{"basic/transports/streamable-http", "SHOULD", -1, "the section on encoding only speaks of a SHOULD that stands elsewhere"},
	{"server/tools", "SHOULD", 2, "three things that applications show"},
	{"server/tools", "MUST", 3, "four things that keep a server secure"},
	{"server/tools", "SHOULD", 5, "six things that keep a client secure"},
	{"server/prompts", "SHOULD", 2, "three failures"},
}

// Each word that obliges somebody is a duty, and there are no others.
func TestDutiesAreAll(t *testing.T) {
	want, got := map[string]int{}, map[string]int{}
	for line := range strings.Lines(strings.TrimSpace(dutyWords)) {
		var page, level, not string
		var n int
		if _, err := fmt.Sscan(line, &page, &n, &level); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if strings.HasSuffix(strings.TrimSpace(line), " NOT") {
			not = " NOT"
		}
		want[page+": "+level+not] = n
	}
	for _, list := range dutyLists {
		want[list.page+": "+list.level] += list.more
	}
	for _, d := range wirecheck.Duties() {
		got[d.Page+": "+d.Level]++
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if got[key] != want[key] {
			t.Errorf("%s: %d duties, want %d", key, got[key], want[key])
		}
		delete(got, key)
	}
	if len(got) > 0 {
		t.Errorf("duties of pages or levels that were not counted: %v", got)
	}
}

var (
	anchor = regexp.MustCompile(`^([a-z0-9-]|%[0-9A-F]{2})*$`)
	ruleID = regexp.MustCompile(`^[a-z]+(-[a-z]+)+$`)
)

func TestDutiesAreComplete(t *testing.T) {
	type place struct{ page, section, level, gist string }
	seen := map[place]bool{}
	for _, d := range wirecheck.Duties() {
		at := place{d.Page, d.Section, d.Level, d.Gist}
		if seen[at] {
			t.Errorf("twice: %+v", d)
		}
		seen[at] = true
		if (len(d.Rules) > 0) == (d.Why != "") {
			t.Errorf("either Rules or Why: %+v", d)
		}
		if n := utf8.RuneCountInString(d.Gist); n == 0 || n > 120 {
			t.Errorf("the gist has %d characters: %+v", n, d)
		}
		if !slices.Contains([]string{"client", "server", "both", "other"}, d.Who) {
			t.Errorf("who is that? %+v", d)
		}
		if !anchor.MatchString(d.Section) {
			t.Errorf("no anchor: %+v", d)
		}
		for i, id := range d.Rules {
			if !ruleID.MatchString(id) || slices.Contains(d.Rules[:i], id) {
				t.Errorf("rule %q: %+v", id, d)
			}
		}
	}
}

// Every rule that a duty names is there.
func TestDutiesNameRules(t *testing.T) {
	rules := map[string]bool{}
	for _, rule := range wirecheck.Rules() {
		rules[rule.ID] = true
	}
	for _, d := range wirecheck.Duties() {
		for _, id := range d.Rules {
			if !rules[id] {
				t.Errorf("there is no rule %s: %+v", id, d)
			}
		}
	}
}
