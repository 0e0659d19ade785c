// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

func prompt(content ...mcp.Content) *mcp.GetPromptResult {
	res := &mcp.GetPromptResult{}
	for _, c := range content {
		res.Messages = append(res.Messages, &mcp.PromptMessage{Role: "user", Content: c})
	}
	return res
}

func picture() *mcp.ImageContent {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		panic(err)
	}
	return &mcp.ImageContent{Data: b.Bytes(), MIMEType: "image/png"}
}

// sound is a WAV file without a sample.
func sound() *mcp.AudioContent {
	le := binary.LittleEndian
	b := append([]byte("RIFF"), 36, 0, 0, 0)
	b = append(b, "WAVEfmt "...)
	b = le.AppendUint32(b, 16)   // size of what describes the format
	b = le.AppendUint16(b, 1)    // PCM
	b = le.AppendUint16(b, 1)    // channels
	b = le.AppendUint32(b, 8000) // samples a second
	b = le.AppendUint32(b, 8000) // bytes a second
	b = le.AppendUint16(b, 1)    // bytes a sample
	b = le.AppendUint16(b, 8)    // bits a sample
	b = append(b, "data"...)
	return &mcp.AudioContent{Data: le.AppendUint32(b, 0), MIMEType: "audio/wav"}
}

func embedded(uri string) *mcp.EmbeddedResource {
	return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "an embedded resource"}}
}

func addPlain(server *mcp.Server) {
	type handler = func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error)
	tool := func(name string, schema json.RawMessage, h handler) {
		t := &mcp.Tool{Name: name, Description: "fixture"}
		if schema != nil {
			t.InputSchema = schema
		}
		mcp.AddTool(server, t, func(ctx context.Context, req *mcp.CallToolRequest, _ map[string]any) (*mcp.CallToolResult, any, error) {
			res, err := h(ctx, req)
			return res, nil, err
		})
	}
	fixed := func(content ...mcp.Content) handler {
		return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: content}, nil
		}
	}
	tool("test_simple_text", nil, fixed(&mcp.TextContent{Text: "This is a simple text response for testing."}))
	tool("test_image_content", nil, fixed(picture()))
	tool("test_audio_content", nil, fixed(sound()))
	tool("test_embedded_resource", nil, fixed(embedded("test://embedded-resource")))
	tool("test_multiple_content_types", nil, fixed(&mcp.TextContent{Text: "text"}, picture(), embedded("test://mixed-content-resource")))
	tool("test_error_handling", nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, errors.New("this tool always fails")
	})
	tool("test_tool_with_progress", nil, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		token := req.Params.GetProgressToken()
		for _, done := range []float64{0, 50, 100} {
			if err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: 100}); err != nil {
				return nil, err
			}
		}
		return text(fmt.Sprint(token)), nil
	})
	tool("test_logging_tool", nil, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		//lint:ignore SA1019 deprecated in this revision and still part of it; the suite looks at what a client without a log level gets
		return text("logged"), req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: "a log message"})
	})
	tool("test_trigger_tool_change", nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		tool("test_changing_tool", nil, fixed())
		return text("changed"), nil
	})
	tool("test_trigger_prompt_change", nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		server.AddPrompt(&mcp.Prompt{Name: "test_changing_prompt", Description: "fixture"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return prompt(), nil
		})
		return text("changed"), nil
	})
	tool("test_x_mcp_header", json.RawMessage(`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`),
		fixed(&mcp.TextContent{Text: "header accepted"}))
	tool("json_schema_2020_12_tool", json.RawMessage(`{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"type": "object",
		"$defs": {"address": {"$anchor": "addressDef", "type": "object",
			"properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
		"properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
			"contactMethod": {"type": "string", "enum": ["phone", "email"]}, "phone": {"type": "string"}, "email": {"type": "string"}},
		"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
		"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
		"then": {"required": ["phone"]},
		"else": {"required": ["email"]},
		"additionalProperties": false}`), fixed(&mcp.TextContent{Text: "valid"}))

	resource := func(c mcp.ResourceContents) mcp.ResourceHandler {
		return func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			c := c
			c.URI = req.Params.URI
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{&c}}, nil
		}
	}
	server.AddResource(&mcp.Resource{Name: "text", URI: "test://static-text", MIMEType: "text/plain"},
		resource(mcp.ResourceContents{MIMEType: "text/plain", Text: "a static text"}))
	server.AddResource(&mcp.Resource{Name: "binary", URI: "test://static-binary", MIMEType: "image/png"},
		resource(mcp.ResourceContents{MIMEType: "image/png", Blob: picture().Data}))
	server.AddResourceTemplate(&mcp.ResourceTemplate{Name: "template", URITemplate: "test://template/{id}/data", MIMEType: "application/json"},
		func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(req.Params.URI, "test://template/"), "/data")
			return resource(mcp.ResourceContents{MIMEType: "application/json", Text: fmt.Sprintf(`{"id":%q}`, id)})(nil, req)
		})

	server.AddPrompt(&mcp.Prompt{Name: "test_simple_prompt", Description: "fixture"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return prompt(&mcp.TextContent{Text: "This is a simple prompt for testing."}), nil
	})
	server.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_arguments", Description: "fixture", Arguments: []*mcp.PromptArgument{
		{Name: "arg1", Description: "first", Required: true}, {Name: "arg2", Description: "second", Required: true},
	}}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return prompt(&mcp.TextContent{Text: fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", req.Params.Arguments["arg1"], req.Params.Arguments["arg2"])}), nil
	})
	server.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_embedded_resource", Description: "fixture", Arguments: []*mcp.PromptArgument{
		{Name: "resourceUri", Description: "the resource", Required: true},
	}}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return prompt(embedded(req.Params.Arguments["resourceUri"]), &mcp.TextContent{Text: "Look at the resource."}), nil
	})
	server.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_image", Description: "fixture"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return prompt(picture(), &mcp.TextContent{Text: "Look at the picture."}), nil
	})
}

func complete(_ context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	if req.Params.Ref == nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "ref is missing"}
	}
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}, nil
}
