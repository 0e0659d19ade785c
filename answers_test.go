// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package reprise_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/reprise-mcp/reprise"
	"github.com/reprise-mcp/reprise/elicitation"
	"github.com/reprise-mcp/reprise/requeststate"
	"github.com/reprise-mcp/reprise/wire"
)

func TestWhatCountsAsAYes(t *testing.T) {
	for _, test := range []struct {
		name, answer string
		result       any // nil: asked again
	}{
		{"yes", yes, "deployed"},
		{"yes, with what nobody asked", `{"action":"accept","content":{"decision":"approve","more":1},"resultType":"complete","_meta":{}}`, "deployed"},
		{"no", no, "rejected"},
		{"decline", decline, "declined"},
		{"decline with content", `{"action":"decline","content":{"decision":"approve"}}`, "declined"},
		{"cancel", cancel, "cancelled"},
		{"cancel with null content", `{"action":"cancel","content":null}`, "cancelled"},
		{"accept without content", `{"action":"accept"}`, nil},
		{"accept with null content", `{"action":"accept","content":null}`, nil},
		{"accept with empty content", `{"action":"accept","content":{}}`, nil},
		{"a title for a value", `{"action":"accept","content":{"decision":"Yes - go ahead"}}`, nil},
		{"another case", `{"action":"accept","content":{"decision":"Approve"}}`, nil},
		{"another case of the name", `{"action":"accept","content":{"Decision":"approve"}}`, nil},
		{"true", `{"action":"accept","content":{"decision":true}}`, nil},
		{"a list", `{"action":"accept","content":{"decision":["approve"]}}`, nil},
		{"action in capitals", `{"action":"ACCEPT","content":{"decision":"approve"}}`, nil},
		{"unknown action", `{"action":"approve","content":{"decision":"approve"}}`, nil},
		{"no action", `{"content":{"decision":"approve"}}`, nil},
		{"two actions", `{"action":"decline","action":"accept","content":{"decision":"approve"}}`, nil},
		{"two decisions", `{"action":"accept","content":{"decision":"reject","decision":"approve"}}`, nil},
		{"a number", `7`, nil},
		{"null", `null`, nil},
		{"empty", `{}`, nil},
		{"the answer to something else", `{"roots":[]}`, nil},
		{"a sampling result", `{"role":"assistant","content":{"type":"text","text":"approve"},"model":"m"}`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, requeststate.AES256GCM)
			w := &world{current: "1"}
			req := r.first()
			out := r.engine.Run(t.Context(), req, strict, w.deploy)
			again := r.retry(req, out, answered(test.answer))
			got := r.engine.Run(t.Context(), again, strict, w.deploy)
			if test.result != nil {
				completes(t, got, test.result)
				return
			}
			asks(t, got, "confirm")
			w.did(t, 0)
			// Neither the first state nor the second is burnt.
			completes(t, r.engine.Run(t.Context(), r.retry(again, got, answered(yes)), strict, w.deploy), "deployed")
			w.did(t, 1)
		})
	}
}

func TestAnswersThatAreMissingAreAskedForAgain(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		w := &world{current: "1"}
		req := r.first()
		out := r.engine.Run(t.Context(), req, strict, w.deploy)
		for _, answers := range []map[string]string{nil, {}, {"undefined": yes}, {"Confirm": yes}, {"confirm ": yes, "": yes}} {
			got := r.engine.Run(t.Context(), r.retry(req, out, answers), strict, w.deploy)
			asks(t, got, "confirm")
		}
		w.did(t, 0)
	})
}

// Nobody is bound to an answer that came without a state.
func TestAnswerWithoutAState(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	w := &world{current: "1"}
	req := r.first()
	req.Responses = wire.InputResponses{"confirm": []byte(yes)}
	asks(t, r.engine.Run(t.Context(), req, strict, w.deploy), "confirm")
	for _, o := range []reprise.Options{{Unsolicited: true}, {QuestionsOnly: true}, {Unsolicited: true, Reusable: true}} {
		out := r.engine.Run(t.Context(), req, o, w.deploy)
		refuses(t, out, reprise.ErrUnsolicited)
	}
	w.did(t, 0)

	// Without an effect it is believed where the author said so.
	ask := func(ctx context.Context, call *reprise.Call) (any, error) {
		decision, err := reprise.Confirm(ctx, call, "confirm", "Well?")
		return decision.String(), err
	}
	completes(t, r.engine.Run(t.Context(), req, reprise.Options{Unsolicited: true}, ask), "approved")
	out := r.engine.Run(t.Context(), r.first(), reprise.Options{QuestionsOnly: true}, ask)
	asks(t, out, "confirm")
	if out.Ask.State != "" {
		t.Error("a state was sent, although the author wants questions only")
	}
	completes(t, r.engine.Run(t.Context(), r.retry(r.first(), out, answered(no)), reprise.Options{QuestionsOnly: true}, ask), "rejected")
}

// The content is reachable through an accept only.
func TestAnswerByType(t *testing.T) {
	always := func(window) bool { return true }
	var none reprise.Answer[window]
	if _, ok := none.Accepted(); ok || none.Action() != "" {
		t.Error("no answer is an answer")
	}
	if _, ok := none.Approve(always); ok {
		t.Error("no answer approves")
	}
	if _, ok := (reprise.Decision{}).Approved(); ok || (reprise.Decision{}).String() != "unanswered" {
		t.Error("no decision is a decision")
	}
	for _, action := range []elicitation.Action{elicitation.Accept, elicitation.Decline, elicitation.Cancel} {
		r := newRig(t, requeststate.AES256GCM)
		h := func(ctx context.Context, call *reprise.Call) (any, error) {
			answer, err := reprise.Ask(ctx, call, "window", windowForm, "When?")
			if err != nil {
				return nil, err
			}
			content, ok := answer.Accepted()
			_, approved := answer.Approve(always)
			_, late := answer.Approve(func(w window) bool { return w.Hour == 4 })
			if accepted := action == elicitation.Accept; ok != accepted || approved != accepted || late || (content.Hour == 3) != accepted || answer.Action() != action {
				t.Errorf("%s: content %v %t, approved %t %t", action, content, ok, approved, late)
			}
			return "done", nil
		}
		req := r.first()
		out := r.engine.Run(t.Context(), req, strict, h)
		completes(t, r.engine.Run(t.Context(), r.retry(req, out, map[string]string{"window": fmt.Sprintf(`{"action":%q,"content":{"hour":3}}`, action)}), strict, h), "done")
	}
}

// Only what is missing is asked again. The other answer rides in the state, and what the client says of it later does not count.
func TestPartialAnswers(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		for _, bad := range []string{"", `{"action":"accept","content":{"hour":24}}`, `{"action":"accept","content":{"hour":"3"}}`, `{"roots":[]}`} {
			req := r.first()
			out := r.engine.Run(t.Context(), req, strict, two)
			answers := map[string]string{"sure": isSure, "other": yes}
			if bad != "" {
				answers["window"] = bad
			}
			again := r.retry(req, out, answers)
			out = r.replica().Run(t.Context(), again, strict, two)
			asks(t, out, "window")
			last := r.retry(again, out, map[string]string{"window": atThree, "sure": `{"action":"accept","content":{"sure":false}}`, "other": yes})
			completes(t, r.replica().Run(t.Context(), last, strict, two), "3 true true accept accept")
		}
	})
}

func TestAskingAgainAfterADecline(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	h := func(ctx context.Context, call *reprise.Call) (any, error) {
		first, err := reprise.Confirm(ctx, call, "confirm", "Well?")
		if err != nil {
			return nil, err
		}
		second, err := reprise.Confirm(ctx, call, "confirm", "Well?") // the same question, so the same answer
		if err != nil {
			return nil, err
		}
		other, err := reprise.Confirm(ctx, call, "again", "Are you sure that you do not want it?")
		return first.String() + " " + second.String() + " " + other.String(), err
	}
	req := r.first()
	out := r.engine.Run(t.Context(), req, strict, h)
	asks(t, out, "confirm")
	req = r.retry(req, out, answered(decline))
	out = r.engine.Run(t.Context(), req, strict, h)
	asks(t, out, "again")
	completes(t, r.engine.Run(t.Context(), r.retry(req, out, map[string]string{"again": yes}), strict, h), "declined declined approved")
}

// Questions may come in another order, and one may go, without an answer getting to another question.
func TestAnswersGoByKey(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	req := r.first()
	out := r.engine.Run(t.Context(), req, strict, two)
	swapped := func(ctx context.Context, call *reprise.Call) (any, error) {
		round := call.Round()
		sure := reprise.Add(round, "sure", yesForm, "Sure?")
		when := reprise.Add(round, "window", windowForm, "When?")
		if err := round.Ask(ctx); err != nil {
			return nil, err
		}
		hour, _ := when.Accepted()
		said, _ := sure.Accepted()
		return fmt.Sprint(hour.Hour, said.Sure), nil
	}
	completes(t, r.engine.Run(t.Context(), r.retry(req, out, map[string]string{"window": atThree, "sure": isSure}), strict, swapped), "3 true")
}

// An answer to what was not asked yet is ignored and not kept for the time when it will be.
func TestAnswersInAdvance(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		all := map[string]string{"window": `{"action":"accept","content":{"hour":9}}`, "daytime": yes, "confirm": yes}
		req := r.first()
		out := r.engine.Run(t.Context(), req, strict, wizard)
		for _, next := range []string{"daytime", "confirm"} {
			req = r.retry(req, out, all)
			out = r.replica().Run(t.Context(), req, strict, wizard)
			asks(t, out, next)
		}
		out = r.engine.Run(t.Context(), r.retry(req, out, nil), strict, wizard)
		asks(t, out, "confirm")
	})
}
