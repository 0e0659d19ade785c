// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

// Package elicitation is what a server can ask and what counts as an answer:
// forms made from Go structs, the restricted schema that form mode allows, and
// the validation of what a client sent back.
//
// Most servers need one thing from it, a form:
//
//	type Window struct {
//		Region string  `json:"region" title:"Region" enum:"eu=Europe,us=United States"`
//		Hours  int     `json:"hours" minimum:"1" maximum:"8" default:"2"`
//		Note   *string `json:"note" maxLength:"200"` // a pointer: optional
//	}
//
//	var window = elicitation.MustForm[Window]()
//
// A form is built once, when the program starts, and everything that the
// specification does not allow in one is refused there: nested values, a form
// without fields, a form that asks for a password or a card number, a default
// that breaks the form's own rules, a misspelt tag. See [Form] for the tags.
//
// Three rules hold for every answer. Nothing is coerced: "false" is not a
// boolean and 0 is not an absent value. Nothing is filled in: a default seeds
// the client's form and never counts as an answer. And an error says which
// property broke which rule, never what was answered.
//
// Specification: client/elicitation, client/sampling and client/roots of MCP
// revision 2026-07-28.
package elicitation

// A Kind is a kind of question. Its text is the path of the capability that a
// client must declare before it may be asked (client/elicitation,
// Capabilities).
type Kind string

// The kinds of question of revision 2026-07-28.
const (
	FormMode      Kind = "elicitation.form"
	URLMode       Kind = "elicitation.url"
	Sampling      Kind = "sampling"       // deprecated in this revision
	SamplingTools Kind = "sampling.tools" // deprecated in this revision
	Roots         Kind = "roots"          // deprecated in this revision
)

// An Action is what the client reports that its user did with a question
// (client/elicitation, Response Actions). None of the three is an error, and
// the zero value is none of them.
type Action string

// The three actions. Accept proves that the client said so, not that a human
// looked.
const (
	Accept  Action = "accept"
	Decline Action = "decline"
	Cancel  Action = "cancel"
)

// A Question can be asked in a round trip; T is the type of its accepted
// answer. [Form] is one; [NewSampling] and [NewRoots] make the others.
// A Question is immutable and safe for concurrent use.
type Question[T any] interface {
	// Kind says which capability the client must have declared.
	Kind() Kind
	// Method is the method of the input request, such as "elicitation/create".
	Method() string
	// Params returns the JSON params of the input request that shows message
	// to the user.
	Params(message string) ([]byte, error)
	// Identity returns bytes that are equal for two questions exactly when an
	// answer to one is an answer to the other: all of the question but its
	// message.
	Identity() []byte
	// Decode turns one member of inputResponses into a reply. The error is an
	// [*AnswerError] when the response is no valid answer to this question:
	// the right reaction is to ask again.
	Decode(response []byte) (Reply[T], error)
}

// A Reply is a valid answer to a [Question].
type Reply[T any] struct {
	// Action is what the client reported. The answers to sampling and roots
	// have no action of their own: they are an Accept.
	Action Action
	// Content is the answer. It is the zero T unless Action is Accept.
	Content T
}
