// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Params are the params of one request, as far as multi round-trip requests need them.
type Params struct {
	// Target is the name of the tool or prompt, or the URI of the resource. It is empty for other methods.
	Target string
	// Arguments is the raw object of tools/call and prompts/get, nil when absent.
	Arguments jsontext.Value
	// Version and Capabilities are what the client declared in _meta of this request.
	Version      string
	Capabilities Capabilities
	// InputResponses are the answers, nil when the member is absent. They were not checked against any question.
	InputResponses InputResponses
	// RequestState is nil when the member is absent. It is attacker-controlled input.
	RequestState *string
}

// ParseParams reads the params of a request of revision 2026-07-28. Its errors are of type [*Error] with
// [CodeInvalidParams]: a required member (of _meta, too) is missing, or a member has the wrong type, null included.
// Methods that may not ask ([MayAsk]) have no target, arguments, answers and state: those members are ignored there.
func ParseParams(method string, raw jsontext.Value) (*Params, error) {
	if len(raw) == 0 {
		return parseParams(method, nil)
	}
	value, err := check(raw)
	if err != nil {
		return nil, protocolError(err, CodeInvalidParams)
	}
	return parseParams(method, value)
}

// ParseParams is [ParseParams] of m's method and params. It does not check JSON again that [Parse] checked already.
func (m *Message) ParseParams() (*Params, error) {
	if n := len(m.Params); n > 0 && n == len(m.checked) && &m.Params[0] == &m.checked[0] {
		return parseParams(m.Method, m.Params)
	}
	return ParseParams(m.Method, m.Params)
}

func parseParams(method string, value jsontext.Value) (*Params, error) {
	if value == nil {
		return nil, invalid(`"params" is missing; "_meta" is required on every request`)
	}
	if err := object(value, CodeInvalidParams, "params"); err != nil {
		return nil, err
	}
	var (
		p                  = &Params{}
		target             = "name"
		hasTarget, hasMeta bool
	)
	if method == MethodResourcesRead {
		target = "uri"
	}
	err := each(value, func(name []byte, value jsontext.Value) error {
		if string(name) == "_meta" {
			hasMeta = true
			return p.parseMeta(value)
		}
		if !MayAsk(method) {
			return lookalike(name, CodeInvalidParams, "_meta")
		}
		switch string(name) {
		case target:
			hasTarget = true
			return text(&p.Target, value, CodeInvalidParams, target)
		case "arguments":
			if method == MethodResourcesRead {
				return nil
			}
			p.Arguments = value
			return object(value, CodeInvalidParams, "arguments")
		case "inputResponses":
			p.InputResponses = InputResponses{}
			return p.InputResponses.parse(value)
		case "requestState":
			p.RequestState = new(string)
			return text(p.RequestState, value, CodeInvalidParams, "requestState")
		}
		return lookalike(name, CodeInvalidParams, target, "arguments", "inputResponses", "requestState", "_meta")
	})
	switch {
	case err != nil:
		return nil, protocolError(err, CodeInvalidParams)
	case !hasMeta:
		return nil, invalid(`"_meta" is required on every request`)
	case MayAsk(method) && !hasTarget:
		return nil, invalid(`"` + target + `" is missing`)
	}
	return p, nil
}

func (p *Params) parseMeta(value jsontext.Value) error {
	if err := object(value, CodeInvalidParams, "_meta"); err != nil {
		return err
	}
	var hasVersion, hasCapabilities bool
	err := each(value, func(name []byte, value jsontext.Value) (err error) {
		switch string(name) {
		case MetaVersion:
			hasVersion = true
			return text(&p.Version, value, CodeInvalidParams, MetaVersion)
		case MetaCapabilities:
			hasCapabilities = true
			return p.Capabilities.parse(value)
		}
		return lookalike(name, CodeInvalidParams, MetaVersion, MetaCapabilities)
	})
	switch {
	case err != nil:
		return err
	case !hasVersion:
		return invalid(`"` + MetaVersion + `" is required in "_meta"`)
	case !hasCapabilities:
		return invalid(`"` + MetaCapabilities + `" is required in "_meta"; {} declares none`)
	}
	return nil
}

// InputResponses are the client's answers by the key of their question, each as the raw JSON that came. Whether one is an
// answer at all, even whether it is an object, is for whoever knows the question: an unusable value is a missing answer,
// and keys that nobody asked for are ignored (basic/patterns/mrtr, Error Handling).
type InputResponses map[string]jsontext.Value

// ParseInputResponses reads inputResponses. The error, of type [*Error] with [CodeInvalidParams], is for what is not one
// object: null is not, and {} is.
func ParseInputResponses(raw jsontext.Value) (InputResponses, error) {
	value, err := check(raw)
	if err != nil {
		return nil, protocolError(err, CodeInvalidParams)
	}
	responses := InputResponses{}
	if err := responses.parse(value); err != nil {
		return nil, err
	}
	return responses, nil
}

func (r InputResponses) parse(value jsontext.Value) error {
	if err := object(value, CodeInvalidParams, "inputResponses"); err != nil {
		return err
	}
	return each(value, func(key []byte, value jsontext.Value) error {
		r[string(key)] = value
		return nil
	})
}

// MarshalJSON writes the answers in the order of their keys; nil is {}.
func (r InputResponses) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, key := range slices.Sorted(maps.Keys(r)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(quote(b, key), ':'), r[key]...)
	}
	return valid(append(b, '}'))
}

func invalid(reason string) *Error {
	return &Error{Code: CodeInvalidParams, Message: "invalid params: " + reason}
}
