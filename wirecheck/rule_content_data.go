// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"

	"github.com/reprise-mcp/reprise/wire"
)

var ruleContentData = Rule{
	ID:      "content-data",
	Level:   Error,
	Section: "server/tools#image-content",
	Since:   "2026-07-28",
	Title:   "Images, sounds and blobs are in base64, with their media type",
	Text:    "A client that cannot decode them shows nothing, or something else.",
	check: func(v *view, r *result) {
		if v.kind != success || v.clientSays() || v.req == nil || !v.complete() {
			return
		}
		check := func(path string, block value) {
			switch kind, _ := str(get(block, "type")); kind {
			case "image", "audio":
				r.holds()
				if data, ok := str(get(block, "data")); !ok || !isBase64(data) {
					r.fail(path+"/data", "data must be base64")
				}
				if media, _ := str(get(block, "mimeType")); !strings.Contains(media, "/") {
					r.fail(path+"/mimeType", "the media type is missing")
				}
			case "resource":
				checkContents(r, path+"/resource", get(block, "resource"))
			}
		}
		switch v.method {
		case wire.MethodToolsCall:
			list, _ := array(v.member("content"))
			for i, block := range list {
				check("/result/content/"+strconv.Itoa(i), block)
			}
		case wire.MethodPromptsGet:
			list, _ := array(v.member("messages"))
			for i, message := range list {
				check("/result/messages/"+strconv.Itoa(i)+"/content", get(message, "content"))
			}
		case wire.MethodResourcesRead:
			list, _ := array(v.member("contents"))
			for i, contents := range list {
				checkContents(r, "/result/contents/"+strconv.Itoa(i), contents)
			}
		}
	},
}

// checkContents looks at the contents of a resource.
func checkContents(r *result, path string, contents value) {
	r.holds()
	uri, _ := str(get(contents, "uri"))
	if u, err := url.Parse(uri); err != nil || u.Scheme == "" {
		r.fail(path+"/uri", "uri must be an absolute URI")
	}
	switch text, blob := get(contents, "text"), get(contents, "blob"); {
	case blob != nil:
		if data, ok := str(blob); !ok || !isBase64(data) {
			r.fail(path+"/blob", "blob must be base64")
		}
	case text.Kind() != '"':
		r.fail(path, "contents have a text or a blob")
	}
}

func isBase64(data string) bool {
	_, err := base64.StdEncoding.DecodeString(data)
	return err == nil
}
