// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package interop

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/reprise-mcp/reprise/transcript"
	"github.com/reprise-mcp/reprise/wirecheck"
)

// What the official TypeScript client and a server made with the adapter say to each other breaks no rule of the wire checker.
func TestTypeScriptConversationsBreakNoRule(t *testing.T) {
	for _, test := range calls {
		t.Run(test.method+"/"+test.answer, func(t *testing.T) {
			f, err := newFleet()
			if err != nil {
				t.Fatal(err)
			}
			url, _ := f.serve(t)
			p := plan{URL: url, Method: test.method, Name: test.name, Answer: json.RawMessage(test.answer)}
			if test.method == "tool" {
				p.Args = restart
			}
			checker, line := wirecheck.New(), 0
			check := func(e *transcript.Entry) {
				line++
				e.Line = line
				for _, finding := range checker.Check(e) {
					t.Errorf("%s", finding)
				}
			}
			for _, x := range run(t, p).Wire {
				check(&transcript.Entry{Direction: transcript.Client, Message: []byte(x.Request)})
				if body := data(x.Response); body != "" {
					check(&transcript.Entry{Direction: transcript.Server, Message: []byte(body)})
				}
			}
			if n := checker.Counts(); n["retry-state"].Passed == 0 || n["answer-schema"].Passed == 0 && test.answer == yes {
				t.Errorf("no round trip was checked: %v", n)
			}
		})
	}
}

// data is the message of a response, which may be the last event of a stream.
func data(body string) string {
	message := body
	for line := range strings.Lines(body) {
		if rest, ok := strings.CutPrefix(line, "data:"); ok {
			message = strings.TrimSpace(rest)
		}
	}
	return message
}
