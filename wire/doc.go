// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

// Package wire reads and writes JSON-RPC 2.0 and the messages of MCP revision 2026-07-28 that multi round-trip requests
// need.
//
// # Most needs
//
// [Parse] reads one message, [ParseParams] the params of a request that may be retried with answers. Whatever they
// refuse is an [*Error] that can be sent as it stands:
//
//	msg, err := wire.Parse(body)
//	if err != nil {
//		return &wire.Message{ID: msg.ID, Error: err.(*wire.Error)}
//	}
//	params, err := msg.ParseParams()
//
// A server ends a call with [InputRequired] and refuses a client that cannot be asked with [RequiredCapabilities].
//
// # Strict
//
// Two parsers that read the same bytes differently are a way past every check, so this one leaves nothing to choose:
// member names are compared exactly, a name that differs from a known one only in case is refused, a name may appear once
// in its object, at every depth and inside arguments and _meta too, text is UTF-8 without lone surrogates, nothing
// nests deeper than 256, and one value is all there is. Members that are not known are ignored, as the specification asks.
//
// An optional member that is present has its own type: null is not a way to leave it out. Only a null inside the client's
// capabilities means "not declared", since nothing can be granted by it.
//
// Raw values alias the bytes that they were parsed from. Error messages name members of the protocol and never repeat
// what the peer sent.
package wire
