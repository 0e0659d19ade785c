// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"strings"
)

var ruleHttpContentType = Rule{
	ID:      "http-content-type",
	Level:   Error,
	Section: "basic/transports/streamable-http#sending-messages",
	Since:   "2026-07-28",
	Title:   "A request is answered with JSON or with an event stream",
	Text:    "The client reads the body by its Content-Type.",
	check: func(v *view, r *result) {
		if v.clientSays() || !v.entry.HTTP || len(v.entry.Headers) == 0 {
			return
		}
		text, ok := v.header("content-type")
		media, _, _ := strings.Cut(text, ";")
		media, _, _ = strings.Cut(media, ",") // of a header that was there twice
		media = strings.TrimSpace(media)
		fits := strings.EqualFold(media, "application/json") || strings.EqualFold(media, "text/event-stream")
		switch v.kind {
		case success, failure:
			switch {
			case v.req == nil || !v.modern:
			case !ok:
				r.cannotTell("the recording has no Content-Type")
			case fits:
				r.holds()
			default:
				r.fail("", "the Content-Type is neither application/json nor text/event-stream")
			}
		case none: // what is neither may not have been recorded
			asked := v.talk.era.last
			if asked == nil || !asked.modern || v.talk.legacy || !ok || fits || v.entry.Status != 200 {
				return
			}
			r.fail("", "the answer to the request on line %d is neither application/json nor text/event-stream", asked.line)
		}
	},
}
