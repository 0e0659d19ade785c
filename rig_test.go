// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package reprise_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reprise-mcp/reprise"
	"github.com/reprise-mcp/reprise/ledger"
	"github.com/reprise-mcp/reprise/requeststate"
	"github.com/reprise-mcp/reprise/wire"
)

// start is when the first round of a test happens.
var start = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

const ttl = 10 * time.Minute

var algorithms = map[string]requeststate.Algorithm{
	"AES-256-GCM": requeststate.AES256GCM,
	"HMAC-SHA256": requeststate.HMACSHA256,
}

// both runs a test under both sealers.
func both(t *testing.T, test func(t *testing.T, r *rig)) {
	for name, algorithm := range algorithms {
		t.Run(name, func(t *testing.T) { test(t, newRig(t, algorithm)) })
	}
}

// A rig is what the replicas of a test share, and one of them.
type rig struct {
	testing.TB
	config requeststate.Config
	ledger ledger.Ledger
	log    *safeBuffer
	engine *replica

	secrets []string // that may not stand in the log
}

// A replica is an engine whose every outcome is looked at.
type replica struct {
	*reprise.Engine
	testing.TB
}

func (e *replica) Run(ctx context.Context, req *reprise.Request, o reprise.Options, h handler) reprise.Outcome {
	e.Helper()
	out := e.Engine.Run(ctx, req, o, h)
	e.discreet(out, req)
	return out
}

func (e *replica) Protect(ctx context.Context, req *reprise.Request, o reprise.Options, next func(context.Context, string, wire.InputResponses) reprise.Outcome) reprise.Outcome {
	e.Helper()
	out := e.Engine.Protect(ctx, req, o, next)
	e.discreet(out, req)
	return out
}

// discreet fails the test if an error repeats the state or an answer of its request.
func (e *replica) discreet(out reprise.Outcome, req *reprise.Request) {
	e.Helper()
	if out.Err == nil {
		return
	}
	text := out.Err.Error()
	if protocol, ok := out.Err.(*wire.Error); ok {
		text += string(protocol.Data)
	}
	for _, secret := range secretsOf(req) {
		if quotes(text, secret) {
			e.Error("a requestState or an answer is in an error")
		}
	}
}

// quotes reports whether text holds secret, with its quotation marks escaped or not.
func quotes(text, secret string) bool {
	return strings.Contains(text, secret) || strings.Contains(strings.ReplaceAll(text, `\"`, `"`), secret)
}

// secretsOf leaves out what is too short to tell a quotation from a coincidence.
func secretsOf(req *reprise.Request) []string {
	var secrets []string
	if req.State != nil {
		secrets = append(secrets, *req.State)
	}
	for _, answer := range req.Responses {
		secrets = append(secrets, string(answer))
	}
	return slices.DeleteFunc(secrets, func(s string) bool { return len(s) < 12 })
}

func newRig(t testing.TB, algorithm requeststate.Algorithm) *rig {
	t.Helper()
	secret := make([]byte, 32)
	rand.Read(secret)
	key, err := requeststate.KeyFromSecret(secret)
	if err != nil {
		t.Fatal(err)
	}
	ring, err := requeststate.NewKeyring(key)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{
		TB:     t,
		config: requeststate.Config{Keyring: ring, Audience: "https://deploy.example/mcp", Algorithm: algorithm, TTL: ttl, Readable: true},
		ledger: &ledger.Memory{},
		log:    &safeBuffer{},

		secrets: []string{string(secret), hex.EncodeToString(secret), base64.StdEncoding.EncodeToString(secret), base64.RawURLEncoding.EncodeToString(secret)},
	}
	r.engine = r.replica()
	t.Cleanup(func() {
		for _, secret := range r.secrets {
			if quotes(r.log.String(), secret) {
				t.Error("a requestState, an answer or a key is in the log")
			}
		}
	})
	return r
}

// replica returns another engine with the same keyring and the same ledger.
func (r *rig) replica() *replica {
	r.Helper()
	sealer, err := requeststate.New(r.config)
	if err != nil {
		r.Fatal(err)
	}
	e, err := reprise.New(reprise.Config{Sealer: sealer, Ledger: r.ledger, Logger: slog.New(slog.NewTextHandler(r.log, nil))})
	if err != nil {
		r.Fatal(err)
	}
	return &replica{e, r.TB}
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

type handler = func(context.Context, *reprise.Call) (any, error)

func user(t testing.TB, subject string) requeststate.Principal {
	t.Helper()
	p, err := requeststate.User("https://issuer.example", subject, "", "")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// first is the first round of a call by alice.
func (r *rig) first() *reprise.Request {
	r.Helper()
	return &reprise.Request{
		Method: wire.MethodToolsCall, Target: "deploy", Arguments: []byte(`{"service":"billing","version":2}`),
		Principal: user(r, "alice"), Version: wire.Version, Capabilities: wire.Declare("elicitation.form"), Received: start,
	}
}

// retry answers what out asks. The answers are JSON by key.
func (r *rig) retry(req *reprise.Request, out reprise.Outcome, answers map[string]string) *reprise.Request {
	r.Helper()
	again := *req
	again.State, again.Responses = nil, nil
	if out.Ask == nil {
		r.Fatalf("nothing was asked: %+v", out)
	}
	if out.Ask.State != "" {
		state := out.Ask.State
		again.State = &state
	}
	if answers != nil {
		again.Responses = wire.InputResponses{}
		for key, answer := range answers {
			again.Responses[key] = []byte(answer)
		}
	}
	again.Received = req.Received.Add(time.Second)
	r.secrets = append(r.secrets, secretsOf(&again)...)
	return &again
}

// asks fails the test unless out asks these keys and no others.
func asks(t testing.TB, out reprise.Outcome, keys ...string) {
	t.Helper()
	if out.Ask == nil || out.Result != nil || out.Err != nil {
		t.Fatalf("want the questions %q, got result %v, error %v", keys, out.Result, out.Err)
	}
	if len(out.Ask.Requests) != len(keys) {
		t.Errorf("want the questions %q, got %d", keys, len(out.Ask.Requests))
	}
	for _, key := range keys {
		if _, ok := out.Ask.Requests[key]; !ok {
			t.Errorf("%q was not asked, but %v", key, maps.Collect(maps.All(out.Ask.Requests)))
		}
	}
}

// completes fails the test unless out is this result.
func completes(t testing.TB, out reprise.Outcome, want any) {
	t.Helper()
	if out.Err != nil || out.Ask != nil || out.Result != want {
		t.Fatalf("want the result %v, got %v, questions %v, error %v", want, out.Result, out.Ask != nil, out.Err)
	}
}

// refuses fails the test unless out is a tool execution error for this reason.
func refuses(t testing.TB, out reprise.Outcome, reason error) *reprise.Refusal {
	t.Helper()
	refusal, ok := errors.AsType[*reprise.Refusal](out.Err)
	if !ok || !errors.Is(out.Err, reason) || out.Ask != nil || out.Result != nil {
		t.Fatalf("want a refusal because %v, got result %v, questions %v, error %v", reason, out.Result, out.Ask != nil, out.Err)
	}
	return refusal
}

// protocol fails the test unless out is a JSON-RPC error with this code.
func protocol(t testing.TB, out reprise.Outcome, code int) *wire.Error {
	t.Helper()
	e, ok := out.Err.(*wire.Error)
	if !ok || e.Code != code || out.Ask != nil || out.Result != nil {
		t.Fatalf("want JSON-RPC error %d, got result %v, questions %v, error %v", code, out.Result, out.Ask != nil, out.Err)
	}
	return e
}

const (
	yes     = `{"action":"accept","content":{"decision":"approve"}}`
	no      = `{"action":"accept","content":{"decision":"reject"}}`
	decline = `{"action":"decline"}`
	cancel  = `{"action":"cancel"}`
)

func answered(answer string) map[string]string { return map[string]string{"confirm": answer} }

// A world is what a deployment changes.
type world struct {
	mu      sync.Mutex
	current string
	deeds   int
	runs    int
	message string // in place of the ordinary one
	facts   bool
}

// deploy confirms a deployment and makes it.
func (w *world) deploy(ctx context.Context, call *reprise.Call) (any, error) {
	w.mu.Lock()
	w.runs++
	current, message := w.current, w.message
	w.mu.Unlock()
	if message == "" {
		message = fmt.Sprintf("Deploy 2, replacing %s?", current)
	}
	var facts []any
	if w.facts {
		facts = []any{current, 2}
	}
	decision, err := reprise.Confirm(ctx, call, "confirm", message, facts...)
	if err != nil {
		return nil, err
	}
	approval, yes := decision.Approved()
	if !yes {
		return decision.String(), nil
	}
	return reprise.Do(ctx, call, approval, func(context.Context) (string, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.deeds++
		return "deployed", nil
	})
}

func (w *world) did(t testing.TB, want int) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.deeds != want {
		t.Errorf("deployed %d times, not %d", w.deeds, want)
	}
}

func (w *world) ran() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.runs
}

// compact is JSON in one spelling.
func compact(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
