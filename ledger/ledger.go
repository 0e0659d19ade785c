// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

// Package ledger remembers which flows have been redeemed, so that a confirmation works once.
//
// A sealed requestState proves who was asked what, and until when the answer counts; it does not stop anybody from
// presenting it twice. Whoever needs that claims the flow in a ledger that all replicas share, before the effect, and
// goes on only where the claim was won:
//
//	record, won, err := led.Claim(ctx, time.Now(), ledger.Claim{Flow: flow, Owner: owner, Fingerprint: fp, Expires: retain})
//	switch {
//	case err != nil: // nothing may run; see Errors
//	case !won:       // somebody was first: record says whether they are done, and with which answers
//	default:         // this caller, and no other, runs the effect, then calls Complete
//	}
//
// # Implementations
//
// [Memory] serves a single process: it starts empty, so each restart and each further replica would accept a used
// confirmation once more. It is right for a server over stdio and for one process whose keyring dies with it. A program
// that runs several replicas, or whose keyring outlives the process, must refuse it unless its operator says that there
// is one process only; the ledger itself cannot see that. Package sqlledger keeps flows in an SQLite file that the
// processes of one host share. Package ledgertest holds the tests that every implementation passes.
//
// # Errors
//
// Every error means: do not run the effect. What it says about the flow differs.
//
//   - [ErrFull], [ErrQuota], [ErrExpired], [ErrResultSize], and an [*UnavailableError] with Unknown false: nothing was
//     burnt. The flow is as it was, and the same request can succeed later.
//   - An [*UnavailableError] with Unknown true: the store's reply was lost and the outcome is unknown. The claim may
//     stand. The caller must treat it as lost, because nobody can tell whether trying again would be a second time;
//     a later Lookup shows which it was.
//
// There is no fallback: a ledger that cannot answer refuses, and it never answers from anything but the shared store.
package ledger

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"
)

// FlowID names one flow: a conversation of questions and answers that is redeemed at most once. It is chosen at random
// when the flow begins and carried under seal.
type FlowID [16]byte

// String returns 32 hexadecimal digits. A flow id grants nothing by itself and may be logged.
func (id FlowID) String() string { return hex.EncodeToString(id[:]) }

// MaxResult is the length in bytes of the longest result that Complete accepts. Every ledger accepts that much for each
// flow, as long as it has room.
const MaxResult = 64 << 10

// A Claim asks for the one right to run the effect of a flow.
type Claim struct {
	// Flow is what is claimed. The other fields are recorded with it and never compared.
	Flow FlowID

	// Owner is whom the flow counts against in the quota: a keyed digest of the principal, the same on every
	// replica. The ledger never learns who that is. The zero value is an owner like any other.
	Owner [16]byte

	// Fingerprint is a digest of the answers that the claim was made with. Whoever loses the claim gets it back and
	// can tell an identical repeat from a different answer.
	Fingerprint [32]byte

	// Expires is until when the record must be kept: the flow's absolute end (of any state that a fork of it may
	// still carry) plus twice the clock leeway. The ledger computes nothing from it. It must be after the now of the
	// call, else the claim is refused with ErrExpired. Ledgers may round it up, to milliseconds at most, never down.
	Expires time.Time
}

// Status tells how far a flow has come.
type Status uint8

const (
	Unspent   Status = iota // no record: never claimed, or expired and forgotten
	Claimed                 // the effect may be running, done, or have died half way; no result is known
	Completed               // Record.Result is what the effect returned
)

// String returns "unspent", "claimed" or "completed".
func (s Status) String() string {
	switch s {
	case Unspent:
		return "unspent"
	case Claimed:
		return "claimed"
	case Completed:
		return "completed"
	}
	return fmt.Sprintf("Status(%d)", uint8(s))
}

// A Record is what stands in the ledger about a flow. The zero value says that there is nothing.
type Record struct {
	// Status is how far the flow has come.
	Status Status

	// Fingerprint is that of the claim that won.
	Fingerprint [32]byte

	// Result is what Complete was given: opaque bytes, which the caller seals if they are secret. It is the caller's
	// own copy. Nil and empty results are the same: length zero, told from an absent one by Status.
	Result []byte
}

// A Ledger keeps one record for each claimed flow. It is safe for concurrent use by many goroutines, and, where its
// store is shared, by many processes.
//
// Atomicity: of all the claims on a flow, whoever makes them and wherever, one wins. Order: a call that begins after
// Claim or Complete has returned sees its effect, on every replica.
//
// Durability: a Claim that was reported as won survives the end of the process, and, to the extent that the
// implementation states, the loss of power and of the store.
//
// Forgetting: a record stands for as long as the time passed as now is before its Expires, no matter how full the
// ledger is. From then on it may be dropped at any time, and until it is dropped it stands. There is no call that
// withdraws a claim: a claim whose effect failed before it began is spent as well, since nobody else can know.
//
// Time: now is the caller's clock, and the ledger has none of its own except where the implementation says so. A replica
// whose clock is ahead by more than the leeway can make the ledger forget flows that others still accept.
//
// Cancellation: a ctx that is done before the call changes nothing. One that ends during the call returns an
// [*UnavailableError] that wraps the ctx's error and tells in Unknown whether the call may have taken effect. Calls
// return within a bound that the implementation states, even where ctx has no deadline.
type Ledger interface {
	// Lookup returns the record of flow. No record is not an error: the Record is then zero, and its Status Unspent.
	// An Unspent flow can be claimed by somebody else a moment later; only Claim decides.
	Lookup(ctx context.Context, now time.Time, flow FlowID) (Record, error)

	// Claim records c and returns true if there is no record of the flow yet. It returns true at most once per flow:
	// the caller that gets it runs the effect. If there is a record already, it returns that record and false,
	// also when the ledger is full or the owner's quota is used up. With an error, the record is zero and the answer
	// false. Together with true it returns the new record, with status Claimed.
	Claim(ctx context.Context, now time.Time, c Claim) (Record, bool, error)

	// Complete records the result of a claimed flow. Only the winner of the claim calls it, once the effect has
	// ended. It returns ErrUnclaimed for a flow without a record. Completing again with the same bytes is allowed,
	// so that it can be retried; with other bytes it returns ErrCompleted, and the first result stands.
	// A result that does not fit (ErrResultSize, ErrFull, ErrQuota) leaves the flow Claimed.
	Complete(ctx context.Context, now time.Time, flow FlowID, result []byte) error
}

var (
	// ErrFull says that the ledger has no room. Live flows are never dropped to make some; it has room again when
	// enough of them have expired. Nothing was burnt.
	ErrFull = errors.New("ledger: full of flows that have not expired; nothing was burnt, try again later or raise its capacity")

	// ErrQuota says that the owner already has as many live flows as one owner may have. Nothing was burnt.
	ErrQuota = errors.New("ledger: too many redeemed flows of one owner have not expired; nothing was burnt, try again later or raise the quota")

	// ErrExpired says that a claim's Expires is not after now, so that the ledger could not keep it. Nothing was burnt.
	ErrExpired = errors.New("ledger: the claim has expired; nothing was burnt, begin a new flow")

	// ErrUnclaimed says that a flow has no record and cannot be completed.
	ErrUnclaimed = errors.New("ledger: flow is not claimed; only a claimed flow can be completed")

	// ErrCompleted says that a flow was completed with another result, which stands.
	ErrCompleted = errors.New("ledger: flow was completed with another result, which stands")

	// ErrResultSize says that a result is longer than MaxResult.
	ErrResultSize = fmt.Errorf("ledger: result is longer than %d bytes; record a shorter one, such as a reference", MaxResult)
)

// An UnavailableError says that the store did not do what it was asked to, or did not say that it had.
type UnavailableError struct {
	Op  string // "lookup", "claim", "complete"; other names for other calls of an implementation, such as "open"
	Err error  // the cause, which may be the error of a context

	// Unknown is whether the call may have taken effect: a claim may stand, a result may be recorded.
	// False means that it certainly did not: nothing was burnt and the same call can be tried again.
	Unknown bool
}

// Error tells the cause and what it means for the flow.
func (e *UnavailableError) Error() string {
	means := "nothing was burnt, the same request can be tried again once the store is back"
	switch {
	case e.Op == "claim" && e.Unknown:
		means = "the store's reply was lost and the claim may stand: look at what the effect changes before beginning a new flow"
	case e.Op == "complete" && e.Unknown:
		means = "the store's reply was lost: the flow is spent and its result may be on record"
	case e.Op == "complete":
		means = "the flow stays claimed without a result; complete it again once the store is back"
	case e.Unknown:
		means = "the store's reply was lost and it may have been done"
	case e.Op != "claim" && e.Op != "lookup":
		return fmt.Sprintf("ledger: %s: %v", e.Op, e.Err)
	}
	return fmt.Sprintf("ledger: %s: %v; %s", e.Op, e.Err, means)
}

// Unwrap returns the cause.
func (e *UnavailableError) Unwrap() error { return e.Err }
