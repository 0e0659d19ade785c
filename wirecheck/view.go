// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"bytes"
	"strings"

	"github.com/reprise-mcp/reprise/internal/scan"
	"github.com/reprise-mcp/reprise/transcript"
	"github.com/reprise-mcp/reprise/wire"
)

// What a message is.
type kind uint8

const (
	none kind = iota // an exchange without a message
	invalid
	request
	notification
	success // a response with a result
	failure // a response with an error
)

// A view is a message in its place: who sent it, what it answers, which question it belongs to.
type view struct {
	entry *transcript.Entry
	talk  *conversation

	kind   kind
	from   transcript.Direction
	raw    value // the message
	id     value
	method string // of the request, or of the request that is answered
	params value
	result value
	err    value

	paramList, resultList []member // of params and result, read once

	repeats bool // a name repeats somewhere
	text    bool // it is one JSON value

	self *call // the request itself
	req  *call // what a response answers; nil where the recording does not have it

	modern  bool // revision 2026-07-28 or later, surely
	legacy  bool // an older one, surely
	retries bool // it carries a state or answers
	ask     *ask // the question that a retry belongs to; nil where there is none
	how     match

	schemas schemas

	paramFaults []fault // of the headers that repeat parameters

	asked         []member // see the function asked
	lookedAtAsked bool
}

// How a retry was matched with its question.
type match uint8

const (
	unmatched match = iota
	byState         // its state is that of the question
	byTarget        // its state is not, and there is a question open on the same method and target
)

// A call is a request as it is remembered.
type call struct {
	line      int
	id        value
	method    string
	target    string // name or uri
	params    value
	arguments value
	version   string
	caps      value
	modern    bool
	violation string
	retry     bool
	answered  bool
	lacks     string // member of _meta that is missing, though the headers say that it is of this revision
	disagree  string // header that says something else than the body
	headers   mirroring
	tool      *tool  // whose marked parameters were compared with headers
	badAnswer string // what the rules on answers found wrong with its own
}

// An ask is an input_required result that may be retried.
type ask struct {
	call     *call
	state    *string
	requests []member // by key
	declined bool
}

// limit bounds what is remembered of one client.
const limit = 10_000

// A conversation is what one client and the server said, as far as it is still open.
type conversation struct {
	pending map[string]*call // by id
	order   []*call          // oldest first; those that were answered are dropped when their turn comes
	forgot  bool             // requests or questions were forgotten

	asks     []*ask // oldest first
	states   map[string]*ask
	byTarget map[string][]*ask // by method and target, newest last
	declined []*ask

	legacy   bool              // the client began with initialize
	notified bool              // the last message was a notification of the client's
	pages    map[string]string // cacheScope of the page before, by method and cursor
	server   server            // what it showed of its server
	era      era               // what it showed of revisions
}

func newConversation() *conversation {
	return &conversation{pending: make(map[string]*call), states: make(map[string]*ask), byTarget: make(map[string][]*ask), pages: make(map[string]string)}
}

// look finds out what a message is.
func (t *conversation) look(e *transcript.Entry) *view {
	v := &view{entry: e, talk: t, from: e.Direction, raw: value(e.Message)}
	if e.Message == nil {
		v.kind = none
		return v
	}
	v.text, v.repeats = scan.Valid(e.Message)
	if !v.text || v.raw.Kind() != '{' {
		v.kind = invalid // and is not looked into
		return v
	}
	members, _ := object(v.raw)
	method, hasResult, hasError := false, false, false
	for _, m := range members {
		switch m.name {
		case "id":
			v.id = m.value
		case "method":
			method = true
			v.method, _ = str(m.value)
		case "params":
			v.params = m.value
		case "result":
			hasResult, v.result = true, m.value
		case "error":
			hasError, v.err = true, m.value
		}
	}
	switch {
	case method && v.id != nil:
		v.kind = request
	case method:
		v.kind = notification
	case hasResult && !hasError:
		v.kind = success
	case hasError && !hasResult:
		v.kind = failure
	default:
		v.kind = invalid
	}
	v.paramList, _ = object(v.params)
	v.resultList, _ = object(v.result)
	if v.from == transcript.Unknown {
		v.from = t.guess(v)
	}
	switch v.kind {
	case request:
		v.self = t.callOf(v)
		v.modern, v.legacy = v.self.modern, !v.self.modern && (e.Legacy || t.legacy || v.self.version != "" && v.self.version < wire.Version)
		v.match()
	case success, failure:
		if v.id != nil {
			v.req = t.pending[string(v.id)]
		}
		if v.req != nil {
			v.method, v.modern = v.req.method, v.req.modern
			v.legacy = !v.modern && (e.Legacy || t.legacy)
		}
	}
	return v
}

// guess finds out who spoke where the recording does not say.
func (t *conversation) guess(v *view) transcript.Direction {
	switch v.kind {
	case request:
		if v.method == wire.MethodElicit || v.method == wire.MethodSample || v.method == wire.MethodRoots {
			return transcript.Server
		}
		return transcript.Client
	case success, failure:
		if t.pending[string(v.id)] != nil {
			return transcript.Server
		}
	}
	return transcript.Unknown
}

func (t *conversation) callOf(v *view) *call {
	c := &call{line: v.entry.Line, id: v.id, method: v.method, params: v.params, violation: v.entry.Violation}
	c.target, _ = str(v.param("name"))
	if v.method == wire.MethodResourcesRead {
		c.target, _ = str(v.param("uri"))
	}
	c.arguments = v.param("arguments")
	meta := v.param("_meta")
	c.version, _ = str(get(meta, wire.MetaVersion))
	c.caps = get(meta, wire.MetaCapabilities)
	version := c.version
	if version == "" {
		version = v.entry.Headers["mcp-protocol-version"]
	}
	c.modern = version >= wire.Version && !v.entry.Legacy
	if c.modern && v.entry.HTTP {
		c.lacks, c.disagree = lacking(c), disagreeing(c, v)
		t.mirror(c, v)
	}
	c.retry = v.param("requestState") != nil || v.param("inputResponses") != nil
	return c
}

// lacking is what a request does not say of itself in _meta.
func lacking(c *call) string {
	switch {
	case c.version == "":
		return "protocol version"
	case c.caps.Kind() != '{':
		return "client capabilities"
	}
	return ""
}

// disagreeing is the header that says something else than the body, if one does.
func disagreeing(c *call, v *view) string {
	for _, h := range []struct{ name, body string }{{"mcp-protocol-version", c.version}, {"mcp-method", c.method}, {"mcp-name", c.target}} {
		header, ok := v.header(h.name)
		if ok && h.body != "" && decoded(header) != h.body && (h.name != "mcp-name" || wire.MayAsk(c.method)) {
			return h.name
		}
	}
	return ""
}

// match finds the question that a retry belongs to: the one with its state, or else the newest one on the same method and
// target, with the same arguments if there is one.
func (v *view) match() {
	v.retries = v.self.retry && wire.MayAsk(v.method)
	if !v.retries {
		return
	}
	state, sent := str(v.param("requestState"))
	if sent {
		if found := v.talk.states[state]; found != nil {
			v.ask, v.how = found, byState
			return
		}
	}
	for _, a := range v.talk.byTarget[v.method+" "+v.self.target] {
		// Without a state, a question that had none is the likelier one.
		if v.ask == nil || same(a.call.arguments, v.self.arguments) || !same(v.ask.call.arguments, v.self.arguments) {
			v.ask, v.how = a, byTarget
		}
	}
}

// remember keeps what later messages may refer to.
func (t *conversation) remember(v *view) {
	t.notified = v.kind == notification && v.clientSays()
	t.server.learn(v)
	t.era.learn(v)
	switch v.kind {
	case request:
		if v.from == transcript.Server {
			return
		}
		if v.method == "initialize" {
			t.legacy = true
		}
		key := string(v.id)
		v.self.keep()
		t.pending[key] = v.self
		t.order = append(t.order, v.self)
		for len(t.order) > 0 && (len(t.pending) > limit || t.order[0].answered) {
			oldest := t.order[0]
			t.order = t.order[1:]
			if !oldest.answered && t.pending[string(oldest.id)] == oldest {
				t.forgot = true
				delete(t.pending, string(oldest.id))
			}
		}
		if v.ask != nil && v.ask.call.method == v.method {
			t.mark(v)
		}
	case success:
		if v.req != nil && v.resultType() == wire.ResultInputRequired && v.from != transcript.Client {
			t.asked(v)
		}
		if next, ok := str(v.member("nextCursor")); ok && v.req != nil {
			if len(t.pages) > limit {
				clear(t.pages)
			}
			t.pages[v.method+" "+next], _ = str(v.member("cacheScope"))
		}
		t.answered(v)
	case failure:
		t.answered(v)
	}
}

// mark notes on a question what the user said to it.
func (t *conversation) mark(v *view) {
	for _, m := range v.ask.requests {
		if action, _ := str(get(v.param("inputResponses"), m.name, "action")); action == "decline" {
			if !v.ask.declined {
				v.ask.declined = true
				t.declined = append(t.declined, v.ask)
				if len(t.declined) > limit {
					t.declined = t.declined[1:]
				}
			}
		}
	}
}

// keep makes a request independent of the text that it was read from.
func (c *call) keep() {
	params := bytes.Clone(c.params)
	c.id = bytes.Clone(c.id)
	c.params, c.arguments, c.caps = params, get(params, "arguments"), get(params, "_meta", wire.MetaCapabilities)
}

func (t *conversation) answered(v *view) {
	if v.req == nil {
		return
	}
	v.req.answered = true
	delete(t.pending, string(v.id))
}

func (t *conversation) asked(v *view) {
	a := &ask{call: v.req}
	a.requests, _ = object(bytes.Clone(v.member("inputRequests")))
	if s, ok := str(v.member("requestState")); ok {
		a.state = &s
		t.states[s] = a
	}
	t.asks = append(t.asks, a)
	key := a.call.method + " " + a.call.target
	t.byTarget[key] = append(t.byTarget[key], a)
	if len(t.asks) > limit {
		t.forgot = true
		oldest := t.asks[0]
		t.asks = t.asks[1:]
		if s := oldest.state; s != nil && t.states[*s] == oldest {
			delete(t.states, *s)
		}
		key := oldest.call.method + " " + oldest.call.target
		if t.byTarget[key] = t.byTarget[key][1:]; len(t.byTarget[key]) == 0 {
			delete(t.byTarget, key)
		}
	}
}

// param is a member of params.
func (v *view) param(name string) value { return find(v.paramList, name) }

// member is a member of the result.
func (v *view) member(name string) value { return find(v.resultList, name) }

func find(list []member, name string) value {
	for i := range list {
		if list[i].name == name {
			return list[i].value
		}
	}
	return nil
}

func (v *view) resultType() string {
	t := v.member("resultType")
	if string(t) == `"complete"` {
		return wire.ResultComplete // without making a string of it
	}
	s, _ := str(t)
	return s
}

// complete reports whether a result ends the call: it says so, or says nothing.
func (v *view) complete() bool {
	return v.member("resultType") == nil || v.resultType() == wire.ResultComplete
}

// overHTTP reports whether the headers of a request are in the recording.
func (v *view) overHTTP() bool { return v.entry.HTTP && v.entry.Headers != nil }

// serverSays and clientSays tell who must have sent it; an unknown direction counts for neither.
func (v *view) serverSays() bool { return v.from == transcript.Server }
func (v *view) clientSays() bool { return v.from == transcript.Client }

// header returns a header by its lower-case name.
func (v *view) header(name string) (string, bool) {
	value, ok := v.entry.Headers[name]
	return strings.Trim(value, " \t"), ok
}
