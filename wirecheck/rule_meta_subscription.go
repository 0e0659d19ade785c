// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

var ruleMetaSubscription = Rule{
	ID:      "meta-subscription",
	Level:   Error,
	Section: "basic#meta",
	Since:   "2026-07-28",
	Title:   "A notification for a subscription says for which one",
	Text:    "A client may have several, and tells them apart by the id of the request that opened each.",
	check: func(v *view, r *result) {
		if v.kind != notification || v.clientSays() {
			return
		}
		acknowledged := false
		switch v.method {
		case "notifications/subscriptions/acknowledged":
			acknowledged = true
		case "notifications/tools/list_changed", "notifications/prompts/list_changed", "notifications/resources/list_changed", "notifications/resources/updated":
		default:
			return
		}
		listens := v.talk.server.listens
		path := "/params/_meta" + pointer(metaSubscription)
		switch id := get(v.param("_meta"), metaSubscription); {
		case id == nil && (acknowledged || len(listens) > 0 && !v.entry.Legacy && !v.talk.legacy):
			r.fail(path, "the subscription is not named")
		case id == nil: // older revisions have these notifications without subscriptions
		case id.Kind() != '"' && id.Kind() != '0':
			r.fail(path, "a subscription is named by the id of its request")
		case listens[token(id)]:
			r.holds()
		default:
			r.cannotTell("no subscriptions/listen with this id is in the recording")
		}
	},
}
