// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"slices"
	"strconv"
)

var ruleHeaderRefused = Rule{
	ID:      "header-refused",
	Level:   Error,
	Section: "basic/transports/streamable-http#server-validation",
	Since:   "2026-07-28",
	Title:   "A request whose headers and body agree is not refused with -32020",
	Text:    "Headers in base64 are decoded, their names have no case, numbers are compared as such, and a parameter without a value has no header. That a call was refused wrongly shows when its tool is listed again as it was.",
	check: func(v *view, r *result) {
		switch {
		case v.req == nil || v.clientSays():
		case v.kind == failure && v.req.headers != uncompared && string(get(v.err, "code")) == "-32020":
			checkRefusal(v, r)
		case v.kind == success && v.talk.era.doubt != nil:
			checkDoubt(v, r)
		}
	},
}

func checkRefusal(v *view, r *result) {
	switch {
	case v.req.violation != "":
	case v.req.headers == differing:
		r.holds()
	case v.req.headers == unlisted:
		r.cannotTell("the recording does not show which parameters of the tool are repeated in headers")
	case v.req.tool != nil:
		r.cannotTell("the headers of the request on line %d are those that its tool wanted when it was listed, and it may have changed since", v.req.line)
	default:
		r.fail("/error/code", "the headers of the request on line %d say what its body says", v.req.line)
	}
}

// checkDoubt looks whether a tool that refused a call is listed as it was.
func checkDoubt(v *view, r *result) {
	tools, ok := listedTools(v)
	d := v.talk.era.doubt
	if !ok || v.repeats || v.req.line < d.line || !same(d.client, clientInfo(v.req)) {
		return
	}
	for i, tool := range tools {
		if name, _ := str(get(tool, "name")); name != d.tool {
			continue
		}
		asks, ok := paramsOf(get(tool, "inputSchema"))
		if ok && slices.EqualFunc(asks, d.asks, func(a, b param) bool { return a.key == b.key && a.kind == b.kind && slices.Equal(a.path, b.path) }) {
			r.fail("/result/tools/"+strconv.Itoa(i), "this tool wants no other headers than before, and a call that had them was refused on line %d", d.line)
		}
		return
	}
}
