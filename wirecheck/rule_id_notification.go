// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"strings"
)

var ruleIdNotification = Rule{
	ID:      "id-notification",
	Level:   Error,
	Section: "basic#notifications",
	Since:   "2026-07-28",
	Title:   "A notification has no id",
	Text:    "With an id it is a request, and somebody waits for an answer.",
	check: func(v *view, r *result) {
		if v.kind != request || !strings.HasPrefix(v.method, "notifications/") {
			return
		}
		r.fail("/id", "a notification has no id")
	},
}
