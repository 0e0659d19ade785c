// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// TestMain prints the table after benchmarks have run.
func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if code == 0 && flag.Lookup("test.bench").Value.String() != "" {
		if err := report(os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// A comparison with a token that does not check its seal would be worth nothing.
func TestContenders(t *testing.T) {
	all, err := contenders()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			token, err := c.seal()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.open(token); err != nil {
				t.Errorf("its own token: %v", err)
			}
			middle := len(token) / 2
			other := "A"
			if token[middle] == 'A' {
				other = "B"
			}
			if c.open(token[:middle]+other+token[middle+1:]) == nil {
				t.Error("an altered token was accepted")
			}
		})
	}
}

func Benchmark(b *testing.B) {
	all, err := contenders()
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range all {
		b.Run("token="+c.name+"/op=seal", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.seal(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("token="+c.name+"/op=open", func(b *testing.B) {
			token, err := c.seal()
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := c.open(token); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(token)), "chars")
		})
	}
}

// report measures seal and open pairs of all contenders in short turns, so that whatever else the machine does falls on
// all of them, and prints the medians.
func report(w io.Writer) error {
	const (
		turns    = 31
		turnTime = 10 * time.Millisecond
	)
	all, err := contenders()
	if err != nil {
		return err
	}
	nanos := make([][]float64, len(all))
	chars := make([]int, len(all))
	for range turns {
		for i, c := range all {
			n := 0
			start := time.Now()
			for time.Since(start) < turnTime {
				for range 16 {
					token, err := c.seal()
					if err == nil {
						err = c.open(token)
					}
					if err != nil {
						return fmt.Errorf("%s: %w", c.name, err)
					}
					chars[i] = len(token)
				}
				n += 16
			}
			nanos[i] = append(nanos[i], float64(time.Since(start).Nanoseconds())/float64(n))
		}
	}
	median := make(map[string]float64)
	for i, c := range all {
		slices.Sort(nanos[i])
		median[c.name] = nanos[i][turns/2]
	}
	fmt.Fprintf(w, "\nseal and open, one pinned question, nothing carried: medians of %d alternating turns\n", turns)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "token\tns a pair\tmin\tmax\tallocs\tcharacters\tof ours\t")
	for i, c := range all {
		allocs := testing.AllocsPerRun(100, func() {
			if token, err := c.seal(); err == nil {
				_ = c.open(token)
			}
		})
		fmt.Fprintf(t, "%s\t%.0f\t%.0f\t%.0f\t%.0f\t%d\t%.2f\t\n", c.name, median[c.name], nanos[i][0], nanos[i][turns-1], allocs, chars[i], median[c.name]/median[ours])
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s: %.2f times %s, %.1f times as fast as %s\n",
		strings.TrimSpace(ours), median[ours]/median[minimal], minimal, median[jwtName]/median[ours], jwtName)
	return err
}
