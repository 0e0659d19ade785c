// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package elicitation

import (
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

// ParseResult reads the client's answer to an elicitation: one member of
// inputResponses that should be an ElicitResult (client/elicitation, Response
// Actions). It returns the action and, for [Accept] only, the content as it
// stands in the response: a JSON object, or nil where it is absent or null,
// which clients send for a form that was submitted empty. [Schema.Validate]
// judges it. The content of a [Decline] or [Cancel] is not looked at.
//
// Member names and actions are exact. Members other than "action" and
// "content" are ignored, but one that differs from them by letter case only is
// refused, as are duplicate members at any depth, invalid UTF-8 and lone
// surrogates. The error is an [*AnswerError].
func ParseResult(response []byte) (Action, []byte, error) {
	action, content, err := parseResult(response)
	if err != nil || action != Accept {
		return action, nil, err
	}
	switch content.Kind() {
	case jsontext.KindInvalid, jsontext.KindNull:
		return Accept, nil, nil
	case jsontext.KindBeginObject:
		return Accept, content, nil
	}
	return "", nil, answerError(RuleType, "content to be an object")
}

// parseResult leaves the content to its caller: in URL mode there is none to
// judge, and one that is sent all the same must not spoil the answer.
func parseResult(response []byte) (Action, jsontext.Value, error) {
	var action, content jsontext.Value
	err := readObject(response, func(name []byte, value jsontext.Value) error {
		switch {
		case string(name) == "action":
			action = value
		case string(name) == "content":
			content = value
		case foldsTo(name, "action", "content"):
			return errMisspelt
		}
		return nil
	})
	if err != nil {
		return "", nil, malformed(err)
	}
	text, _ := readString(action)
	switch a := Action(text); a {
	case Accept, Decline, Cancel:
		return a, content, nil
	}
	return "", nil, answerError(RuleAction, `an "action" that is accept, decline or cancel`)
}

var errMisspelt = errors.New("member name in another letter case")

// malformed leaves out what the decoder says: it may quote the answer.
func malformed(err error) *AnswerError {
	switch {
	case errors.Is(err, errNotObject):
		return answerError(RuleType, "a JSON object")
	case errors.Is(err, errMisspelt):
		return answerError(RuleJSON, "member names in their exact letter case")
	case errors.Is(err, jsontext.ErrDuplicateName):
		return answerError(RuleJSON, "no member name twice in one object")
	}
	return answerError(RuleJSON, "one well-formed JSON value in UTF-8")
}
