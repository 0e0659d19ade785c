// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"bytes"
	"hash/maphash"

	"github.com/reprise-mcp/reprise/internal/scan"
	"github.com/reprise-mcp/reprise/wire"
)

// A server is what a conversation showed of its server, for the rules that compare one message with others. It is all of this
// revision.
type server struct {
	modern     bool // there was a request of this revision
	discovered int  // line of the last answer to server/discover; 0: there is none
	declares   [features]bool
	served     [features]int // line on which the server first used a feature; 0: it has not

	named, unnamed int // line of the first result with, and of the first without, serverInfo

	tools   map[string]*tool    // as they were listed last
	order   []uint64            // of the tools, or the first page of them: a hash of each
	ordered int                 // line of that list; 0: there is none
	prompts map[string][]string // as they were listed last: the arguments that are required

	toolBytes, promptBytes int // that they take, about

	listens  map[string]bool     // ids of subscriptions/listen
	progress map[string]progress // the newest request with a progress token
}

// progress is where a progress token was given, and where that request was answered; 0: it waits.
type progress struct{ asked, answered int }

// A feature is something that a server declares.
type feature uint8

const (
	toolFeature feature = iota
	promptFeature
	resourceFeature
	features
	noFeature
)

var featureNames = [features]string{"tools", "prompts", "resources"}

// A tool is a tool as it was listed.
type tool struct {
	line    int    // of the list
	badMark bool   // an x-mcp-header of it makes it invalid
	output  value  // its outputSchema; nil: it has none
	schema  *shape // of output, once it was needed

	params  []param // that are repeated in headers
	mirrors bool    // params are all of them
}

// maxListed bounds the bytes of the lists that are remembered of a conversation.
const maxListed = 4 << 20

// maxToken bounds an id and a progress token that are remembered, in bytes.
const maxToken = 1000

const (
	metaServerInfo   = "io.modelcontextprotocol/serverInfo"
	metaSubscription = "io.modelcontextprotocol/subscriptionId"
)

var seed = maphash.MakeSeed()

// learn keeps what a message shows. It comes after the rules.
func (s *server) learn(v *view) {
	switch v.kind {
	case request:
		if v.modern && !v.serverSays() {
			s.learnRequest(v)
		}
	case notification:
		switch {
		case v.clientSays():
		case v.method == "notifications/tools/list_changed":
			s.forgetTools()
		case v.method == "notifications/prompts/list_changed":
			s.forgetPrompts()
		}
	case success, failure:
		if !v.modern || v.req == nil || v.clientSays() {
			return
		}
		if len(s.progress) > 0 {
			if t := get(v.req.params, "_meta", "progressToken"); t != nil && s.progress[token(t)].asked == v.req.line {
				s.progress[token(t)] = progress{v.req.line, v.entry.Line}
			}
		}
		if v.kind == success {
			s.learnResult(v)
		}
	}
}

func (s *server) learnRequest(v *view) {
	s.modern = true
	if v.method == "subscriptions/listen" && len(v.id) <= maxToken {
		if s.listens == nil || len(s.listens) >= limit {
			s.listens = make(map[string]bool)
		}
		s.listens[token(v.id)] = true
	}
	if t := get(v.param("_meta"), "progressToken"); t != nil && len(t) <= maxToken {
		if s.progress == nil || len(s.progress) >= limit {
			s.progress = make(map[string]progress)
		}
		s.progress[token(t)] = progress{asked: v.entry.Line}
	}
}

func (s *server) learnResult(v *view) {
	if get(v.member("_meta"), metaServerInfo) != nil {
		if s.named == 0 {
			s.named = v.entry.Line
		}
	} else if s.unnamed == 0 {
		s.unnamed = v.entry.Line
	}
	if f := used(v); f < features && s.served[f] == 0 {
		s.served[f] = v.entry.Line
	}
	if v.repeats || !v.complete() {
		return
	}
	switch v.method {
	case "server/discover":
		if capabilities := v.member("capabilities"); capabilities.Kind() == '{' {
			s.discovered = v.entry.Line
			for f, name := range featureNames {
				s.declares[f] = declared(capabilities, name)
			}
		}
	case "tools/list":
		s.learnTools(v)
	case "prompts/list":
		s.learnPrompts(v)
	}
}

func declared(capabilities value, name string) bool {
	c := get(capabilities, name)
	return c != nil && c.Kind() != 'n'
}

func (s *server) forgetTools() { s.tools, s.toolBytes, s.order, s.ordered = nil, 0, nil, 0 }

func (s *server) forgetPrompts() { s.prompts, s.promptBytes = nil, 0 }

func (s *server) learnTools(v *view) {
	first := get(v.req.params, "cursor") == nil
	if first {
		s.forgetTools()
	}
	list, _ := array(v.member("tools"))
	if len(list) > limit {
		return
	}
	if first {
		s.order, s.ordered = hashes(list), v.entry.Line
	}
	for _, t := range list {
		name, _ := str(get(t, "name"))
		output := bytes.Clone(get(t, "outputSchema"))
		if s.toolBytes += len(name) + len(output); s.toolBytes > maxListed || len(s.tools) >= limit {
			s.forgetTools()
			return
		}
		if s.tools == nil {
			s.tools = make(map[string]*tool)
		}
		bad := false
		markFaults("", get(t, "inputSchema"), func(string, string) { bad = true })
		params, ok := paramsOf(get(t, "inputSchema"))
		for i := range params {
			s.toolBytes += params[i].size()
		}
		s.tools[name] = &tool{line: v.entry.Line, badMark: bad, output: output, params: params, mirrors: ok && !bad}
	}
}

func (s *server) learnPrompts(v *view) {
	if get(v.req.params, "cursor") == nil {
		s.forgetPrompts()
	}
	list, _ := array(v.member("prompts"))
	for _, p := range list {
		name, _ := str(get(p, "name"))
		size := len(name)
		var required []string
		arguments, _ := array(get(p, "arguments"))
		for _, a := range arguments {
			if argument, ok := str(get(a, "name")); ok && string(get(a, "required")) == "true" {
				required = append(required, argument)
				size += len(argument)
			}
		}
		if s.promptBytes += size; s.promptBytes > maxListed || len(s.prompts) >= limit {
			s.forgetPrompts()
			return
		}
		if s.prompts == nil {
			s.prompts = make(map[string][]string)
		}
		s.prompts[name] = required
	}
}

// hashes stand for values, to compare lists by.
func hashes(list []value) []uint64 {
	h := make([]uint64, len(list))
	for i, v := range list {
		h[i] = maphash.Bytes(seed, v)
	}
	return h
}

// token is an id or a progress token as a key, whatever its spelling.
func token(v value) string {
	if s, ok := str(v); ok {
		return "s" + s
	}
	if integer(v) {
		n, _ := number(v)
		return n.RatString()
	}
	return string(v)
}

// used is the feature that a result shows its server to have.
func used(v *view) feature {
	if !v.complete() {
		return noFeature
	}
	some := func(f feature, list string) feature {
		for range scan.Elements(v.member(list)) {
			return f
		}
		return noFeature // a server without the feature may answer with no members, too
	}
	switch v.method {
	case "tools/list":
		return some(toolFeature, "tools")
	case wire.MethodToolsCall:
		if string(v.member("isError")) != "true" {
			return toolFeature
		}
	case "prompts/list":
		return some(promptFeature, "prompts")
	case wire.MethodPromptsGet:
		return some(promptFeature, "messages")
	case "resources/list":
		return some(resourceFeature, "resources")
	case "resources/templates/list":
		return some(resourceFeature, "resourceTemplates")
	case wire.MethodResourcesRead:
		return some(resourceFeature, "contents")
	}
	return noFeature
}

// checkCapability compares what server/discover declared with what the server answers.
func checkCapability(v *view, r *result, f feature) {
	if v.clientSays() || v.req == nil || !v.modern || v.req.violation != "" {
		return
	}
	s, name := &v.talk.server, featureNames[f]
	if s.discovered == 0 && v.method != "server/discover" {
		return
	}
	switch {
	case v.kind == failure && v.method == name+"/list" && s.declares[f]:
		if string(get(v.err, "code")) == "-32601" {
			r.fail("/error/code", "server/discover declared %s on line %d", name, s.discovered)
		}
	case v.kind == success && v.method == "server/discover" && v.complete() && s.served[f] != 0:
		capabilities := v.member("capabilities")
		if capabilities.Kind() != '{' {
			return
		}
		r.holds()
		if !declared(capabilities, name) {
			r.fail("/result/capabilities"+pointer(name), "the server has %s, as line %d shows, and does not declare it", name, s.served[f])
		}
	case v.kind == success && used(v) == f:
		switch {
		case s.declares[f]:
			r.holds()
		case s.served[f] == 0: // once
			r.fail("/result", "the server has %s, and did not declare it in its answer to server/discover on line %d", name, s.discovered)
		}
	}
}
