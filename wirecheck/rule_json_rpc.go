// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleJsonRpc = Rule{
	ID:      "json-rpc",
	Level:   Error,
	Section: "basic#messages",
	Since:   "2026-07-28",
	Title:   "A message is one JSON-RPC 2.0 message",
	Text:    "Anything else cannot be answered, or is read in another way by the next parser.",
	check: func(v *view, r *result) {
		if v.kind == none {
			return
		}
		r.holds()
		switch {
		case !v.text:
			r.fail("", "this is not one JSON value")
		case v.raw.Kind() == '[':
			r.fail("", "batches are no longer part of MCP")
		case v.kind == invalid:
			r.fail("", "this is neither a request, a notification nor a response")
		default:
			if version, _ := str(get(v.raw, "jsonrpc")); version != "2.0" {
				r.fail("/jsonrpc", `"jsonrpc" must be "2.0"`)
			}
			if v.method == "" && (v.kind == request || v.kind == notification) {
				r.fail("/method", "the method must be a string")
			}
			if v.kind == success && !v.legacy && v.result.Kind() != '{' {
				r.fail("/result", "a result is an object")
			}
		}
	},
}
