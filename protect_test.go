// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package reprise_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reprise-mcp/reprise"
	"github.com/reprise-mcp/reprise/elicitation"
	"github.com/reprise-mcp/reprise/ledger"
	"github.com/reprise-mcp/reprise/requeststate"
	"github.com/reprise-mcp/reprise/wire"
)

// legacy is a handler that was written without the engine: it trusts its state and its answers.
type legacy struct {
	ask    map[string]string // params of the questions of the first round
	state  string            // that it wants back
	got    []string          // what it received: state, then answers
	deeds  int
	second map[string]string // asked in the second round, if there is one
}

func (l *legacy) next(_ context.Context, state string, answers wire.InputResponses) reprise.Outcome {
	l.got = append(l.got, fmt.Sprintf("%q %s", state, must(answers.MarshalJSON())))
	if answers == nil && state == "" {
		return reprise.Outcome{Ask: &wire.InputRequired{State: l.state, Requests: forms(l.ask)}}
	}
	if l.second != nil {
		second := l.second
		l.second = nil
		return reprise.Outcome{Ask: &wire.InputRequired{State: l.state + "2", Requests: forms(second)}}
	}
	l.deeds++
	return reprise.Outcome{Result: "done"}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

func forms(params map[string]string) map[string]wire.InputRequest {
	if params == nil {
		return nil
	}
	requests := make(map[string]wire.InputRequest)
	for key, p := range params {
		requests[key] = wire.InputRequest{Method: wire.MethodElicit, Params: []byte(p)}
	}
	return requests
}

const nameForm = `{"mode":"form","message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string","maxLength":8}},"required":["name"]}}`

func named(name string) map[string]string {
	return map[string]string{"name": `{"action":"accept","content":{"name":"` + name + `"}}`}
}

func TestProtectARoundTrip(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		l := &legacy{ask: map[string]string{"name": nameForm}, state: "my state"}
		req := r.first()
		out := r.engine.Protect(t.Context(), req, strict, l.next)
		asks(t, out, "name")
		if out.Ask.State == "my state" || out.Ask.State == "" {
			t.Error("the handler's state went out as it was")
		}
		if r.config.Algorithm == requeststate.AES256GCM && strings.Contains(out.Ask.State, "bXkgc3RhdGU") {
			t.Error("the handler's state can be read")
		}
		if got := compact(t, out.Ask.Requests["name"].Params); got != nameForm {
			t.Errorf("the question went out as %s", got)
		}
		again := r.retry(req, out, named("Ann"))
		completes(t, r.replica().Protect(t.Context(), again, strict, l.next), "done")
		if want := `"my state" {"name":{"action":"accept","content":{"name":"Ann"}}}`; l.got[1] != want {
			t.Errorf("the handler got %s\nwant            %s", l.got[1], want)
		}
		refuses(t, r.replica().Protect(t.Context(), again, strict, l.next), reprise.ErrRedeemed)
		if l.deeds != 1 || len(l.got) != 2 {
			t.Errorf("%d deeds, called %d times", l.deeds, len(l.got))
		}
	})
}

func TestProtectRefusesAttacks(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		for _, attack := range attacks {
			l := &legacy{ask: map[string]string{"name": nameForm}, state: "s"}
			req := r.first()
			out := r.engine.Protect(t.Context(), req, strict, l.next)
			bad := r.retry(req, out, named("Ann"))
			attack.change(r, bad)
			refuses(t, r.engine.Protect(t.Context(), bad, strict, l.next), attack.reason)
			if len(l.got) != 1 {
				t.Errorf("%s: the handler ran", attack.name)
			}
			completes(t, r.engine.Protect(t.Context(), r.retry(req, out, named("Ann")), strict, l.next), "done")
		}
	})
}

// What the handler never asked for does not reach it, and what is missing is asked again without it.
func TestProtectValidatesAnswers(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer string
		want   string // what the handler receives; empty: asked again
	}{
		{"fits", `{"action":"accept","content":{"name":"Ann"}}`, `{"action":"accept","content":{"name":"Ann"}}`},
		{"decline", decline, decline},
		{"cancel", cancel, cancel},
		{"too long", `{"action":"accept","content":{"name":"Anneliese"}}`, ""},
		{"a number", `{"action":"accept","content":{"name":7}}`, ""},
		{"an object", `{"action":"accept","content":{"name":{}}}`, ""},
		{"no content", `{"action":"accept"}`, ""},
		{"no answer", `null`, ""},
		{"another action", `{"action":"ok","content":{"name":"Ann"}}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, requeststate.AES256GCM)
			l := &legacy{ask: map[string]string{"name": nameForm}, state: "s"}
			req := r.first()
			out := r.engine.Protect(t.Context(), req, strict, l.next)
			again := r.retry(req, out, map[string]string{"name": test.answer, "other": yes})
			got := r.engine.Protect(t.Context(), again, strict, l.next)
			if test.want == "" {
				asks(t, got, "name")
				if len(l.got) != 1 {
					t.Errorf("the handler got %s", l.got[1])
				}
				again = r.retry(again, got, named("Ann"))
				got = r.engine.Protect(t.Context(), again, strict, l.next)
				test.want = `{"action":"accept","content":{"name":"Ann"}}`
			}
			completes(t, got, "done")
			if want := `"s" {"name":` + test.want + "}"; l.got[1] != want {
				t.Errorf("the handler got %s\nwant            %s", l.got[1], want)
			}
		})
	}
}

func TestProtectCarriesGoodAnswers(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		l := &legacy{ask: map[string]string{"name": nameForm, "other": strings.Replace(nameForm, "Who?", "Who else?", 1)}, state: "s"}
		req := r.first()
		out := r.engine.Protect(t.Context(), req, strict, l.next)
		asks(t, out, "name", "other")
		again := r.retry(req, out, named("Ann"))
		out = r.engine.Protect(t.Context(), again, strict, l.next)
		asks(t, out, "other")
		last := r.retry(again, out, map[string]string{"other": `{"action":"decline"}`, "name": `{"action":"accept","content":{"name":"Eve"}}`})
		completes(t, r.engine.Protect(t.Context(), last, strict, l.next), "done")
		if want := `"s" {"name":{"action":"accept","content":{"name":"Ann"}},"other":{"action":"decline"}}`; l.got[1] != want {
			t.Errorf("the handler got %s", l.got[1])
		}
	})
}

// Answers may come one by one, over as many rounds.
func TestProtectAnswersOneByOne(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		l := &legacy{ask: map[string]string{"a": nameForm, "b": nameForm, "c": nameForm}, state: "s"}
		req := r.first()
		out := r.engine.Protect(t.Context(), req, strict, l.next)
		for i, left := range [][]string{{"a", "b", "c"}, {"a", "c"}, {"c"}} {
			asks(t, out, left...)
			key := []string{"b", "a", "c"}[i]
			req = r.retry(req, out, map[string]string{key: fmt.Sprintf(`{"action":"accept","content":{"name":%q}}`, key)})
			out = r.replica().Protect(t.Context(), req, strict, l.next)
		}
		completes(t, out, "done")
		const each = `{"action":"accept","content":{"name":%q}}`
		if want := fmt.Sprintf(`"s" {"a":`+each+`,"b":`+each+`,"c":`+each+"}", "a", "b", "c"); l.got[1] != want {
			t.Errorf("the handler got %s\nwant            %s", l.got[1], want)
		}
	})
}

// A tool that changes from Run to Protect, or back, in a rolling update: no state of one is taken for a state of the other.
func TestProtectAndRunDoNotMix(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		w := &world{current: "1"}
		l := &legacy{ask: map[string]string{"confirm": nameForm}, state: "s"}
		req := r.first()
		ours := r.engine.Run(t.Context(), req, strict, w.deploy)
		refuses(t, r.engine.Protect(t.Context(), r.retry(req, ours, answered(yes)), strict, l.next), requeststate.Malformed)
		theirs := r.engine.Protect(t.Context(), req, strict, l.next)
		asks(t, r.engine.Run(t.Context(), r.retry(req, theirs, answered(yes)), strict, w.deploy), "confirm")
		if w.did(t, 0); l.deeds != 0 {
			t.Errorf("%d deeds", l.deeds)
		}
	})
}

// Where the flow cannot be redeemed, the handler does not run.
func TestProtectWithoutALedger(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	store := &brokenStore{Ledger: &ledger.Memory{}, claim: ledger.ErrFull}
	r.ledger = store
	e := r.replica()
	l := &legacy{ask: map[string]string{"name": nameForm}, state: "s"}
	req := r.first()
	out := e.Protect(t.Context(), req, strict, l.next)
	again := r.retry(req, out, named("Ann"))
	refuses(t, e.Protect(t.Context(), again, strict, l.next), ledger.ErrFull)
	if len(l.got) != 1 {
		t.Error("the handler ran")
	}
	store.claim = nil
	completes(t, e.Protect(t.Context(), again, strict, l.next), "done")
}

// Each round is redeemed by itself, so no round can be replayed.
func TestProtectManyRounds(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	l := &legacy{ask: map[string]string{"name": nameForm}, state: "s", second: map[string]string{"name": strings.Replace(nameForm, "Who?", "Who really?", 1)}}
	req := r.first()
	out := r.engine.Protect(t.Context(), req, strict, l.next)
	first := r.retry(req, out, named("Ann"))
	out = r.engine.Protect(t.Context(), first, strict, l.next)
	asks(t, out, "name")
	second := r.retry(first, out, named("Bea"))
	completes(t, r.engine.Protect(t.Context(), second, strict, l.next), "done")
	for _, old := range []*reprise.Request{first, second} {
		refuses(t, r.engine.Protect(t.Context(), old, strict, l.next), reprise.ErrRedeemed)
	}
	if l.deeds != 1 || l.got[2] != `"s2" {"name":{"action":"accept","content":{"name":"Bea"}}}` {
		t.Errorf("%d deeds, the handler got %q", l.deeds, l.got)
	}
}

func TestProtectAStateAlone(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	l := &legacy{state: "come again"}
	req := r.first()
	out := r.engine.Protect(t.Context(), req, strict, l.next)
	asks(t, out)
	if out.Ask.Requests != nil || out.Ask.State == "" {
		t.Errorf("%s", compact(t, out.Ask))
	}
	completes(t, r.engine.Protect(t.Context(), r.retry(req, out, nil), strict, l.next), "done")
	if l.got[1] != `"come again" {}` {
		t.Errorf("the handler got %s", l.got[1])
	}
}

// The gate acts after the handler, before anything goes out.
func TestProtectGatesWhatTheHandlerAsks(t *testing.T) {
	for _, test := range []struct {
		name    string
		request wire.InputRequest
		has     string
		code    int // 0: asked; -1: an error of the server
	}{
		{"form", wire.InputRequest{Method: wire.MethodElicit, Params: []byte(nameForm)}, "elicitation.form", 0},
		{"form without a mode", wire.InputRequest{Method: wire.MethodElicit, Params: []byte(strings.Replace(nameForm, `"mode":"form",`, "", 1))}, "elicitation.form", 0},
		{"form to a client with url", wire.InputRequest{Method: wire.MethodElicit, Params: []byte(nameForm)}, "elicitation.url", wire.CodeMissingCapability},
		{"url", wire.InputRequest{Method: wire.MethodElicit, Params: []byte(`{"mode":"url","message":"Open","url":"https://example.com/"}`)}, "elicitation.url", 0},
		{"url to a client with forms", wire.InputRequest{Method: wire.MethodElicit, Params: []byte(`{"mode":"url","message":"Open","url":"https://example.com/"}`)}, "elicitation.form", wire.CodeMissingCapability},
		{"roots", wire.InputRequest{Method: wire.MethodRoots}, "roots", 0},
		{"roots to a client without", wire.InputRequest{Method: wire.MethodRoots}, "elicitation.form", wire.CodeMissingCapability},
		{"sampling with tools", wire.InputRequest{Method: wire.MethodSample, Params: []byte(`{"messages":[],"maxTokens":1,"tools":[{}]}`)}, "sampling", wire.CodeMissingCapability},
		{"an unknown mode", wire.InputRequest{Method: wire.MethodElicit, Params: []byte(`{"mode":"phone","message":"Call"}`)}, "elicitation.form", -1},
		{"an unknown method", wire.InputRequest{Method: "tools/call", Params: []byte(`{}`)}, "elicitation.form", -1},
		{"a nested form", wire.InputRequest{Method: wire.MethodElicit, Params: []byte(`{"message":"?","requestedSchema":{"type":"object","properties":{"a":{"type":"object"}}}}`)}, "elicitation.form", -1},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, requeststate.AES256GCM)
			req := r.first()
			req.Capabilities = wire.Declare(test.has)
			out := r.engine.Protect(t.Context(), req, strict, func(context.Context, string, wire.InputResponses) reprise.Outcome {
				return reprise.Outcome{Ask: &wire.InputRequired{Requests: map[string]wire.InputRequest{"q": test.request}}}
			})
			switch test.code {
			case 0:
				asks(t, out, "q")
			case -1:
				if _, isProtocol := out.Err.(*wire.Error); out.Err == nil || out.Ask != nil || isProtocol {
					t.Errorf("%+v", out)
				}
			default:
				protocol(t, out, test.code)
			}
		})
	}
}

// Answers to sampling, roots and URL mode are judged by their shape.
func TestProtectJudgesOtherAnswers(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	requests := map[string]wire.InputRequest{
		"sample": {Method: wire.MethodSample, Params: []byte(`{"messages":[{"role":"user","content":{"type":"text","text":"?"}}],"maxTokens":9}`)},
		"roots":  {Method: wire.MethodRoots},
		"url":    {Method: wire.MethodElicit, Params: []byte(`{"mode":"url","message":"Open","url":"https://example.com/"}`)},
	}
	good := map[string]string{
		"sample": `{"role":"assistant","content":{"type":"text","text":"Paris"},"model":"m"}`,
		"roots":  `{"roots":[{"uri":"file:///work"}]}`,
		"url":    `{"action":"accept"}`,
	}
	for key, bad := range map[string]string{"sample": yes, "roots": `{"roots":7}`, "url": `{"action":"open"}`, "": ""} {
		req := r.first()
		req.Capabilities = wire.Declare("sampling", "roots", "elicitation.url")
		calls := 0
		next := func(_ context.Context, _ string, answers wire.InputResponses) reprise.Outcome {
			if calls++; answers != nil {
				return reprise.Outcome{Result: len(answers)}
			}
			return reprise.Outcome{Ask: &wire.InputRequired{Requests: requests}}
		}
		out := r.engine.Protect(t.Context(), req, strict, next)
		asks(t, out, "sample", "roots", "url")
		answers := map[string]string{}
		for k, v := range good {
			answers[k] = v
		}
		if key != "" {
			answers[key] = bad
		}
		out = r.engine.Protect(t.Context(), r.retry(req, out, answers), strict, next)
		if key == "" {
			completes(t, out, 3)
		} else {
			asks(t, out, key)
			if calls != 1 {
				t.Error("the handler ran")
			}
		}
	}
}

// Neither option for answers without a state has an effect: such an answer reaches no handler, and a state goes out.
func TestProtectAlwaysSeals(t *testing.T) {
	for _, o := range []reprise.Options{{Unsolicited: true}, {QuestionsOnly: true}} {
		r := newRig(t, requeststate.AES256GCM)
		l := &legacy{ask: map[string]string{"name": nameForm}, state: "s"}
		req := r.first()
		req.Responses = wire.InputResponses{"name": []byte(`{"action":"accept","content":{"name":"Eve"}}`)}
		out := r.engine.Protect(t.Context(), req, o, l.next)
		asks(t, out, "name")
		if out.Ask.State == "" || l.got[0] != `"" {}` {
			t.Errorf("the handler got %s, a state goes out: %t", l.got[0], out.Ask.State != "")
		}
		completes(t, r.engine.Protect(t.Context(), r.retry(req, out, named("Ann")), o, l.next), "done")
	}
}

func TestProtectKeys(t *testing.T) {
	for key, good := range map[string]bool{strings.Repeat("k", 64): true, strings.Repeat("k", 65): false, "\xff": false, "": true, "undefined": true} {
		r := newRig(t, requeststate.AES256GCM)
		l := &legacy{ask: map[string]string{key: nameForm}, state: "s"}
		out := r.engine.Protect(t.Context(), r.first(), strict, l.next)
		if good {
			asks(t, out, key)
		} else if out.Err == nil {
			t.Errorf("asked under %q", key)
		}
	}
}

func TestProtectRoundsAreBounded(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		endless := func(context.Context, string, wire.InputResponses) reprise.Outcome {
			return reprise.Outcome{Ask: &wire.InputRequired{Requests: forms(map[string]string{"name": nameForm})}}
		}
		for _, answers := range []map[string]string{named("Ann"), nil} { // new questions, and the same one again
			o := reprise.Options{Rounds: 3}
			req := r.first()
			out := r.engine.Protect(t.Context(), req, o, endless)
			asked := 0
			for ; out.Ask != nil; asked++ {
				req = r.retry(req, out, answers)
				out = r.replica().Protect(t.Context(), req, o, endless)
			}
			refuses(t, out, reprise.ErrRounds)
			if asked != 3 {
				t.Errorf("asked %d rounds", asked)
			}
		}
	})
}

// A client that cannot be asked any more is not asked again, and its confirmation is not spent.
func TestProtectAsksAgainOnlyWhoCanBeAsked(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	l := &legacy{ask: map[string]string{"name": nameForm}, state: "s"}
	req := r.first()
	out := r.engine.Protect(t.Context(), req, strict, l.next)
	for _, answers := range []map[string]string{nil, {"name": `{"action":"accept"}`}} {
		bare := r.retry(req, out, answers)
		bare.Capabilities = wire.Capabilities{}
		protocol(t, r.engine.Protect(t.Context(), bare, strict, l.next), wire.CodeMissingCapability)
	}
	bare := r.retry(req, out, named("Ann"))
	bare.Capabilities = wire.Capabilities{}
	completes(t, r.engine.Protect(t.Context(), bare, strict, l.next), "done")
}

// What is carried in a readable state is only what the operator said may be read.
func TestProtectUnderHMAC(t *testing.T) {
	r := newRig(t, requeststate.HMACSHA256)
	r.config.Readable = false
	e := r.replica()
	l := &legacy{ask: map[string]string{"name": nameForm, "other": nameForm}, state: "s"}
	req := r.first()
	out := e.Protect(t.Context(), req, strict, l.next)
	asks(t, out, "name", "other")
	got := e.Protect(t.Context(), r.retry(req, out, named("Ann")), strict, l.next)
	if !errors.Is(got.Err, requeststate.ErrReadable) || got.Ask != nil || len(l.got) != 1 {
		t.Errorf("an answer was carried: %+v", got)
	}
}

func TestProtectExpiry(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		l := &legacy{ask: map[string]string{"name": nameForm}, state: "s"}
		req := r.first()
		out := r.engine.Protect(t.Context(), req, strict, l.next)
		late := r.retry(req, out, named("Ann"))
		late.Received = start.Add(ttl)
		refuses(t, r.engine.Protect(t.Context(), late, strict, l.next), requeststate.Expired)
		asks(t, r.engine.Protect(t.Context(), late, reprise.Options{AskExpired: true}, l.next), "name")
		if l.deeds != 0 || l.got[1] != `"" {}` {
			t.Errorf("the handler got %q", l.got)
		}
		late.Received = start.Add(ttl - time.Millisecond)
		completes(t, r.engine.Protect(t.Context(), late, strict, l.next), "done")
	})
}

// A client that has left redeems nothing.
func TestProtectAnEndedContext(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	for _, o := range []reprise.Options{{}, {Reusable: true}} {
		l := &legacy{ask: map[string]string{"name": nameForm}, state: "s"}
		req := r.first()
		again := r.retry(req, r.engine.Protect(t.Context(), req, o, l.next), named("Ann"))
		ctx, end := context.WithCancel(t.Context())
		end()
		if out := r.engine.Protect(ctx, again, o, l.next); !errors.Is(out.Err, context.Canceled) || len(l.got) != 1 {
			t.Errorf("%+v", out)
		}
		completes(t, r.engine.Protect(t.Context(), again, o, l.next), "done")
	}
}

func TestProtectWithoutAnAsk(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	out := r.engine.Protect(t.Context(), r.first(), strict, func(context.Context, string, wire.InputResponses) reprise.Outcome {
		return reprise.Outcome{Ask: &wire.InputRequired{}}
	})
	if out.Err == nil || out.Ask != nil {
		t.Errorf("neither questions nor state: %+v", out)
	}
	req := r.first()
	req.Capabilities = wire.Capabilities{}
	o := reprise.Options{Asks: []elicitation.Kind{elicitation.FormMode}}
	protocol(t, r.engine.Protect(t.Context(), req, o, nil), wire.CodeMissingCapability)
}
