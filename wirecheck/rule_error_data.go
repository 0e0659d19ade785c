// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleErrorData = Rule{
	ID:      "error-data",
	Level:   Error,
	Section: "basic#error-codes",
	Since:   "2026-07-28",
	Title:   "-32021 and -32022 say what is missing",
	Text:    "The client can mend the request only if it hears what to add.",
	check: func(v *view, r *result) {
		if v.kind != failure || v.clientSays() {
			return
		}
		data := get(v.err, "data")
		switch string(get(v.err, "code")) {
		case "-32021":
			r.holds()
			if get(data, "requiredCapabilities").Kind() != '{' {
				r.fail("/error/data/requiredCapabilities", "the capabilities that are missing are not listed")
			}
		case "-32022":
			r.holds()
			if get(data, "supported").Kind() != '[' {
				r.fail("/error/data/supported", "the supported versions are not listed")
			}
			if get(data, "requested").Kind() != '"' {
				r.fail("/error/data/requested", "the requested version is not named")
			}
		}
	},
}
