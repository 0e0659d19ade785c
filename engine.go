// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package reprise

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/reprise-mcp/reprise/elicitation"
	"github.com/reprise-mcp/reprise/ledger"
	"github.com/reprise-mcp/reprise/requeststate"
	"github.com/reprise-mcp/reprise/wire"
)

// defaultRounds is how many rounds of questions one flow may take unless [Options.Rounds] says otherwise.
const defaultRounds = 8

// maxDrift is the number of times that a question may turn out to be another one by the time its answer arrives. The
// third time is a tool error: a question that never holds still cannot be answered.
const maxDrift = 3

// Config is what an [Engine] needs from the operator.
type Config struct {
	// Sealer seals and opens requestState. Required.
	Sealer *requeststate.Sealer

	// Ledger remembers which flows were redeemed. It may be nil only when every handler is [Options.Reusable].
	Ledger ledger.Ledger

	// Logger receives one record for each refusal, with the reason that the client is not told. It never receives a
	// requestState or an answer. Nil means slog.Default().
	Logger *slog.Logger

	// Audit receives one record for each flow that [Engine.Run] brought to its end, with what was asked, what the client
	// reported and whether anything was executed. It says who asked, so keep it where that may be kept. Nil means none.
	// See [Call.Audit].
	Audit *slog.Logger
}

// Options is how one tool, prompt or resource wants its questions handled. The zero value is the strict choice.
type Options struct {
	// Reusable lets one confirmed flow be redeemed any number of times until it expires. Nothing then reads or writes the
	// ledger. For handlers whose effect does not matter twice, and for those that have none. Default: false, single use.
	Reusable bool

	// Asks declares what the handler will ask. A client that lacks one of these kinds is then refused with -32021 before
	// the handler runs, instead of when the question comes up. Default: nothing is declared.
	Asks []elicitation.Kind

	// Unsolicited believes answers that arrive without a requestState. Nobody is bound to such an answer, so [Do] refuses
	// it. Default: false, an answer without a state is ignored and the question asked.
	Unsolicited bool

	// QuestionsOnly sends questions without a requestState, for clients that cannot echo one. It implies Unsolicited.
	QuestionsOnly bool

	// AskExpired answers an expired requestState by asking again, as if the call were new; the answers that came with it are
	// forgotten. Default: false, it is refused as any other that does not hold.
	AskExpired bool

	// ProtocolErrors answers tools/call with JSON-RPC -32602 where a requestState is refused. Default: false, a tool
	// execution error (isError) that says how to get a fresh question, so that a model can recover. prompts/get and
	// resources/read have no such channel and always get -32602. The specification leaves the choice to the server.
	ProtocolErrors bool

	// Rounds bounds the rounds of questions of one flow. Default (0): 8, since clients stop by themselves at eight to ten.
	Rounds int

	// Wait is how long a request waits in [Visit] for a user who is still busy on the page, before the round ends and the
	// client is asked again, and how long one that repeats another waits for its result; see Record. Default (0): 5 seconds.
	Wait time.Duration

	// Record keeps the outcome of a redeemed flow in the ledger, sealed with the keyring, until the flow's end. A request that
	// repeats the one that redeemed it, with the same state, principal and answers, as a client does that lost the response, then
	// gets that outcome once more, marked as recorded, and nothing runs. One with other answers is refused and learns nothing. If
	// the first has not ended within Wait, or its process died, the repeat is told that the outcome is unknown. A result is
	// kept as JSON, and only if that fits [ledger.MaxResult]. Default: false, every repeat is refused. Not for
	// [Engine.Protect].
	Record bool

	// Status names the tool that tells the current state, for whoever has to find out what became of a call. Default: none.
	Status string
}

func (o *Options) wait() time.Duration {
	if o.Wait == 0 {
		return defaultWait
	}
	return o.Wait
}

// Request is one tools/call, prompts/get or resources/read as the transport received it.
type Request struct {
	Method       string                 // tools/call, prompts/get or resources/read; nothing else may ask
	Target       string                 // name of the tool or prompt, URI of the resource
	Arguments    []byte                 // raw JSON object as received; nil equals {}
	Principal    requeststate.Principal // as the transport verified it; the zero value is refused
	Version      string                 // protocol version of this request
	Capabilities wire.Capabilities      // declared in this request's _meta
	State        *string                // requestState, nil when the member is absent
	Responses    wire.InputResponses    // inputResponses, raw
	Received     time.Time              // the zero value means time.Now()
}

// Outcome is what a request came to. At most one of Result, Ask and Err is set; none is where the handler returned nil.
type Outcome struct {
	// Result is what the handler returned.
	Result any
	// Ask ends the request with resultType "input_required".
	Ask *wire.InputRequired
	// Err is a *[wire.Error] where a JSON-RPC error must be sent as it stands. Anything else is for the channel that the
	// method has: a tool execution error (isError, with the error's text) for tools/call.
	Err error
	// Recorded says that Result or Err is that of an earlier request, which this one repeats; see [Options.Record]. Result is
	// then a [json.RawMessage] of what the handler returned.
	Recorded bool
}

// Engine runs handlers, again and again. It is safe for concurrent use and keeps nothing between requests.
type Engine struct {
	sealer *requeststate.Sealer
	ledger ledger.Ledger
	log    *slog.Logger
	audit  *slog.Logger
}

// New returns an engine. It is an error to give no [Config.Sealer].
func New(c Config) (*Engine, error) {
	if c.Sealer == nil {
		return nil, errors.New("reprise: Config.Sealer is missing; make one with requeststate.New")
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return &Engine{sealer: c.Sealer, ledger: c.Ledger, log: c.Logger, audit: c.Audit}, nil
}

// Check reports whether o can hold on this engine. Adapters call it when a handler is registered, so that a server
// which could not keep its promise does not start.
func (e *Engine) Check(o Options) error {
	switch {
	case o.Rounds < 0:
		return fmt.Errorf("reprise: Options.Rounds is %d; use 0 for %d rounds", o.Rounds, defaultRounds)
	case o.Wait < 0:
		return fmt.Errorf("reprise: Options.Wait is %v; use 0 for %v", o.Wait, defaultWait)
	case e.ledger == nil && !o.Reusable:
		return errors.New("reprise: single use needs a ledger; set Config.Ledger, or Options.Reusable where a repeat does no harm")
	}
	return nil
}

// Run answers one request with handler. Its checks have one order: method, principal and version, then the state's shape,
// key, seal, principal, audience, times and request, then whether the flow is spent; only then does the handler run, and
// with it the check of each question; the claim comes last, on entry to [Do]. A failed check redeems nothing.
func (e *Engine) Run(ctx context.Context, req *Request, o Options, handler func(context.Context, *Call) (any, error)) Outcome {
	call, err := e.begin(ctx, req, o)
	if before, ok := err.(*redeemed); ok {
		return e.again(ctx, call, before.record)
	}
	if err != nil {
		return e.refuse(ctx, req, o, err)
	}
	defer call.record(ctx) // also where the handler panics
	result, err := handler(ctx, call)
	out := call.finish(ctx, result, err)
	call.failed = errEnded
	return out
}

// begin makes every check that comes before the handler.
func (e *Engine) begin(ctx context.Context, req *Request, o Options) (*Call, error) {
	if err := e.Check(o); err != nil {
		return nil, err
	}
	if !wire.MayAsk(req.Method) {
		return nil, &wire.Error{Code: wire.CodeInternalError, Message: req.Method + " may not ask for input"}
	}
	if req.Principal == (requeststate.Principal{}) {
		return nil, requeststate.ErrUnbound // also where nothing would be sealed
	}
	if req.Version < wire.Version {
		return nil, &Refusal{Reason: ErrVersion, text: fmt.Sprintf(
			"%s asks before it acts, which needs MCP %s; this client speaks %s. Nothing was done. Use a client that supports %s.",
			req.Target, wire.Version, orUnknown(req.Version), wire.Version)}
	}
	now := req.Received
	if now.IsZero() {
		now = time.Now()
	}
	digest, err := requeststate.RequestDigest(req.Method, req.Target, req.Arguments)
	if err != nil {
		return nil, &wire.Error{Code: wire.CodeInvalidParams, Message: err.Error()}
	}
	call := &Call{
		engine: e, req: req, options: o, now: now,
		binding: requeststate.Binding{Principal: req.Principal, Request: digest},
	}
	if req.State != nil {
		state, err := e.sealer.Open(now, call.binding, *req.State)
		switch {
		case err == nil:
			call.state, call.resumed = *state, true
			return call, e.unspent(ctx, call)
		case o.AskExpired && (errors.Is(err, requeststate.Expired) || errors.Is(err, requeststate.Outlived)):
			call.expired = true // the old answers go with the old state
		default:
			return nil, refusal(err)
		}
	}
	call.state = requeststate.State{Flow: requeststate.NewFlowID(), Started: now}
	var missing []elicitation.Kind
	for _, kind := range o.Asks {
		if !call.Can(kind) {
			missing = append(missing, kind)
		}
	}
	if missing != nil {
		return nil, lacking(missing)
	}
	return call, nil
}

// unspent looks the flow up before the handler runs, so that a replay costs no work.
func (e *Engine) unspent(ctx context.Context, call *Call) error {
	if call.options.Reusable {
		return nil
	}
	record, err := e.ledger.Lookup(ctx, call.now, ledger.FlowID(call.state.Flow))
	switch {
	case err != nil:
		return unavailable(err, false)
	case record.Status != ledger.Unspent:
		return &redeemed{record}
	}
	return nil
}

// claim redeems the flow: it succeeds once, for one caller, in the whole fleet.
func (e *Engine) claim(ctx context.Context, call *Call) error {
	if call.options.Reusable || call.claimed {
		call.claimed = true
		return nil
	}
	owner, err := e.sealer.PrincipalTag(call.req.Principal)
	if err != nil {
		return err
	}
	record, won, err := e.ledger.Claim(ctx, call.now, ledger.Claim{
		Flow:        ledger.FlowID(call.state.Flow),
		Owner:       owner,
		Fingerprint: call.fingerprint(),
		Expires:     e.sealer.Retain(&call.state),
	})
	switch {
	case err != nil:
		return unavailable(err, true)
	case !won:
		return &redeemed{record}
	}
	call.claimed = true
	return nil
}

// complete records how a redeemed flow ended, also for a client that has left. The deed is done by now, so a failure here is
// only logged: the flow stays claimed, and a repeat is told that the outcome is unknown.
func (e *Engine) complete(ctx context.Context, call *Call, out Outcome) {
	if call.options.Reusable {
		return
	}
	if err := e.ledger.Complete(context.WithoutCancel(ctx), call.now, ledger.FlowID(call.state.Flow), call.keep(ctx, out)); err != nil {
		e.log.LogAttrs(ctx, slog.LevelError, "ledger did not record a completed flow",
			slog.String("target", call.req.Target), slog.Any("error", err))
	}
}

// fingerprint tells one retry from another: the same state with the same answers, whatever their spelling.
func (c *Call) fingerprint() [32]byte {
	b := make([]byte, 0, 512)
	if c.req.State != nil {
		b = appendPart(b, *c.req.State)
	}
	for _, key := range slices.Sorted(maps.Keys(c.req.Responses)) {
		b = appendPart(b, key)
		var err error
		if b, err = appendJSON(b, c.req.Responses[key]); err != nil {
			b = appendPart(b, c.req.Responses[key])
		}
	}
	return sha256.Sum256(b)
}

// finish turns what the handler returned into an outcome. What the call itself knows comes first, so an error that a
// handler swallowed or wrapped changes nothing.
func (c *Call) finish(ctx context.Context, result any, err error) Outcome {
	e := c.engine
	lost, _ := c.failed.(*redeemed)
	switch {
	case lost != nil: // to another request of this flow, while this one ran
		return e.again(ctx, c, lost.record)
	case c.failed != nil:
		return e.refuse(ctx, c.req, c.options, c.failed)
	case c.missing != nil:
		return e.refuse(ctx, c.req, c.options, lacking(c.missing))
	case c.suspended():
		return c.suspend(ctx)
	case errors.Is(err, ErrSuspended):
		return e.refuse(ctx, c.req, c.options, errors.New("reprise: a handler returned ErrSuspended although it asked nothing"))
	case err != nil && !c.declined && !c.did:
		return e.refuse(ctx, c.req, c.options, err) // which may pass: the answers still hold
	}
	// A decline ends the flow as well, also where a handler has only an error to say so.
	if c.resumed && c.answered && !c.claimed {
		if err := e.claim(ctx, c); err != nil {
			if lost, ok := err.(*redeemed); ok {
				return e.again(ctx, c, lost.record)
			}
			return e.refuse(ctx, c.req, c.options, err)
		}
	}
	out := Outcome{Result: result}
	if err != nil {
		out = e.refuse(ctx, c.req, c.options, err)
	}
	if c.claimed {
		e.complete(ctx, c, out)
	}
	return out
}

// suspend ends the round with the pending questions and a fresh state.
func (c *Call) suspend(ctx context.Context) Outcome {
	limit := c.options.Rounds
	if limit == 0 {
		limit = defaultRounds
	}
	if c.state.Round >= limit {
		return c.engine.refuse(ctx, c.req, c.options, &Refusal{Reason: ErrRounds, text: fmt.Sprintf(
			"%s still needs input after %d rounds of questions. Nothing was done. Call it again to start over.", c.req.Target, limit)})
	}
	out := &wire.InputRequired{}
	next := c.state
	next.Round++
	next.Questions = nil
	next.Answers = c.carried()
	for _, p := range c.pending {
		if out.Requests == nil {
			out.Requests = make(map[string]wire.InputRequest, len(c.pending))
		}
		out.Requests[p.key] = p.request
		next.Questions = append(next.Questions, requeststate.Question{Key: p.key, Pin: p.pin, Schema: p.raw})
	}
	if !c.options.QuestionsOnly {
		token, err := c.engine.sealer.Seal(c.now, c.binding, &next)
		if err != nil {
			return c.engine.refuse(ctx, c.req, c.options, refusal(err))
		}
		out.State = token
	}
	if out.Requests == nil && out.State == "" {
		return c.engine.refuse(ctx, c.req, c.options, errors.New("reprise: nothing to ask and no state to send; an input_required result needs one of them"))
	}
	return Outcome{Ask: out}
}

func orUnknown(version string) string {
	if version == "" {
		return "an unknown version"
	}
	return version
}
