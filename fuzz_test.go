// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package reprise_test

import (
	"encoding/json"
	"testing"

	"github.com/reprise-mcp/reprise"
	"github.com/reprise-mcp/reprise/requeststate"
	"github.com/reprise-mcp/reprise/wire"
)

// FuzzRetry gives the engine whatever a client could send as a retry. Nothing but the real state with a real yes deploys.
// The state is text, or, where that is empty, the real one with the character at a place changed by some amount.
func FuzzRetry(f *testing.F) {
	for _, answers := range []string{
		`{"confirm":` + yes + `}`, `{"confirm":` + no + `}`, `{"confirm":` + decline + `}`, `{"confirm":7}`, `{}`, `[]`, `null`,
		`{"confirm":{"action":"accept","content":{"decision":"approve"},"x":[1e999999999]}}`,
	} {
		f.Add("", uint16(0), byte(0), answers, []byte(`{"version":2.0,"service":"billing"}`))
		f.Add("", uint16(40), byte(1), answers, []byte(`{"service":"billing","version":2}`))
		f.Add("AQ", uint16(0), byte(0), answers, []byte(`{}`))
	}
	f.Fuzz(func(t *testing.T, text string, at uint16, change byte, responses string, arguments []byte) {
		for _, protect := range []bool{false, true} {
			r := newRig(t, requeststate.AES256GCM)
			w := &world{current: "1"}
			l := &legacy{ask: map[string]string{"confirm": nameForm}, state: "s"}
			run := func(e *replica, req *reprise.Request) reprise.Outcome {
				if protect {
					return e.Protect(t.Context(), req, strict, l.next)
				}
				return e.Run(t.Context(), req, strict, w.deploy)
			}
			first := r.first()
			state := []byte(run(r.engine, first).Ask.State)
			state[int(at)%len(state)] += change
			if text != "" {
				state = []byte(text)
			}
			req := *first
			req.Arguments = arguments
			req.State = new(string(state))
			var err error
			if req.Responses, err = wire.ParseInputResponses([]byte(responses)); err != nil {
				return
			}
			out := run(r.replica(), &req)
			set := 0
			for _, is := range []bool{out.Result != nil, out.Ask != nil, out.Err != nil} {
				if is {
					set++
				}
			}
			if set != 1 {
				t.Fatalf("an outcome with %d members", set)
			}
			if w.deeds+l.deeds == 0 {
				continue
			}
			same, err := requeststate.RequestDigest(first.Method, first.Target, arguments)
			want, _ := requeststate.RequestDigest(first.Method, first.Target, first.Arguments)
			if text != "" || change != 0 || err != nil || same != want {
				t.Fatal("done without an answer to this question about this call")
			}
			var said struct {
				Action  string
				Content struct{ Decision string }
			}
			if json.Unmarshal(req.Responses["confirm"], &said); !protect && (said.Action != "accept" || said.Content.Decision != "approve") {
				t.Fatal("deployed without a yes")
			}
		}
	})
}
