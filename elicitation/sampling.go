// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package elicitation

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// A SamplingRequest asks the client's language model for a message
// (client/sampling). Only MaxTokens must be set. The prompt of one call is the
// message that the question is asked with: it becomes the last user message.
//
// Sampling is deprecated in revision 2026-07-28: new servers call a model
// provider themselves. The includeContext member is not offered, because its
// only meaningful values are deprecated on their own account.
type SamplingRequest struct {
	// Messages come before the prompt. They may be empty, and they may be
	// everything if the question is asked with an empty message.
	Messages []SamplingMessage
	// SystemPrompt is a wish that the client may change or ignore.
	SystemPrompt string
	// MaxTokens bounds the answer, in tokens. It must be above zero.
	MaxTokens int
	// Temperature is left to the client where nil.
	Temperature *float64
	// StopSequences end the answer where one of them occurs.
	StopSequences []string
	// Preferences guide the client's choice of a model.
	Preferences ModelPreferences
	// Metadata is passed through to the model's provider: a JSON object, or nil.
	Metadata jsontext.Value
	// Tools the model may call, each the JSON object of a tool definition.
	// With any, the question's kind is SamplingTools.
	Tools []jsontext.Value
	// ToolChoice is auto, required, none or empty, which means auto. It needs
	// Tools.
	ToolChoice string
}

// ModelPreferences are advice (client/sampling, Model Preferences). The zero
// value has none.
type ModelPreferences struct {
	// Hints are parts of model names, the most wanted first.
	Hints []string
	// The priorities lie between 0 and 1; nil says nothing.
	Cost, Speed, Intelligence *float64
}

// A SamplingMessage is one message of a conversation with a model.
type SamplingMessage struct {
	Role    string    // user or assistant
	Content []Content // at least one block
}

// Content is one block of a message (client/sampling, Data Types).
type Content struct {
	// Type is text, image, audio, tool_use or tool_result.
	Type string
	// Text is the text of a text block.
	Text string
	// JSON is the whole block as an object. It may stay empty in a text block
	// that is sent; every block that was received has it.
	JSON jsontext.Value
}

// TextContent returns a text block.
func TextContent(text string) Content { return Content{Type: "text", Text: text} }

// A SamplingResult is the message that the client's model gave and its user
// let through (client/sampling, Result Fields). It is somebody else's text:
// judge it, do not obey it.
type SamplingResult struct {
	Role       string    // user or assistant
	Content    []Content // may be empty
	Model      string    // the model's name as the client reported it
	StopReason string    // endTurn, stopSequence, maxTokens, toolUse, any other text, or empty
}

// Text returns the text blocks, joined.
func (r SamplingResult) Text() string {
	var b strings.Builder
	for _, c := range r.Content {
		b.WriteString(c.Text)
	}
	return b.String()
}

type sampling struct {
	kind     Kind
	messages []string // rendered, without the prompt
	rest     string   // the other members, rendered
}

// NewSampling returns the question that makes request. Everything in it that
// the specification forbids is refused here; the request is copied.
func NewSampling(request SamplingRequest) (Question[SamplingResult], error) {
	s := &sampling{kind: Sampling}
	var uses []string // tool calls of the last assistant message, to be answered next
	for i, m := range request.Messages {
		rendered, calls, results, err := m.render()
		if err != nil {
			return nil, fmt.Errorf("elicitation: sampling message %d: %w", i, err)
		}
		if len(uses)+len(results) > 0 && (m.Role != "user" || !sameIDs(uses, results)) {
			return nil, fmt.Errorf("elicitation: sampling message %d: every tool_use must be answered in the next message, a user message that holds exactly its tool_results", i)
		}
		uses = calls
		s.messages = append(s.messages, rendered)
	}
	if len(uses) > 0 {
		return nil, errors.New("elicitation: the last sampling message holds a tool_use that nothing answers")
	}
	if err := s.renderRest(request); err != nil {
		return nil, fmt.Errorf("elicitation: sampling: %w", err)
	}
	return s, nil
}

func sameIDs(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func (s *sampling) Kind() Kind     { return s.kind }
func (s *sampling) Method() string { return "sampling/createMessage" }

func (s *sampling) Params(message string) ([]byte, error) {
	if !utf8.ValidString(message) {
		return nil, errMessage
	}
	messages := s.messages
	if message != "" {
		prompt := `{"role":"user","content":` + renderText(message) + `}`
		messages = append(slices.Clip(messages), prompt)
	}
	if len(messages) == 0 {
		return nil, errors.New("elicitation: sampling needs a prompt: ask it with a message, or give it Messages")
	}
	return []byte(`{"messages":[` + strings.Join(messages, ",") + `]` + s.rest + `}`), nil
}

func (s *sampling) Identity() []byte {
	return []byte(string(s.kind) + "\n[" + strings.Join(s.messages, ",") + "]" + s.rest)
}

func (s *sampling) Decode(response []byte) (Reply[SamplingResult], error) {
	none := Reply[SamplingResult]{}
	m, err := readMembers(response, "role", "content", "model", "stopReason")
	if err != nil {
		return none, malformed(err)
	}
	var r SamplingResult
	var ok bool
	if r.Role, ok = readString(m["role"]); !ok || r.Role != "user" && r.Role != "assistant" {
		return none, answerError(RuleEnum, `a "role" that is user or assistant`)
	}
	if r.Model, ok = readString(m["model"]); !ok {
		return none, answerError(RuleRequired, `the name of the "model"`)
	}
	if m["stopReason"] != nil {
		if r.StopReason, ok = readString(m["stopReason"]); !ok {
			return none, answerError(RuleType, `a "stopReason" that is a string`)
		}
	}
	blocks, ok := readArray(m["content"])
	if !ok {
		blocks = []jsontext.Value{m["content"]}
	}
	for _, b := range blocks {
		c, _, ok := parseContent(b)
		if !ok {
			return none, answerError(RuleType, `"content" to be one block, or a list of blocks, of a known type and complete`)
		}
		r.Content = append(r.Content, c)
	}
	return Reply[SamplingResult]{Action: Accept, Content: r}, nil
}

// render returns the message as JSON, with the ids of the tool calls in it and
// of those that it answers.
func (m SamplingMessage) render() (text string, calls, results []string, err error) {
	if m.Role != "user" && m.Role != "assistant" {
		return "", nil, nil, errors.New("its role must be user or assistant")
	}
	var blocks []string
	for _, c := range m.Content {
		block := []byte(c.JSON)
		if len(block) == 0 && c.Type == "text" && utf8.ValidString(c.Text) {
			block = []byte(renderText(c.Text))
		}
		parsed, id, ok := parseContent(block)
		if !ok || parsed.Type != c.Type {
			return "", nil, nil, fmt.Errorf("it holds a block that is not complete %q content", c.Type)
		}
		switch {
		case c.Type == "tool_use" && m.Role == "assistant":
			calls = append(calls, id)
		case c.Type == "tool_result" && m.Role == "user":
			results = append(results, id)
		case c.Type == "tool_use" || c.Type == "tool_result":
			return "", nil, nil, fmt.Errorf("a message of the %s cannot hold a %s", m.Role, c.Type)
		}
		compact, err := jsontext.AppendFormat(nil, block)
		if err != nil {
			return "", nil, nil, err
		}
		blocks = append(blocks, string(compact))
	}
	if len(results) > 0 && len(results) != len(blocks) {
		return "", nil, nil, errors.New("tool results stand with other content in one message")
	}
	content := "[" + strings.Join(blocks, ",") + "]"
	switch len(blocks) {
	case 0:
		return "", nil, nil, errors.New("it has no content")
	case 1:
		content = blocks[0]
	}
	return `{"role":"` + m.Role + `","content":` + content + `}`, calls, results, nil
}

func renderText(text string) string {
	return string(append(appendQuote([]byte(`{"type":"text","text":`), text), '}'))
}

// parseContent reads one block and the id of the tool call in it, if it is
// about one. It checks the members that schema.json requires.
func parseContent(block jsontext.Value) (c Content, id string, ok bool) {
	m, err := readMembers(block, "type", "text", "data", "mimeType", "id", "name", "input", "toolUseId", "content")
	if err != nil {
		return c, "", false
	}
	text := func(name string) string {
		s, isString := readString(m[name])
		ok = ok && isString
		return s
	}
	ok = true
	c.Type = text("type")
	c.JSON = slices.Clone(block)
	switch c.Type {
	case "text":
		c.Text = text("text")
	case "image", "audio":
		text("mimeType")
		_, err := base64.StdEncoding.DecodeString(text("data"))
		ok = ok && err == nil
	case "tool_use":
		id = text("id")
		text("name")
		ok = ok && m["input"].Kind() == jsontext.KindBeginObject
	case "tool_result":
		id = text("toolUseId")
		ok = ok && m["content"].Kind() == jsontext.KindBeginArray
	default:
		ok = false
	}
	return c, id, ok
}

// renderRest renders what stands behind the messages.
func (s *sampling) renderRest(r SamplingRequest) error {
	if r.MaxTokens <= 0 {
		return errors.New("MaxTokens must be above zero")
	}
	b := fmt.Appendf(nil, `,"maxTokens":%d`, r.MaxTokens)
	for _, text := range slices.Concat([]string{r.SystemPrompt}, r.StopSequences, r.Preferences.Hints) {
		if !utf8.ValidString(text) {
			return errors.New("its texts must be valid UTF-8")
		}
	}
	if r.SystemPrompt != "" {
		b = appendQuote(append(b, `,"systemPrompt":`...), r.SystemPrompt)
	}
	if t := r.Temperature; t != nil {
		if math.IsNaN(*t) || math.IsInf(*t, 0) {
			return errors.New("the Temperature must be a finite number")
		}
		b = jsontext.AppendFloat(append(b, `,"temperature":`...), *t, 64)
	}
	if len(r.StopSequences) > 0 {
		b = append(b, `,"stopSequences":[`...)
		b = append(appendList(b, r.StopSequences, appendQuote), ']')
	}
	b, err := r.Preferences.append(b)
	if err != nil {
		return err
	}
	if r.Metadata != nil {
		if b, err = appendObject(append(b, `,"metadata":`...), r.Metadata); err != nil {
			return fmt.Errorf("in Metadata: %w", err)
		}
	}
	if len(r.Tools) > 0 {
		s.kind = SamplingTools
		b = append(b, `,"tools":[`...)
		b = appendList(b, r.Tools, func(b []byte, tool jsontext.Value) []byte {
			m, errTool := readMembers(tool, "name", "inputSchema")
			name, _ := readString(m["name"])
			if errTool != nil || name == "" || m["inputSchema"].Kind() != jsontext.KindBeginObject {
				err = errors.New("each of Tools must be an object with a name and an inputSchema")
				return b
			}
			b, _ = appendObject(b, tool)
			return b
		})
		b = append(b, ']')
	}
	switch r.ToolChoice {
	case "":
	case "auto", "required", "none":
		if len(r.Tools) == 0 {
			return errors.New("ToolChoice needs Tools")
		}
		b = fmt.Appendf(b, `,"toolChoice":{"mode":"%s"}`, r.ToolChoice)
	default:
		return errors.New("ToolChoice must be auto, required, none or empty")
	}
	s.rest = string(b)
	return err
}

func (p ModelPreferences) append(b []byte) ([]byte, error) {
	var members []string
	if len(p.Hints) > 0 {
		hints := appendList(nil, p.Hints, func(b []byte, hint string) []byte {
			return append(appendQuote(append(b, `{"name":`...), hint), '}')
		})
		members = append(members, `"hints":[`+string(hints)+`]`)
	}
	for _, priority := range []struct {
		name  string
		value *float64
	}{{"costPriority", p.Cost}, {"speedPriority", p.Speed}, {"intelligencePriority", p.Intelligence}} {
		if priority.value == nil {
			continue
		}
		if !(*priority.value >= 0 && *priority.value <= 1) {
			return nil, errors.New("the priorities of a model lie between 0 and 1")
		}
		value := jsontext.AppendFloat(nil, *priority.value, 64)
		members = append(members, `"`+priority.name+`":`+string(value))
	}
	if len(members) == 0 {
		return b, nil
	}
	return append(b, `,"modelPreferences":{`+strings.Join(members, ",")+`}`...), nil
}

func appendList[T any](b []byte, list []T, one func([]byte, T) []byte) []byte {
	for i, e := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(b, e)
	}
	return b
}

func appendObject(b []byte, object jsontext.Value) ([]byte, error) {
	if object.Kind() != jsontext.KindBeginObject || !object.IsValid() {
		return nil, errors.New("it must be a JSON object, with no member name twice")
	}
	return jsontext.AppendFormat(b, object)
}
