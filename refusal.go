// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package reprise

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/reprise-mcp/reprise/elicitation"
	"github.com/reprise-mcp/reprise/ledger"
	"github.com/reprise-mcp/reprise/requeststate"
	"github.com/reprise-mcp/reprise/wire"
)

// ErrSuspended ends a round: a question has no answer yet. Return it from the handler, wrapped or not. It is not a
// failure; the client gets the questions.
var ErrSuspended = errors.New("suspended: the call ends here and is retried with the answers")

// Reasons of a [Refusal] beside those of [requeststate.Rejection] and the ledger's errors.
var (
	// ErrRedeemed says that the flow was redeemed before.
	ErrRedeemed = errors.New("flow already redeemed")
	// ErrDrift says that a question became another one too often while it was being answered.
	ErrDrift = errors.New("question changed too often")
	// ErrRounds says that the flow needs more rounds than [Options.Rounds] allows.
	ErrRounds = errors.New("too many rounds of questions")
	// ErrUnsolicited says that [Do] was given an answer that nobody can vouch for.
	ErrUnsolicited = errors.New("answer without a sealed state")
	// ErrVersion says that the client speaks a revision older than 2026-07-28, in which nothing can be asked this way.
	ErrVersion = errors.New("protocol version too old to be asked")
)

// A Refusal is why a call was turned away before anything ran. Error is plain language for the client and says what to
// do next; Reason is for logs and tests, and errors.Is finds it.
type Refusal struct {
	Reason error
	text   string
}

// Error is what the client is told.
func (r *Refusal) Error() string { return r.text }

// Unwrap returns the reason.
func (r *Refusal) Unwrap() error { return r.Reason }

// refusal words the errors of the state. For a failed seal it says no more than that.
func refusal(err error) error {
	const fresh = " Nothing was done. Make the same call without requestState and inputResponses to get a fresh question."
	var (
		rejection requeststate.Rejection
		size      *requeststate.SizeError
		text      string
	)
	switch {
	case errors.As(err, &rejection):
		switch rejection {
		case requeststate.WrongPrincipal:
			text = "This confirmation was given to somebody else." + fresh
		case requeststate.WrongAudience:
			text = "This confirmation belongs to another server." + fresh
		case requeststate.FromFuture:
			text = "This confirmation is dated in the future: a server's clock is wrong." + fresh
		case requeststate.Expired, requeststate.Outlived:
			text = "This confirmation has expired." + fresh
		case requeststate.WrongRequest:
			text = "This confirmation is for another request: the tool or its arguments differ." + fresh
		case requeststate.UnknownKey:
			text = "This confirmation was sealed with a key that this server does not hold." + fresh
		default:
			text = "This confirmation could not be verified." + fresh
		}
	case errors.As(err, &size):
		text = "The answers of this flow are too large to carry. Nothing was done. Call again with shorter answers."
	default:
		return err
	}
	return &Refusal{Reason: err, text: text}
}

// unavailable words the errors of the ledger. Its own text stays in the log, as it may name hosts and files. Where a claim
// was tried, an error that says nothing of the flow may have come after the write.
func unavailable(err error, claiming bool) error {
	const good = " Nothing was done, and this confirmation is still good: retry in a while."
	var store *ledger.UnavailableError
	text := "The store that keeps confirmations single-use did not answer. Nothing was done, but this confirmation may be spent; if a retry says so, make the call anew."
	switch {
	case errors.Is(err, ledger.ErrFull), errors.Is(err, ledger.ErrQuota):
		text = "The server cannot take another confirmation at the moment." + good
	case !claiming, errors.As(err, &store) && !store.Unknown:
		text = "The store that keeps confirmations single-use cannot be reached." + good
	}
	return &Refusal{Reason: err, text: text}
}

// spent refuses a flow that was claimed before. Status is the tool that tells the current state, if there is one.
func spent(record ledger.Record, status string) error {
	look := "Look at the current state"
	if status != "" {
		look = "Call " + status + " to see the current state"
	}
	if record.Status == ledger.Completed {
		return &Refusal{Reason: ErrRedeemed, text: "This confirmation was already redeemed, and its call completed. " +
			"Nothing was done this time. To act again, make a new call and be asked anew."}
	}
	return &Refusal{Reason: ErrRedeemed, text: "This confirmation was already redeemed. The call that redeemed it has not reported its end, " +
		"so its outcome is unknown here. Nothing was done this time. " + look + " before you make a new call."}
}

// lacking is the answer to a client that did not declare what would be asked of it.
func lacking(kinds []elicitation.Kind) error {
	paths := make([]string, len(kinds))
	for i, kind := range kinds {
		paths[i] = string(kind)
	}
	return &wire.Error{
		Code:    wire.CodeMissingCapability,
		Message: "client did not declare a capability that this request needs: " + strings.Join(paths, ", "),
		Data:    wire.RequiredCapabilities(paths...),
	}
}

// refuse is the one place that decides which channel an error takes.
func (e *Engine) refuse(ctx context.Context, req *Request, o Options, err error) Outcome {
	var (
		protocol *wire.Error
		refused  *Refusal
	)
	switch {
	case errors.As(err, &protocol):
		if err != error(protocol) { // what was said around it counts
			protocol = &wire.Error{Code: protocol.Code, Message: err.Error(), Data: protocol.Data}
		}
		return Outcome{Err: protocol}
	case errors.As(err, &refused):
		e.log.LogAttrs(ctx, slog.LevelWarn, "refused",
			slog.String("method", req.Method), slog.String("target", req.Target),
			slog.String("principal", req.Principal.String()), slog.Any("reason", refused.Reason))
		if req.Method != wire.MethodToolsCall || o.ProtocolErrors {
			return Outcome{Err: &wire.Error{Code: wire.CodeInvalidParams, Message: err.Error()}}
		}
	}
	return Outcome{Err: err}
}
