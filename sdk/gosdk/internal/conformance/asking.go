// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/reprise-mcp/reprise"
	"github.com/reprise-mcp/reprise/elicitation"
	"github.com/reprise-mcp/reprise/sdk/gosdk"
)

type nothing struct{}

type name struct {
	Name string `json:"name"`
}

type situation struct {
	Context string `json:"context"`
}

type consent struct {
	OK bool `json:"ok"`
}

var (
	nameForm      = elicitation.MustForm[name]()
	situationForm = elicitation.MustForm[situation]()
	consentForm   = elicitation.MustForm[consent]()
	rootsList     = elicitation.NewRoots()
	capital       = mustSampling("What is the capital of France?")
)

func mustSampling(text string) elicitation.Question[elicitation.SamplingResult] {
	q, err := elicitation.NewSampling(elicitation.SamplingRequest{
		Messages:  []elicitation.SamplingMessage{{Role: "user", Content: []elicitation.Content{elicitation.TextContent(text)}}},
		MaxTokens: 100,
	})
	if err != nil {
		panic(err)
	}
	return q
}

type handlerFunc = func(context.Context, *reprise.Call) (string, error)

func addAsking(a *gosdk.Adapter) error {
	tool := func(name string, o reprise.Options, h handlerFunc) error {
		return gosdk.AddTool(a, &mcp.Tool{Name: name, Description: "asks before it answers"}, o,
			func(ctx context.Context, call *reprise.Call, _ nothing) (*mcp.CallToolResult, error) {
				said, err := h(ctx, call)
				if err != nil {
					return nil, err
				}
				return text(said), nil
			})
	}
	return errors.Join(
		// The suite answers some of its questions without having been asked, which only this option believes.
		tool("test_input_required_result_elicitation", reprise.Options{Unsolicited: true}, askName),
		tool("test_streaming_elicitation", reprise.Options{}, askName),
		tool("test_input_required_result_sampling", reprise.Options{}, askCapital),
		tool("test_missing_capability", reprise.Options{Asks: []elicitation.Kind{elicitation.Sampling}}, askCapital),
		tool("test_input_required_result_list_roots", reprise.Options{}, askRoots),
		tool("test_input_required_result_request_state", reprise.Options{}, askConsent),
		tool("test_input_required_result_tampered_state", reprise.Options{ProtocolErrors: true}, askConsent),
		tool("test_input_required_result_multiple_inputs", reprise.Options{}, askAll),
		tool("test_input_required_result_multi_round", reprise.Options{}, askTwice),
		tool("test_input_required_result_capabilities", reprise.Options{}, askWhatCanBeAnswered),
		gosdk.AddPrompt(a, &mcp.Prompt{Name: "test_input_required_result_prompt", Description: "asks what it is about"}, reprise.Options{},
			func(ctx context.Context, call *reprise.Call, _ map[string]string) (*mcp.GetPromptResult, error) {
				answer, err := reprise.Ask(ctx, call, "user_input", situationForm, "What is it about?")
				if err != nil {
					return nil, err
				}
				about, _ := answer.Accepted()
				return prompt(&mcp.TextContent{Text: about.Context}), nil
			}),
	)
}

func askName(ctx context.Context, call *reprise.Call) (string, error) {
	answer, err := reprise.Ask(ctx, call, "user_name", nameForm, "What is your name?")
	if err != nil {
		return "", err
	}
	who, ok := answer.Accepted()
	if !ok {
		return "Hello, whoever you are.", nil
	}
	return fmt.Sprintf("Hello, %s!", who.Name), nil
}

func askCapital(ctx context.Context, call *reprise.Call) (string, error) {
	answer, err := reprise.Ask(ctx, call, "capital_question", capital, "")
	if err != nil {
		return "", err
	}
	said, _ := answer.Accepted()
	return said.Text(), nil
}

func askRoots(ctx context.Context, call *reprise.Call) (string, error) {
	answer, err := reprise.Ask(ctx, call, "client_roots", rootsList, "")
	if err != nil {
		return "", err
	}
	roots, _ := answer.Accepted()
	return fmt.Sprintf("%d roots", len(roots)), nil
}

func askConsent(ctx context.Context, call *reprise.Call) (string, error) {
	answer, err := reprise.Ask(ctx, call, "confirm", consentForm, "Is that all right?")
	if err != nil {
		return "", err
	}
	if given, ok := answer.Accepted(); !ok || !given.OK {
		return "refused", nil
	}
	return "state-ok", nil
}

func askAll(ctx context.Context, call *reprise.Call) (string, error) {
	round := call.Round()
	who := reprise.Add(round, "user_name", nameForm, "What is your name?")
	city := reprise.Add(round, "capital_question", capital, "")
	dirs := reprise.Add(round, "client_roots", rootsList, "")
	if err := round.Ask(ctx); err != nil {
		return "", err
	}
	person, _ := who.Accepted()
	said, _ := city.Accepted()
	roots, _ := dirs.Accepted()
	return fmt.Sprintf("%s, %s, %d roots", person.Name, said.Text(), len(roots)), nil
}

type colour struct {
	Colour string `json:"color" enum:"red,green,blue"`
}

var colourForm = elicitation.MustForm[colour]()

func askTwice(ctx context.Context, call *reprise.Call) (string, error) {
	first, err := reprise.Ask(ctx, call, "step1", nameForm, "Step 1: what is your name?")
	if err != nil {
		return "", err
	}
	second, err := reprise.Ask(ctx, call, "step2", colourForm, "Step 2: which colour do you like?")
	if err != nil {
		return "", err
	}
	who, _ := first.Accepted()
	likes, _ := second.Accepted()
	return fmt.Sprintf("%s likes %s", who.Name, likes.Colour), nil
}

func askWhatCanBeAnswered(ctx context.Context, call *reprise.Call) (string, error) {
	if call.Can(elicitation.FormMode) {
		return askName(ctx, call)
	}
	return askCapital(ctx, call)
}
