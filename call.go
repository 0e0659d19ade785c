// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package reprise

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/reprise-mcp/reprise/elicitation"
	"github.com/reprise-mcp/reprise/requeststate"
	"github.com/reprise-mcp/reprise/wire"
)

// maxKey bounds a question's key: it travels in the clear, in the state and back.
const maxKey = 64

// A Call is one run of a handler. Its questions and effects are recorded here, so what a handler depends on is a
// parameter and not hidden in the context. A Call belongs to one goroutine and ends with the handler: whatever asks or
// does something with it later is refused.
type Call struct {
	engine  *Engine
	req     *Request
	options Options
	now     time.Time
	binding requeststate.Binding

	state   requeststate.State // as opened, or that of a new flow
	resumed bool               // state came with the request and passed every check
	expired bool               // a state came, had expired, and is being asked anew

	answered bool // this run used an answer
	declined bool // one of them was a decline or a cancel
	later    bool // [Call.Later] was called
	claimed  bool // the flow is ours: effects may run
	did      bool // [Do] was entered
	pending  []pendingQuestion
	used     []requeststate.Answer // answers that this run used, with the pins they answer
	missing  []elicitation.Kind    // kinds asked that the client did not declare
	failed   error                 // ends the call whatever the handler returns
	drifted  bool
	busy     []string // keys of pages that the user has not finished
	shown    []shown  // for the audit record, if there is one
	noted    []slog.Attr
	executed bool // the effect of [Do] returned no error
}

type pendingQuestion struct {
	key     string
	pin     requeststate.Digest
	request wire.InputRequest
	raw     []byte // the request as carried by [Engine.Protect]; nil otherwise
}

// Can reports whether this client, on this request, declared that it can answer questions of kind, so that a handler may
// choose another way. Capabilities are declared per request.
func (c *Call) Can(kind elicitation.Kind) bool { return c.req.Capabilities.Has(string(kind)) }

// Principal is who is calling, as the transport verified it.
func (c *Call) Principal() requeststate.Principal { return c.req.Principal }

// Later ends the round without a question: the client receives a requestState alone and may retry at once. Use it only
// where the clients are known to retry such a result; several never do. The error is [ErrSuspended]; return it.
func (c *Call) Later() error {
	if err := c.mayAsk(); err != nil {
		return err
	}
	c.later = true
	return ErrSuspended
}

// Round returns a set of questions that are asked together. Add them with [Add], then call [Round.Ask].
func (c *Call) Round() *Round { return &Round{call: c} }

var errEnded = errors.New("reprise: this call has ended; a Call lives as long as its handler runs")

func (c *Call) suspended() bool { return c.later || len(c.pending) > 0 }

func (c *Call) mayAsk() error {
	switch {
	case c.failed != nil:
		return c.failed
	case c.did:
		return errors.New("reprise: asked after Do; the flow is redeemed, so no answer could arrive any more")
	}
	return nil
}

// An Answer is what the client reported for one question. The content can be reached only through an accept, so that a
// no is hard to take for a yes. The zero value is no answer: neither accepted, declined nor cancelled.
type Answer[T any] struct {
	call    *Call
	key     string
	reply   elicitation.Reply[T]
	trusted bool // came under a sealed state
}

// Accepted returns the content of an accept. For decline, cancel and no answer it returns the zero T and false.
func (a Answer[T]) Accepted() (T, bool) {
	if a.reply.Action != elicitation.Accept {
		var zero T
		return zero, false
	}
	return a.reply.Content, true
}

// Action is accept, decline or cancel; it is empty where there is no answer yet.
func (a Answer[T]) Action() elicitation.Action { return a.reply.Action }

// Approve returns an approval for [Do] where the answer was accepted and yes says that its content means go.
func (a Answer[T]) Approve(yes func(T) bool) (Approval, bool) {
	if content, ok := a.Accepted(); ok && yes(content) {
		return Approval{call: a.call, trusted: a.trusted}, true
	}
	return Approval{}, false
}

// Ask asks one question and returns its answer, or [ErrSuspended] when there is none yet: return that error.
//
// The key names the question within the flow: 1 to 64 bytes, no two questions alike. The facts are what the human is
// asked about, in values that compare: prices, versions, counts. They are pinned, so that an answer to a question about
// other facts is not used and the question is asked again; anything that encoding/json takes will do, its strings in
// UTF-8. Where there are none, the message is pinned instead.
//
// An answer that is no valid answer to q is asked for again. After a decline or a cancel the same Ask returns that again;
// to ask a second time, use another key.
func Ask[T any](ctx context.Context, call *Call, key string, q elicitation.Question[T], message string, facts ...any) (Answer[T], error) {
	var answer Answer[T]
	err := call.ask(ctx, func() error { return look(call, &answer, key, q, message, facts) })
	if err != nil {
		return Answer[T]{}, err
	}
	return answer, nil
}

// A Round asks several questions at once, so that the client is bothered once. Make one with [Call.Round].
type Round struct {
	call *Call
	adds []func() error // see look
}

// Add adds a question to the round; see [Ask] for the parameters. The answer it points to is filled in by [Round.Ask].
func Add[T any](r *Round, key string, q elicitation.Question[T], message string, facts ...any) *Answer[T] {
	answer := &Answer[T]{}
	r.adds = append(r.adds, func() error { return look(r.call, answer, key, q, message, facts) })
	return answer
}

// Ask returns nil when every question of the round is answered. Otherwise only those without an answer are asked; the
// others keep theirs. The error is [ErrSuspended] then: return it.
func (r *Round) Ask(ctx context.Context) error { return r.call.ask(ctx, r.adds...) }

func (c *Call) ask(ctx context.Context, looks ...func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := c.mayAsk(); err != nil {
		return err
	}
	for _, look := range looks {
		if err := look(); err != nil {
			return c.fail(err)
		}
	}
	switch {
	case c.missing != nil:
		return lacking(c.missing)
	case c.suspended():
		return ErrSuspended
	}
	return nil
}

// look finds the answer to one question, or leaves the question pending.
func look[T any](c *Call, into *Answer[T], key string, q elicitation.Question[T], message string, facts []any) error {
	if key == "" || len(key) > maxKey || !utf8.ValidString(key) {
		return fmt.Errorf("reprise: question key %q must be 1 to %d bytes of UTF-8", key, maxKey)
	}
	pin, err := pinOf(q.Method(), q.Identity(), message, facts)
	if err != nil {
		return fmt.Errorf("reprise: facts of question %q: %w", key, err)
	}
	before := slices.IndexFunc(c.used, func(a requeststate.Answer) bool { return a.Key == key })
	if before >= 0 && c.used[before].Pin != pin || slices.ContainsFunc(c.pending, func(p pendingQuestion) bool { return p.key == key }) {
		return fmt.Errorf("reprise: question key %q names two questions in one run; give each its own key", key)
	}
	response, asked, found := c.response(key, pin)
	if found {
		if reply, err := q.Decode(response); err == nil {
			*into = Answer[T]{call: c, key: key, reply: reply, trusted: asked}
			c.answered = true
			c.declined = c.declined || reply.Action != elicitation.Accept
			if before < 0 {
				c.show(key, q.Kind(), q.Params, message, reply.Action)
				c.used = append(c.used, requeststate.Answer{Key: key, Pin: pin, Response: response})
			}
			return nil
		}
		// Not a valid answer, so none: nothing is executed, and the question goes out again.
	}
	if c.state.Drift >= maxDrift {
		return &Refusal{Reason: ErrDrift, text: fmt.Sprintf(
			"What question %q is about changed %d times while it was being answered. Nothing was done. Look at the current state, then call %s again.",
			key, c.state.Drift, c.req.Target)}
	}
	if !c.Can(q.Kind()) {
		if !slices.Contains(c.missing, q.Kind()) {
			c.missing = append(c.missing, q.Kind())
		}
		return nil
	}
	params, err := q.Params(message)
	if err != nil {
		return fmt.Errorf("reprise: question %q: %w", key, err)
	}
	c.pending = append(c.pending, pendingQuestion{key: key, pin: pin, request: wire.InputRequest{Method: q.Method(), Params: params}})
	return nil
}

// response finds the raw answer to the question pinned as pin. Only a question that was asked under this key and is still
// the same one has an answer; asked says that a sealed state vouches for that.
func (c *Call) response(key string, pin requeststate.Digest) (response []byte, asked, found bool) {
	for _, a := range c.state.Answers {
		if a.Key == key && !slices.Contains(c.busy, key) {
			if a.Pin == pin {
				return a.Response, true, true
			}
			c.drift()
			return nil, false, false
		}
	}
	raw, sent := c.req.Responses[key]
	sent = sent && !slices.Contains(c.busy, key)
	if c.resumed {
		for _, q := range c.state.Questions {
			if q.Key == key {
				if q.Pin == pin {
					return raw, true, sent
				}
				if sent {
					c.drift()
				}
				return nil, false, false
			}
		}
		return nil, false, false
	}
	if c.expired || !(c.options.Unsolicited || c.options.QuestionsOnly) {
		return nil, false, false
	}
	return raw, false, sent
}

// drift counts at most once a run: one change of the world may move several questions.
func (c *Call) drift() {
	if !c.drifted {
		c.drifted = true
		c.state.Drift++
	}
}

// carried is what the next state must know: every answer so far, including those to questions that this run, having
// taken another branch or stopped early, did not look at.
func (c *Call) carried() []requeststate.Answer {
	carried := slices.Clone(c.used)
	known := func(key string) bool {
		return slices.ContainsFunc(carried, func(a requeststate.Answer) bool { return a.Key == key }) ||
			slices.ContainsFunc(c.pending, func(p pendingQuestion) bool { return p.key == key })
	}
	for _, a := range c.state.Answers {
		if !known(a.Key) {
			carried = append(carried, a)
		}
	}
	if c.resumed {
		for _, q := range c.state.Questions {
			if raw, sent := c.req.Responses[q.Key]; sent && !known(q.Key) {
				carried = append(carried, requeststate.Answer{Key: q.Key, Pin: q.Pin, Response: raw})
			}
		}
	}
	return carried
}

// pinOf is what makes a question the same question in a later round: what it asks for and about, not how it is worded.
func pinOf(method string, identity []byte, message string, facts []any) (requeststate.Digest, error) {
	b := make([]byte, 0, 512)
	b = appendPart(b, "reprise pin v1")
	b = appendPart(b, method)
	b = appendPart(b, identity)
	if len(facts) == 0 {
		b = appendPart(b, "message")
		b = appendPart(b, message)
		return sha256.Sum256(b), nil
	}
	raw, err := marshal(facts)
	if err != nil {
		return requeststate.Digest{}, err
	}
	b = appendPart(b, "facts")
	if b, err = appendJSON(b, raw); err != nil {
		return requeststate.Digest{}, err
	}
	return sha256.Sum256(b), nil
}

// marshal refuses what encoding/json would change without a word: it writes an escaped U+FFFD for every byte that is not
// UTF-8, and the names of two files could become one fact.
func marshal(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		if bytes.HasPrefix(raw[i:], []byte(`\ufffd`)) {
			return nil, errors.New("a string in it is not valid UTF-8; pass a []byte, or quote it")
		}
		i++ // what is escaped
	}
	return raw, nil
}

// appendPart keeps parts apart by their length, so that no two lists of parts are the same bytes.
func appendPart[T ~string | ~[]byte](b []byte, part T) []byte {
	return append(binary.BigEndian.AppendUint64(b, uint64(len(part))), part...)
}

// appendJSON appends a JSON value as a part, in its canonical form.
func appendJSON(b, value []byte) ([]byte, error) {
	out, err := requeststate.AppendCanonical(binary.BigEndian.AppendUint64(b, 0), value)
	if err != nil {
		return b, err
	}
	binary.BigEndian.PutUint64(out[len(b):], uint64(len(out)-len(b)-8))
	return out, nil
}

// Once returns a value that may not change between the rounds of a flow, such as an order id or a quote. In the first
// round it runs compute and carries the result in the state, sealed; later rounds get that result back. A first round that is
// repeated computes again, so compute must have no effect. The name is 1 to 64 bytes. T must survive encoding/json;
// a string that is not UTF-8 would not, and is an error.
//
// With an HMAC sealer, whose states can be read, a value is refused unless the operator allowed that; see
// [requeststate.Config].
func Once[T any](ctx context.Context, call *Call, name string, compute func(context.Context) (T, error)) (T, error) {
	var value T
	if name == "" || len(name) > maxKey || !utf8.ValidString(name) {
		return value, fmt.Errorf("reprise: name %q of a Once value must be 1 to %d bytes of UTF-8", name, maxKey)
	}
	for _, v := range call.state.Values {
		if v.Name == name {
			if err := json.Unmarshal(v.JSON, &value); err != nil {
				return value, fmt.Errorf("reprise: Once value %q does not fit its type any more: %w", name, err)
			}
			return value, nil
		}
	}
	value, err := compute(ctx)
	if err != nil {
		return value, err
	}
	raw, err := marshal(value)
	if err != nil {
		return value, fmt.Errorf("reprise: Once value %q: %w", name, err)
	}
	call.state.Values = append(slices.Clip(call.state.Values), requeststate.Value{Name: name, JSON: raw})
	return value, nil
}
