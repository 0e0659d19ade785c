// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleErrorCode = Rule{
	ID:      "error-code",
	Level:   Warning,
	Section: "basic#error-codes",
	Since:   "2026-07-28",
	Title:   "Codes of one's own lie outside of the range of JSON-RPC",
	Text:    "From -32099 to -32020 only this specification gives codes, from -32019 to -32000 nobody any more, and below that they are those of JSON-RPC.",
	check: func(v *view, r *result) {
		if v.kind != failure || v.clientSays() || v.legacy || v.entry.Legacy || v.talk.legacy {
			return
		}
		n, ok := number(get(v.err, "code"))
		if !ok || !n.IsInt() || !n.Num().IsInt64() {
			return
		}
		r.holds()
		switch code := n.Num().Int64(); {
		case code == -32020, code == -32021, code == -32022, code == -32700, code >= -32603 && code <= -32600:
		case code >= -32099 && code <= -32020:
			r.fail("/error/code", "this revision does not define %d", code)
		case code >= -32768 && code <= -32000 && code != -32002 && code != -32042:
			r.fail("/error/code", "%d is reserved", code)
		}
	},
}
