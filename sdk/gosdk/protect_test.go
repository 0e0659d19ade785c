// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package gosdk

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/reprise-mcp/reprise"
	"github.com/reprise-mcp/reprise/requeststate"
)

// trusting has handlers as they are written against the SDK alone: they believe their state and their answers.
type trusting struct {
	service *service
	got     []string // state and answers that reached them
}

func (h *trusting) step(state string, answers mcp.InputResponseMap) (mcp.InputRequestMap, string) {
	h.service.runs.Add(1)
	text, err := json.Marshal(answers)
	if err != nil {
		panic(err)
	}
	h.got = append(h.got, fmt.Sprintf("%q %s", state, text))
	if answers == nil && state == "" {
		return mcp.InputRequestMap{"q": form()}, "what I need later"
	}
	h.service.deeds.Add(1)
	return nil, ""
}

func (h *trusting) register(server *mcp.Server) {
	mcp.AddTool(server, &mcp.Tool{Name: "t"}, func(_ context.Context, req *mcp.CallToolRequest, _ map[string]any) (*mcp.CallToolResult, any, error) {
		requests, state := h.step(req.Params.RequestState, req.Params.InputResponses)
		return &mcp.CallToolResult{InputRequests: requests, RequestState: state, Content: []mcp.Content{}}, nil, nil
	})
	server.AddPrompt(&mcp.Prompt{Name: "notes"}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		requests, state := h.step(req.Params.RequestState, req.Params.InputResponses)
		return &mcp.GetPromptResult{InputRequests: requests, RequestState: state}, nil
	})
	server.AddResource(&mcp.Resource{Name: "log", URI: "release://log"}, func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		requests, state := h.step(req.Params.RequestState, req.Params.InputResponses)
		res := &mcp.ReadResourceResult{InputRequests: requests, RequestState: state}
		if requests == nil {
			res.Contents = []*mcp.ResourceContents{{URI: req.Params.URI, Text: "log"}}
		}
		return res, nil
	})
}

func protected(t testing.TB, h *trusting, o reprise.Options, names ...string) *service {
	t.Helper()
	s := &service{server: mcp.NewServer(&mcp.Implementation{Name: "trusting", Version: "1"}, nil), log: &syncBuffer{}}
	h.service = s
	h.register(s.server)
	var err error
	if s.adapter, err = New(s.server, Config{Engine: engineFor(t, requeststate.AES256GCM, s.log), Identity: Anonymous()}); err != nil {
		t.Fatal(err)
	}
	if err := s.adapter.Protect(o, names...); err != nil {
		t.Fatal(err)
	}
	s.http = NewHTTPHandler(s.server, nil)
	return s
}

func answerQ(params, state, answer string) string {
	return fmt.Sprintf(`%s,"requestState":%q,"inputResponses":{"q":%s,"other":{"action":"accept"}}`, params, state, answer)
}

func TestProtectHandlersOfTheSDK(t *testing.T) {
	for _, kind := range []struct{ method, params string }{
		{"tools/call", `"name":"t","arguments":{"a":1}`}, {"prompts/get", `"name":"notes"`}, {"resources/read", `"uri":"release://log"`},
	} {
		t.Run(kind.method, func(t *testing.T) {
			h := &trusting{}
			s := protected(t, h, reprise.Options{})
			asked := event(t, post(s.http, request(kind.method, forms, kind.params)))
			token := state(t, asked)
			if strings.Contains(token, "what I need later") {
				t.Error("the handler's state went out as it was")
			}
			refused := func(r reply, says string) {
				t.Helper()
				text := fmt.Sprintf("%s %+v", r.Result, r.Error)
				if !strings.Contains(text, says) || r.Error == nil && string(r.Result["isError"]) != "true" {
					t.Errorf("want a refusal that says %q, got %s", says, text)
				}
			}
			// Forged, of another call, invalid: the handler does not hear of it.
			refused(event(t, post(s.http, request(kind.method, forms, answerQ(kind.params, token[:len(token)-1]+"!", `{"action":"accept","content":{"a":"ok"}}`)))), "could not be verified")
			if kind.method == "tools/call" {
				refused(event(t, post(s.http, request(kind.method, forms, answerQ(`"name":"t","arguments":{"a":2}`, token, `{"action":"accept","content":{"a":"ok"}}`)))), "another request")
			}
			again := event(t, post(s.http, request(kind.method, forms, answerQ(kind.params, token, `{"action":"accept","content":{"a":"long"}}`))))
			state(t, again)
			if s.runs.Load() != 1 || s.deeds.Load() != 0 {
				t.Fatalf("%d runs, %d deeds", s.runs.Load(), s.deeds.Load())
			}
			got := event(t, post(s.http, request(kind.method, forms, answerQ(kind.params, token, `{"action":"accept","content":{"a":"ok"}}`))))
			if got.Error != nil || string(got.Result["resultType"]) != `"complete"` || s.deeds.Load() != 1 {
				t.Errorf("%s, %+v", got.Result, got.Error)
			}
			if want := `"what I need later" {"q":{"action":"accept","content":{"a":"ok"}}}`; h.got[1] != want {
				t.Errorf("the handler got %s", h.got[1])
			}
			refused(event(t, post(s.http, request(kind.method, forms, answerQ(kind.params, token, `{"action":"accept","content":{"a":"ok"}}`)))), "already redeemed")
			if s.deeds.Load() != 1 {
				t.Error("it was done twice")
			}
		})
	}
}

func TestProtectGatesOnTheWire(t *testing.T) {
	s := protected(t, &trusting{}, reprise.Options{})
	w := post(s.http, request("tools/call", `{"elicitation":{"url":{}}}`, `"name":"t"`))
	if r := event(t, w); w.Code != 400 || r.Error == nil || r.Error.Code != -32021 || string(r.Error.Data) != `{"requiredCapabilities":{"elicitation":{"form":{}}}}` {
		t.Errorf("HTTP %d, %+v, %s", w.Code, r.Error, r.Result)
	}
}

// Protect reaches what it names, and never what the adapter runs already.
func TestProtectNames(t *testing.T) {
	h := &trusting{}
	s := protected(t, h, reprise.Options{Reusable: true}, "t")
	if err := AddTool(s.adapter, &mcp.Tool{Name: "own"}, reprise.Options{}, func(ctx context.Context, call *reprise.Call, _ map[string]any) (any, error) {
		decision, err := reprise.Confirm(ctx, call, "confirm", "Well?")
		return map[string]string{"outcome": decision.String()}, err
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.adapter.Protect(reprise.Options{}); err != nil { // the rest, too
		t.Fatal(err)
	}
	token := state(t, event(t, post(s.http, request("tools/call", forms, `"name":"t"`))))
	for range 2 { // the first call that names it counts: it is reusable
		if r := event(t, post(s.http, request("tools/call", forms, answerQ(`"name":"t"`, token, `{"action":"decline"}`)))); r.Error != nil || r.Result["isError"] != nil {
			t.Errorf("%s, %+v", r.Result, r.Error)
		}
	}
	token = state(t, event(t, post(s.http, request("tools/call", forms, `"name":"own"`))))
	r := event(t, post(s.http, request("tools/call", forms, retryOf(`"name":"own"`, token, accept))))
	if string(r.Result["structuredContent"]) != `{"outcome":"approved"}` {
		t.Errorf("%s, %+v", r.Result, r.Error)
	}
	state(t, event(t, post(s.http, request("prompts/get", forms, `"name":"notes"`))))
}

// The middleware is one line; without it the same handlers believe anything.
func TestWhatProtectIsFor(t *testing.T) {
	h := &trusting{}
	s := &service{server: mcp.NewServer(&mcp.Implementation{Name: "trusting", Version: "1"}, nil)}
	h.service = s
	h.register(s.server)
	var bare http.Handler = Filter(overHTTP(s.server, mcp.StreamableHTTPOptions{}), nil)
	event(t, post(bare, request("tools/call", `{}`, answerQ(`"name":"t"`, "made up", `{"action":"accept","content":{"a":"much too long"}}`))))
	if s.deeds.Load() != 1 {
		t.Error("the SDK has become careful; look at what Protect is for")
	}
}

// A handler may take its schema from the Go type, as those of the SDK do.
func TestProtectTakesGeneratedSchemas(t *testing.T) {
	type answer struct {
		Name string `json:"name"`
	}
	schema, err := jsonschema.For[answer](nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &service{server: mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil), log: &syncBuffer{}}
	mcp.AddTool(s.server, &mcp.Tool{Name: "t"}, func(_ context.Context, req *mcp.CallToolRequest, _ map[string]any) (*mcp.CallToolResult, any, error) {
		if req.Params.InputResponses != nil {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil, nil
		}
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": &mcp.ElicitParams{Message: "Who?", RequestedSchema: schema}}}, nil, nil
	})
	if s.adapter, err = New(s.server, Config{Engine: engineFor(t, requeststate.AES256GCM, s.log), Identity: Anonymous()}); err != nil {
		t.Fatal(err)
	}
	if err := s.adapter.Protect(reprise.Options{}); err != nil {
		t.Fatal(err)
	}
	h := NewHTTPHandler(s.server, nil)
	token := state(t, event(t, post(h, request("tools/call", forms, `"name":"t"`))))
	r := event(t, post(h, request("tools/call", forms, answerQ(`"name":"t"`, token, `{"action":"accept","content":{"name":"Ann"}}`))))
	if r.Error != nil || !strings.Contains(string(r.Result["content"]), "done") {
		t.Errorf("%s, %+v", r.Result, r.Error)
	}
}
