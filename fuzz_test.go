// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package reprise_test

import (
	"testing"

	"github.com/reprise-mcp/reprise/requeststate"
	"github.com/reprise-mcp/reprise/wire"
)

// FuzzRetry gives the engine whatever a client could send as a retry. Nothing but the real state with a real yes deploys.
func FuzzRetry(f *testing.F) {
	for _, answers := range []string{
		`{"confirm":` + yes + `}`, `{"confirm":` + no + `}`, `{"confirm":` + decline + `}`, `{"confirm":7}`, `{}`, `[]`, `null`,
		`{"confirm":{"action":"accept","content":{"decision":"approve"},"x":[1e999999999]}}`,
	} {
		f.Add("", answers, []byte(`{"service":"billing","version":2}`), true)
		f.Add("AQ", answers, []byte(`{}`), false)
	}
	f.Fuzz(func(t *testing.T, state, responses string, arguments []byte, real bool) {
		r := newRig(t, requeststate.AES256GCM)
		w := &world{current: "1"}
		first := r.first()
		req := *first
		req.Arguments = arguments
		req.State = &state
		if real {
			out := r.engine.Run(t.Context(), first, strict, w.deploy)
			req.State = &out.Ask.State
		}
		parsed, err := wire.ParseInputResponses([]byte(responses))
		if err != nil {
			return
		}
		req.Responses = parsed
		out := r.replica().Run(t.Context(), &req, strict, w.deploy)
		set := 0
		for _, is := range []bool{out.Result != nil, out.Ask != nil, out.Err != nil} {
			if is {
				set++
			}
		}
		if set != 1 {
			t.Fatalf("an outcome with %d members", set)
		}
		if w.deeds == 0 {
			return
		}
		same, err := requeststate.RequestDigest(first.Method, first.Target, arguments)
		want, _ := requeststate.RequestDigest(first.Method, first.Target, first.Arguments)
		if !real || err != nil || same != want {
			t.Fatal("deployed without a confirmation of this call")
		}
	})
}
