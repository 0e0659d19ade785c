// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package reprise

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/reprise-mcp/reprise/elicitation"
	"github.com/reprise-mcp/reprise/requeststate"
	"github.com/reprise-mcp/reprise/wire"
)

// Protect puts a handler that already ends rounds by itself under the engine: next receives its own requestState back as
// it left it, with answers that were validated against the very schemas that it asked, and returns an [Outcome] of its
// own making. Adapters use it for servers written against an SDK.
//
// It gives such a handler sealing, binding, expiry, single use and the capability gate, and is weaker than [Engine.Run] in
// three ways. The flow is redeemed before next runs, since nobody knows where its effects are, so a failure after that
// has spent the confirmation. Drift is not seen. And the gate can act only after next has said what it asks.
//
// Each round is a flow of its own in the ledger: next sees the answers of the newest round, once. An answer that is missing
// or invalid is asked for again, with the question as it was, and next does not run. Of [Options], Unsolicited and
// QuestionsOnly have no effect here.
func (e *Engine) Protect(ctx context.Context, req *Request, o Options, next func(ctx context.Context, state string, answers wire.InputResponses) Outcome) Outcome {
	o.Unsolicited, o.QuestionsOnly = false, false
	o.Record = false
	call, err := e.begin(ctx, req, o)
	if err != nil {
		return e.refuse(ctx, req, o, called(err, o))
	}
	var answers wire.InputResponses
	if call.resumed {
		var again map[string]wire.InputRequest
		if answers, again, err = call.judge(); err != nil {
			return e.refuse(ctx, req, o, err)
		}
		if again != nil {
			return call.askAgain(ctx, answers, again)
		}
		if err := ctx.Err(); err != nil {
			return Outcome{Err: err}
		}
		if err := e.claim(ctx, call); err != nil {
			return e.refuse(ctx, req, o, called(err, o))
		}
	}
	out := next(ctx, call.state.Inner, answers)
	if call.resumed {
		e.complete(ctx, call, out)
	}
	if out.Ask == nil {
		return out
	}
	return call.relay(ctx, out.Ask)
}

// called words a flow that was claimed before.
func called(err error, o Options) error {
	if before, ok := err.(*redeemed); ok {
		return spent(before.record, o.Status)
	}
	return err
}

// judge sorts the answers to the questions of the newest round into those that hold, and those to ask again.
func (c *Call) judge() (wire.InputResponses, map[string]wire.InputRequest, error) {
	good := make(wire.InputResponses)
	for _, a := range c.state.Answers {
		good[a.Key] = a.Response
	}
	var again map[string]wire.InputRequest
	for _, q := range c.state.Questions {
		var asked wire.InputRequest
		if json.Unmarshal(q.Schema, &asked) != nil {
			return nil, nil, refusal(requeststate.Malformed) // of Run, before this handler was protected
		}
		if raw, sent := c.req.Responses[q.Key]; sent && valid(asked, raw) {
			good[q.Key] = raw
			continue
		}
		if again == nil {
			again = make(map[string]wire.InputRequest)
		}
		again[q.Key] = asked
	}
	return good, again, nil
}

// valid reports whether response answers asked. Only form mode says in the request what an answer looks like.
func valid(asked wire.InputRequest, response []byte) bool {
	switch asked.Method {
	case wire.MethodElicit:
		action, content, err := elicitation.ParseResult(response)
		if err != nil {
			return false
		}
		if action != elicitation.Accept {
			return true
		}
		params, err := paramsOf(asked)
		if err != nil {
			return false
		}
		if params.Mode == "url" {
			return true
		}
		schema, err := elicitation.ParseSchema(params.RequestedSchema)
		return err == nil && schema.Validate(content) == nil
	case wire.MethodSample:
		_, err := anySampling.Decode(response)
		return err == nil
	case wire.MethodRoots:
		_, err := elicitation.NewRoots().Decode(response)
		return err == nil
	}
	return false
}

// anySampling judges an answer to sampling by its own shape alone.
var anySampling = func() elicitation.Question[elicitation.SamplingResult] {
	q, err := elicitation.NewSampling(elicitation.SamplingRequest{MaxTokens: 1})
	if err != nil {
		panic(err)
	}
	return q
}()

// askAgain repeats the questions without a usable answer and carries the others.
func (c *Call) askAgain(ctx context.Context, answers wire.InputResponses, again map[string]wire.InputRequest) Outcome {
	if err := c.gate(again); err != nil {
		return c.engine.refuse(ctx, c.req, c.options, err)
	}
	questions := c.state.Questions
	c.state.Questions, c.state.Answers = nil, nil
	for _, q := range questions {
		if answer, ok := answers[q.Key]; ok {
			c.used = append(c.used, requeststate.Answer{Key: q.Key, Pin: q.Pin, Response: answer})
		} else {
			c.pending = append(c.pending, pendingQuestion{key: q.Key, pin: q.Pin, request: again[q.Key], raw: q.Schema})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(answers)) {
		if !slices.ContainsFunc(c.used, func(a requeststate.Answer) bool { return a.Key == key }) {
			c.used = append(c.used, requeststate.Answer{Key: key, Response: answers[key]})
		}
	}
	return c.suspend(ctx)
}

// relay seals what the handler asks and the state that it wants back.
func (c *Call) relay(ctx context.Context, ask *wire.InputRequired) Outcome {
	refuse := func(err error) Outcome { return c.engine.refuse(ctx, c.req, c.options, err) }
	if ask.Requests == nil && ask.State == "" {
		return refuse(errors.New("reprise: the handler asked nothing and kept no state; an input_required result needs one of them"))
	}
	if err := c.gate(ask.Requests); err != nil {
		return refuse(err)
	}
	c.state.Questions, c.state.Answers, c.state.Inner = nil, nil, ask.State
	if c.resumed {
		c.state.Flow = requeststate.NewFlowID()
	}
	for _, key := range slices.Sorted(maps.Keys(ask.Requests)) {
		request := ask.Requests[key]
		if len(key) > maxKey || !utf8.ValidString(key) {
			return refuse(fmt.Errorf("reprise: the handler's question key %q is not up to %d bytes of UTF-8", key, maxKey))
		}
		raw, err := json.Marshal(request)
		if err != nil {
			return refuse(err)
		}
		pin, err := pinOf(request.Method, request.Params, "", nil)
		if err != nil {
			return refuse(err)
		}
		c.pending = append(c.pending, pendingQuestion{key: key, pin: pin, request: request, raw: raw})
	}
	c.later = true // a state alone is a legal answer, if the handler chose it
	return c.suspend(ctx)
}

// requestParams are the params of a question that was made by hand, as far as the engine looks at them.
type requestParams struct {
	Mode            string            `json:"mode"`
	RequestedSchema json.RawMessage   `json:"requestedSchema"`
	Tools           []json.RawMessage `json:"tools"`
}

func paramsOf(request wire.InputRequest) (requestParams, error) {
	var params requestParams
	if request.Params == nil {
		return params, nil
	}
	return params, json.Unmarshal(request.Params, &params)
}

// askable returns the kind of a question that was made by hand. It refuses a form whose answer could not be validated
// later.
func askable(request wire.InputRequest) (elicitation.Kind, error) {
	params, err := paramsOf(request)
	if err != nil {
		return "", err
	}
	switch {
	case request.Method == wire.MethodElicit && (params.Mode == "" || params.Mode == "form"):
		_, err := elicitation.ParseSchema(params.RequestedSchema)
		return elicitation.FormMode, err
	case request.Method == wire.MethodElicit && params.Mode == "url":
		return elicitation.URLMode, nil
	case request.Method == wire.MethodSample && len(params.Tools) > 0:
		return elicitation.SamplingTools, nil
	case request.Method == wire.MethodSample:
		return elicitation.Sampling, nil
	case request.Method == wire.MethodRoots:
		return elicitation.Roots, nil
	}
	return "", errors.New("this method or mode may not be asked")
}

// gate refuses questions that were made by hand and may not be asked, or not of this client.
func (c *Call) gate(requests map[string]wire.InputRequest) error {
	var missing []elicitation.Kind
	for _, key := range slices.Sorted(maps.Keys(requests)) {
		kind, err := askable(requests[key])
		if err != nil {
			return fmt.Errorf("reprise: question %q: %w", key, err)
		}
		if !c.Can(kind) && !slices.Contains(missing, kind) {
			missing = append(missing, kind)
		}
	}
	if missing != nil {
		return lacking(missing)
	}
	return nil
}
