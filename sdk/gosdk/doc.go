// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

// Package gosdk connects Reprise to the official Go SDK, github.com/modelcontextprotocol/go-sdk.
//
// Over HTTP, put [Filter] directly around the SDK's handler, and authentication around both. Give the handler
// Stateless: true, without which it refuses revision 2026-07-28, and PropagateRequestCancellation: true, without which a
// client that leaves cancels nothing. On stdio, use [StdioTransport]. Both answer what the SDK would answer wrongly, and hand
// on what it would lose; docs/upstream.md lists each.
package gosdk
