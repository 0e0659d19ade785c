// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"slices"
	"strings"
	"testing"
)

// TestVersionOrder lists versions from old to new; every pair is compared both ways.
func TestVersionOrder(t *testing.T) {
	ordered := []string{
		"1.x", "latest", "main-1", "v", // no versions
		"0", "0.0.1", "0.9", "1.0.0-1", "1.0.0-2", "1.0.0-10", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta.2", "1.0.0-beta.11",
		"1.0.0-rc.1", "1", "1.0", "1.0.0", "1.0.0+build.1", "1.0.0+build.2", "v1", "1.0.1", "1.4.2", "1.4.10", "v1.5", "1.5.0.1", "1.10", "02", "2", "10",
		"2026.12.01", "20261201", "100000000000000000000", "100000000000000000001",
	}
	for i, a := range ordered {
		for j, b := range ordered {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := compareVersions(a, b); got != want {
				t.Errorf("compareVersions(%q, %q) = %d, want %d", a, b, got, want)
			}
		}
	}
}

func FuzzVersionOrder(f *testing.F) {
	f.Add("1.4.2", "1.4.10", "v1.4.2-rc.1")
	f.Add("1-a", "1-1", "1+x")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		names := []string{a, b, c}
		slices.SortFunc(names, compareVersions)
		for i, x := range names {
			for j, y := range names {
				got := compareVersions(x, y)
				if got != -compareVersions(y, x) || i < j && got > 0 || (got == 0) != (x == y) {
					t.Errorf("compareVersions(%q, %q) = %d is no order of %q", x, y, got, names)
				}
			}
		}
	})
}

func FuzzManifest(f *testing.F) {
	zero := strings.Repeat("0", 64)
	f.Add([]byte(zero + "  VERSION\n" + zero + " *./sub/file\n"))
	f.Add([]byte(zero + "  ../x\n"))
	f.Add([]byte(zero + "  x"))
	f.Fuzz(func(t *testing.T, text []byte) {
		sums, err := parseManifest(text)
		if err != nil {
			return
		}
		if len(sums) == 0 || len(sums) != strings.Count(string(text), "\n") {
			t.Errorf("%d files of %q", len(sums), text)
		}
		for name := range sums {
			if strings.HasPrefix(name, "/") || slices.Contains(strings.Split(name, "/"), "..") {
				t.Errorf("accepted %q", name)
			}
		}
	})
}

func FuzzHistory(f *testing.F) {
	f.Add([]byte(`{"number":1,"event":"begin","at":"2026-12-01T10:00:00Z","to":"1.4.1"}` + "\n" + `{"number":1,"event":"done"}` + "\n"))
	f.Add([]byte("\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		records, err := (&service{name: "billing", environment: "staging"}).parse(text)
		for _, r := range records {
			if r.Event == eventBegin && nameFault(r.To) != "" {
				t.Errorf("accepted a deployment to %q", r.To)
			}
		}
		if _, ok := err.(*StateError); err != nil && !ok {
			t.Errorf("%v is no StateError", err)
		}
	})
}
