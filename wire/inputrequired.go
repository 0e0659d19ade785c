// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"errors"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// An InputRequest is one question of an [InputRequired]: a request without id.
type InputRequest struct {
	Method string         // [MethodElicit], [MethodSample] or [MethodRoots]
	Params jsontext.Value // an object; it may be nil for [MethodRoots] only
}

// InputRequired is the result that ends a call with questions (basic/patterns/mrtr, InputRequiredResult).
type InputRequired struct {
	// Requests are the questions by key. Nil leaves the member out; an empty map that is not nil sends {}.
	Requests map[string]InputRequest
	// State is requestState. Empty leaves it out.
	State string
}

// MarshalJSON writes resultType, inputRequests and requestState and no other member. The questions are in the order of
// their keys, so that equal results have equal bytes. It is an error to have neither questions nor state, or a question
// that the specification does not know.
func (r *InputRequired) MarshalJSON() ([]byte, error) {
	if r.Requests == nil && r.State == "" {
		return nil, errors.New("wire: an input_required result needs questions or a state")
	}
	size := 96 + len(r.State)
	for key, q := range r.Requests {
		size += 64 + len(key) + len(q.Params)
	}
	b := append(make([]byte, 0, size), `{"resultType":"input_required"`...)
	if r.Requests != nil {
		b = append(b, `,"inputRequests":{`...)
		for i, key := range slices.Sorted(maps.Keys(r.Requests)) {
			q := r.Requests[key]
			switch {
			case q.Method != MethodElicit && q.Method != MethodSample && q.Method != MethodRoots:
				return nil, errors.New("wire: an input request of this method may not be embedded")
			case q.Params == nil && q.Method != MethodRoots, q.Params != nil && q.Params.Kind() != '{':
				return nil, errors.New("wire: the params of an input request must be an object")
			}
			if i > 0 {
				b = append(b, ',')
			}
			b = quote(append(quote(b, key), `:{"method":`...), q.Method)
			if q.Params != nil {
				b = append(append(b, `,"params":`...), q.Params...)
			}
			b = append(b, '}')
		}
		b = append(b, '}')
	}
	if r.State != "" {
		b = quote(append(b, `,"requestState":`...), r.State)
	}
	return valid(append(b, '}'))
}
