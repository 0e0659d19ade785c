// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package reprise

import (
	"context"
	"errors"
	"fmt"

	"github.com/reprise-mcp/reprise/elicitation"
)

// The decision is a value that must be chosen: never an empty form, which some clients accept without showing it, and
// never a boolean with a default, which nobody has to touch.
type confirmation struct {
	Decision string `json:"decision" title:"Decision" enum:"approve=Yes - go ahead,reject=No - do nothing"`
}

var confirmForm = elicitation.MustForm[confirmation]()

// A Decision is the outcome of [Confirm]. The zero value approves nothing.
type Decision struct{ answer Answer[confirmation] }

// Confirm asks for a yes or no, in form mode, as a choice between two values. The parameters are those of [Ask]; pass as
// facts what must still hold when the answer arrives.
func Confirm(ctx context.Context, call *Call, key, message string, facts ...any) (Decision, error) {
	answer, err := Ask(ctx, call, key, confirmForm, message, facts...)
	return Decision{answer}, err
}

// Approved returns an approval for [Do], and true, only for an accept whose decision says yes.
func (d Decision) Approved() (Approval, bool) {
	return d.answer.Approve(func(c confirmation) bool { return c.Decision == "approve" })
}

// String is what the client reported: "approved", "rejected" (accepted, with a no), "declined", "cancelled" or
// "unanswered". It says nothing about who looked at the question.
func (d Decision) String() string {
	switch d.answer.Action() {
	case elicitation.Accept:
		if _, yes := d.Approved(); yes {
			return "approved"
		}
		return "rejected"
	case elicitation.Decline:
		return "declined"
	case elicitation.Cancel:
		return "cancelled"
	}
	return "unanswered"
}

// An Approval is the right to enter [Do]. It comes from [Decision.Approved] or [Answer.Approve] and holds for the call
// that it was given in. The zero value is refused.
type Approval struct {
	call    *Call
	trusted bool
}

// Do is the one place for effects. It redeems the flow, which succeeds once in the whole fleet, and then runs effect.
//
// It refuses, and runs nothing, while a question is pending, without an approval from this call, for an answer that came
// without a sealed state, when the flow is already redeemed ([ErrRedeemed]), when the ledger cannot be reached, and when
// ctx is done. Once the flow is claimed there is no way back: effect runs with a context that is no longer cancelled, as a
// client that hangs up must not leave it half done, and when effect fails the error says that the confirmation is spent.
//
// Do runs once in a call: put all effects of a call into one function. Effects should compare and swap on the facts that
// the human saw; the ledger stops a second use, not a world that moved on.
func Do[T any](ctx context.Context, call *Call, approval Approval, effect func(context.Context) (T, error)) (T, error) {
	var none T
	switch {
	case call.failed != nil:
		return none, call.failed
	case call.did:
		return none, errors.New("reprise: Do ran already in this call; put all effects into one function")
	case call.suspended() || call.missing != nil:
		return none, ErrSuspended
	case approval.call != call:
		return none, call.fail(errors.New("reprise: Do needs an approval from this call; use Decision.Approved or Answer.Approve"))
	case !approval.trusted:
		return none, call.fail(&Refusal{Reason: ErrUnsolicited, text: fmt.Sprintf(
			"This answer came without the requestState of a question, so it approves nothing. Nothing was done. Call %s without inputResponses to be asked.", call.req.Target)})
	}
	if err := ctx.Err(); err != nil {
		return none, err
	}
	if err := call.engine.claim(ctx, call); err != nil {
		return none, call.fail(err)
	}
	call.did = true
	result, err := effect(context.WithoutCancel(ctx))
	call.executed = err == nil
	if err != nil && !call.options.Reusable {
		return none, fmt.Errorf("%w. The confirmation is spent; call %s again to be asked anew", err, call.req.Target)
	}
	return result, err
}

func (c *Call) fail(err error) error {
	c.failed = err
	return err
}
