// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-mcp/reprise/transcript"
	"github.com/reprise-mcp/reprise/wirecheck"
)

// recordingOf is a recording of n flows, of which 100 are open at a time.
func recordingOf(n int) string {
	const open = 100
	var b strings.Builder
	for begin := 0; begin < n; begin += open {
		for i := begin; i < begin+open; i++ {
			fmt.Fprintf(&b, "%s\n%s\n", sent(headers, 2*i, fmt.Sprintf(`"arguments":{"n":%d},%s`, i, meta)), got(2*i, question(fmt.Sprintf(`"state-%d-%s"`, i, strings.Repeat("x", 200)))))
		}
		for i := begin; i < begin+open; i++ {
			fmt.Fprintf(&b, "%s\n%s\n", sent(headers, 2*i+1, fmt.Sprintf(`"arguments":{"n":%d},"inputResponses":%s,"requestState":"state-%d-%s",%s`, i, yes, i, strings.Repeat("x", 200), meta)), got(2*i+1, done))
		}
	}
	return b.String()
}

func BenchmarkCheck(b *testing.B) {
	recording := recordingOf(2000)
	b.SetBytes(int64(len(recording)))
	b.ReportAllocs()
	for b.Loop() {
		report, err := wirecheck.CheckAll("bench", transcript.Read(strings.NewReader(recording), ""))
		if err != nil || len(report.Findings) > 0 {
			b.Fatal(err, report.Findings)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	recording := recordingOf(2000)
	b.SetBytes(int64(len(recording)))
	for b.Loop() {
		for _, err := range transcript.Read(strings.NewReader(recording), "") {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
