// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package elicitation_test

import (
	"errors"
	"fmt"

	"github.com/reprise-mcp/reprise/elicitation"
)

// A form is made from a struct when the program starts.
func ExampleNewForm() {
	type Window struct {
		Region string  `json:"region" title:"Region" enum:"eu=Europe,us=United States"`
		Hours  int     `json:"hours" minimum:"1" maximum:"8" default:"2"`
		Note   *string `json:"note" maxLength:"200"`
	}
	form, err := elicitation.NewForm[Window]()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", form.Schema().JSON())

	reply, err := form.Decode([]byte(`{"action":"accept","content":{"region":"eu","hours":3}}`))
	fmt.Println(reply.Action, reply.Content.Region, reply.Content.Hours, reply.Content.Note == nil, err)
	// Output:
	// {"type":"object","properties":{"region":{"type":"string","title":"Region","oneOf":[{"const":"eu","title":"Europe"},{"const":"us","title":"United States"}]},"hours":{"type":"integer","minimum":1,"maximum":8,"default":2},"note":{"type":"string","maxLength":200}},"required":["region","hours"]}
	// accept eu 3 true <nil>
}

// What the specification forbids in a form is refused before anybody is asked.
func ExampleNewForm_refused() {
	type Login struct {
		User     string `json:"user"`
		Password string `json:"password"`
	}
	_, err := elicitation.NewForm[Login]()
	fmt.Println(err)
	// Output:
	// elicitation: form field Password: a form may not ask for a secret (password), because its answers pass through the client: ask in URL mode, on a page of your own (client/elicitation, URL Mode)
}

// An invalid answer names every rule that it broke and holds none of its values.
func ExampleSchema_Validate() {
	schema, err := elicitation.ParseSchema([]byte(`{
		"type": "object",
		"properties": {
			"decision": {"type": "string", "enum": ["go", "stop"]},
			"note": {"type": "string", "maxLength": 20}
		},
		"required": ["decision"]
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	err = schema.Validate([]byte(`{"note": 7}`))
	if wrong, ok := errors.AsType[*elicitation.AnswerError](err); ok {
		for _, v := range wrong.Violations {
			fmt.Println(v.Rule, "|", v)
		}
	}
	fmt.Println(schema.Validate([]byte(`{"decision": "go"}`)))
	// Output:
	// required | decision: want a value, and there is none
	// type | note: want a string
	// <nil>
}

// Decline and cancel are answers too; what is no answer at all is an error.
func ExampleParseResult() {
	for _, response := range []string{
		`{"action":"accept","content":{"decision":"go"}}`,
		`{"action":"accept"}`,
		`{"action":"decline","content":{"decision":"go"}}`,
		`{"action":"ACCEPT","content":{"decision":"go"}}`,
	} {
		action, content, err := elicitation.ParseResult([]byte(response))
		fmt.Printf("%q %q %v\n", action, content, err)
	}
	// Output:
	// "accept" "{\"decision\":\"go\"}" <nil>
	// "accept" "" <nil>
	// "decline" "" <nil>
	// "" "" elicitation: not a valid answer, ask again: want an "action" that is accept, decline or cancel
}

// What a form cannot ask for is refused, with what to do instead.
func ExampleParseSchema() {
	_, err := elicitation.ParseSchema([]byte(`{"type": "object", "properties": {
		"address": {"type": "object"}
	}}`))
	if wrong, ok := errors.AsType[*elicitation.SchemaError](err); ok {
		fmt.Println(wrong.Property, "|", wrong.Reason)
	}
	// Output:
	// address | the type "object" is not allowed: a form is flat, its values are strings, numbers, integers, booleans and choices
}

// A default is what the user finds in the form at first. It answers nothing.
func ExampleForm_Decode() {
	type Consent struct {
		Force bool `json:"force" default:"true"`
	}
	form := elicitation.MustForm[Consent]()

	_, err := form.Decode([]byte(`{"action":"accept","content":{}}`))
	fmt.Println(err)
	reply, err := form.Decode([]byte(`{"action":"decline"}`))
	fmt.Println(reply.Action, reply.Content.Force, err)
	// Output:
	// elicitation: not a valid answer, ask again: force: want a value, and there is none
	// decline false <nil>
}

func ExampleNewRoots() {
	reply, err := elicitation.NewRoots().Decode([]byte(`{"roots":[{"uri":"file:///home/alice/site","name":"Site"}]}`))
	for _, root := range reply.Content {
		fmt.Println(root.URI, root.Name, err)
	}
	// Output:
	// file:///home/alice/site Site <nil>
}

// The prompt of a call is the message that a sampling question is asked with.
func ExampleNewSampling() {
	summary, err := elicitation.NewSampling(elicitation.SamplingRequest{
		SystemPrompt: "Answer in one sentence.",
		MaxTokens:    100,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	params, err := summary.Params("What changed in this release?")
	fmt.Println(string(params), err)
	// Output:
	// {"messages":[{"role":"user","content":{"type":"text","text":"What changed in this release?"}}],"maxTokens":100,"systemPrompt":"Answer in one sentence."} <nil>
}
