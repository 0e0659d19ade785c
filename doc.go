// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

// Package reprise lets an MCP tool stop in the middle, ask a human, and resume on any replica. It implements Multi
// Round-Trip Requests (MRTR) and elicitation of MCP revision 2026-07-28.
//
// # Most needs
//
// Write straight-line code. Ask with [Confirm] or [Ask], put everything that has an effect into [Do]:
//
//	decision, err := reprise.Confirm(ctx, call, "confirm", "Deploy billing 1.4.2 to staging, replacing 1.4.1?", "1.4.1", "1.4.2")
//	if err != nil {
//		return nil, err // suspended: the call ends with the question
//	}
//	approval, yes := decision.Approved()
//	if !yes {
//		return notDeployed, nil // decline, cancel and an explicit no are normal outcomes
//	}
//	return reprise.Do(ctx, call, approval, func(ctx context.Context) (Result, error) {
//		return swap(ctx, "1.4.1", "1.4.2")
//	})
//
// Register the handler with an adapter (module sdk/gosdk for the official SDK). Only adapter authors need [Engine],
// [Request] and [Outcome].
//
// # How a handler runs
//
// The handler runs again from the top in every round. A question that has been answered returns its answer at once; one
// that has not ends the round: its error is [ErrSuspended], the call completes with resultType "input_required", and
// nothing stays in the server's memory. The receipt (requestState) carries the flow's identity, the earlier answers and
// the values of [Once], sealed, so any replica that shares the keyring can take the retry.
//
// So code before the last answer may run several times, on several machines: it must have no effect. Effects belong in
// [Do], which runs its function at most once per flow. Never ask from several goroutines: put questions that belong
// together into one [Round]. A test can hold a handler to this: run its first round and one retry, both unanswered, and
// look that nothing has changed.
//
// # What an answer proves
//
// An accept proves that the client said so, for this principal, for this exact request, about this exact question. It
// does not prove that a person looked at it.
package reprise
