// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package gosdk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/reprise-mcp/reprise"
	"github.com/reprise-mcp/reprise/wire"
)

// Config is what an [Adapter] needs.
type Config struct {
	// Engine runs the handlers. Required.
	Engine *reprise.Engine
	// Identity says who is calling: [Authenticated], [Local] or [Anonymous]. Required, there is no default: a server that
	// does not know whom it asks must say so.
	Identity Identity
	// Now is the time at which a request is judged. Default (nil): time.Now. Only tests of replicas whose clocks differ
	// need another.
	Now func() time.Time
}

// An Adapter joins one mcp.Server to an engine. Make it with [New], then register with [AddTool], [AddPrompt],
// [AddResource] and [AddResourceTemplate]; it takes no part in what is registered with the SDK itself, unless [Adapter.Protect]
// says so. It is safe for concurrent use.
type Adapter struct {
	server   *mcp.Server
	engine   *reprise.Engine
	identity Identity
	now      func() time.Time

	mu        sync.RWMutex
	own       map[target]bool  // registered with the adapter
	templates []*regexp.Regexp // URIs of its resource templates
	protected []protection
}

type target struct{ method, name string }

type protection struct {
	options reprise.Options
	names   []string
}

// New installs the adapter in server as a receiving middleware. Middleware that is added later runs outside of it.
func New(server *mcp.Server, c Config) (*Adapter, error) {
	switch {
	case server == nil:
		return nil, errors.New("gosdk: New needs a server")
	case c.Engine == nil:
		return nil, errors.New("gosdk: Config.Engine is missing; make one with reprise.New")
	case c.Identity == nil:
		return nil, errors.New("gosdk: Config.Identity is missing; use Authenticated(issuer) behind a token check, Local on stdio, " +
			"or say Anonymous() if anybody who holds a state may answer")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	a := &Adapter{server: server, engine: c.Engine, identity: c.Identity, now: c.Now, own: make(map[target]bool)}
	server.AddReceivingMiddleware(a.middleware)
	return a, nil
}

// Protect puts handlers that were registered with the SDK itself, and end rounds by returning InputRequests, under the
// engine; see [reprise.Engine.Protect] for what that gives and what it cannot. The names are those of tools and prompts and the
// URIs of resources; without any, all that the adapter did not register are protected. A client older than 2026-07-28 is
// refused there. Of several calls the first that names a handler counts.
func (a *Adapter) Protect(o reprise.Options, names ...string) error {
	if err := a.engine.Check(o); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.protected = append(a.protected, protection{o, slices.Clone(names)})
	return nil
}

// NewHTTPHandler returns server over Streamable HTTP as an adapter needs it: [Filter] around the SDK's handler, stateless,
// and with a client that leaves cancelling its request. Put authentication around it. A nil o is the zero value.
func NewHTTPHandler(server *mcp.Server, o *FilterOptions) http.Handler {
	return Filter(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true}), o)
}

// round is what the middleware and the registered handler, which the SDK calls in between, tell each other.
type round struct {
	extra   *mcp.RequestExtra
	version string
	retry   bool             // it came with a state or answers
	outcome *reprise.Outcome // set when the result is not the SDK's to make
}

type roundKey struct{}

// run runs the engine inside of a registered handler, where the SDK has validated the arguments. The error is for the SDK
// to answer with, as far as the middleware does not answer itself.
func (a *Adapter) run(ctx context.Context, method, name string, o reprise.Options, handler func(context.Context, *reprise.Call) (any, error)) (any, error) {
	r, _ := ctx.Value(roundKey{}).(*round)
	if r == nil {
		return nil, errors.New("gosdk: the adapter's middleware did not see this request")
	}
	request, err := a.request(ctx, method, name, r)
	if err != nil {
		r.outcome = &reprise.Outcome{Err: err}
		return nil, err
	}
	out := a.engine.Run(ctx, request, o, handler)
	var protocol *wire.Error
	switch raw, _ := out.Result.(json.RawMessage); {
	case out.Ask != nil, errors.As(out.Err, &protocol), out.Recorded && out.Err != nil && method == wire.MethodToolsCall:
		r.outcome = &out
		return nil, reprise.ErrSuspended
	case out.Recorded && out.Err == nil:
		return recorded{raw}, nil
	}
	return out.Result, out.Err
}

// request is what the engine sees of a request: what [Filter] or [StdioTransport] read, never the SDK's own reading of it,
// which takes one answer for another.
func (a *Adapter) request(ctx context.Context, method, name string, r *round) (*reprise.Request, error) {
	principal, err := a.identity(r.extra)
	if err != nil {
		return nil, &wire.Error{Code: wire.CodeInvalidRequest, Message: err.Error()}
	}
	if r.version < wire.Version {
		return &reprise.Request{Method: method, Target: name, Principal: principal, Version: r.version}, nil
	}
	params, ok := receivedFrom(ctx, method, r.extra)
	if !ok {
		return nil, &wire.Error{Code: wire.CodeInternalError, Message: "this server lacks gosdk.Filter around its HTTP handler, or gosdk.StdioTransport on stdio; nothing was done"}
	}
	r.retry = params.RequestState != nil || params.InputResponses != nil
	return &reprise.Request{
		Method:       method,
		Target:       params.Target,
		Arguments:    params.Arguments,
		Principal:    principal,
		Version:      params.Version,
		Capabilities: params.Capabilities,
		State:        params.RequestState,
		Responses:    params.InputResponses,
		Received:     a.now(),
	}, nil
}

func (a *Adapter) middleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if !wire.MayAsk(method) {
			res, err := next(ctx, method, req)
			return onlyComplete(method, res, err)
		}
		t, version := targetOf(method, req)
		r := &round{extra: req.GetExtra(), version: version}
		a.mu.RLock()
		p, protected := a.protectionFor(t)
		a.mu.RUnlock()
		if protected {
			return a.protect(ctx, method, t, r, p.options, req, next)
		}
		res, err := next(context.WithValue(ctx, roundKey{}, r), method, req)
		if r.outcome != nil {
			return answer(r.outcome)
		}
		return r.hinted(res), err
	}
}

// hinted takes from the result of a retry what the SDK or the handler says of caching: it depends on answers that no cache key
// has (server/utilities/caching, Cache Key).
func (r *round) hinted(res mcp.Result) mcp.Result {
	if read, ok := res.(*mcp.ReadResourceResult); ok && read != nil && r.retry {
		uncached := *read
		uncached.Cacheable = mcp.Cacheable{CacheScope: "private"}
		return &uncached
	}
	return res
}

// protectionFor is called with mu held. What is registered with the adapter needs no protection.
func (a *Adapter) protectionFor(t target) (protection, bool) {
	if a.own[t] || t.method == wire.MethodResourcesRead && slices.ContainsFunc(a.templates, func(r *regexp.Regexp) bool { return r.MatchString(t.name) }) {
		return protection{}, false
	}
	for _, p := range a.protected {
		if len(p.names) == 0 || slices.Contains(p.names, t.name) {
			return p, true
		}
	}
	return protection{}, false
}

func targetOf(method string, req mcp.Request) (target, string) {
	switch r := req.(type) {
	case *mcp.CallToolRequest:
		return target{method, r.Params.Name}, r.ProtocolVersion()
	case *mcp.GetPromptRequest:
		return target{method, r.Params.Name}, r.ProtocolVersion()
	case *mcp.ReadResourceRequest:
		return target{method, r.Params.URI}, r.ProtocolVersion()
	}
	return target{method: method}, ""
}

// answer makes the result that the SDK cannot make: an input_required result without members of other results.
func answer(out *reprise.Outcome) (mcp.Result, error) {
	var protocol *wire.Error
	switch {
	case errors.As(out.Err, &protocol):
		// Bare: behind a wrapping error the SDK would drop the data.
		return nil, &jsonrpc.Error{Code: int64(protocol.Code), Message: protocol.Message, Data: json.RawMessage(protocol.Data)}
	case out.Err != nil:
		return toolError(out)
	case out.Ask != nil:
		body, err := out.Ask.MarshalJSON() // the SDK never answers a request whose result it cannot marshal
		if err != nil {
			return nil, &jsonrpc.Error{Code: wire.CodeInternalError, Message: err.Error()}
		}
		return &rawResult{body: body}, nil
	}
	return nil, &jsonrpc.Error{Code: wire.CodeInternalError, Message: "gosdk: empty outcome"}
}

// toolError is a tool execution error with its resultType, which the SDK sets only on results of its own handlers.
func toolError(out *reprise.Outcome) (mcp.Result, error) {
	body, err := json.Marshal(map[string]any{
		"resultType": wire.ResultComplete,
		"isError":    true,
		"content":    []any{map[string]string{"type": "text", "text": out.Err.Error()}},
	})
	if err != nil {
		return nil, &jsonrpc.Error{Code: wire.CodeInternalError, Message: err.Error()}
	}
	res := &rawResult{body: body}
	if out.Recorded {
		res.Meta = mcp.Meta{MetaRecorded: true}
	}
	return res, nil
}

// rawResult is a result that decides about its own bytes, but for _meta, in which the SDK says which server it is from.
type rawResult struct {
	mcp.ResultBase
	body []byte // an object with members
}

func (r *rawResult) MarshalJSON() ([]byte, error) {
	if len(r.Meta) == 0 {
		return r.body, nil
	}
	meta, err := json.Marshal(r.Meta)
	if err != nil {
		return nil, err
	}
	b := append(slices.Clip(r.body[:len(r.body)-1]), `,"_meta":`...)
	return append(append(b, meta...), '}'), nil
}

// protect runs a handler of the SDK's under [reprise.Engine.Protect].
func (a *Adapter) protect(ctx context.Context, method string, t target, r *round, o reprise.Options, req mcp.Request, next mcp.MethodHandler) (mcp.Result, error) {
	request, err := a.request(ctx, method, t.name, r)
	if err != nil {
		return answer(&reprise.Outcome{Err: err})
	}
	out := a.engine.Protect(ctx, request, o, func(ctx context.Context, state string, answers wire.InputResponses) reprise.Outcome {
		inner, err := withRound(req, state, answers)
		if err != nil {
			return reprise.Outcome{Err: err}
		}
		res, err := next(ctx, method, inner)
		if err != nil {
			return reprise.Outcome{Err: passed{err}}
		}
		ask, err := askOf(res)
		switch {
		case err != nil:
			return reprise.Outcome{Err: &wire.Error{Code: wire.CodeInternalError, Message: err.Error()}}
		case ask != nil:
			return reprise.Outcome{Ask: ask}
		}
		return reprise.Outcome{Result: res}
	})
	var handlers passed
	switch res, ok := out.Result.(mcp.Result); {
	case ok:
		return r.hinted(res), nil
	case errors.As(out.Err, &handlers):
		return nil, handlers.error
	}
	return answer(&out)
}

// passed is an error of the SDK or the handler on its way through the engine.
type passed struct{ error }

// withRound returns req with the state and the answers that are the handler's.
func withRound(req mcp.Request, state string, answers wire.InputResponses) (mcp.Request, error) {
	var responses mcp.InputResponseMap
	if len(answers) > 0 {
		raw, err := answers.MarshalJSON()
		if err != nil {
			return nil, err
		}
		if err := responses.UnmarshalJSON(raw); err != nil {
			return nil, errors.New("gosdk: the SDK cannot read these answers")
		}
	}
	switch r := req.(type) {
	case *mcp.CallToolRequest:
		params := *r.Params
		params.RequestState, params.InputResponses = state, responses
		return &mcp.CallToolRequest{Session: r.Session, Params: &params, Extra: r.Extra}, nil
	case *mcp.GetPromptRequest:
		params := *r.Params
		params.RequestState, params.InputResponses = state, responses
		return &mcp.GetPromptRequest{Session: r.Session, Params: &params, Extra: r.Extra}, nil
	case *mcp.ReadResourceRequest:
		params := *r.Params
		params.RequestState, params.InputResponses = state, responses
		return &mcp.ReadResourceRequest{Session: r.Session, Params: &params, Extra: r.Extra}, nil
	}
	return nil, fmt.Errorf("gosdk: no rounds in a %T", req)
}

// askOf returns what a handler's result asks, nil when it is complete. The SDK calls a state without questions complete.
func askOf(res mcp.Result) (*wire.InputRequired, error) {
	var (
		requests mcp.InputRequestMap
		state    string
	)
	switch r := res.(type) {
	case *mcp.CallToolResult:
		requests, state = r.InputRequests, r.RequestState
	case *mcp.GetPromptResult:
		requests, state = r.InputRequests, r.RequestState
	case *mcp.ReadResourceResult:
		requests, state = r.InputRequests, r.RequestState
	}
	if requests == nil && state == "" {
		return nil, nil
	}
	ask := &wire.InputRequired{State: state}
	if requests == nil {
		return ask, nil
	}
	raw, err := requests.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var plain map[string]struct {
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if err := json.Unmarshal(raw, &plain); err != nil {
		return nil, err
	}
	ask.Requests = make(map[string]wire.InputRequest, len(plain))
	for key, request := range plain {
		ask.Requests[key] = wire.InputRequest{Method: request.Method, Params: []byte(request.Params)}
	}
	return ask, nil
}

// onlyComplete stops a result that asks where asking is not allowed (basic/patterns/mrtr, Supported Requests).
func onlyComplete(method string, res mcp.Result, err error) (mcp.Result, error) {
	if err != nil {
		return res, err
	}
	if ask, bad := askOf(res); ask != nil || bad != nil {
		return nil, &jsonrpc.Error{Code: wire.CodeInternalError, Message: method + " may not ask for input"}
	}
	return res, nil
}
