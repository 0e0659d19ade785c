// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package gosdk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/reprise-mcp/reprise"
	"github.com/reprise-mcp/reprise/elicitation"
	"github.com/reprise-mcp/reprise/ledger"
	"github.com/reprise-mcp/reprise/requeststate"
)

// service is a server with everything that can ask, and counts what it does.
type service struct {
	server  *mcp.Server
	adapter *Adapter
	http    http.Handler
	runs    atomic.Int64
	deeds   atomic.Int64
	log     *syncBuffer
	now     atomic.Int64 // offset of the clock
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func engineFor(t testing.TB, algorithm requeststate.Algorithm, log io.Writer) *reprise.Engine {
	t.Helper()
	ring, err := requeststate.NewKeyring(requeststate.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := requeststate.New(requeststate.Config{Keyring: ring, Audience: "urn:test", Algorithm: algorithm})
	if err != nil {
		t.Fatal(err)
	}
	engine, err := reprise.New(reprise.Config{Sealer: sealer, Ledger: &ledger.Memory{}, Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return engine
}

type restartArgs struct {
	Service string `json:"service"`
	Times   int    `json:"times,omitempty" jsonschema:"how often"`
}

type restarted struct {
	Done    bool   `json:"done"`
	Outcome string `json:"outcome"`
}

func newService(t testing.TB, identity Identity, o reprise.Options) *service {
	t.Helper()
	s := &service{server: mcp.NewServer(&mcp.Implementation{Name: "service", Version: "1"}, nil), log: &syncBuffer{}}
	var err error
	s.adapter, err = New(s.server, Config{
		Engine: engineFor(t, requeststate.AES256GCM, s.log), Identity: identity,
		Now: func() time.Time { return time.Now().Add(time.Duration(s.now.Load())) },
	})
	if err != nil {
		t.Fatal(err)
	}
	confirm := func(ctx context.Context, call *reprise.Call, what string) (string, bool, error) {
		s.runs.Add(1)
		decision, err := reprise.Confirm(ctx, call, "confirm", what+"?")
		if err != nil {
			return "", false, err
		}
		approval, yes := decision.Approved()
		if !yes {
			return decision.String(), false, nil
		}
		_, err = reprise.Do(ctx, call, approval, func(context.Context) (any, error) { s.deeds.Add(1); return nil, nil })
		return decision.String(), err == nil, err
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(AddTool(s.adapter, &mcp.Tool{Name: "restart"}, o, func(ctx context.Context, call *reprise.Call, in restartArgs) (restarted, error) {
		outcome, did, err := confirm(ctx, call, "Restart "+in.Service)
		return restarted{Done: did, Outcome: outcome}, err
	}))
	must(AddTool(s.adapter, &mcp.Tool{Name: "t"}, o, func(ctx context.Context, call *reprise.Call, _ map[string]any) (*mcp.CallToolResult, error) {
		outcome, _, err := confirm(ctx, call, "Go")
		if err != nil {
			return nil, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: outcome}}}, nil
	}))
	must(AddTool(s.adapter, &mcp.Tool{Name: "fails"}, o, func(context.Context, *reprise.Call, map[string]any) (any, error) {
		return nil, errors.New("it is broken")
	}))
	must(AddPrompt(s.adapter, &mcp.Prompt{Name: "notes", Arguments: []*mcp.PromptArgument{{Name: "tone"}}}, o,
		func(ctx context.Context, call *reprise.Call, args map[string]string) (*mcp.GetPromptResult, error) {
			outcome, _, err := confirm(ctx, call, "Write in "+args["tone"])
			if err != nil {
				return nil, err
			}
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: outcome}}}}, nil
		}))
	read := func(ctx context.Context, call *reprise.Call, uri string) (*mcp.ReadResourceResult, error) {
		outcome, _, err := confirm(ctx, call, "Read "+uri)
		if err != nil {
			return nil, err
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, Text: outcome}}}, nil
	}
	must(AddResource(s.adapter, &mcp.Resource{Name: "log", URI: "release://log"}, o, read))
	must(AddResourceTemplate(s.adapter, &mcp.ResourceTemplate{Name: "logs", URITemplate: "release://{service}/log"}, o, read))
	must(AddResource(s.adapter, &mcp.Resource{Name: "broken", URI: "release://broken"}, o,
		func(context.Context, *reprise.Call, string) (*mcp.ReadResourceResult, error) {
			return nil, errors.New("it is broken")
		}))
	must(AddPrompt(s.adapter, &mcp.Prompt{Name: "broken"}, o,
		func(context.Context, *reprise.Call, map[string]string) (*mcp.GetPromptResult, error) {
			return nil, errors.New("it is broken")
		}))
	mcp.AddTool(s.server, &mcp.Tool{Name: "plain"}, func(context.Context, *mcp.CallToolRequest, map[string]any) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "plain"}}}, nil, nil
	})
	s.http = NewHTTPHandler(s.server, nil)
	return s
}

// request is a request of any method, with these params beside _meta.
func request(method, capabilities, params string) string {
	if params != "" {
		params += ","
	}
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + meta(capabilities) + `}}`
}

// event is the message in a response, whether it came alone or on an event stream.
func event(t testing.TB, w *httptest.ResponseRecorder) reply {
	t.Helper()
	body := w.Body.String()
	for line := range strings.Lines(body) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			body = data
		}
	}
	var r reply
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		t.Fatalf("HTTP %d: %v: %s", w.Code, err, body)
	}
	return r
}

const (
	forms  = `{"elicitation":{"form":{}}}`
	accept = `{"action":"accept","content":{"decision":"approve"}}`
)

// state is the requestState of an input_required result that has its three members and says which server it is from.
func state(t testing.TB, r reply) string {
	t.Helper()
	var names []string
	for name := range r.Result {
		names = append(names, name)
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"_meta", "inputRequests", "requestState", "resultType"}) || !bytes.Contains(r.Result["_meta"], []byte(`{"io.modelcontextprotocol/serverInfo":{"name":`)) || string(r.Result["resultType"]) != `"input_required"` {
		t.Fatalf("want an input_required result, got %v, error %+v", names, r.Error)
	}
	var s string
	if err := json.Unmarshal(r.Result["requestState"], &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func retryOf(params, state, answer string) string {
	return fmt.Sprintf(`%s,"requestState":%q,"inputResponses":{"confirm":%s}`, params, state, answer)
}

// kinds are all requests that may ask, with a word of the complete result.
var kinds = []struct{ method, params, question string }{
	{"tools/call", `"name":"restart","arguments":{"service":"billing"}`, "Restart billing?"},
	{"tools/call", `"name":"t"`, "Go?"},
	{"prompts/get", `"name":"notes","arguments":{"tone":"kind"}`, "Write in kind?"},
	{"resources/read", `"uri":"release://log"`, "Read release://log?"},
	{"resources/read", `"uri":"release://web/log"`, "Read release://web/log?"},
}

func TestEverythingThatMayAsk(t *testing.T) {
	for _, kind := range kinds {
		for answer, outcome := range map[string]string{
			accept: "approved", `{"action":"accept","content":{"decision":"reject"}}`: "rejected",
			`{"action":"decline"}`: "declined", `{"action":"cancel"}`: "cancelled",
		} {
			t.Run(kind.method+"/"+kind.question+outcome, func(t *testing.T) {
				s := newService(t, Anonymous(), reprise.Options{})
				w := post(s.http, request(kind.method, forms, kind.params))
				asked := event(t, w)
				token := state(t, asked)
				var requests map[string]struct {
					Method string
					Params struct{ Message string }
				}
				if err := json.Unmarshal(asked.Result["inputRequests"], &requests); err != nil || requests["confirm"].Params.Message != kind.question {
					t.Errorf("asked %s", asked.Result["inputRequests"])
				}
				if s.deeds.Load() != 0 {
					t.Error("it was done before the answer")
				}
				got := event(t, post(s.http, request(kind.method, forms, retryOf(kind.params, token, answer))))
				text := fmt.Sprintf("%s", got.Result)
				if got.Error != nil || string(got.Result["resultType"]) != `"complete"` || !strings.Contains(text, outcome) || strings.Contains(text, "isError") {
					t.Errorf("want %s, got %s, %+v", outcome, text, got.Error)
				}
				want := int64(0)
				if outcome == "approved" {
					want = 1
				}
				if s.deeds.Load() != want || s.runs.Load() != 2 {
					t.Errorf("%d deeds in %d runs", s.deeds.Load(), s.runs.Load())
				}
				if kind.method == "tools/call" && strings.Contains(kind.params, "restart") {
					if want := fmt.Sprintf(`{"done":%t,"outcome":"%s"}`, want == 1, outcome); string(got.Result["structuredContent"]) != want {
						t.Errorf("structured content %s, want %s", got.Result["structuredContent"], want)
					}
				}

				// And once more: spent, in the channel that the method has.
				w = post(s.http, request(kind.method, forms, retryOf(kind.params, token, accept)))
				spent := event(t, w)
				if kind.method == "tools/call" {
					if spent.Error != nil || string(spent.Result["isError"]) != "true" || string(spent.Result["resultType"]) != `"complete"` ||
						!strings.Contains(string(spent.Result["content"]), "already redeemed") {
						t.Errorf("a replay: %s, %+v", spent.Result, spent.Error)
					}
				} else if spent.Error == nil || spent.Error.Code != -32602 || !strings.Contains(spent.Error.Message, "already redeemed") {
					t.Errorf("a replay: %s, %+v", spent.Result, spent.Error)
				}
				if s.deeds.Load() != want {
					t.Errorf("%d deeds after a replay", s.deeds.Load())
				}
			})
		}
	}
}

func TestCapabilityRefusalOnTheWire(t *testing.T) {
	for _, kind := range kinds {
		for _, capabilities := range []string{`{}`, `{"elicitation":{"url":{}}}`, `{"sampling":{},"roots":{}}`, `{"elicitation":null}`} {
			for _, o := range []reprise.Options{{}, {Asks: []elicitation.Kind{elicitation.FormMode}}} {
				s := newService(t, Anonymous(), o)
				w := post(s.http, request(kind.method, capabilities, kind.params))
				r := event(t, w)
				if w.Code != 400 || r.Error == nil || r.Error.Code != -32021 || string(r.Error.Data) != `{"requiredCapabilities":{"elicitation":{"form":{}}}}` {
					t.Errorf("%s with %s: HTTP %d, %+v", kind.method, capabilities, w.Code, r.Error)
				}
				if o.Asks != nil && s.runs.Load() != 0 {
					t.Error("the handler ran")
				}
			}
		}
	}
	s := newService(t, Anonymous(), reprise.Options{})
	state(t, event(t, post(s.http, request("tools/call", `{"elicitation":{}}`, kinds[0].params)))) // {} is form mode
}

func TestWhatTheSDKChecksFirst(t *testing.T) {
	s := newService(t, Anonymous(), reprise.Options{})
	for name, test := range map[string]struct {
		method, params string
		code           int    // 0: a tool execution error
		says           string // in it
	}{
		"an unknown tool":       {"tools/call", `"name":"nope"`, -32602, ""},
		"an unknown prompt":     {"prompts/get", `"name":"nope"`, -32602, ""},
		"an unknown resource":   {"resources/read", `"uri":"release://a/b/c"`, -32602, ""},
		"a resource that fails": {"resources/read", `"uri":"release://broken"`, -32603, ""},
		"a prompt that fails":   {"prompts/get", `"name":"broken"`, -32603, ""},
		"a missing argument":    {"tools/call", `"name":"restart"`, 0, "service"},
		"a wrong type":          {"tools/call", `"name":"restart","arguments":{"service":7}`, 0, "service"},
		"an argument too many":  {"tools/call", `"name":"restart","arguments":{"service":"a","force":true}`, 0, "force"},
		"a handler that fails":  {"tools/call", `"name":"fails"`, 0, "it is broken"},
		"an argument that is 1": {"tools/call", `"name":"restart","arguments":{"service":"a","times":1.5}`, 0, "times"},
	} {
		t.Run(name, func(t *testing.T) {
			r := event(t, post(s.http, request(test.method, forms, test.params)))
			if test.code != 0 {
				if r.Error == nil || r.Error.Code != test.code {
					t.Errorf("%+v, %s", r.Error, r.Result)
				}
			} else if r.Error != nil || string(r.Result["isError"]) != "true" || !strings.Contains(string(r.Result["content"]), test.says) {
				t.Errorf("%+v, %s", r.Error, r.Result)
			}
			if s.runs.Load() != 0 {
				t.Error("the handler ran")
			}
		})
	}
}

func TestForgedRetriesOnTheWire(t *testing.T) {
	s := newService(t, Anonymous(), reprise.Options{})
	const params = `"name":"restart","arguments":{"service":"billing"}`
	token := state(t, event(t, post(s.http, request("tools/call", forms, params))))
	for name, body := range map[string]string{
		"made up":             request("tools/call", forms, retryOf(params, "round=2;approved", accept)),
		"empty":               request("tools/call", forms, retryOf(params, "", accept)),
		"with a suffix":       request("tools/call", forms, retryOf(params, token+"-TAMPERED", accept)),
		"of another argument": request("tools/call", forms, retryOf(`"name":"restart","arguments":{"service":"web"}`, token, accept)),
		"of another tool":     request("tools/call", forms, retryOf(`"name":"t"`, token, accept)),
	} {
		r := event(t, post(s.http, body))
		if r.Error != nil || string(r.Result["isError"]) != "true" || !strings.Contains(string(r.Result["content"]), "Nothing was done") {
			t.Errorf("%s: %s, %+v", name, r.Result, r.Error)
		}
	}
	// On another method there is no state to be confused with.
	if r := event(t, post(s.http, request("prompts/get", forms, retryOf(`"name":"notes"`, token, accept)))); r.Error == nil || r.Error.Code != -32602 {
		t.Errorf("on a prompt: %s, %+v", r.Result, r.Error)
	}
	// An answer without a state is nobody's.
	state(t, event(t, post(s.http, request("tools/call", forms, params+`,"inputResponses":{"confirm":`+accept+`}`))))
	if s.deeds.Load() != 0 {
		t.Error("it was done")
	}
	s.now.Store(int64(time.Hour))
	if r := event(t, post(s.http, request("tools/call", forms, retryOf(params, token, accept)))); !strings.Contains(string(r.Result["content"]), "expired") {
		t.Errorf("an hour later: %s", r.Result)
	}
	s.now.Store(0)
	if r := event(t, post(s.http, request("tools/call", forms, retryOf(params, token, accept)))); string(r.Result["structuredContent"]) != `{"done":true,"outcome":"approved"}` {
		t.Errorf("the real one: %s, %+v", r.Result, r.Error)
	}
	if strings.Contains(s.log.String(), token) {
		t.Error("the state is in the log")
	}
}

// Nothing runs unconfirmed, whatever the revision, the transport and the capabilities are.
func TestNothingRunsUnconfirmed(t *testing.T) {
	versions := []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "1999-01-01", ""}
	for _, protect := range []bool{false, true} {
		for _, version := range versions {
			for _, capabilities := range []string{"", `{}`, forms, bothModes} {
				for _, more := range []string{"", `,"inputResponses":{"confirm":` + accept + `}`, `,"requestState":"x","inputResponses":{"confirm":` + accept + `}`} {
					s := newService(t, Anonymous(), reprise.Options{})
					if protect {
						s = protected(t, &trusting{}, reprise.Options{})
					}
					_meta := []string{}
					if version != "" {
						_meta = append(_meta, `"io.modelcontextprotocol/protocolVersion":"`+version+`"`)
					}
					if capabilities != "" {
						_meta = append(_meta, `"io.modelcontextprotocol/clientCapabilities":`+capabilities)
					}
					call := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t","_meta":{` + strings.Join(_meta, ",") + `}` + more + `}}`

					// HTTP, with and without the header, and without the filter.
					for _, header := range []string{version, ""} {
						r := newPost(call)
						r.Header.Del("Mcp-Protocol-Version")
						if header != "" {
							r.Header.Set("Mcp-Protocol-Version", header)
						}
						serve(s.http, r)
						serve(overHTTP(s.server, mcp.StreamableHTTPOptions{}), r.Clone(t.Context()))
					}
					// stdio, with and without a handshake, and over the SDK's own transport.
					for _, transport := range []func(io.ReadCloser, io.WriteCloser) mcp.Transport{strict(0), func(r io.ReadCloser, w io.WriteCloser) mcp.Transport {
						return &mcp.IOTransport{Reader: r, Writer: w}
					}} {
						for _, handshake := range []bool{false, true} {
							w, answers := pipe(t, s.server, transport)
							if handshake {
								exchange(t, w, answers, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+version+`","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}}`)
								go io.WriteString(w, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
							}
							exchange(t, w, answers, call)
						}
					}
					if s.deeds.Load() != 0 {
						t.Fatalf("it was done: protected %t, version %q, capabilities %s, params %s", protect, version, capabilities, more)
					}
				}
			}
		}
	}
}

// A client of an older revision is refused by name, and what does not ask still serves it.
func TestOlderClientsAreRefusedByName(t *testing.T) {
	s := newService(t, Anonymous(), reprise.Options{})
	w, answers := pipe(t, s.server, strict(0))
	exchange(t, w, answers, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}}`)
	go io.WriteString(w, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	r := exchange(t, w, answers, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"restart","arguments":{"service":"billing"}}}`)
	if text := string(r.Result["content"]); string(r.Result["isError"]) != "true" || !strings.Contains(text, "restart") || !strings.Contains(text, "2026-07-28") || !strings.Contains(text, "2025-06-18") {
		t.Errorf("%s, %+v", r.Result, r.Error)
	}
	r = exchange(t, w, answers, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"plain","arguments":{}}}`)
	if r.Error != nil || !strings.Contains(string(r.Result["content"]), "plain") {
		t.Errorf("%s, %+v", r.Result, r.Error)
	}
	if s.runs.Load() != 0 {
		t.Error("the handler ran")
	}
}

// An answer never comes back in an error, not even to a client that claims a revision without answers.
func TestOlderClientsAnswersAreNotEchoed(t *testing.T) {
	s := newService(t, Anonymous(), reprise.Options{})
	for _, params := range []string{
		`"name":"restart","arguments":"x","inputResponses":{"a":{"x":"hunter2"}}`,
		`"name":"restart","requestState":7,"inputResponses":{"a":"hunter2"}`,
		`"name":7,"inputre\u0073ponses":{"a":"hunter2"}`,
		`"name":7,"INPUTRESPONSES":"hunter2"`,
	} {
		body := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{` + params + `}}`
		r := newPost(body)
		r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
		w := serve(s.http, r)
		if w.Code != 400 || strings.Contains(w.Body.String(), "hunter2") || event(t, w).Error.Code != -32602 {
			t.Errorf("HTTP %d: %s", w.Code, w.Body)
		}
		in, answers := pipe(t, s.server, strict(0))
		exchange(t, in, answers, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
		if got := exchange(t, in, answers, body); got.Error == nil || got.Error.Code != -32602 || strings.Contains(got.Error.Message, "hunter2") {
			t.Errorf("stdio: %+v", got.Error)
		}
	}
}

func TestStdioRoundTrip(t *testing.T) {
	for _, kind := range kinds {
		s := newService(t, Local("", ""), reprise.Options{})
		w, answers := pipe(t, s.server, strict(0))
		token := state(t, exchange(t, w, answers, request(kind.method, forms, kind.params)))
		r := exchange(t, w, answers, strings.Replace(request(kind.method, forms, retryOf(kind.params, token, accept)), `"id":1`, `"id":2`, 1))
		if r.Error != nil || s.deeds.Load() != 1 || string(r.Result["resultType"]) != `"complete"` {
			t.Errorf("%s: %d deeds, %s, %+v", kind.method, s.deeds.Load(), r.Result, r.Error)
		}
	}
}

// withTokens is s behind the SDK's token check: the token is the subject, or "subject:tenant:client:issuer".
func withTokens(s *service) http.Handler {
	verify := func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		parts := append(strings.Split(token, ":"), "", "", "")
		info := &auth.TokenInfo{UserID: parts[0], Extra: map[string]any{}}
		for i, key := range []string{ExtraTenant, ExtraClient, ExtraIssuer} {
			if parts[i+1] != "" {
				info.Extra[key] = parts[i+1]
			}
		}
		return info, nil
	}
	return auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(s.http)
}

func as(h http.Handler, token, body string) *httptest.ResponseRecorder {
	r := newPost(body)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return serve(h, r)
}

func TestStatesBelongToWhoWasAsked(t *testing.T) {
	const params = `"name":"restart","arguments":{"service":"billing"}`
	for _, thief := range []string{"mallory", "alice:tenant", "alice::client", "alic", "Alice", "alice "} {
		s := newService(t, Authenticated("https://issuer.example"), reprise.Options{})
		h := withTokens(s)
		token := state(t, event(t, as(h, "alice", request("tools/call", forms, params))))
		w := as(h, thief, request("tools/call", forms, retryOf(params, token, accept)))
		if strings.TrimSpace(thief) == "alice" {
			continue // white space around a token is not part of it
		}
		if r := event(t, w); !strings.Contains(string(r.Result["content"]), "somebody else") || s.deeds.Load() != 0 {
			t.Errorf("%q: %s, %+v", thief, r.Result, r.Error)
		}
		if r := event(t, as(h, "alice", request("tools/call", forms, retryOf(params, token, accept)))); s.deeds.Load() != 1 {
			t.Errorf("alice after %q: %s, %+v", thief, r.Result, r.Error)
		}
	}
}

func TestIdentitiesThatAreRefused(t *testing.T) {
	const params = `"name":"restart","arguments":{"service":"billing"}`
	body := request("tools/call", forms, params)
	s := newService(t, Authenticated("https://issuer.example"), reprise.Options{})
	h := withTokens(s)
	for name, w := range map[string]*httptest.ResponseRecorder{
		"no token":                   as(h, "", body),
		"an empty subject":           as(h, ":tenant", body),
		"another issuer":             as(h, "alice:::https", body),
		"behind no check at all":     post(s.http, body),
		"a subject that is a space ": as(h, "\u00a0:", body),
	} {
		if w.Code == 200 {
			if r := event(t, w); r.Error == nil && string(r.Result["isError"]) != "true" {
				t.Errorf("%s: %s", name, r.Result)
			}
		}
	}
	if s.runs.Load() != 0 {
		t.Error("the handler ran")
	}

	// Whoever is authenticated is not anonymous, and the other way round.
	s = newService(t, Anonymous(), reprise.Options{})
	token := state(t, event(t, post(s.http, body)))
	if r := event(t, as(withTokens(s), "alice", request("tools/call", forms, retryOf(params, token, accept)))); r.Error == nil && string(r.Result["isError"]) != "true" {
		t.Errorf("an authenticated caller with the state of an anonymous one: %s", r.Result)
	}
	if s.deeds.Load() != 0 {
		t.Error("it was done")
	}
}

func TestAnAdapterThatCannotKeepItsPromiseDoesNotStart(t *testing.T) {
	engine := engineFor(t, requeststate.AES256GCM, io.Discard)
	server := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
	for name, f := range map[string]func() (*Adapter, error){
		"no server":   func() (*Adapter, error) { return New(nil, Config{Engine: engine, Identity: Anonymous()}) },
		"no engine":   func() (*Adapter, error) { return New(server, Config{Identity: Anonymous()}) },
		"no identity": func() (*Adapter, error) { return New(server, Config{Engine: engine}) },
	} {
		if a, err := f(); err == nil || a != nil {
			t.Errorf("%s: it started", name)
		}
	}
	ring, err := requeststate.NewKeyring(requeststate.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := requeststate.New(requeststate.Config{Keyring: ring, Audience: "urn:test"})
	if err != nil {
		t.Fatal(err)
	}
	storeless, err := reprise.New(reprise.Config{Sealer: sealer})
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(server, Config{Engine: storeless, Identity: Anonymous()})
	if err != nil {
		t.Fatal(err)
	}
	h := func(context.Context, *reprise.Call, map[string]any) (any, error) { return nil, nil }
	if AddTool(a, &mcp.Tool{Name: "x"}, reprise.Options{}, h) == nil || a.Protect(reprise.Options{}) == nil ||
		AddPrompt(a, &mcp.Prompt{Name: "x"}, reprise.Options{}, nil) == nil || AddResource(a, &mcp.Resource{Name: "x", URI: "x://y"}, reprise.Options{}, nil) == nil ||
		AddResourceTemplate(a, &mcp.ResourceTemplate{Name: "x", URITemplate: "x://{y}"}, reprise.Options{}, nil) == nil {
		t.Error("single use without a ledger was promised")
	}
	if err := AddTool(a, &mcp.Tool{Name: "x"}, reprise.Options{Reusable: true}, h); err != nil {
		t.Error(err)
	}
}

// What asks where asking is not allowed does not get out.
func TestAskingElsewhereBecomesAnInternalError(t *testing.T) {
	s := newService(t, Anonymous(), reprise.Options{})
	s.server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler { return next })
	inner := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
	inner.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method == "tools/list" {
				return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": form()}, RequestState: "s"}, nil
			}
			return next(ctx, method, req)
		}
	})
	if _, err := New(inner, Config{Engine: engineFor(t, requeststate.AES256GCM, io.Discard), Identity: Anonymous()}); err != nil {
		t.Fatal(err)
	}
	if r := event(t, post(NewHTTPHandler(inner, nil), request("tools/list", forms, ""))); r.Error == nil || r.Error.Code != -32603 {
		t.Errorf("%s, %+v", r.Result, r.Error)
	}
	// And a list with a state on it is a list.
	if r := event(t, post(s.http, request("tools/list", forms, `"requestState":"x","inputResponses":{"q":{"action":"accept"}}`))); r.Error != nil || r.Result["tools"] == nil {
		t.Errorf("%s, %+v", r.Result, r.Error)
	}
}
