// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"bytes"
	"regexp"
	"slices"

	"github.com/reprise-mcp/reprise/wire"
)

// era is what a conversation showed of the revisions that its server has, and of how its client took that.
type era struct {
	supported   []string // the versions that the server listed last; nil: none that are known
	supportedAt int      // line of that list

	modernAt   int // line on which the server first showed that it is of this revision; 0: it has not
	noDiscover int // line on which it refused server/discover; 0: it has not, or that was said

	refusal *refusal // that the client did not react to yet
	last    *call    // the request that was the message before

	lister value // clientInfo of the client that the tools were last listed for

	doubt *doubt
}

// A refusal is an error of this revision.
type refusal struct {
	line      int
	code      string
	version   string   // of the request
	supported []string // by the server
	client    value    // clientInfo of the client that was refused
}

// A doubt is a call that was refused for its headers, though they are what the tool wanted when it was listed.
type doubt struct {
	line   int
	tool   string
	asks   []param
	client value // clientInfo of the client that was refused
}

// Longer lists of versions, and longer clientInfo, are not remembered.
const (
	maxVersions   = 100
	maxClientInfo = 4096
)

// learn keeps what a message shows. It comes after the rules.
func (e *era) learn(v *view) {
	e.last = nil
	switch v.kind {
	case request:
		if v.serverSays() {
			return
		}
		e.last = v.self
		if v.method == "initialize" {
			e.noDiscover = 0
		}
		if e.refusal != nil && same(e.refusal.client, clientInfo(v.self)) {
			e.refusal = nil
		}
	case success:
		if v.req != nil && v.modern && !v.clientSays() {
			e.learnResult(v)
		}
	case failure:
		if v.req != nil && !v.clientSays() {
			e.learnError(v)
		}
	}
}

func (e *era) learnResult(v *view) {
	if e.modernAt == 0 && v.member("resultType") != nil {
		e.modernAt = v.entry.Line
	}
	if e.modernAt != 0 {
		e.noDiscover = 0
	}
	switch v.method {
	case "server/discover":
		e.noDiscover = 0
		e.support(v, v.member("supportedVersions"))
	case "tools/list":
		if v.repeats || !v.complete() {
			return
		}
		e.lister = clientInfo(v.req)
		if e.doubt != nil && e.doubt.line < v.req.line {
			e.doubt = nil
		}
	}
}

func (e *era) learnError(v *view) {
	code := string(get(v.err, "code"))
	switch code {
	case "-32020", "-32021", "-32022":
	case "-32601":
		if v.modern && v.method == "server/discover" && e.modernAt == 0 && v.req.violation == "" {
			e.noDiscover = v.entry.Line
		}
		return
	default:
		return
	}
	if v.modern && e.modernAt == 0 {
		e.modernAt, e.noDiscover = v.entry.Line, 0
	}
	var supported []string
	if code == "-32022" {
		supported = versions(get(v.err, "data", "supported"))
		e.support(v, get(v.err, "data", "supported"))
	}
	client := clientInfo(v.req)
	if client == nil || v.req.violation != "" {
		return
	}
	if code == "-32020" && v.req.headers == mirrored && v.req.tool != nil {
		e.doubt = &doubt{v.entry.Line, v.req.target, v.req.tool.params, client}
	}
	if !v.entry.HTTP || v.entry.Status == 400 {
		e.refusal = &refusal{line: v.entry.Line, code: code, version: v.req.version, supported: supported, client: client}
	}
}

func (e *era) support(v *view, list value) {
	if known := versions(list); known != nil && !v.repeats {
		e.supported, e.supportedAt = known, v.entry.Line
	}
}

// versions is a list of versions, nil where that is no list of texts or has none.
func versions(list value) []string {
	elements, _ := array(list)
	if len(elements) > maxVersions {
		return nil
	}
	var known []string
	for _, element := range elements {
		s, ok := str(element)
		if !ok || len(s) > maxVersions {
			return nil
		}
		known = append(known, s)
	}
	return known
}

// clientInfo is what the client of a request says of itself, nil where it says nothing, or very much.
func clientInfo(c *call) value {
	info := get(c.params, "_meta", wire.MetaClientInfo)
	if c.method == "initialize" {
		info = get(c.params, "clientInfo")
	}
	if len(info) > maxClientInfo {
		return nil
	}
	return bytes.Clone(info)
}

// listedFor reports whether the tools were last listed for the client of a request.
func (e *era) listedFor(c *call) bool {
	return e.lister != nil && same(e.lister, clientInfo(c))
}

// legacyToo reports whether versions of older revisions are in a list.
func legacyToo(supported []string) bool {
	return slices.ContainsFunc(supported, func(version string) bool { return version < wire.Version })
}

var versionDate = regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2}`)

// namesVersion reports whether an error names a version of this revision or a later one.
func namesVersion(err value) bool {
	for _, date := range versionDate.FindAll(err, -1) {
		if string(date) >= wire.Version {
			return true
		}
	}
	return versions(get(err, "data", "supported")) != nil
}
