// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package gosdk

// These tests pin what go-sdk v1.8.0 itself does where Reprise makes up for it, each with the entry of docs/upstream.md
// that it belongs to. One that fails after an upgrade says that the workaround can go. Nothing of Reprise runs in them.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type handler = func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error)

// bare is a server of the SDK alone with one tool, prompt and resource; h is the tool's handler.
func bare(h handler, more ...func(*mcp.Server)) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "0"}, nil)
	s.AddTool(&mcp.Tool{Name: "t", InputSchema: json.RawMessage(`{"type":"object"}`)}, h)
	for _, f := range more {
		f(s)
	}
	return s
}

func overHTTP(s *mcp.Server, o mcp.StreamableHTTPOptions) http.Handler {
	o.Stateless = true
	o.JSONResponse = true
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &o)
}

const bothModes = `{"elicitation":{"form":{},"url":{}}}`

func meta(capabilities string) string {
	return `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":` + capabilities + `}`
}

// callBody is a tools/call of the tool t with these further params (with a leading comma, or empty).
func callBody(capabilities, more string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t",` + meta(capabilities) + more + `}}`
}

// newPost is a POST with the headers that the body wants.
func newPost(body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
	var m struct {
		Method string
		Params struct{ Name, URI string }
	}
	if json.Unmarshal([]byte(body), &m) == nil {
		r.Header.Set("Mcp-Method", m.Method)
		if name := m.Params.Name + m.Params.URI; name != "" {
			r.Header.Set("Mcp-Name", name)
		}
	}
	return r
}

func serve(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func post(h http.Handler, body string) *httptest.ResponseRecorder { return serve(h, newPost(body)) }

type reply struct {
	ID     json.RawMessage
	Result map[string]json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

func decode(t *testing.T, w *httptest.ResponseRecorder) reply {
	t.Helper()
	var r reply
	if err := json.Unmarshal(w.Body.Bytes(), &r); err != nil {
		t.Fatalf("HTTP %d, %s: no JSON: %v\n%s", w.Code, w.Header().Get("Content-Type"), err, w.Body)
	}
	return r
}

func wantError(t *testing.T, w *httptest.ResponseRecorder, status, code int) reply {
	t.Helper()
	r := decode(t, w)
	if w.Code != status || r.Error == nil || r.Error.Code != code || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("HTTP %d, %s: %s\nwant HTTP %d and error %d", w.Code, w.Header().Get("Content-Type"), w.Body, status, code)
	}
	return r
}

func wantText(t *testing.T, w *httptest.ResponseRecorder, status int) {
	t.Helper()
	if w.Code != status || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		t.Errorf("HTTP %d, %s: %s\nwant HTTP %d as text", w.Code, w.Header().Get("Content-Type"), w.Body, status)
	}
}

func form() *mcp.ElicitParams {
	return &mcp.ElicitParams{Mode: "form", Message: "ok?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string","maxLength":2}},"required":["a"]}`)}
}

func asks(requests mcp.InputRequestMap, state string) handler {
	return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{InputRequests: requests, RequestState: state}, nil
	}
}

func done(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil
}

// gap: no capability gate.
func TestUpstreamSendsQuestionsThatWereNotDeclared(t *testing.T) {
	url := &mcp.ElicitParams{Mode: "url", Message: "m", URL: "https://example.com/"}
	for _, test := range []struct {
		capabilities string
		question     mcp.InputRequest
	}{
		{`{}`, form()}, {`{"elicitation":{"url":{}}}`, form()},
		{`{"elicitation":{}}`, url}, {`{"elicitation":{"form":{}}}`, url},
		{`{}`, &mcp.ListRootsParams{}}, //lint:ignore SA1019 deprecated, but still part of this revision
	} {
		w := post(overHTTP(bare(asks(mcp.InputRequestMap{"q": test.question}, "s")), mcp.StreamableHTTPOptions{}), callBody(test.capabilities, ""))
		if r := decode(t, w); string(r.Result["resultType"]) != `"input_required"` {
			t.Errorf("%s: refused now: %s", test.capabilities, w.Body)
		}
	}
}

// relied on: a bare *jsonrpc.Error keeps its data and gets its status, from a handler and from middleware.
func TestUpstreamKeepsABareError(t *testing.T) {
	const data = `{"requiredCapabilities":{"elicitation":{"form":{}}}}`
	refuse := func() error {
		return &jsonrpc.Error{Code: mcp.CodeMissingRequiredClientCapabilities, Message: "m", Data: json.RawMessage(data)}
	}
	fromHandler := bare(func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, refuse() })
	fromMiddleware := bare(done, func(s *mcp.Server) {
		s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
			return func(context.Context, string, mcp.Request) (mcp.Result, error) { return nil, refuse() }
		})
	})
	for _, s := range []*mcp.Server{fromHandler, fromMiddleware} {
		for _, asJSON := range []bool{true, false} {
			h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: asJSON})
			if r := wantError(t, post(h, callBody(`{}`, "")), 400, -32021); string(r.Error.Data) != data {
				t.Errorf("data %s", r.Error.Data)
			}
		}
	}
}

// gap: a wrapped error loses its data; the typed data lists a capability that is not missing.
func TestUpstreamLosesErrorData(t *testing.T) {
	wrapped := bare(func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, fmt.Errorf("wrapped: %w", &jsonrpc.Error{Code: -32021, Message: "m", Data: json.RawMessage(`{}`)})
	})
	if r := wantError(t, post(overHTTP(wrapped, mcp.StreamableHTTPOptions{}), callBody(`{}`, "")), 400, -32021); r.Error.Data != nil {
		t.Errorf("data survives now: %s", r.Error.Data)
	}
	b, err := json.Marshal(mcp.MissingRequiredClientCapabilityData{RequiredCapabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}}}})
	if err != nil || !strings.Contains(string(b), `"roots":{}`) {
		t.Errorf("no stray roots now: %s, %v", b, err)
	}
}

// gap: a state without questions is labelled complete; relied on: an empty map is not.
func TestUpstreamCannotSendAStateAlone(t *testing.T) {
	for _, test := range []struct {
		requests mcp.InputRequestMap
		want     string
	}{{nil, `"complete"`}, {mcp.InputRequestMap{}, `"input_required"`}} {
		w := post(overHTTP(bare(asks(test.requests, "s")), mcp.StreamableHTTPOptions{}), callBody(bothModes, ""))
		if r := decode(t, w); string(r.Result["resultType"]) != test.want || string(r.Result["requestState"]) != `"s"` {
			t.Errorf("%v: %s", test.requests, w.Body)
		}
	}
}

// gap: content beside questions is a server bug (right), but isError is not.
func TestUpstreamMixedResults(t *testing.T) {
	mixed := func(r *mcp.CallToolResult) *httptest.ResponseRecorder {
		r.InputRequests = mcp.InputRequestMap{"q": form()}
		return post(overHTTP(bare(func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return r, nil }), mcp.StreamableHTTPOptions{}), callBody(bothModes, ""))
	}
	wantError(t, mixed(&mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "x"}}}), 200, -32603)
	if r := decode(t, mixed(&mcp.CallToolResult{IsError: true})); string(r.Result["isError"]) != "true" || string(r.Result["resultType"]) != `"input_required"` {
		t.Errorf("isError beside questions: %v", r.Result)
	}
}

// gap: a result that does not marshal is never answered, and the request hangs until its client leaves.
func TestUpstreamHangsOnAResultThatDoesNotMarshal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := overHTTP(bare(asks(mcp.InputRequestMap{"q": nil}, "s")), mcp.StreamableHTTPOptions{})
		ctx, cancel := context.WithCancel(t.Context())
		w, answered := httptest.NewRecorder(), false
		go func() {
			h.ServeHTTP(w, newPost(callBody(bothModes, "")).WithContext(ctx))
			answered = true
		}()
		synctest.Wait()
		if answered || w.Body.Len() > 0 {
			t.Errorf("answered now: HTTP %d: %s", w.Code, w.Body)
		}
		cancel()
		synctest.Wait()
	})
}

// gap: what middleware returns has no resultType. Relied on: one that was decoded keeps it, and a result type of our own
// goes out byte for byte.
func TestUpstreamResultsOfMiddleware(t *testing.T) {
	through := func(res mcp.Result) *httptest.ResponseRecorder {
		return post(overHTTP(bare(done, func(s *mcp.Server) {
			s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
				return func(context.Context, string, mcp.Request) (mcp.Result, error) { return res, nil }
			})
		}), mcp.StreamableHTTPOptions{}), callBody(bothModes, ""))
	}
	decoded := func(raw string) *mcp.CallToolResult {
		r := new(mcp.CallToolResult)
		if err := json.Unmarshal([]byte(raw), r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := decode(t, through(&mcp.CallToolResult{IsError: true})); r.Result["resultType"] != nil {
		t.Errorf("set now: %v", r.Result)
	}
	if r := decode(t, through(&mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": form()}})); r.Result["resultType"] != nil {
		t.Errorf("set now: %v", r.Result)
	}
	if r := decode(t, through(decoded(`{"resultType":"complete","isError":true,"content":[]}`))); string(r.Result["resultType"]) != `"complete"` {
		t.Errorf("lost: %v", r.Result)
	}
	if r := decode(t, through(decoded(`{"resultType":"input_required","requestState":"s"}`))); string(r.Result["resultType"]) != `"input_required"` || r.Result["content"] == nil {
		t.Errorf("state alone, decoded: %v", r.Result)
	}
	own := &exact{body: `{"resultType":"input_required","requestState":"s"}`}
	if r := decode(t, through(own)); len(r.Result) != 2 {
		t.Errorf("a result of our own type: %v", r.Result)
	}
	if own.Meta["io.modelcontextprotocol/serverInfo"] == nil {
		t.Error("the SDK does not name the server any more; a result of our own need not write _meta")
	}
	// For the other methods too, even where no handler is registered: the SDK looks it up below all middleware.
	s := bare(done, func(s *mcp.Server) {
		s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
			return func(context.Context, string, mcp.Request) (mcp.Result, error) { return &exact{body: own.body}, nil }
		})
	})
	for _, params := range []string{`"prompts/get","params":{"name":"p"`, `"resources/read","params":{"uri":"x:y"`} {
		body := `{"jsonrpc":"2.0","id":1,"method":` + params + `,` + meta(bothModes) + `}}`
		if r := decode(t, post(overHTTP(s, mcp.StreamableHTTPOptions{}), body)); len(r.Result) != 2 {
			t.Errorf("%s: %v", params, r.Result)
		}
		if got := overStdio(t, s, body); got != `{"jsonrpc":"2.0","id":1,"result":`+own.body+`}` {
			t.Errorf("stdio: %s", got)
		}
	}
}

// exact is the smallest result that decides about its own bytes.
type exact struct {
	mcp.ResultBase
	body string
}

func (e *exact) MarshalJSON() ([]byte, error) { return []byte(e.body), nil }

// gap: input_required carries members of a complete result, for resources public cache hints too.
func TestUpstreamSendsForeignMembers(t *testing.T) {
	s := bare(asks(mcp.InputRequestMap{"q": form()}, "s"), func(s *mcp.Server) {
		s.AddPrompt(&mcp.Prompt{Name: "p"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{InputRequests: mcp.InputRequestMap{"q": form()}, RequestState: "s"}, nil
		})
		s.AddResource(&mcp.Resource{Name: "r", URI: "x:r"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{InputRequests: mcp.InputRequestMap{"q": form()}, RequestState: "s"}, nil
		})
	})
	h := overHTTP(s, mcp.StreamableHTTPOptions{})
	for body, want := range map[string][]string{
		callBody(bothModes, ""): {"content"},
		`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"p",` + meta(bothModes) + `}}`:     {"messages"},
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x:r",` + meta(bothModes) + `}}`: {"cacheScope", "contents", "ttlMs"},
	} {
		r := decode(t, post(h, body))
		var foreign []string
		for name := range r.Result {
			if !slices.Contains([]string{"resultType", "inputRequests", "requestState", "_meta"}, name) {
				foreign = append(foreign, name)
			}
		}
		slices.Sort(foreign)
		if !reflect.DeepEqual(foreign, want) {
			t.Errorf("%s: %v, want %v", body, foreign, want)
		}
		if r.Result["cacheScope"] != nil && string(r.Result["cacheScope"]) != `"public"` {
			t.Errorf("scope %s now", r.Result["cacheScope"])
		}
	}
}

// gap: params that cannot be decoded are reported as a header that does not match.
func TestUpstreamBlamesHeadersForParams(t *testing.T) {
	h := overHTTP(bare(done), mcp.StreamableHTTPOptions{})
	for _, more := range []string{
		`,"inputResponses":{"other":{"foo":1}}`, `,"inputResponses":{"confirm":7}`, `,"inputResponses":{"confirm":null}`, `,"inputResponses":[]`,
		`,"inputResponses":"x"`, `,"inputResponses":{"confirm":{"action":7}}`, `,"requestState":7`,
	} {
		wantError(t, post(h, callBody(bothModes, more)), 400, -32020)
	}
	s := bare(done, func(s *mcp.Server) {
		s.AddPrompt(&mcp.Prompt{Name: "p"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{}, nil
		})
	})
	wantError(t, post(overHTTP(s, mcp.StreamableHTTPOptions{}), `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"p","arguments":{"a":1},`+meta(`{}`)+`}}`), 400, -32020)
	for _, more := range []string{
		`,"inputResponses":{"other":{"action":"accept"}}`, `,"inputResponses":{}`, `,"inputResponses":null`, `,"requestState":null`,
	} {
		if r := decode(t, post(h, callBody(bothModes, more))); r.Error != nil {
			t.Errorf("%s: refused now: %s", more, r.Error.Message)
		}
	}
}

// gap: on stdio the code is right, but the text repeats the params, answers and all.
func TestUpstreamRepeatsAnswersInErrors(t *testing.T) {
	got := overStdio(t, bare(done), callBody(bothModes, `,"inputResponses":{"a":{"action":"accept","content":{"pin":"hunter2"}},"b":7}`))
	if !strings.Contains(got, "-32602") || !strings.Contains(got, "hunter2") {
		t.Errorf("not repeated now: %s", got)
	}
}

// overStdio sends one line to s and returns the line that it answers.
func overStdio(t *testing.T, s *mcp.Server, line string) string {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Run(ctx, &mcp.IOTransport{Reader: inR, Writer: outW})
	}()
	defer func() { cancel(); inW.Close(); outR.Close(); <-ended }()
	go io.WriteString(inW, line+"\n")
	var got json.RawMessage
	if err := json.NewDecoder(outR).Decode(&got); err != nil {
		t.Fatal(err)
	}
	return string(got)
}

// gap: answers are not checked against anything, and their member names are folded.
func TestUpstreamBelievesAnswers(t *testing.T) {
	for more, want := range map[string]string{
		`{"q":{"action":"frob"}}`:                                                                    "frob map[]",
		`{"q":{"action":"accept","content":{"a":7}}}`:                                                "accept map[a:7]",
		`{"q":{"action":"accept","content":{"a":"much too long"}}}`:                                  "accept map[a:much too long]",
		`{"q":{"action":"decline","Action":"accept","content":{"a":"x"}}}`:                           "accept map[a:x]",
		`{"q":{"action":"decline"},"q":{"action":"accept"}}`:                                         "accept map[]",
		`{"q":{"action":"accept","content":{"n":9007199254740993}}}`:                                 "accept map[n:9.007199254740992e+15]",
		`{"q":{"action":"decline","action":"accept"}}`:                                               "accept map[]",
		`{"q":{"roots":[],"action":"accept"}}`:                                                       "*mcp.ListRootsResult",
		`{"never asked":{"action":"accept"}}`:                                                        "<nil>",
		`{"q":{"action":"accept","content":{"a":"x"},"resultType":"complete"},"other":{"roots":[]}}`: "accept map[a:x]",
	} {
		var got string
		h := overHTTP(bare(func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			switch a := req.Params.InputResponses["q"].(type) {
			case *mcp.ElicitResult:
				got = fmt.Sprint(a.Action, " ", a.Content)
			default:
				got = fmt.Sprintf("%T", a)
			}
			return done(ctx, nil)
		}), mcp.StreamableHTTPOptions{})
		w := post(h, callBody(bothModes, `,"inputResponses":`+more))
		if got != want {
			t.Errorf("%s: %q, want %q: %s", more, got, want, w.Body)
		}
	}
}

// gap: an absent member cannot be told from an empty one, and of two the last wins.
func TestUpstreamLosesPresence(t *testing.T) {
	see := func(more string) (p mcp.CallToolParamsRaw) {
		post(overHTTP(bare(func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			p = *req.Params
			return done(ctx, nil)
		}), mcp.StreamableHTTPOptions{}), callBody(bothModes, more))
		return p
	}
	if p := see(`,"requestState":""`); p.Name != "t" || p.RequestState != see("").RequestState {
		t.Error("an empty state is told from none now")
	}
	if p := see(`,"requestState":"a","requestState":"b"`); p.RequestState != "b" {
		t.Errorf("state %q", p.RequestState)
	}
	if p := see(`,"inputResponses":null`); p.InputResponses == nil {
		t.Error("null is nil now")
	}
	if p := see(`,"arguments":{"a":1,"a":2}`); string(p.Arguments) != `{"a":1,"a":2}` {
		t.Errorf("arguments %s", p.Arguments)
	}
	if p := see(`,"arguments":{ "b": 1.0e0, "a":"\u003c" }`); string(p.Arguments) != `{ "b": 1.0e0, "a":"\u003c" }` {
		t.Errorf("the bytes of arguments are not kept any more: %s", p.Arguments)
	}
}

// gap: the state is handed over unverified, and is bounded only by the body.
func TestUpstreamBelievesState(t *testing.T) {
	for _, size := range []int{10, 64 << 10, 3 << 20} {
		var got int
		h := overHTTP(bare(func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			got = len(req.Params.RequestState)
			return done(ctx, nil)
		}), mcp.StreamableHTTPOptions{})
		post(h, callBody(bothModes, `,"requestState":"`+strings.Repeat("x", size)+`"`))
		if got != size {
			t.Errorf("%d of %d", got, size)
		}
	}
	wantText(t, post(overHTTP(bare(done), mcp.StreamableHTTPOptions{}), callBody(bothModes, `,"requestState":"`+strings.Repeat("x", 5<<20)+`"`)), 413)
}

// relied on: these are answered as the specification says.
func TestUpstreamAnswersRight(t *testing.T) {
	h := overHTTP(bare(done), mcp.StreamableHTTPOptions{})
	edit := func(body string, f func(http.Header)) *httptest.ResponseRecorder {
		r := newPost(body)
		f(r.Header)
		return serve(h, r)
	}
	wantError(t, post(h, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}`), 400, -32602)
	wantError(t, post(h, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`), 400, -32602)
	wantError(t, post(h, callBody(`"yes"`, "")), 400, -32602)
	wantError(t, post(h, callBody(`{"elicitation":"yes"}`, "")), 400, -32602)
	wantError(t, post(h, strings.Replace(callBody(`{}`, ""), `"t"`, `"unknown"`, 1)), 400, -32602)
	wantError(t, post(h, `{"jsonrpc":"2.0","id":1,"method":"tools/frob","params":{`+meta(`{}`)+`}}`), 404, -32601)
	wantError(t, edit(callBody(`{}`, ""), func(h http.Header) { h.Set("Mcp-Method", "tools/list") }), 400, -32020)
	wantError(t, edit(callBody(`{}`, ""), func(h http.Header) { h.Set("Mcp-Name", "other") }), 400, -32020)
	wantError(t, edit(callBody(`{}`, ""), func(h http.Header) { h.Del("Mcp-Method") }), 400, -32020)
	wantError(t, edit(callBody(`{}`, ""), func(h http.Header) { h.Del("Mcp-Protocol-Version") }), 400, -32020)
	future := strings.Replace(callBody(`{}`, ""), "2026-07-28", "2099-01-01", 1)
	if r := wantError(t, edit(future, func(h http.Header) { h.Set("Mcp-Protocol-Version", "2099-01-01") }), 400, -32022); !strings.Contains(string(r.Error.Data), `"requested":"2099-01-01"`) {
		t.Errorf("data %s", r.Error.Data)
	}
	if r := decode(t, post(h, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+meta(`{}`)+`,"requestState":7,"inputResponses":[]}}`)); string(r.Result["resultType"]) != `"complete"` {
		t.Errorf("tools/list: %v", r.Result)
	}
	if r := decode(t, post(h, callBody(`{}`, ""))); string(r.Result["resultType"]) != `"complete"` {
		t.Errorf("tools/call: %v", r.Result)
	}
}

// gap: answers that are no JSON, so that a client cannot tell a modern server from a legacy one.
func TestUpstreamAnswersInText(t *testing.T) {
	h := overHTTP(bare(done), mcp.StreamableHTTPOptions{})
	old := newPost(strings.Replace(callBody(`{}`, ""), "2026-07-28", "1900-01-01", 1))
	old.Header.Set("Mcp-Protocol-Version", "1900-01-01")
	wantText(t, serve(h, old), 400)
	for _, body := range []string{`{"jsonrpc":"2.0",`, ``, `{"jsonrpc":"1.0","id":1,"method":"m"}`, `[` + callBody(`{}`, "") + `]`, `{"jsonrpc":"2.0","id":{},"method":"m"}`, `7`} {
		wantText(t, post(h, body), 400)
	}
}

// gap: lenient reading of a message.
func TestUpstreamReadsLoosely(t *testing.T) {
	h := overHTTP(bare(done), mcp.StreamableHTTPOptions{})
	ok := callBody(`{}`, "")
	for name, body := range map[string]string{
		"a second value behind the first": ok + ok,
		"a repeated method":               strings.Replace(ok, `"method"`, `"method":"tools/list","method"`, 1),
		"a lone surrogate":                callBody(`{}`, `,"arguments":{"a":"\ud800"}`),
		"invalid UTF-8":                   callBody(`{}`, ",\"arguments\":{\"a\":\"\xff\"}"),
	} {
		r := newPost(ok)
		r.Body = io.NopCloser(strings.NewReader(body))
		if r := decode(t, serve(h, r)); r.Error != nil {
			t.Errorf("%s: refused now: %s", name, r.Error.Message)
		}
	}
	for id, want := range map[string]string{"9007199254740993": "9007199254740992", "1.5": "1", `"1"`: `"1"`} {
		if r := decode(t, post(h, strings.Replace(ok, `"id":1`, `"id":`+id, 1))); string(r.ID) != want {
			t.Errorf("id %s is answered as %s, want %s", id, r.ID, want)
		}
	}
}

// gap: only the first of several headers is compared.
func TestUpstreamTakesTheFirstHeader(t *testing.T) {
	for _, name := range []string{"Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version"} {
		r := newPost(callBody(`{}`, ""))
		r.Header.Add(name, "another")
		if w := serve(overHTTP(bare(done), mcp.StreamableHTTPOptions{}), r); decode(t, w).Error != nil {
			t.Errorf("%s: refused now: %s", name, w.Body)
		}
	}
}

// gap: an encoded Mcp-Name is compared without decoding it, so a name outside ASCII cannot be called.
func TestUpstreamDoesNotDecodeMcpName(t *testing.T) {
	s := bare(done, func(s *mcp.Server) {
		s.AddResource(&mcp.Resource{Name: "r", URI: "file:///é"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{Text: "x"}}}, nil
		})
	})
	r := newPost(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///é",` + meta(`{}`) + `}}`)
	r.Header.Set("Mcp-Name", "=?base64?ZmlsZTovLy/DqQ==?=")
	wantError(t, serve(overHTTP(s, mcp.StreamableHTTPOptions{}), r), 400, -32020)
}

// gap: Origin is not checked by default.
func TestUpstreamIgnoresOrigin(t *testing.T) {
	r := newPost(callBody(`{}`, ""))
	r.Header.Set("Origin", "http://evil.example")
	if w := serve(overHTTP(bare(done), mcp.StreamableHTTPOptions{}), r); w.Code != 200 {
		t.Errorf("HTTP %d now", w.Code)
	}
}

// gap: a client that leaves cancels nothing, unless an option says so.
func TestUpstreamCancellationIsAnOption(t *testing.T) {
	for _, propagate := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			cancelled, entered := false, make(chan struct{})
			release := make(chan struct{})
			h := overHTTP(bare(func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				close(entered)
				select {
				case <-ctx.Done():
					cancelled = true
				case <-release:
				}
				return done(ctx, nil)
			}), mcp.StreamableHTTPOptions{PropagateRequestCancellation: propagate})
			ctx, cancel := context.WithCancel(t.Context())
			go h.ServeHTTP(httptest.NewRecorder(), newPost(callBody(`{}`, "")).WithContext(ctx))
			<-entered
			cancel()
			synctest.Wait()
			if cancelled != propagate {
				t.Errorf("option %v: cancelled %v", propagate, cancelled)
			}
			close(release)
			synctest.Wait()
		})
	}
}

// gap: a plain error of a low-level handler gets code 0. Relied on: elicitation by request is refused in this revision.
func TestUpstreamPlainErrors(t *testing.T) {
	plain := bare(func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, errors.New("plain")
	})
	wantError(t, post(overHTTP(plain, mcp.StreamableHTTPOptions{}), callBody(`{}`, "")), 200, 0)
	var asked error
	post(overHTTP(bare(func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		_, asked = req.Session.Elicit(ctx, form())
		return done(ctx, nil)
	}), mcp.StreamableHTTPOptions{}), callBody(bothModes, ""))
	if asked == nil {
		t.Error("a server may send a request of its own now")
	}
}

// relied on: a stateful handler refuses this revision.
func TestUpstreamStatefulRefuses(t *testing.T) {
	s := bare(done)
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	if r := wantError(t, post(h, callBody(`{}`, "")), 400, -32022); strings.Contains(string(r.Error.Data), "2026-07-28\",") {
		t.Errorf("data %s", r.Error.Data)
	}
}

// gap: a legacy client is asked once by the SDK itself; what a second round asks leaves as it is, state and all.
func TestUpstreamLegacyBridgeLeaksTheSecondRound(t *testing.T) {
	s := bare(asks(mcp.InputRequestMap{"q": form()}, "plain state"))
	serverSide, clientSide := mcp.NewInMemoryTransports()
	session, err := s.Connect(t.Context(), serverSide, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	var states []string
	client := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "0"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"a": "x"}}, nil
		},
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
	})
	client.AddSendingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			res, err := next(ctx, method, req)
			if r, ok := res.(*mcp.CallToolResult); ok && r != nil {
				states = append(states, r.RequestState)
			}
			return res, err
		}
	})
	cs, err := client.Connect(t.Context(), clientSide, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	defer cs.Close()
	res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "t"})
	if err != nil || res.NeedsInput() || !slices.Equal(states, []string{"plain state"}) {
		t.Errorf("%+v, %v, states %q", res, err, states)
	}
}

// countedSchema counts how often it is marshalled.
type countedSchema struct{ marshalled *int }

func (s countedSchema) MarshalJSON() ([]byte, error) {
	*s.marshalled++
	return []byte(`{"type":"object"}`), nil
}

// Entry 25.
func TestUpstreamMarshalsTheSchemaForEveryCall(t *testing.T) {
	marshalled := 0
	s := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "0"}, nil)
	s.AddTool(&mcp.Tool{Name: "t", InputSchema: countedSchema{&marshalled}}, done)
	h := overHTTP(s, mcp.StreamableHTTPOptions{})
	before := marshalled
	for range 3 {
		post(h, callBody(bothModes, ""))
	}
	if marshalled-before != 3 {
		t.Errorf("marshalled %d times for 3 calls", marshalled-before)
	}
}

// Entry 26.
func TestUpstreamStdioCancelsAtTheEnd(t *testing.T) {
	started, ended := make(chan struct{}), make(chan struct{})
	s := bare(func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		close(started)
		<-ctx.Done() // would wait for ever if the call were left alone
		close(ended)
		return &mcp.CallToolResult{}, nil
	})
	w, _ := pipe(t, s, func(r io.ReadCloser, w io.WriteCloser) mcp.Transport { return &mcp.IOTransport{Reader: r, Writer: w} })
	io.WriteString(w, callBody(bothModes, "")+"\n")
	<-started
	w.Close()
	<-ended
}
