// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package gosdk

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/reprise-mcp/reprise/wire"
)

// behind is what stands behind the filter: it remembers the body that it got.
type behind struct {
	body string
	ran  bool
}

func (b *behind) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	b.body, b.ran = string(body), true
}

func TestFilterRefuses(t *testing.T) {
	ok := callBody(bothModes, "")
	params := func(more string) string { return callBody(bothModes, more) }
	for _, test := range []struct {
		name, body   string
		edit         func(http.Header)
		status, code int
		id           string
	}{
		{"no JSON", `{"jsonrpc":"2.0",`, nil, 400, -32700, ""},
		{"nothing", ``, nil, 400, -32700, ""},
		{"a second value", ok + ok, nil, 400, -32700, "1"},
		{"invalid UTF-8", params(",\"arguments\":{\"a\":\"\xff\"}"), nil, 400, -32700, "1"},
		{"lone surrogate", params(`,"arguments":{"a":"\ud800"}`), nil, 400, -32700, "1"},
		{"batch", "[" + ok + "]", nil, 400, -32600, ""},
		{"no object", `7`, nil, 400, -32600, ""},
		{"wrong jsonrpc", strings.Replace(ok, `"2.0"`, `"1.0"`, 1), nil, 400, -32600, "1"},
		{"id is null", strings.Replace(ok, `"id":1`, `"id":null`, 1), nil, 400, -32600, ""},
		{"id with a fraction", strings.Replace(ok, `"id":1`, `"id":1.5`, 1), nil, 400, -32600, ""},
		{"id that the SDK would change", strings.Replace(ok, `"id":1`, `"id":9007199254740993`, 1), nil, 400, -32600, "9007199254740993"},
		{"id beyond int64", strings.Replace(ok, `"id":1`, `"id":-99999999999999999999`, 1), nil, 400, -32600, "-99999999999999999999"},
		{"duplicate method", strings.Replace(ok, `"method"`, `"method":"tools/list","method"`, 1), nil, 400, -32600, "1"},
		{"duplicate argument", params(`,"arguments":{"environment":"staging","environment":"production"}`), nil, 400, -32600, "1"},
		{"duplicate in _meta", strings.Replace(ok, `"_meta":{`, `"_meta":{"a":1,"a":2,`, 1), nil, 400, -32600, "1"},
		{"duplicate answer", params(`,"inputResponses":{"q":{"action":"decline"},"q":{"action":"accept"}}`), nil, 400, -32600, "1"},
		{"duplicate action", params(`,"inputResponses":{"q":{"action":"decline","action":"accept"}}`), nil, 400, -32600, "1"},
		{"duplicate state", params(`,"requestState":"a","requestState":"b"`), nil, 400, -32600, "1"},
		{"response", `{"jsonrpc":"2.0","id":1,"result":{}}`, nil, 400, -32600, "1"},
		{"method in other case", strings.Replace(ok, `"method"`, `"Method"`, 1), nil, 400, -32600, "1"},

		{"state is a number", params(`,"requestState":7`), nil, 400, -32602, "1"},
		{"state is null", params(`,"requestState":null`), nil, 400, -32602, "1"},
		{"state with a long s", params(`,"reque` + "\u017f" + `tState":"x"`), nil, 400, -32602, "1"},
		{"answers are an array", params(`,"inputResponses":[]`), nil, 400, -32602, "1"},
		{"answers are a number", params(`,"inputResponses":12345`), nil, 400, -32602, "1"},
		{"answers are null", params(`,"inputResponses":null`), nil, 400, -32602, "1"},
		{"an answer is a number", params(`,"inputResponses":{"q":7}`), nil, 400, -32602, "1"},
		{"an answer is empty", params(`,"inputResponses":{"q":{}}`), nil, 400, -32602, "1"},
		{"an action is a number", params(`,"inputResponses":{"q":{"action":7}}`), nil, 400, -32602, "1"},
		{"a number that no float holds", params(`,"inputResponses":{"q":{"action":"accept","content":{"n":1e400}}}`), nil, 400, -32602, "1"},
		{"an action that only folds to one", params(`,"inputResponses":{"q":{"action":"accept","Action":7}}`), nil, 400, -32602, "1"},
		{"an answer is an array", params(`,"inputResponses":{"q":[]}`), nil, 400, -32602, "1"},
		{"a content is a string", params(`,"inputResponses":{"q":{"action":"accept","content":"x"}}`), nil, 400, -32602, "1"},
		{"one good answer, one bad", params(`,"inputResponses":{"a":{"action":"accept"},"b":7,"c":{"action":"accept"}}`), nil, 400, -32602, "1"},
		{"an unknown answer of unknown shape", params(`,"inputResponses":{"other":{"foo":1}}`), nil, 400, -32602, "1"},
		{"arguments are an array", params(`,"arguments":[]`), nil, 400, -32602, "1"},
		{"no _meta", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}`, nil, 400, -32602, "1"},
		{"capabilities are a string", callBody(`"yes"`, ""), nil, 400, -32602, "1"},
		{"a capability is a string", callBody(`{"elicitation":"yes"}`, ""), nil, 400, -32602, "1"},
		{"params are null", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":null}`, nil, 400, -32602, "1"},
		{"a prompt's argument is a number", `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"p","arguments":{"a":1},` + meta(`{}`) + `}}`, nil, 400, -32602, "1"},
		{"a prompt's argument is null", `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"p","arguments":{"a":null},` + meta(`{}`) + `}}`, nil, 400, -32602, "1"},

		{"old version", ok, func(h http.Header) { h.Set("Mcp-Protocol-Version", "1900-01-01") }, 400, -32022, "1"},
		{"future version", ok, func(h http.Header) { h.Set("Mcp-Protocol-Version", "2099-01-01") }, 400, -32022, "1"},
		{"no version at all", ok, func(h http.Header) { h.Set("Mcp-Protocol-Version", "x") }, 400, -32022, "1"},
		{"two versions", ok, func(h http.Header) { h.Add("Mcp-Protocol-Version", "2026-07-28") }, 400, -32020, "1"},
		{"two methods", ok, func(h http.Header) { h.Add("Mcp-Method", "tools/list") }, 400, -32020, "1"},
		{"two names", ok, func(h http.Header) { h.Add("Mcp-Name", "other") }, 400, -32020, "1"},
		{"two of one parameter", ok, func(h http.Header) { h.Add("Mcp-Param-Region", "a"); h.Add("Mcp-Param-Region", "b") }, 400, -32020, "1"},

		{"foreign origin", ok, func(h http.Header) { h.Set("Origin", "http://evil.example") }, 403, -32600, ""},
		{"opaque origin", ok, func(h http.Header) { h.Set("Origin", "null") }, 403, -32600, ""},
		{"empty origin", ok, func(h http.Header) { h.Set("Origin", "") }, 403, -32600, ""},
		{"origin of the host, which need not be ours", ok, func(h http.Header) { h.Set("Origin", "http://example.com") }, 403, -32600, ""},
		{"two origins", ok, func(h http.Header) {
			h.Add("Origin", "https://app.example")
			h.Add("Origin", "https://app.example")
		}, 403, -32600, ""},
		{"text", ok, func(h http.Header) { h.Set("Content-Type", "text/plain") }, 415, -32600, ""},
		{"no type", ok, func(h http.Header) { h.Del("Content-Type") }, 415, -32600, ""},
		{"two types", ok, func(h http.Header) { h.Add("Content-Type", "text/plain") }, 415, -32600, ""},
		{"too large", params(`,"requestState":"` + strings.Repeat("x", DefaultMaxBody) + `"`), nil, 413, -32600, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var next behind
			r := newPost(ok)
			r.Body = io.NopCloser(strings.NewReader(test.body))
			r.ContentLength = -1
			if test.edit != nil {
				test.edit(r.Header)
			}
			w := serve(Filter(&next, &FilterOptions{Origins: []string{"https://app.example"}}), r)
			if got := wantError(t, w, test.status, test.code); string(got.ID) != test.id {
				t.Errorf("id %s, want %s", got.ID, test.id)
			}
			if next.ran {
				t.Error("the request was passed on as well")
			}
		})
	}
}

func TestFilterPassesTheOriginalBytes(t *testing.T) {
	ok := callBody(bothModes, "")
	for _, test := range []struct {
		name, body string
		edit       func(*http.Request)
	}{
		{"call", ok, nil},
		{"white space and escapes", "\n " + callBody(bothModes, `, "arguments" : {"b":1.0e0,"a":"\u003c\/\ufffd"}`) + "\r\n", nil},
		{"retry", callBody(bothModes, `,"inputResponses":{"q":{"action":"accept","content":{"n":9007199254740993},"resultType":"complete"}},"requestState":"s"`), nil},
		{"answers of every kind", callBody(bothModes, `,"inputResponses":{"a":{"action":"cancel","content":null},"b":{"roots":[]},"c":{"role":"assistant","content":{"type":"text","text":"x"},"model":"m"},"d":{"action":"accept","content":{"s":["a","b"],"t":true,"n":1.5e3}}}`), nil},
		{"unknown action, which is for the engine", callBody(bothModes, `,"inputResponses":{"q":{"action":"frob"}}`), nil},
		{"list", `{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{` + meta(`{}`) + `,"requestState":7}}`, nil},
		{"notification", `{"jsonrpc":"2.0","method":"notifications/cancelled"}`, nil},
		{"unknown method", `{"jsonrpc":"2.0","id":1,"method":"tools/frob"}`, nil},
		{"legacy", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}`, func(r *http.Request) { r.Header.Set("Mcp-Protocol-Version", "2025-11-25") }},
		{"legacy without the header", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`, func(r *http.Request) { r.Header.Del("Mcp-Protocol-Version") }},
		{"listed origin", ok, func(r *http.Request) { r.Header.Set("Origin", "https://app.example") }},
		{"own page on loopback", ok, func(r *http.Request) { r.Host = "localhost:8080"; r.Header.Set("Origin", "http://localhost:8080") }},
		{"own page on loopback, IPv6", ok, func(r *http.Request) { r.Host = "[::1]:8080"; r.Header.Set("Origin", "http://[::1]:8080") }},
		{"charset", ok, func(r *http.Request) { r.Header.Set("Content-Type", "application/json; charset=utf-8") }},
	} {
		t.Run(test.name, func(t *testing.T) {
			var next behind
			r := newPost(test.body)
			if test.edit != nil {
				test.edit(r)
			}
			if w := serve(Filter(&next, &FilterOptions{Origins: []string{"https://app.example"}}), r); !next.ran || next.body != test.body {
				t.Errorf("HTTP %d: %s\npassed on: %v %q", w.Code, w.Body, next.ran, next.body)
			}
		})
	}
	var next behind
	serve(Filter(&next, nil), httptest.NewRequest(http.MethodGet, "/mcp", nil))
	if !next.ran {
		t.Error("GET is the SDK's to refuse")
	}
}

func TestFilterNamesTheVersions(t *testing.T) {
	r := newPost(callBody(`{}`, ""))
	r.Header.Set("Mcp-Protocol-Version", "1900-01-01")
	w := serve(Filter(&behind{}, &FilterOptions{Versions: []string{"2026-07-28"}}), r)
	if got := wantError(t, w, 400, -32022); string(got.Error.Data) != `{"supported":["2026-07-28"],"requested":"1900-01-01"}` {
		t.Errorf("data %s", got.Error.Data)
	}
}

func TestFilterBodyCap(t *testing.T) {
	body := callBody(`{}`, "")
	for _, chunked := range []bool{false, true} {
		for _, test := range []struct{ cap, status int }{{len(body), 200}, {len(body) - 1, 413}} {
			r := newPost(body)
			if chunked {
				r.ContentLength = -1
			}
			if w := serve(Filter(&behind{}, &FilterOptions{MaxBody: int64(test.cap)}), r); w.Code != test.status {
				t.Errorf("body of %d, cap %d, chunked %v: HTTP %d", len(body), test.cap, chunked, w.Code)
			}
		}
	}
}

func TestFilterDoesNotEchoThePeer(t *testing.T) {
	for _, more := range []string{
		`,"inputResponses":{"a":{"action":"accept","content":{"pin":"hunter2"}},"b":7}`,
		`,"inputResponses":["hunter2"]`, `,"requestState":{"a":"hunter2"}`, `,"arguments":"hunter2"`, `,"hunter2":1,"hunter2":2`,
	} {
		if w := post(Filter(&behind{}, nil), callBody(bothModes, more)); w.Code != 400 || strings.Contains(w.Body.String(), "hunter2") {
			t.Errorf("%s: HTTP %d: %s", more, w.Code, w.Body)
		}
	}
}

// The adapter must see the raw params of this very request, over JSON and over SSE, behind authentication or not.
func TestReceivedReachesMiddleware(t *testing.T) {
	var (
		got   *wire.Params
		found bool
	)
	s := bare(done, func(s *mcp.Server) {
		s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
			return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
				got, found = receivedFrom(ctx, method, req.GetExtra())
				return next(ctx, method, req)
			}
		})
	})
	authenticate := auth.RequireBearerToken(func(context.Context, string, *http.Request) (*auth.TokenInfo, error) {
		return &auth.TokenInfo{UserID: "alice", Expiration: farFuture}, nil
	}, nil)
	for _, asJSON := range []bool{true, false} {
		h := Filter(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s },
			&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: asJSON, PropagateRequestCancellation: asJSON}), nil)
		for name, h := range map[string]http.Handler{"bare": h, "behind authentication": authenticate(h)} {
			got, found = nil, false
			const answer = `{"action":"decline","Action":"accept","content":{"n":9007199254740993}}`
			r := newPost(callBody(bothModes, `,"arguments":{ "b":1.0e0 },"inputResponses":{"q":`+answer+`},"requestState":""`))
			r.Header.Set("Authorization", "Bearer x")
			w := serve(h, r)
			if w.Code != 200 || !found {
				t.Fatalf("%s, JSON %v: HTTP %d: %s: found %v", name, asJSON, w.Code, w.Body, found)
			}
			if string(got.InputResponses["q"]) != answer || got.RequestState == nil || *got.RequestState != "" || string(got.Arguments) != `{ "b":1.0e0 }` {
				t.Errorf("%s, JSON %v: %+v", name, asJSON, got)
			}
		}
		// Without a filter there is nothing, and a legacy request has nothing.
		post(overHTTP(s, mcp.StreamableHTTPOptions{}), callBody(bothModes, ""))
		if found {
			t.Error("found without a filter")
		}
		r := newPost(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}`)
		r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
		if w := serve(h, r); w.Code != 200 || found {
			t.Errorf("legacy: HTTP %d: %s: found %v", w.Code, w.Body, found)
		}
	}
}

// Params that belong to another request must not be found, whatever the context says.
func TestReceivedBelongsToItsRequest(t *testing.T) {
	var ctx context.Context
	var header http.Header
	h := Filter(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { ctx, header = r.Context(), r.Header }), nil)
	post(h, callBody(bothModes, ""))
	if _, ok := receivedFrom(ctx, "tools/call", &mcp.RequestExtra{Header: header}); !ok {
		t.Fatal("not found")
	}
	for _, extra := range []*mcp.RequestExtra{nil, {}, {Header: header.Clone()}} {
		if _, ok := receivedFrom(ctx, "tools/call", extra); ok {
			t.Errorf("found for %v", extra)
		}
	}
}

var farFuture = time.Now().Add(time.Hour)

// What the filter takes for readable must be so to the SDK.
func FuzzReadable(f *testing.F) {
	for _, answer := range []string{
		`{"action":"accept","content":{"decision":"go"}}`, `{"action":"accept","content":{"n":1e400}}`, `{"action":7}`, `{"content":{}}`,
		`{"action":"decline","Action":7}`, `{"action":"a","content":{"a":[1]}}`, `{"action":"a","content":null}`, `7`, `{}`,
		`{"action":"a","content":{"n":999999999999999,"m":-0.0000000000000000001}}`, `{"\u0061ction":"a"}`,
	} {
		f.Add(answer)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		params, err := wire.ParseParams("tools/call", []byte(`{"name":"t",`+meta(`{}`)+`,"inputResponses":{"q":`+answer+`}}`))
		if err != nil || len(params.InputResponses) != 1 || !plain(params.InputResponses["q"]) {
			return
		}
		var m mcp.InputResponseMap
		if err := m.UnmarshalJSON([]byte(`{"q":` + answer + `}`)); err != nil {
			t.Fatalf("%s: %v", answer, err)
		}
	})
}
