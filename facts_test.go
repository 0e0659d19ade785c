// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package reprise_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reprise-mcp/reprise"
	"github.com/reprise-mcp/reprise/requeststate"
)

func TestDrift(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		for _, facts := range []bool{true, false} {
			w := &world{current: "1", facts: facts}
			req := r.first()
			out := r.engine.Run(t.Context(), req, strict, w.deploy)
			for i := range 3 {
				w.current = fmt.Sprint("1.", i) // another release runs by now
				req = r.retry(req, out, answered(yes))
				out = r.replica().Run(t.Context(), req, strict, w.deploy)
				if i < 2 {
					asks(t, out, "confirm")
					if !strings.Contains(compact(t, out.Ask.Requests["confirm"].Params), "replacing "+w.current) {
						t.Error("the new question is the old one")
					}
				}
			}
			if refusal := refuses(t, out, reprise.ErrDrift); !strings.Contains(refusal.Error(), `"confirm"`) {
				t.Errorf("the key is not named: %v", refusal)
			}
			w.did(t, 0)
		}

		// A world that comes to rest is deployed to.
		w := &world{current: "1", facts: true}
		req := r.first()
		out := r.engine.Run(t.Context(), req, strict, w.deploy)
		w.current = "1.5"
		req = r.retry(req, out, answered(yes))
		out = r.engine.Run(t.Context(), req, strict, w.deploy)
		asks(t, out, "confirm")
		completes(t, r.engine.Run(t.Context(), r.retry(req, out, answered(yes)), strict, w.deploy), "deployed")
		w.did(t, 1)
	})
}

// One change of the world is one, however many questions it moves, and is none where nobody answered yet.
func TestWhatCountsAsDrift(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		price := 0
		h := func(ctx context.Context, call *reprise.Call) (any, error) {
			round := call.Round()
			reprise.Add(round, "a", yesForm, "A?", price)
			reprise.Add(round, "b", yesForm, "B?", price)
			reprise.Add(round, "c", yesForm, "C?", price)
			return "done", round.Ask(ctx)
		}
		all := map[string]string{"a": isSure, "b": isSure, "c": isSure}
		req := r.first()
		out := r.engine.Run(t.Context(), req, strict, h)
		for _, answers := range []map[string]string{nil, nil, nil, nil, all, all} { // two rounds are left for those
			price++
			req = r.retry(req, out, answers)
			out = r.engine.Run(t.Context(), req, strict, h)
			asks(t, out, "a", "b", "c")
		}
		completes(t, r.engine.Run(t.Context(), r.retry(req, out, all), strict, h), "done")
	})
}

// An answer of an earlier round was given to the question as it was then.
func TestDriftOfACarriedAnswer(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		price := 10
		h := func(ctx context.Context, call *reprise.Call) (any, error) {
			if _, err := reprise.Confirm(ctx, call, "price", fmt.Sprintf("Buy for %d?", price), price); err != nil {
				return nil, err
			}
			decision, err := reprise.Confirm(ctx, call, "confirm", "Sure?")
			return decision.String(), err
		}
		req := r.first()
		out := r.engine.Run(t.Context(), req, strict, h)
		asks(t, out, "price")
		req = r.retry(req, out, map[string]string{"price": yes})
		out = r.engine.Run(t.Context(), req, strict, h)
		asks(t, out, "confirm")
		price = 11
		req = r.retry(req, out, answered(yes))
		out = r.engine.Run(t.Context(), req, strict, h)
		asks(t, out, "price")
		// The other answer was to a question that is still the same.
		completes(t, r.engine.Run(t.Context(), r.retry(req, out, map[string]string{"price": yes}), strict, h), "approved")
	})
}

// Replicas with another wording agree where facts are pinned.
func TestWordingIsNotPinnedWhereFactsAre(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	w := &world{current: "1", facts: true}
	req := r.first()
	out := r.engine.Run(t.Context(), req, strict, w.deploy)
	w.message = "Replace 1 by 2?"
	completes(t, r.engine.Run(t.Context(), r.retry(req, out, answered(yes)), strict, w.deploy), "deployed")

	w = &world{current: "1"}
	out = r.engine.Run(t.Context(), req, strict, w.deploy)
	w.message = "Replace 1 by 2?"
	asks(t, r.engine.Run(t.Context(), r.retry(req, out, answered(yes)), strict, w.deploy), "confirm")
	w.did(t, 0)
}

// An answer to a question of another kind under the same key is not used.
func TestAnotherQuestionUnderTheSameKey(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	first := func(ctx context.Context, call *reprise.Call) (any, error) {
		_, err := reprise.Ask(ctx, call, "q", yesForm, "Sure?", "fact")
		return nil, err
	}
	second := func(ctx context.Context, call *reprise.Call) (any, error) {
		_, err := reprise.Ask(ctx, call, "q", windowForm, "Sure?", "fact")
		return "used", err
	}
	req := r.first()
	out := r.engine.Run(t.Context(), req, strict, first)
	asks(t, r.engine.Run(t.Context(), r.retry(req, out, map[string]string{"q": `{"action":"accept","content":{"sure":true,"hour":3}}`}), strict, second), "q")
}

// What is UTF-8 may be a fact, whatever it looks like in JSON, and facts that differ differ.
func TestFactsAreComparedExactly(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	facts := []any{
		`\ufffd`, "\ufffd", `\\ufffd`, "\\", "", " ", nil, false, 0, "0", []any{}, map[string]any{}, []byte("caf\xe9"), []byte("caf\xe8"),
		1 << 53, 1<<53 + 1, 0.1, 0.30000000000000004, time.Unix(0, 1), time.Unix(0, 2), json.Number("1e400"), json.Number("1e401"),
	}
	for i, asked := range facts {
		var fact any
		h := func(ctx context.Context, call *reprise.Call) (any, error) {
			decision, err := reprise.Confirm(ctx, call, "q", "Sure?", fact)
			return decision.String(), err
		}
		req := r.first()
		fact = asked
		out := r.engine.Run(t.Context(), req, reprise.Options{Reusable: true}, h)
		again := r.retry(req, out, map[string]string{"q": yes})
		for j, now := range facts {
			fact = now
			if out := r.engine.Run(t.Context(), again, reprise.Options{Reusable: true}, h); (out.Result == "approved") != (i == j) {
				t.Errorf("asked about %#v, now %#v: result %v, error %v", asked, now, out.Result, out.Err)
			}
		}
	}
	// Another spelling of the same value is the same fact.
	for _, pair := range [][2]any{{1, 1.0}, {json.Number("10"), json.Number("1e1")}, {map[string]int{"a": 1, "b": 2}, struct {
		B int `json:"b"`
		A int `json:"a"`
	}{2, 1}}} {
		fact := pair[0]
		h := func(ctx context.Context, call *reprise.Call) (any, error) {
			decision, err := reprise.Confirm(ctx, call, "q", "Sure?", fact)
			return decision.String(), err
		}
		req := r.first()
		out := r.engine.Run(t.Context(), req, strict, h)
		fact = pair[1]
		completes(t, r.engine.Run(t.Context(), r.retry(req, out, map[string]string{"q": yes}), strict, h), "approved")
	}
}
