// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"bytes"
	"strings"

	"github.com/reprise-mcp/reprise/wire"
)

// A param is a parameter of a tool that is repeated in a header (basic/transports/streamable-http, Custom Headers from Tool
// Parameters).
type param struct {
	name string   // of the header
	key  string   // the same in lower case
	path []string // in the arguments
	kind string   // string, integer or boolean
}

// A tool with more marked parameters, or with deeper ones, is not judged.
const (
	maxParams     = 100
	maxParamDepth = 32
)

// paramsOf are the marked parameters of a tool that has no bad mark. They are judged where ok is true.
func paramsOf(schema value) (list []param, ok bool) {
	if !bytes.Contains(schema, []byte("x-mcp-header")) {
		return nil, true
	}
	ok = true
	eachMark("", schema, func(at string, property, mark value) {
		steps := strings.Split(at, "/") // "", properties, a name, properties, a name ...
		if len(list) >= maxParams || len(steps) > 2*maxParamDepth {
			ok = false
			return
		}
		text, _ := str(mark)
		p := param{name: "Mcp-Param-" + text, key: "mcp-param-" + strings.ToLower(text)}
		p.kind, _ = str(get(property, "type"))
		for i := 2; i < len(steps); i += 2 {
			p.path = append(p.path, unescape.Replace(steps[i]))
		}
		list = append(list, p)
	})
	return list, ok
}

var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// size is about how much memory it takes.
func (p *param) size() int {
	n := 2*len(p.name) + 64
	for _, step := range p.path {
		n += len(step) + 16
	}
	return n
}

// mirroring is how the headers of a request go with its body.
type mirroring uint8

const (
	uncompared mirroring = iota
	differing            // one is missing, or is not what the body says
	mirrored             // all are as they have to be
	unlisted             // as far as is known: what the tool wants to be repeated is not
)

// mirror compares the headers of a request with its body, by the tools that its client was shown last.
func (t *conversation) mirror(c *call, v *view) {
	if v.repeats || v.serverSays() {
		return
	}
	c.headers = standard(c, v)
	if c.method != wire.MethodToolsCall {
		return
	}
	tool := t.server.tools[c.target]
	if tool == nil || !tool.mirrors || len(tool.params) > 0 && !t.era.listedFor(c) {
		if c.headers == mirrored {
			c.headers = unlisted
		}
		return
	}
	c.tool = tool
	for i := range tool.params {
		p := &tool.params[i]
		detail, different := p.compare(c.arguments, v)
		if detail == "" {
			continue
		}
		v.paramFaults = append(v.paramFaults, fault{path: p.pointer(), detail: detail})
		if different && c.disagree == "" {
			c.disagree = p.key
		}
		if c.headers == mirrored {
			c.headers = differing
		}
	}
}

// standard compares the headers that every request has.
func standard(c *call, v *view) mirroring {
	name, named := v.header("mcp-name")
	switch c.method {
	case wire.MethodToolsCall, wire.MethodPromptsGet, wire.MethodResourcesRead:
	case "server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "completion/complete", "subscriptions/listen":
		if named {
			return uncompared
		}
	default:
		return uncompared // an extension may want other headers
	}
	version, _ := v.header("mcp-protocol-version")
	method, _ := v.header("mcp-method")
	switch {
	case c.version == "":
		return uncompared
	case version != c.version, method != c.method, wire.MayAsk(c.method) && (!named || c.target == "" || !carries(name, c.target)):
		return differing
	}
	return mirrored
}

// carries reports whether a header is a way to write a text.
func carries(header, text string) bool {
	return decoded(header) == text && visible(header) && (header != text || !looksEncoded(text))
}

// visible reports whether a header has only characters that a header may have.
func visible(header string) bool {
	for i := range len(header) {
		if c := header[i]; (c < ' ' || c > '~') && c != '\t' {
			return false
		}
	}
	return true
}

func looksEncoded(text string) bool {
	return strings.HasPrefix(text, "=?base64?") && strings.HasSuffix(text, "?=")
}

func (p *param) pointer() string {
	at := "/params/arguments"
	for _, step := range p.path {
		at += pointer(step)
	}
	return at
}

// compare says what is wrong with the header of a parameter, and whether it says something else than the parameter.
func (p *param) compare(arguments value, v *view) (detail string, different bool) {
	header, sent := v.header(p.key)
	argument := get(arguments, p.path...)
	var equal bool
	switch kind := argument.Kind(); {
	case argument == nil || kind == 'n':
		if sent {
			return "the header " + p.name + " is there, and its parameter has no value", false
		}
		return "", false
	case kind == '"' && p.kind == "string":
		text, _ := str(argument)
		if text == "" && !sent {
			return "", false // many a recorder leaves out headers that are empty
		}
		if sent && !visible(header) {
			return "the header " + p.name + " is not visible ASCII; send it in base64", true
		}
		if sent && header == text && looksEncoded(text) {
			return "the parameter looks like base64, so its header " + p.name + " has to be in base64", false
		}
		equal = decoded(header) == text
	case kind == '0' && p.kind == "integer" && integer(argument):
		if !safe(argument) {
			return "a parameter with the header " + p.name + " is an integer that a double holds exactly", false
		}
		equal = sameNumber(decoded(header), argument)
	case (kind == 't' || kind == 'f') && p.kind == "boolean":
		equal = decoded(header) == string(argument)
	default:
		return "", false // the argument is not of its type, and nobody says how to write it
	}
	switch {
	case !sent:
		return "the header " + p.name + " is missing", true
	case !equal:
		return "the header " + p.name + " says something else than the parameter", true
	}
	return "", false
}

// safe reports whether an integer is from -2^53+1 to 2^53-1.
func safe(v value) bool {
	if len(v) < 16 && !bytes.ContainsAny(v, "eE") {
		return true
	}
	n, ok := number(v)
	return ok && n.IsInt() && n.Num().IsInt64() && n.Num().Int64() > -1<<53 && n.Num().Int64() < 1<<53
}

// sameNumber reports whether a header is a number, however it is spelt.
func sameNumber(header string, v value) bool {
	if header == string(v) {
		return true
	}
	if header == "" || len(header) > 100 || strings.Trim(header, "+-.0123456789eE") != "" {
		return false
	}
	a, aok := number(value(header))
	b, bok := number(v)
	return aok && bok && a.Cmp(b) == 0
}
