// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package reprise

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/reprise-mcp/reprise/elicitation"
)

// shown is a question as the audit record tells it.
type shown struct {
	key     string
	kind    elicitation.Kind
	text    string
	action  elicitation.Action
	outcome string // of a page
}

func (c *Call) show(key string, kind elicitation.Kind, params func(string) ([]byte, error), message string, action elicitation.Action) {
	if c.engine.audit == nil {
		return
	}
	asked := struct {
		Message string `json:"message"`
	}{message}
	if raw, err := params(message); err == nil { // the message as the client got it
		json.Unmarshal(raw, &asked)
	}
	c.shown = append(c.shown, shown{key: key, kind: kind, text: asked.Message, action: action})
}

// found notes what came of a page, if that has a text of its own.
func (c *Call) found(key string, outcome any) {
	text, ok := outcome.(fmt.Stringer)
	for i := range c.shown {
		if ok && c.shown[i].key == key {
			c.shown[i].outcome = text.String()
		}
	}
}

// Audit adds attributes to this flow's record in [Config.Audit], which has them only if the flow ends in this call. Give it
// what was done and to what, never a secret.
//
// The record stands for one flow that was redeemed:
//
//	flow, method, target, principal   who called what
//	started, took                     when the flow began, and how long until its last answers came
//	rounds                            how many rounds of questions there were
//	questions                         by key: kind, the message as it was sent, what the client reported (never that a human did
//	                                  anything), and for a page of [Visit] what that page says of itself
//	executed                          done: the effect of [Do] ran; failed: it returned an error, or never returned; nothing: the
//	                                  flow ended without one
//
// Answers are not in it. Where a message was worded anew since it was asked, it is the newest wording.
func (c *Call) Audit(attrs ...slog.Attr) { c.noted = append(c.noted, attrs...) }

// record writes the audit record of a flow that ended in this call.
func (c *Call) record(ctx context.Context) {
	if c.engine.audit == nil || !c.claimed {
		return
	}
	questions := make([]any, 0, len(c.shown))
	for _, s := range c.shown {
		attrs := []any{slog.String("kind", string(s.kind)), slog.String("message", s.text), slog.String("client_reported", string(s.action))}
		if s.outcome != "" {
			attrs = append(attrs, slog.String("page", s.outcome))
		}
		questions = append(questions, slog.Group(s.key, attrs...))
	}
	executed := "nothing"
	switch {
	case c.executed:
		executed = "done"
	case c.did:
		executed = "failed"
	}
	attrs := append([]slog.Attr{
		slog.String("flow", c.state.Flow.String()),
		slog.String("method", c.req.Method), slog.String("target", c.req.Target),
		slog.String("principal", c.req.Principal.String()),
		slog.Time("started", c.state.Started), slog.Duration("took", c.now.Sub(c.state.Started)),
		slog.Int("rounds", c.state.Round),
		slog.Group("questions", questions...),
		slog.String("executed", executed),
	}, c.noted...)
	c.engine.audit.LogAttrs(context.WithoutCancel(ctx), slog.LevelInfo, "flow", attrs...)
}
