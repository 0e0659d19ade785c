// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

// Package requeststate seals and opens the requestState of Multi Round-Trip Requests (MCP revision 2026-07-28).
//
// A server that needs a human ends the call with an input_required result and gives the client a requestState: a
// receipt of what was asked, of whom, for which request and until when. It comes back with the retry, on any replica,
// from a client that is not trusted. So a [Sealer] binds it to everything that matters and opens it only where all of
// that still holds:
//
//	ring, err := requeststate.ReadKeyring("keys")
//	sealer, err := requeststate.New(requeststate.Config{Keyring: ring, Audience: "https://deploy.example/mcp"})
//
//	alice, err := requeststate.User(issuer, subject, tenant, client) // from the verified access token
//	digest, err := requeststate.RequestDigest("tools/call", "deploy_release", arguments)
//	binding := requeststate.Binding{Principal: alice, Request: digest}
//
//	token, err := sealer.Seal(time.Now(), binding, &requeststate.State{Flow: requeststate.NewFlowID(), Round: 1})
//	state, err := sealer.Open(time.Now(), binding, token) // on the retry; a [Rejection] says what does not hold
//
// The checks of [Sealer.Open] have a fixed order: shape, key, seal, principal, audience, times, request. What a client is
// told of a rejection is for the caller to word; for a failed seal it should say no more than that.
//
// Replicas share the [Keyring] and nothing else. A seal and a short life do not stop a replay within that life: an
// effect that may happen only once needs the flow to be redeemed in a ledger as well.
//
// The token's bytes are described in docs/spec/requeststate-v1.md, with vectors for other languages in package vectors.
// Tokens of version 1 open in every release 1.x.
package requeststate
