// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package reprise

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/reprise-mcp/reprise/ledger"
	"github.com/reprise-mcp/reprise/wire"
)

// kept is the outcome of a flow as it stands in the ledger, sealed.
type kept struct {
	Result   json.RawMessage `json:"result,omitempty"`
	Error    string          `json:"error,omitempty"`
	Protocol *wireError      `json:"protocol,omitempty"`
}

type wireError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

const keptPurpose = "result"

// bound is what the record of a flow's outcome is sealed for: this flow, and the very answers that it was redeemed with.
func (c *Call) bound() []byte {
	fingerprint := c.fingerprint()
	return slices.Concat(c.state.Flow[:], fingerprint[:])
}

// keep returns what the ledger is given of an outcome, or nil where nothing is kept.
func (c *Call) keep(ctx context.Context, out Outcome) []byte {
	if !c.options.Record {
		return nil
	}
	var k kept
	var err error
	var protocol *wire.Error
	switch {
	case errors.As(out.Err, &protocol):
		k.Protocol = &wireError{protocol.Code, protocol.Message, json.RawMessage(protocol.Data)}
	case out.Err != nil:
		k.Error = out.Err.Error()
	default:
		k.Result, err = json.Marshal(out.Result)
	}
	var text []byte
	if err == nil {
		text, err = json.Marshal(k)
	}
	if err == nil {
		if sealed := c.engine.sealer.Keyring().SealRecord(keptPurpose, text, c.bound()); len(sealed) <= ledger.MaxResult {
			return sealed
		}
		err = ledger.ErrResultSize
	}
	c.engine.log.LogAttrs(ctx, slog.LevelError, "the result of a flow is not recorded: a repeat will be told that it ran, and not what came of it",
		slog.String("target", c.req.Target), slog.Any("error", err))
	return nil
}

// redeemed is the record of a flow that was claimed before.
type redeemed struct{ record ledger.Record }

func (*redeemed) Error() string { return ErrRedeemed.Error() }
func (*redeemed) Unwrap() error { return ErrRedeemed }

// again answers a request whose flow was claimed before: with the recorded outcome if it repeats the request that redeemed it,
// else with a refusal.
func (e *Engine) again(ctx context.Context, c *Call, record ledger.Record) Outcome {
	if !c.options.Record || record.Fingerprint != c.fingerprint() {
		return e.refuse(ctx, c.req, c.options, spent(record, c.options.Status))
	}
	const between = 100 * time.Millisecond
	deadline := time.NewTimer(c.options.wait())
	defer deadline.Stop()
	tick := time.NewTicker(between)
	defer tick.Stop()
	for record.Status == ledger.Claimed {
		select {
		case <-ctx.Done():
			return Outcome{Err: ctx.Err()}
		case <-deadline.C:
			return e.refuse(ctx, c.req, c.options, spent(record, c.options.Status))
		case <-tick.C:
		}
		var err error
		if record, err = e.ledger.Lookup(ctx, c.now, ledger.FlowID(c.state.Flow)); err != nil {
			return e.refuse(ctx, c.req, c.options, unavailable(err, false))
		}
	}
	if len(record.Result) == 0 {
		return e.refuse(ctx, c.req, c.options, spent(record, c.options.Status))
	}
	text, err := e.sealer.Keyring().OpenRecord(keptPurpose, record.Result, c.bound())
	var k kept
	if err == nil {
		err = json.Unmarshal(text, &k)
	}
	switch {
	case err != nil:
		return e.refuse(ctx, c.req, c.options, &Refusal{Reason: fmt.Errorf("recorded result: %w", err), text: spent(record, c.options.Status).Error()})
	case k.Protocol != nil:
		return Outcome{Recorded: true, Err: &wire.Error{Code: k.Protocol.Code, Message: k.Protocol.Message, Data: []byte(k.Protocol.Data)}}
	case k.Error != "":
		return Outcome{Recorded: true, Err: errors.New(k.Error)}
	}
	e.log.LogAttrs(ctx, slog.LevelInfo, "gave a recorded result again",
		slog.String("method", c.req.Method), slog.String("target", c.req.Target), slog.String("principal", c.req.Principal.String()))
	return Outcome{Recorded: true, Result: k.Result}
}
