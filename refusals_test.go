// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package reprise_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-mcp/reprise"
	"github.com/reprise-mcp/reprise/elicitation"
	"github.com/reprise-mcp/reprise/requeststate"
	"github.com/reprise-mcp/reprise/wire"
)

type attack struct {
	name   string
	reason error
	change func(r *rig, req *reprise.Request)
}

// attacks are retries with one thing wrong. None is believed, and none burns the real one.
var attacks = []attack{
	{"one character changed", requeststate.Forged, func(_ *rig, req *reprise.Request) {
		state := []byte(*req.State)
		if state[len(state)/2]++; !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", rune(state[len(state)/2])) {
			state[len(state)/2] = 'A'
		}
		*req.State = string(state)
	}},
	{"a line break", requeststate.Malformed, func(_ *rig, req *reprise.Request) { *req.State = (*req.State)[:9] + "\n" + (*req.State)[9:] }},
	{"padding", requeststate.Malformed, func(_ *rig, req *reprise.Request) { *req.State += "=" }},
	{"empty", requeststate.Malformed, func(_ *rig, req *reprise.Request) { *req.State = "" }},
	{"far too long", requeststate.TooLarge, func(_ *rig, req *reprise.Request) { *req.State = strings.Repeat(*req.State, 100) }},
	{"another version of the format", requeststate.Unsupported, func(_ *rig, req *reprise.Request) { *req.State = "Ag" + (*req.State)[2:] }},
	{"the other algorithm", requeststate.Unsupported, func(r *rig, req *reprise.Request) {
		other := *r
		other.config.Algorithm = requeststate.AES256GCM + requeststate.HMACSHA256 - r.config.Algorithm
		out := other.replica().Run(r.Context(), r.first(), strict, (&world{current: "1"}).deploy)
		*req.State = out.Ask.State
	}},
	{"the other algorithm, passed off as this one", requeststate.Forged, func(r *rig, req *reprise.Request) {
		other := *r
		other.config.Algorithm = requeststate.AES256GCM + requeststate.HMACSHA256 - r.config.Algorithm
		out := other.replica().Run(r.Context(), r.first(), strict, (&world{current: "1"}).deploy)
		raw, err := base64.RawURLEncoding.DecodeString(out.Ask.State)
		if err != nil {
			r.Fatal(err)
		}
		raw[1] = byte(r.config.Algorithm)
		*req.State = base64.RawURLEncoding.EncodeToString(raw)
	}},
	{"cut", requeststate.Forged, func(_ *rig, req *reprise.Request) { *req.State = (*req.State)[:(len(*req.State)-1)/4*4] }},
	{"a key of somebody else", requeststate.UnknownKey, func(r *rig, req *reprise.Request) {
		other := newRig(r, r.config.Algorithm)
		out := other.engine.Run(r.Context(), other.first(), strict, (&world{current: "1"}).deploy)
		*req.State = out.Ask.State
	}},
	{"another principal", requeststate.WrongPrincipal, func(r *rig, req *reprise.Request) { req.Principal = user(r, "mallory") }},
	{"another issuer", requeststate.WrongPrincipal, func(r *rig, req *reprise.Request) {
		p, err := requeststate.User("https://other.example", "alice", "", "")
		if err != nil {
			r.Fatal(err)
		}
		req.Principal = p
	}},
	{"another tenant", requeststate.WrongPrincipal, func(r *rig, req *reprise.Request) {
		p, err := requeststate.User("https://issuer.example", "alice", "t", "")
		if err != nil {
			r.Fatal(err)
		}
		req.Principal = p
	}},
	{"nobody", requeststate.WrongPrincipal, func(_ *rig, req *reprise.Request) { req.Principal = requeststate.Anonymous() }},
	{"another server", requeststate.WrongAudience, func(r *rig, req *reprise.Request) {
		staging := *r
		staging.config.Audience = "https://staging.example/mcp"
		out := staging.replica().Run(r.Context(), r.first(), strict, (&world{current: "1"}).deploy)
		*req.State = out.Ask.State
	}},
	{"from the future", requeststate.FromFuture, func(_ *rig, req *reprise.Request) { req.Received = start.Add(-time.Minute) }},
	{"expired to the instant", requeststate.Expired, func(_ *rig, req *reprise.Request) { req.Received = start.Add(ttl) }},
	{"long expired", requeststate.Expired, func(_ *rig, req *reprise.Request) { req.Received = start.Add(24 * time.Hour) }},
	{"a flow that is too old, its state fresh", requeststate.Outlived, func(r *rig, req *reprise.Request) {
		patient := *r // a replica that was configured for longer lives
		patient.config.TTL, patient.config.Lifetime = 24*time.Hour, 24*time.Hour
		out := patient.replica().Run(r.Context(), r.first(), strict, (&world{current: "1"}).deploy)
		*req.State, req.Received = out.Ask.State, start.Add(time.Hour)
	}},
	{"another argument", requeststate.WrongRequest, func(_ *rig, req *reprise.Request) { req.Arguments = []byte(`{"service":"billing","version":3}`) }},
	{"a number next to it", requeststate.WrongRequest, func(_ *rig, req *reprise.Request) {
		req.Arguments = []byte(`{"service":"billing","version":2.0000000000000000000001}`)
	}},
	{"text for a number", requeststate.WrongRequest, func(_ *rig, req *reprise.Request) { req.Arguments = []byte(`{"service":"billing","version":"2"}`) }},
	{"an argument more", requeststate.WrongRequest, func(_ *rig, req *reprise.Request) {
		req.Arguments = []byte(`{"service":"billing","version":2,"force":null}`)
	}},
	{"no arguments", requeststate.WrongRequest, func(_ *rig, req *reprise.Request) { req.Arguments = nil }},
	{"another tool", requeststate.WrongRequest, func(_ *rig, req *reprise.Request) { req.Target = "destroy" }},
}

func TestAttacksAreRefusedAndBurnNothing(t *testing.T) {
	for _, attack := range attacks {
		t.Run(attack.name, func(t *testing.T) {
			both(t, func(t *testing.T, r *rig) {
				w := &world{current: "1"}
				req := r.first()
				out := r.engine.Run(t.Context(), req, strict, w.deploy)
				runs := w.ran()

				bad := r.retry(req, out, answered(yes))
				attack.change(r, bad)
				refusal := refuses(t, r.engine.Run(t.Context(), bad, strict, w.deploy), attack.reason)
				if w.ran() != runs {
					t.Error("the handler ran")
				}
				if text := refusal.Error(); !strings.Contains(text, "Nothing was done") || strings.Contains(text, *bad.State) && *bad.State != "" {
					t.Errorf("the client is told: %s", text)
				}
				if attack.reason == requeststate.Forged && !strings.HasPrefix(refusal.Error(), "This confirmation could not be verified. ") {
					t.Errorf("a failed seal says more than that: %s", refusal)
				}
				if !strings.Contains(r.log.String(), "reason=") {
					t.Error("the operator is told nothing")
				}
				w.did(t, 0)

				completes(t, r.engine.Run(t.Context(), r.retry(req, out, answered(yes)), strict, w.deploy), "deployed")
				w.did(t, 1)
			})
		})
	}
}

// What the client is told names the reason, and for a failed seal nothing more than that.
func TestWhatTheClientIsTold(t *testing.T) {
	says := map[error]string{
		requeststate.Forged: "could not be verified", requeststate.Malformed: "could not be verified", requeststate.UnknownKey: "does not hold",
		requeststate.WrongPrincipal: "somebody else", requeststate.WrongAudience: "another server", requeststate.FromFuture: "future",
		requeststate.Expired: "expired", requeststate.Outlived: "expired", requeststate.WrongRequest: "another request",
		requeststate.TooLarge: "could not be verified", requeststate.Unsupported: "could not be verified",
	}
	for reason := requeststate.TooLarge; reason <= requeststate.WrongRequest; reason++ {
		if !slices.ContainsFunc(attacks, func(a attack) bool { return a.reason == reason }) {
			t.Errorf("no attack is refused because %v", reason)
		}
	}
	for _, attack := range attacks {
		r := newRig(t, requeststate.AES256GCM)
		w := &world{current: "1"}
		req := r.first()
		out := r.engine.Run(t.Context(), req, strict, w.deploy)
		bad := r.retry(req, out, answered(yes))
		attack.change(r, bad)
		refusal := refuses(t, r.engine.Run(t.Context(), bad, strict, w.deploy), attack.reason)
		if says[attack.reason] == "" || !strings.Contains(refusal.Error(), says[attack.reason]) || !strings.Contains(refusal.Error(), "without requestState and inputResponses") {
			t.Errorf("%s: the client is told: %s", attack.name, refusal)
		}
	}
}

// An expired question that is asked anew forgets the answers that came with it, even where answers without a state count.
func TestAskingAnewForgets(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	w := &world{current: "1"}
	o := reprise.Options{AskExpired: true, Unsolicited: true, Reusable: true}
	req := r.first()
	out := r.engine.Run(t.Context(), req, o, w.deploy)
	late := r.retry(req, out, answered(no))
	late.Received = start.Add(ttl)
	asks(t, r.engine.Run(t.Context(), late, o, w.deploy), "confirm")
}

// The same state on prompts/get, resources/read or with another way to answer: -32602 where there is no other channel.
func TestChannelsOfARefusal(t *testing.T) {
	for _, method := range []string{wire.MethodToolsCall, wire.MethodPromptsGet, wire.MethodResourcesRead} {
		for _, o := range []reprise.Options{{}, {AskExpired: true}, {ProtocolErrors: true}, {AskExpired: true, ProtocolErrors: true}} {
			for _, attack := range attacks {
				r := newRig(t, requeststate.AES256GCM)
				w := &world{current: "1"}
				req := r.first()
				req.Method = method
				out := r.engine.Run(t.Context(), req, o, w.deploy)
				bad := r.retry(req, out, answered(yes))
				attack.change(r, bad)
				if bad.Target != req.Target && method == wire.MethodResourcesRead {
					bad.Target = "release://other"
				}
				got := r.engine.Run(t.Context(), bad, o, w.deploy)
				switch {
				case o.AskExpired && (attack.reason == requeststate.Expired || attack.reason == requeststate.Outlived):
					asks(t, got, "confirm") // and the yes that came with the old state is forgotten
				case method == wire.MethodToolsCall && !o.ProtocolErrors:
					refuses(t, got, attack.reason)
				default:
					protocol(t, got, wire.CodeInvalidParams)
				}
				w.did(t, 0)
			}
		}
	}
}

func TestSpentFlowInEveryChannel(t *testing.T) {
	for _, method := range []string{wire.MethodToolsCall, wire.MethodPromptsGet} {
		for _, o := range []reprise.Options{{}, {AskExpired: true}, {ProtocolErrors: true}} {
			r := newRig(t, requeststate.AES256GCM)
			w := &world{current: "1"}
			req := r.first()
			req.Method = method
			out := r.engine.Run(t.Context(), req, o, w.deploy)
			again := r.retry(req, out, answered(yes))
			completes(t, r.engine.Run(t.Context(), again, o, w.deploy), "deployed")
			got := r.engine.Run(t.Context(), again, o, w.deploy)
			if method == wire.MethodToolsCall && !o.ProtocolErrors {
				refuses(t, got, reprise.ErrRedeemed)
			} else {
				protocol(t, got, wire.CodeInvalidParams)
			}
			w.did(t, 1)
		}
	}
}

func TestCapabilityGate(t *testing.T) {
	const form, sampling = `{"elicitation":{"form":{}}}`, `{"sampling":{}}`
	question, err := elicitation.NewSampling(elicitation.SamplingRequest{
		Messages: []elicitation.SamplingMessage{{Role: "user", Content: []elicitation.Content{elicitation.TextContent("?")}}}, MaxTokens: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	askForm := confirmUnder("q")
	askBoth := func(ctx context.Context, call *reprise.Call) (any, error) {
		round := call.Round()
		reprise.Add(round, "form", yesForm, "Sure?")
		reprise.Add(round, "sample", question, "")
		reprise.Add(round, "roots", elicitation.NewRoots(), "")
		return nil, round.Ask(ctx)
	}
	for _, test := range []struct {
		name     string
		declared []string
		handler  handler
		required string // empty: asked
	}{
		{"nothing", nil, askForm, form},
		{"url only", []string{"elicitation.url"}, askForm, form},
		{"sampling only", []string{"sampling"}, askForm, form},
		{"form", []string{"elicitation.form"}, askForm, ""},
		{"all but sampling", []string{"elicitation.form", "roots"}, askBoth, sampling},
		{"roots only", []string{"roots"}, askBoth, `{"elicitation":{"form":{}},"sampling":{}}`},
		{"all", []string{"elicitation.form", "sampling", "roots"}, askBoth, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, requeststate.AES256GCM)
			req := r.first()
			req.Capabilities = wire.Declare(test.declared...)
			out := r.engine.Run(t.Context(), req, strict, test.handler)
			if test.required == "" {
				if out.Ask == nil {
					t.Errorf("%+v", out)
				}
				return
			}
			e := protocol(t, out, wire.CodeMissingCapability)
			if got := string(e.Data); got != `{"requiredCapabilities":`+test.required+`}` {
				t.Errorf("data is %s", got)
			}
		})
	}
}

// What a client says of elicitation, as it says it.
func TestCapabilitiesAsDeclared(t *testing.T) {
	for _, test := range []struct{ declared, form, url string }{
		{`{}`, "false", "false"},
		{`{"elicitation":{}}`, "true", "false"}, // form mode and nothing else
		{`{"elicitation":null}`, "false", "false"},
		{`{"elicitation":{"form":{}}}`, "true", "false"},
		{`{"elicitation":{"url":{}}}`, "false", "true"},
		{`{"elicitation":{"url":{},"form":null}}`, "false", "true"},
		{`{"elicitation":{"form":{},"url":{}}}`, "true", "true"},
	} {
		r := newRig(t, requeststate.AES256GCM)
		req := r.first()
		var err error
		if req.Capabilities, err = wire.ParseCapabilities([]byte(test.declared)); err != nil {
			t.Fatal(err)
		}
		out := r.engine.Run(t.Context(), req, strict, func(_ context.Context, call *reprise.Call) (any, error) {
			return fmt.Sprint(call.Can(elicitation.FormMode), call.Can(elicitation.URLMode)), nil
		})
		completes(t, out, test.form+" "+test.url)
		out = r.engine.Run(t.Context(), req, reprise.Options{Asks: []elicitation.Kind{elicitation.FormMode}}, confirmUnder("q"))
		if test.form == "true" {
			asks(t, out, "q")
		} else if e := protocol(t, out, wire.CodeMissingCapability); string(e.Data) != `{"requiredCapabilities":{"elicitation":{"form":{}}}}` {
			t.Errorf("%s: data is %s", test.declared, e.Data)
		}
	}
}

// Declared questions are gated before the handler runs, and a handler may choose another way.
func TestGateBeforeTheHandler(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	w := &world{current: "1"}
	req := r.first()
	req.Capabilities = wire.Capabilities{}
	o := reprise.Options{Asks: []elicitation.Kind{elicitation.FormMode, elicitation.URLMode}}
	e := protocol(t, r.engine.Run(t.Context(), req, o, w.deploy), wire.CodeMissingCapability)
	if got := string(e.Data); got != `{"requiredCapabilities":{"elicitation":{"form":{},"url":{}}}}` {
		t.Errorf("data is %s", got)
	}
	if w.ran() != 0 {
		t.Error("the handler ran")
	}
	out := r.engine.Run(t.Context(), req, strict, func(ctx context.Context, call *reprise.Call) (any, error) {
		if !call.Can(elicitation.FormMode) {
			return "another way", nil
		}
		return w.deploy(ctx, call)
	})
	completes(t, out, "another way")
}

// A retry asks nothing, so it needs no capability; a new question on it does.
func TestRetryWithoutTheCapability(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	w := &world{current: "1"}
	req := r.first()
	o := reprise.Options{Asks: []elicitation.Kind{elicitation.FormMode}}
	out := r.engine.Run(t.Context(), req, o, w.deploy)
	again := r.retry(req, out, answered(yes))
	again.Capabilities = wire.Capabilities{}
	unanswered := r.retry(req, out, nil)
	unanswered.Capabilities = wire.Capabilities{}
	protocol(t, r.engine.Run(t.Context(), unanswered, o, w.deploy), wire.CodeMissingCapability)
	completes(t, r.engine.Run(t.Context(), again, o, w.deploy), "deployed")
}

func TestOlderRevisionsAreRefusedByName(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2025-06-18", "2024-11-05", ""} {
		r := newRig(t, requeststate.AES256GCM)
		w := &world{current: "1"}
		req := r.first()
		req.Version = version
		refusal := refuses(t, r.engine.Run(t.Context(), req, strict, w.deploy), reprise.ErrVersion)
		if text := refusal.Error(); !strings.Contains(text, "deploy") || !strings.Contains(text, wire.Version) || !strings.Contains(text, version) {
			t.Errorf("the client is told: %s", text)
		}
		req.Responses = wire.InputResponses{"confirm": []byte(yes)}
		refuses(t, r.engine.Run(t.Context(), req, reprise.Options{Unsolicited: true, Reusable: true}, w.deploy), reprise.ErrVersion)
		if w.ran() != 0 {
			t.Error("the handler ran")
		}
	}
}

func TestNothingButThreeMethodsMayAsk(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	for _, method := range []string{"tools/list", "completion/complete", "server/discover", "initialize", "", "Tools/call"} {
		w := &world{current: "1"}
		req := r.first()
		req.Method = method
		protocol(t, r.engine.Run(t.Context(), req, strict, w.deploy), wire.CodeInternalError)
		if w.ran() != 0 {
			t.Error("the handler ran")
		}
	}
}

func TestArgumentsThatHaveNoDigest(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	for _, arguments := range []string{`{"a":1,"a":2}`, `{"a":"\ud800"}`, "{\"a\":\"\xff\"}", `{"a":1e999999999999}`, `[1]`, `7`, `{`, strings.Repeat("[", 2000)} {
		w := &world{current: "1"}
		req := r.first()
		req.Arguments = []byte(arguments)
		protocol(t, r.engine.Run(t.Context(), req, strict, w.deploy), wire.CodeInvalidParams)
		if w.ran() != 0 {
			t.Errorf("the handler ran with %s", arguments)
		}
	}
}

// Without a principal nothing is asked: nobody would be bound to the answer.
func TestNoPrincipal(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	w := &world{current: "1"}
	req := r.first()
	req.Principal = requeststate.Principal{}
	out := r.engine.Run(t.Context(), req, strict, w.deploy)
	if !errors.Is(out.Err, requeststate.ErrUnbound) || out.Ask != nil {
		t.Errorf("%+v", out)
	}
	// Not even where nothing would be sealed.
	req.Responses = wire.InputResponses{"confirm": []byte(no)}
	for _, o := range []reprise.Options{{QuestionsOnly: true}, {Unsolicited: true}, {Reusable: true}} {
		if out := r.engine.Run(t.Context(), req, o, w.deploy); !errors.Is(out.Err, requeststate.ErrUnbound) {
			t.Errorf("%+v", out)
		}
	}
	if out := r.engine.Protect(t.Context(), req, strict, nil); !errors.Is(out.Err, requeststate.ErrUnbound) {
		t.Errorf("%+v", out)
	}
	if w.ran() != 0 {
		t.Error("the handler ran")
	}
}

func TestOptionsThatCannotHold(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	r.ledger = nil
	e := r.replica()
	for _, o := range []reprise.Options{{}, {Rounds: -1, Reusable: true}, {Rounds: -8, Reusable: true}} {
		w := &world{current: "1"}
		if e.Check(o) == nil {
			t.Errorf("%+v was accepted", o)
		}
		if out := e.Run(t.Context(), r.first(), o, w.deploy); out.Err == nil || w.ran() != 0 {
			t.Errorf("%+v ran", o)
		}
		if out := e.Protect(t.Context(), r.first(), o, nil); out.Err == nil {
			t.Errorf("%+v ran", o)
		}
	}
	if err := e.Check(reprise.Options{Reusable: true}); err != nil {
		t.Error(err)
	}
	if _, err := reprise.New(reprise.Config{}); err == nil {
		t.Error("an engine without a sealer")
	}
}

// Without Config.Logger the program's own log is told.
func TestDefaultLog(t *testing.T) {
	before, output, flags := slog.Default(), log.Writer(), log.Flags()
	defer func() {
		slog.SetDefault(before)
		log.SetOutput(output) // which SetDefault changes as well
		log.SetFlags(flags)
	}()
	told := &safeBuffer{}
	slog.SetDefault(slog.New(slog.NewTextHandler(told, nil)))
	r := newRig(t, requeststate.AES256GCM)
	sealer, err := requeststate.New(r.config)
	if err != nil {
		t.Fatal(err)
	}
	e, err := reprise.New(reprise.Config{Sealer: sealer})
	if err != nil {
		t.Fatal(err)
	}
	req := r.first()
	req.Version = "2025-11-25"
	e.Run(t.Context(), req, reprise.Options{Reusable: true}, nil)
	if !strings.Contains(told.String(), "protocol version too old") {
		t.Errorf("the log says %q", told)
	}
}

// No error that reaches a client and no record of the log repeats what was sent: a state, an answer, an argument. That of a
// handler is its own.
func TestErrorsEchoNothing(t *testing.T) {
	const secret = "hunter2-hunter2"
	both(t, func(t *testing.T, r *rig) {
		w := &world{current: "1"}
		req := r.first()
		req.Arguments = []byte(`{"password":"` + secret + `"}`)
		out := r.engine.Run(t.Context(), req, strict, w.deploy)
		l := &legacy{ask: map[string]string{"name": nameForm}, state: secret}
		kept := r.engine.Protect(t.Context(), req, strict, l.next)
		r.secrets = append(r.secrets, secret)

		clean := func(got reprise.Outcome) {
			t.Helper()
			switch {
			case got.Err == nil:
				t.Errorf("%+v", got)
			case quotes(got.Err.Error(), secret):
				t.Error("the error echoes what was sent")
			}
		}
		answers := []string{`"` + secret + `"`, `{"action":"` + secret + `"}`, `{"action":"accept","content":{"decision":"` + secret + `"}}`, yes}
		for _, answer := range answers {
			for _, attack := range attacks {
				bad := r.retry(req, out, answered(answer))
				attack.change(r, bad)
				clean(r.engine.Run(t.Context(), bad, strict, w.deploy))
				bad = r.retry(req, kept, map[string]string{"name": answer})
				attack.change(r, bad)
				clean(r.engine.Protect(t.Context(), bad, strict, l.next))
			}
		}
		// What is wrong after the state was opened.
		bare := r.retry(req, out, answered(answers[2]))
		bare.Capabilities = wire.Capabilities{}
		clean(r.engine.Run(t.Context(), bare, strict, w.deploy))
		clean(r.engine.Run(t.Context(), r.retry(req, out, answered(answers[2])), reprise.Options{Rounds: 1}, w.deploy))
		long := r.retry(req, out, answered(`{"action":"accept","content":{"decision":"approve","more":"`+strings.Repeat(secret, 2000)+`"}}`))
		clean(r.engine.Run(t.Context(), long, strict, func(ctx context.Context, call *reprise.Call) (any, error) {
			reprise.Confirm(ctx, call, "confirm", "Deploy 2, replacing 1?")
			_, err := reprise.Confirm(ctx, call, "second", "Really?")
			return nil, err
		}))
		// What cannot be a request.
		for _, arguments := range []string{`{"` + secret + `":1,"` + secret + `":2}`, `{"a":"` + secret + `\ud800"}`, `{"a":` + secret + `}`, `"` + secret + `"`} {
			odd := r.first()
			odd.Arguments = []byte(arguments)
			clean(r.engine.Run(t.Context(), odd, strict, w.deploy))
		}
	})
}
