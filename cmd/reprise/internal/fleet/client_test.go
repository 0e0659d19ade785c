// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/reprise-mcp/reprise/cmd/reprise/internal/fleet"
	"github.com/reprise-mcp/reprise/wire"
)

// A server that notes what it got, and answers with a fixed body.
type script struct {
	contentType, body string
	status            int

	mu     sync.Mutex
	header http.Header
	got    []byte
	count  int
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.header = r.Header.Clone()
	s.got, _ = io.ReadAll(r.Body)
	s.count++
	w.Header().Set("Content-Type", s.contentType)
	w.Header().Set(fleet.HeaderReplica, "replica-2")
	w.Header().Set("Set-Cookie", "session=crumbs")
	if s.status != 0 {
		w.WriteHeader(s.status)
	}
	io.WriteString(w, s.body)
}

// client returns a client of a server that answers so.
func client(t *testing.T, s *script) *fleet.Client {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return &fleet.Client{URL: server.URL + "/mcp", Token: "tok-of-alice", Name: "alice", Capabilities: json.RawMessage(`{"elicitation":{"form":{}}}`)}
}

const complete = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}],"structuredContent":{"deployed":true}}}`

func TestRequestOnTheWire(t *testing.T) {
	s := &script{contentType: "application/json", body: complete}
	c := client(t, s)
	if _, err := c.Call(t.Context(), "deploy_release", map[string]string{"service": "billing"}, fleet.Extra{}); err != nil {
		t.Fatal(err)
	}
	const want = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"deploy_release","arguments":{"service":"billing"},` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"alice","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}}}`
	if string(s.got) != want {
		t.Errorf("sent\n%s\nwant\n%s", s.got, want)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28",
		"Mcp-Method": "tools/call", "Mcp-Name": "deploy_release", "Authorization": "Bearer tok-of-alice",
	} {
		if got := s.header.Values(name); len(got) != 1 || got[0] != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}

	// A retry, as it should be: a new id, the state as it came, and the answers.
	s.body = strings.Replace(complete, `"id":1`, `"id":2`, 1)
	_, err := c.Call(t.Context(), "deploy_release", json.RawMessage(`{"n":9007199254740993,"n":"<&>"}`), fleet.Extra{
		RequestState: "a<b>&é", InputResponses: map[string]any{"confirm": map[string]any{"action": "decline"}}, Capabilities: struct{}{},
	})
	if err != nil {
		t.Fatal(err)
	}
	const retry = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"deploy_release","arguments":{"n":9007199254740993,"n":"<&>"},` +
		`"inputResponses":{"confirm":{"action":"decline"}},"requestState":"a<b>&é",` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"alice","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{}}}}`
	if string(s.got) != retry {
		t.Errorf("sent\n%s\nwant\n%s", s.got, retry)
	}

	// And as it should not be.
	s.body = `{"jsonrpc":"2.0","id":"x","result":{}}`
	if _, err = c.Call(t.Context(), "t", nil, fleet.Extra{ID: wire.StringID("x"), RequestState: 7, InputResponses: []int{}}); err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(s.got, []byte(`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"t","inputResponses":[],"requestState":7,"_meta":`)) {
		t.Errorf("sent %s", s.got)
	}
	s.body = `{"jsonrpc":"2.0","error":{"code":-32700,"message":"no"}}`
	header := http.Header{"Mcp-Name": nil, "Mcp-Method": {"tools/list"}, "Accept": {""}, "Origin": {"http://evil.example", "http://other.example"}, "Authorization": nil}
	if _, err = c.Call(t.Context(), "t", nil, fleet.Extra{Body: []byte("{{"), Header: header}); err != nil {
		t.Fatal(err)
	}
	if string(s.got) != "{{" || s.header.Get("Mcp-Method") != "tools/list" || len(s.header.Values("Origin")) != 2 {
		t.Errorf("sent %q with %v", s.got, s.header)
	}
	for _, name := range []string{"Mcp-Name", "Accept", "Authorization"} {
		if got, ok := s.header[name]; ok {
			t.Errorf("sent %s: %q although it was taken out", name, got)
		}
	}

	s.body = `{"jsonrpc":"2.0","id":4,"result":{"resultType":"complete"}}`
	if _, err = (&fleet.Client{URL: c.URL, Name: "x"}).Do(t.Context(), "tools/list", fleet.Extra{ID: wire.IntID(4)}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(s.got), `"method":"tools/list","params":{"_meta":`) || !strings.Contains(string(s.got), `clientCapabilities":{}}`) {
		t.Errorf("sent %s", s.got)
	}
	if len(s.header["Mcp-Name"])+len(s.header["Authorization"]) != 0 || s.header.Get("Mcp-Method") != "tools/list" {
		t.Errorf("sent %v, want no name and no token", s.header)
	}
}

func TestNamesInHeaders(t *testing.T) {
	s := &script{contentType: "application/json", body: `{"jsonrpc":"2.0","id":1,"result":{}}`}
	for name, want := range map[string]string{
		"us-west1":              "us-west1",
		"two words":             "two words",
		"Hello, 世界":             "=?base64?SGVsbG8sIOS4lueVjA==?=",
		" padded ":              "=?base64?IHBhZGRlZCA=?=",
		"line1\nline2":          "=?base64?bGluZTEKbGluZTI=?=",
		"=?base64?literal?=":    "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=",
		"=?base64?=":            "=?base64?PT9iYXNlNjQ/PQ==?=",
		"=?base64?only a start": "=?base64?only a start",
		"a\tb":                  "=?base64?YQli?=",
		"del\x7f":               "=?base64?ZGVsfw==?=",
	} {
		c := client(t, s)
		if _, err := c.Call(t.Context(), name, nil, fleet.Extra{}); err != nil {
			t.Fatal(err)
		}
		if got := s.header.Get("Mcp-Name"); got != want {
			t.Errorf("Mcp-Name of %q is %q, want %q", name, got, want)
		}
	}
}

func TestAnswers(t *testing.T) {
	const note = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}`
	asks := `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"confirm":{"method":"elicitation/create","params":{"message":"Deploy?"}}},"requestState":"v1.abc"}}`
	sse := func(body string) *script { return &script{contentType: "text/event-stream; charset=utf-8", body: body} }
	js := func(body string) *script { return &script{contentType: "application/json", body: body} }
	tests := []struct {
		name   string
		server *script
		want   string // in the error; empty means none
		check  func(*fleet.Response) bool
	}{
		{"result", js(complete), "", func(r *fleet.Response) bool {
			return r.Result.ResultType == "complete" && r.Result.Text() == "a\nb" && string(r.Result.StructuredContent) == `{"deployed":true}` && !r.Result.IsError &&
				strings.HasPrefix(string(r.Result.Raw), `{"resultType":`) && string(r.Raw) == complete && r.Replica == "replica-2" && r.Status == 200 && r.ID == wire.IntID(1)
		}},
		{"question", js(asks), "", func(r *fleet.Response) bool {
			q := r.Result.InputRequests["confirm"]
			return r.Result.ResultType == "input_required" && r.Result.RequestState == "v1.abc" && q.Method == "elicitation/create" && string(q.Params) == `{"message":"Deploy?"}`
		}},
		{"error", &script{contentType: "application/json", status: 400, body: `{"jsonrpc":"2.0","id":1,"error":{"code":-32021,"message":"no form","data":{"requiredCapabilities":{}}}}`}, "", func(r *fleet.Response) bool {
			return r.Status == 400 && r.Error.Code == -32021 && r.Error.Data != nil && r.Result == nil
		}},
		{"error without id", &script{contentType: "application/json", status: 403, body: `{"jsonrpc":"2.0","error":{"code":-32600,"message":"origin"}}`}, "", func(r *fleet.Response) bool {
			return r.Error.Code == -32600 && r.ID.IsZero()
		}},
		{"text", &script{contentType: "text/plain", status: 413, body: "too long"}, "", func(r *fleet.Response) bool {
			return r.Status == 413 && r.Result == nil && r.Error == nil && string(r.Raw) == "too long"
		}},
		{"nothing", &script{status: 202}, "", func(r *fleet.Response) bool { return r.Status == 202 && len(r.Raw) == 0 }},
		{"redirect", &script{contentType: "text/plain", status: 307}, "", func(r *fleet.Response) bool { return r.Status == 307 }},
		{"stream", sse(": hello\r\n\r\nevent: message\nid: 1\ndata: " + note + "\n\nevent: other\ndata: {\n\n\ndata:" + complete[:24] + "\ndata: " + complete[24:] + "\n\nleft alone"), "", func(r *fleet.Response) bool {
			return len(r.Notices) == 1 && r.Notices[0].Method == "notifications/progress" && r.Result.Text() == "a\nb"
		}},
		{"stream with CR", sse("\ufeffdata: " + asks + "\r\r"), "", func(r *fleet.Response) bool { return r.Result.RequestState == "v1.abc" }},
		{"stream that is cut off", sse("data: " + note + "\n\ndata: " + complete + "\n"), "ended without a response", func(r *fleet.Response) bool { return len(r.Notices) == 1 && r.Result == nil }},
		{"stream with a request", sse(`data: {"jsonrpc":"2.0","id":1,"method":"elicitation/create"}` + "\n\n"), "which it may not", nil},
		{"no JSON", js("oops"), "cannot be used", func(r *fleet.Response) bool { return string(r.Raw) == "oops" }},
		{"two values", js(complete + complete), "cannot be used", nil},
		{"a member twice", js(`{"jsonrpc":"2.0","id":1,"result":{"isError":true,"isError":false}}`), "cannot be used", nil},
		{"notification", js(note), "notification", nil},
		{"other id", js(strings.Replace(complete, `"id":1`, `"id":2`, 1)), "answers request 2, not 1", func(r *fleet.Response) bool { return r.ID == wire.IntID(2) }},
		{"id of another type", js(strings.Replace(complete, `"id":1`, `"id":"1"`, 1)), `answers request "1", not 1`, nil},
		{"result of another shape", js(`{"jsonrpc":"2.0","id":1,"result":{"content":"text"}}`), "cannot be used", nil},
		{"endless", js(`{"jsonrpc":"2.0","id":1,"result":{"x":"` + strings.Repeat("x", 17<<20)), "longer than", nil},
		{"endless event", sse("data: " + strings.Repeat("x", 17<<20)), "longer than", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r, err := client(t, test.server).Call(t.Context(), "deploy_release", nil, fleet.Extra{})
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Fatalf("error %v, want %q", err, test.want)
			}
			if test.check != nil && !test.check(r) {
				t.Errorf("response %+v\nresult %+v", r, r.Result)
			}
			if test.server.count != 1 {
				t.Errorf("%d requests were sent, want 1", test.server.count)
			}
		})
	}
}

func TestNothingIsSentTwice(t *testing.T) {
	var count atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		count.Add(1)
		panic(http.ErrAbortHandler)
	}))
	defer server.Close()
	c := &fleet.Client{URL: server.URL, Token: "tok-of-alice"}
	for range 3 {
		_, err := c.Call(t.Context(), "t", nil, fleet.Extra{})
		if err == nil || strings.Contains(err.Error(), "tok-of-alice") {
			t.Errorf("error %v", err)
		}
	}
	if count.Load() != 3 {
		t.Errorf("%d requests for 3 calls", count.Load())
	}
}

func TestTranscript(t *testing.T) {
	var out bytes.Buffer
	transcript := fleet.NewTranscript(&out)
	s := &script{contentType: "text/event-stream", body: `data: {"jsonrpc":"2.0","method":"notifications/message"}` + "\n\ndata: " + complete + "\n\n"}
	c := client(t, s)
	c.Transcript = transcript
	arguments := json.RawMessage(`{"service" : "a<b>\u2028", "n":1.0}`)
	if _, err := c.Call(t.Context(), "deploy_release", arguments, fleet.Extra{RequestState: "x", Violation: "the state of somebody else"}); err != nil {
		t.Fatal(err)
	}
	sent := string(s.got)
	s.contentType, s.body, s.status = "text/plain", "tok, tok", 400
	header := http.Header{"Cookie": {"session=crumbs"}, "Proxy-Authorization": {"Basic crumbs"}, "authorization": {"Bearer other-crumbs"}}
	if _, err := c.Call(t.Context(), "deploy_release", nil, fleet.Extra{Body: []byte("{{"), Header: header, Violation: "no JSON"}); err != nil {
		t.Fatal(err)
	}

	text := out.String()
	for _, secret := range []string{"tok-of-alice", "crumbs"} {
		if strings.Contains(text, secret) {
			t.Errorf("the transcript holds %s:\n%s", secret, text)
		}
	}
	type line struct {
		Message   json.RawMessage `json:"message"`
		Direction string          `json:"direction"`
		HTTP      struct {
			Headers map[string]string `json:"headers"`
			Status  int               `json:"status"`
		} `json:"http"`
		Client    string `json:"client"`
		Violation string `json:"violation"`
	}
	var lines []line
	for text := range strings.Lines(text) {
		var l line
		d := json.NewDecoder(strings.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&l); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		if l.Client != "alice" || !strings.HasSuffix(text, "}\n") {
			t.Errorf("line %s", text)
		}
		lines = append(lines, l)
	}
	var got []string
	for _, l := range lines {
		got = append(got, fmt.Sprint(l.Direction, l.HTTP.Status, " ", l.Violation))
	}
	want := []string{"client0 the state of somebody else", "server200 ", "server200 ", "client0 no JSON", "server400 "}
	if !slices.Equal(got, want) {
		t.Fatalf("lines %q, want %q", got, want)
	}
	if string(lines[0].Message) != sent {
		t.Errorf("recorded %s\nsent %s", lines[0].Message, sent)
	}
	if string(lines[2].Message) != complete || string(lines[3].Message) != `"{{"` || string(lines[4].Message) != "null" {
		t.Errorf("recorded %s, %s and %s", lines[2].Message, lines[3].Message, lines[4].Message)
	}
	wantHeaders := map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28",
		"Mcp-Method": "tools/call", "Mcp-Name": "deploy_release", "Authorization": "[redacted]",
	}
	if !maps.Equal(lines[0].HTTP.Headers, wantHeaders) {
		t.Errorf("recorded headers %v, want %v", lines[0].HTTP.Headers, wantHeaders)
	}
	if h := lines[4].HTTP.Headers; h["Set-Cookie"] != "[redacted]" || h["Content-Type"] != "text/plain" || h["X-Reprise-Replica"] != "replica-2" {
		t.Errorf("recorded headers %v", h)
	}
}

type full struct{ writes int }

var errFull = errors.New("disk full")

func (f *full) Write([]byte) (int, error) { f.writes++; return 0, errFull }

func TestTranscriptThatCannotBeWritten(t *testing.T) {
	s := &script{contentType: "application/json", body: complete}
	c := client(t, s)
	w := &full{}
	c.Transcript = fleet.NewTranscript(w)
	for range 2 {
		if _, err := c.Call(t.Context(), "t", nil, fleet.Extra{}); !errors.Is(err, errFull) {
			t.Errorf("error %v, want that of the writer", err)
		}
	}
	if s.count != 0 || w.writes != 1 {
		t.Errorf("%d requests and %d writes, want none that is not recorded, and 1", s.count, w.writes)
	}
}

func TestClientsMayBeShared(t *testing.T) {
	var out bytes.Buffer
	ids := make(chan int64, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct{ ID int64 }
		json.NewDecoder(r.Body).Decode(&m)
		ids <- m.ID
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%d,"result":{}}`, m.ID)
	}))
	defer server.Close()
	c := &fleet.Client{URL: server.URL, Name: "alice", Transcript: fleet.NewTranscript(&out)}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := c.Call(t.Context(), "t", nil, fleet.Extra{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	close(ids)
	got := slices.Sorted(func(yield func(int64) bool) {
		for id := range ids {
			if !yield(id) {
				return
			}
		}
	})
	var want []int64
	for i := range 20 {
		want = append(want, int64(i+1))
	}
	if !reflect.DeepEqual(got, want) || strings.Count(out.String(), "\n") != 40 {
		t.Errorf("ids %v and %d lines, want 1 to 20 once each and 40", got, strings.Count(out.String(), "\n"))
	}
}

func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"staging runs 1.4.1"}]}}`)
	}))
	defer server.Close()
	alice := &fleet.Client{URL: server.URL, Token: "secret", Name: "alice"}
	response, err := alice.Call(context.Background(), "release_status", map[string]string{"service": "billing"}, fleet.Extra{})
	if err != nil {
		panic(err)
	}
	fmt.Println(response.Status, response.Result.Text())
	// Output: 200 staging runs 1.4.1
}
