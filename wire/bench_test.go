// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wire_test

import (
	"testing"

	"github.com/reprise-mcp/reprise/wire"
)

func BenchmarkParse(b *testing.B) {
	body := []byte(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"deploy_release","arguments":{"service":"billing","environment":"staging"},` +
		meta + `,"inputResponses":{"confirm":{"action":"accept","content":{"decision":"go"}}},"requestState":"AQECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0-P0BBQkNERUZHSElKS0xNTk9QUVJTVFVWV1hZWltcXV5fYGFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6e3x9fn-AgYKDhIWGh4iJiouMjY6PkJGSk5SVlpeYmZqbnJ2en6A"}}`)
	b.ReportAllocs()
	for b.Loop() {
		m, err := wire.Parse(body)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := m.ParseParams(); err != nil {
			b.Fatal(err)
		}
	}
}
