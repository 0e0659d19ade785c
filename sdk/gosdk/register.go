// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package gosdk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/reprise-mcp/reprise"
	"github.com/reprise-mcp/reprise/wire"
	"github.com/yosida95/uritemplate/v3"
)

// AddTool registers a tool whose handler may ask. As with mcp.AddTool, In and Out give the schemas, the arguments are
// validated before the handler, and an Out becomes structured content; Out may be *mcp.CallToolResult to make the result by
// hand. An error of the handler is a tool execution error. The error of AddTool is for options that cannot hold, such as
// single use without a ledger; like mcp.AddTool it panics where the schemas are wrong.
func AddTool[In, Out any](a *Adapter, tool *mcp.Tool, o reprise.Options, handler func(context.Context, *reprise.Call, In) (Out, error)) error {
	if err := a.engine.Check(o); err != nil {
		return err
	}
	run := func(ctx context.Context, in In) (any, error) {
		return a.run(ctx, wire.MethodToolsCall, tool.Name, o, func(ctx context.Context, call *reprise.Call) (any, error) {
			return handler(ctx, call, in)
		})
	}
	a.claim(wire.MethodToolsCall, tool.Name)
	tool = withRawSchema[In](tool)
	if _, byHand := any(*new(Out)).(*mcp.CallToolResult); byHand {
		mcp.AddTool(a.server, tool, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
			res, meta, err := resultOf[*mcp.CallToolResult](run(ctx, in))
			if res != nil && meta != nil {
				res.Meta = meta
			}
			return res, nil, err
		})
		return nil
	}
	mcp.AddTool(a.server, tool, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, Out, error) {
		out, meta, err := resultOf[Out](run(ctx, in))
		if meta != nil {
			return &mcp.CallToolResult{Meta: meta}, out, err
		}
		return nil, out, err
	})
	return nil
}

// MetaRecorded is a member of _meta, and true, in a result that was recorded when an earlier request redeemed the flow: this
// request repeated that one, and nothing ran. See [reprise.Options]. The SDK leaves no room for it in the errors of prompts and resources.
const MetaRecorded = "io.github.reprise-mcp/recorded"

// recorded is the JSON of what a handler returned to an earlier request.
type recorded struct{ json.RawMessage }

// resultOf is what the handler returned, with what _meta has to say of it.
func resultOf[T any](out any, err error) (T, mcp.Meta, error) {
	before, ok := out.(recorded)
	if !ok {
		result, _ := out.(T)
		return result, nil, err
	}
	var result T
	if err := json.Unmarshal(before.RawMessage, &result); err != nil {
		return result, nil, fmt.Errorf("the recorded result does not fit any more: %w", err)
	}
	return result, mcp.Meta{MetaRecorded: true}, nil
}

// withRawSchema is tool with its input schema, which is inferred as mcp.AddTool does, in JSON. The SDK marshals the schema for
// every call, to look for headers that repeat an argument, and this is the form in which that costs little.
func withRawSchema[In any](tool *mcp.Tool) *mcp.Tool {
	schema := tool.InputSchema
	if schema == nil {
		in := reflect.TypeFor[In]()
		if in.Kind() == reflect.Pointer {
			in = in.Elem()
		}
		inferred, err := &jsonschema.Schema{Type: "object"}, error(nil)
		if in != reflect.TypeFor[any]() {
			inferred, err = jsonschema.ForType(in, &jsonschema.ForOptions{})
		}
		if err != nil || inferred == nil {
			return tool // mcp.AddTool says what is wrong
		}
		schema = inferred
	}
	raw, err := json.Marshal(schema)
	if err != nil {
		return tool
	}
	t := *tool
	t.InputSchema = json.RawMessage(raw)
	return &t
}

// AddPrompt registers a prompt whose handler may ask. It is called with the prompt's arguments. The error is that of
// [AddTool].
func AddPrompt(a *Adapter, prompt *mcp.Prompt, o reprise.Options, handler func(context.Context, *reprise.Call, map[string]string) (*mcp.GetPromptResult, error)) error {
	if err := a.engine.Check(o); err != nil {
		return err
	}
	a.claim(wire.MethodPromptsGet, prompt.Name)
	a.server.AddPrompt(prompt, func(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		res, meta, err := resultOf[*mcp.GetPromptResult](a.run(ctx, wire.MethodPromptsGet, prompt.Name, o, func(ctx context.Context, call *reprise.Call) (any, error) {
			return handler(ctx, call, req.Params.Arguments)
		}))
		if res != nil && meta != nil {
			res.Meta = meta
		}
		return res, protocol(err)
	})
	return nil
}

// ResourceHandler reads a resource, and may ask first. It is called with the URI.
type ResourceHandler func(ctx context.Context, call *reprise.Call, uri string) (*mcp.ReadResourceResult, error)

// AddResource registers a resource whose handler may ask. The error is that of [AddTool].
func AddResource(a *Adapter, resource *mcp.Resource, o reprise.Options, handler ResourceHandler) error {
	if err := a.engine.Check(o); err != nil {
		return err
	}
	a.claim(wire.MethodResourcesRead, resource.URI)
	a.server.AddResource(resource, a.resource(o, handler))
	return nil
}

// AddResourceTemplate registers a template of resources whose handler may ask. The error is that of [AddTool].
func AddResourceTemplate(a *Adapter, template *mcp.ResourceTemplate, o reprise.Options, handler ResourceHandler) error {
	if err := a.engine.Check(o); err != nil {
		return err
	}
	parsed, err := uritemplate.New(template.URITemplate)
	if err != nil {
		return fmt.Errorf("gosdk: URI template %q: %w", template.URITemplate, err)
	}
	a.mu.Lock()
	a.templates = append(a.templates, parsed.Regexp())
	a.mu.Unlock()
	a.server.AddResourceTemplate(template, a.resource(o, handler))
	return nil
}

func (a *Adapter) resource(o reprise.Options, handler ResourceHandler) mcp.ResourceHandler {
	return func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		res, meta, err := resultOf[*mcp.ReadResourceResult](a.run(ctx, wire.MethodResourcesRead, req.Params.URI, o, func(ctx context.Context, call *reprise.Call) (any, error) {
			return handler(ctx, call, req.Params.URI)
		}))
		if res != nil && meta != nil {
			res.Meta = meta
		}
		return res, protocol(err)
	}
}

// claim keeps [Adapter.Protect] away from a handler that the engine runs already.
func (a *Adapter) claim(method, name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.own[target{method, name}] = true
}

// protocol gives an error of a prompt or resource handler a code; the SDK would send 0.
func protocol(err error) error {
	var rpc *jsonrpc.Error
	if err == nil || errors.As(err, &rpc) {
		return err
	}
	return &jsonrpc.Error{Code: wire.CodeInternalError, Message: err.Error()}
}
