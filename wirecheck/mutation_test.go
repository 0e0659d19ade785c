// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-mcp/reprise/transcript"
	"github.com/reprise-mcp/reprise/wirecheck"
)

// mutations changes a JSON value in every place, in each way that is of its kind, and yields the place and the result.
func mutations(v any, yield func(place, how string, mutated any)) {
	var walk func(place string, v any, put func(any) any)
	walk = func(place string, v any, put func(any) any) {
		if place != "" {
			switch v := v.(type) {
			case string:
				yield(place, "retyped", put(json.Number("7")))
				yield(place, "changed", put(v+"x"))
			case json.Number:
				yield(place, "retyped", put("7"))
			case bool:
				yield(place, "retyped", put("true"))
			case []any:
				yield(place, "retyped", put(map[string]any{}))
			case map[string]any:
				yield(place, "retyped", put([]any{}))
			}
			yield(place, "null", put(nil))
		}
		switch v := v.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				without := maps.Clone(v)
				delete(without, name)
				yield(place+"/"+name, "dropped", put(without))
				walk(place+"/"+name, v[name], func(inner any) any {
					with := maps.Clone(v)
					with[name] = inner
					return put(with)
				})
			}
		case []any:
			for i := range v {
				yield(fmt.Sprintf("%s/%d", place, i), "dropped", put(slices.Delete(slices.Clone(v), i, i+1)))
				yield(fmt.Sprintf("%s/%d", place, i), "duplicated", put(slices.Insert(slices.Clone(v), i, v[i])))
				walk(fmt.Sprintf("%s/%d", place, i), v[i], func(inner any) any {
					with := slices.Clone(v)
					with[i] = inner
					return put(with)
				})
			}
		}
	}
	walk("", v, func(v any) any { return v })
}

// unseen are the mutations of a clean round trip that no rule sees, as patterns, each with the reason.
var unseen = map[string]string{
	`.* /direction .*`: "who spoke is found out from the message",
	`.* /http dropped|server . /http(/headers)? (dropped|null)|server . /http/status .*`: "a recording need not have come over HTTP, and the status of a result is not judged",
	`client . /http/headers/Accept changed`:                                              "the media types still stand in it",
	`client . /message/params/_meta/.*/clientInfo/(name|version) changed`:                "what a client calls itself is its own affair",
	`server 1 .*/params/message changed`:                                                 "any message is as good",
	`server 1 .*/requestedSchema/required(/0)? dropped`:                                  "a form without required fields is legal",
	`server 2 /message null`:                                                             "an exchange without a message: what became of it is not in the recording",
	`server 2 /message/result/content/0 (dropped|duplicated)`:                            "a result may have any number of blocks",
	`server 2 /message/result/content/0/(text|type) changed`:                             "other texts and types are as good",
}

func TestMutationsOfACleanRoundTrip(t *testing.T) {
	text := strings.Split(strings.TrimSpace(trip), "\n")
	if findings := check(t, trip); len(findings) > 0 {
		t.Fatalf("it is not clean: %v", findings)
	}
	total, survived := 0, map[string]int{}
	used := map[string]bool{}
	sides := []string{"client 1", "server 1", "client 2", "server 2"}
	for i, line := range text {
		decoder := json.NewDecoder(strings.NewReader(line))
		decoder.UseNumber()
		var v any
		if err := decoder.Decode(&v); err != nil {
			t.Fatal(err)
		}
		mutations(v, func(place, how string, mutated any) {
			raw, err := json.Marshal(mutated)
			if err != nil {
				t.Fatal(err)
			}
			lines := slices.Clone(text)
			lines[i] = string(raw)
			total++
			if len(lenient(strings.Join(lines, "\n"))) > 0 {
				return
			}
			what := sides[i] + " " + place + " " + how
			if pattern := justified(what); pattern != "" {
				used[pattern] = true
				survived[pattern]++
				return
			}
			t.Errorf("no rule sees: %s", what)
		})
	}
	for pattern := range unseen {
		if !used[pattern] {
			t.Errorf("every mutation of %q is seen; take it off the list", pattern)
		}
	}
	n := 0
	for _, k := range survived {
		n += k
	}
	t.Logf("%d mutations, %d seen, %d justified", total, total-n, n)
}

// justified finds the pattern that a mutation falls under.
func justified(what string) string {
	for _, pattern := range slices.Sorted(maps.Keys(unseen)) {
		if regexp.MustCompile("^(" + pattern + ")$").MatchString(what) {
			return pattern
		}
	}
	return ""
}

// lenient is what is found in a recording that may be unreadable, which counts as found.
func lenient(recording string) []string {
	report, err := wirecheck.CheckAll("", transcript.Read(strings.NewReader(recording), transcript.JSONL))
	if err != nil {
		return []string{err.Error()}
	}
	var found []string
	for _, f := range report.Findings {
		found = append(found, f.String())
	}
	return found
}

// trip is a clean round trip with all its headers.
var trip = strings.Join([]string{
	sent(headers, 1, `"arguments":{"n":1},`+meta), got(1, question(`"state"`)),
	sent(headers, 2, `"arguments":{"n":1},"inputResponses":`+yes+`,"requestState":"state",`+meta), got(2, `"resultType":"complete","content":[{"type":"text","text":"done"}]`),
}, "\n")
