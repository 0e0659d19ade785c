// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

// Package interop tests the adapter with clients that others wrote: the official TypeScript client and the client of the Go SDK.
package interop

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/reprise-mcp/reprise"
	"github.com/reprise-mcp/reprise/ledger"
	"github.com/reprise-mcp/reprise/requeststate"
	"github.com/reprise-mcp/reprise/sdk/gosdk"
	"github.com/reprise-mcp/reprise/sdk/gosdk/internal/npm"
)

const typescript = "@modelcontextprotocol/client@2.4.0"

//go:embed client.mjs
var script string

// TestMain makes of this program a server on stdio, for the clients to start.
func TestMain(m *testing.M) {
	if os.Getenv("SERVE") != "stdio" {
		os.Exit(m.Run())
	}
	if err := serveStdio(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serveStdio() error {
	f, err := newFleet()
	if err != nil {
		return err
	}
	server, err := f.server(replica{identity: gosdk.Local("", "")})
	if err != nil {
		return err
	}
	in, err := os.Create(os.Getenv("TRANSCRIPT") + ".in")
	if err != nil {
		return err
	}
	out, err := os.Create(os.Getenv("TRANSCRIPT") + ".out")
	if err != nil {
		return err
	}
	return server.Run(context.Background(), &gosdk.StdioTransport{
		Reader: io.NopCloser(io.TeeReader(os.Stdin, in)), Writer: both{os.Stdout, out}})
}

// both writes to a client and to a transcript.
type both struct{ client, transcript io.WriteCloser }

func (b both) Write(p []byte) (int, error) {
	if _, err := b.transcript.Write(p); err != nil {
		return 0, err
	}
	return b.client.Write(p)
}

func (b both) Close() error { return b.transcript.Close() }

// program returns this program as a server on stdio for one client, with the environment that makes it one. When the test
// ends, what the server sent is held against the official schema.
func program(t *testing.T) (path string, env []string) {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	transcript := filepath.Join(t.TempDir(), "transcript")
	t.Cleanup(func() {
		in, err := os.ReadFile(transcript + ".in")
		if err != nil {
			t.Fatal(err)
		}
		out, err := os.ReadFile(transcript + ".out")
		if err != nil {
			t.Fatal(err)
		}
		verify(t, exchange{Request: string(in), Response: string(out)})
	})
	// At its end a program that was built with -race sleeps for a second, unless told otherwise.
	return path, append(os.Environ(), "SERVE=stdio", "TRANSCRIPT="+transcript, "GORACE=atexit_sleep_ms=0 "+os.Getenv("GORACE"))
}

// fleet is what replicas share, and what they did.
type fleet struct {
	sealer requeststate.Config // of every replica; each makes its own
	ledger store
	deeds  atomic.Int64
	runs   atomic.Int64 // of handlers
	orders atomic.Int64
	log    output
}

// store is the ledger of a fleet. looked, where it is set, runs after each lookup.
type store struct {
	ledger.Memory
	looked func()
}

func (s *store) Lookup(ctx context.Context, now time.Time, flow ledger.FlowID) (ledger.Record, error) {
	record, err := s.Memory.Lookup(ctx, now, flow)
	if s.looked != nil {
		s.looked()
	}
	return record, err
}

// output collects what replicas log.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func newFleet() (*fleet, error) {
	ring, err := requeststate.NewKeyring(requeststate.NewKey())
	return &fleet{sealer: requeststate.Config{Keyring: ring, Audience: "urn:reprise:interop"}}, err
}

// replica is how one replica differs from the others.
type replica struct {
	identity gosdk.Identity
	audience string        // default: that of the fleet
	ahead    time.Duration // of its clock
	release  string        // that an upgrade would bring
	wording  string        // of the question about it
}

type args struct {
	Service string  `json:"service"`
	Weight  float64 `json:"weight,omitempty"`
}

type result struct {
	Done    bool   `json:"done"`
	Outcome string `json:"outcome"`
}

// server is one replica. Like a process of its own it has its own sealer and engine; the keyring and the ledger are shared.
func (f *fleet) server(r replica) (*mcp.Server, error) {
	config := f.sealer
	if r.audience != "" {
		config.Audience = r.audience
	}
	sealer, err := requeststate.New(config)
	if err != nil {
		return nil, err
	}
	engine, err := reprise.New(reprise.Config{Sealer: sealer, Ledger: &f.ledger, Logger: slog.New(slog.NewTextHandler(&f.log, nil))})
	if err != nil {
		return nil, err
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "interop", Version: "1.0.0"}, nil)
	adapter, err := gosdk.New(server, gosdk.Config{Engine: engine, Identity: r.identity,
		Now: func() time.Time { return time.Now().Add(r.ahead) }})
	if err != nil {
		return nil, err
	}
	restart := func(ctx context.Context, call *reprise.Call, in args) (result, error) {
		f.runs.Add(1)
		decision, err := reprise.Confirm(ctx, call, "confirm", "Restart "+in.Service+"?")
		approval, yes := decision.Approved()
		if err != nil || !yes {
			return result{Outcome: decision.String()}, err
		}
		return reprise.Do(ctx, call, approval, func(context.Context) (result, error) {
			f.deeds.Add(1)
			return result{Done: true, Outcome: decision.String()}, nil
		})
	}
	for _, name := range []string{"restart", "stop"} { // alike, so that only the name keeps their states apart
		if err := gosdk.AddTool(adapter, &mcp.Tool{Name: name, Description: "Restart or stop a service."}, reprise.Options{}, restart); err != nil {
			return nil, err
		}
	}
	if err := f.addMore(server, adapter, r); err != nil {
		return nil, err
	}
	if err := f.addSurvey(adapter); err != nil {
		return nil, err
	}
	asking := func(ctx context.Context, call *reprise.Call) (string, error) {
		f.runs.Add(1)
		decision, err := reprise.Confirm(ctx, call, "confirm", "Show it?")
		return decision.String(), err
	}
	if err := gosdk.AddPrompt(adapter, &mcp.Prompt{Name: "notes"}, reprise.Options{},
		func(ctx context.Context, call *reprise.Call, _ map[string]string) (*mcp.GetPromptResult, error) {
			outcome, err := asking(ctx, call)
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: outcome}}}}, err
		}); err != nil {
		return nil, err
	}
	return server, gosdk.AddResource(adapter, &mcp.Resource{Name: "log", URI: "release://log"}, reprise.Options{},
		func(ctx context.Context, call *reprise.Call, uri string) (*mcp.ReadResourceResult, error) {
			outcome, err := asking(ctx, call)
			return &mcp.ReadResourceResult{Cacheable: mcp.Cacheable{TTLMs: 60_000}, Contents: []*mcp.ResourceContents{{URI: uri, Text: outcome}}}, err
		})
}

// serve starts two replicas behind a balancer that takes turns by request, and says how many it sent to each.
func (f *fleet) serve(t *testing.T) (url string, served *[2]atomic.Int64) {
	t.Helper()
	var handlers [2]http.Handler
	for i := range handlers {
		server, err := f.server(replica{identity: gosdk.Anonymous()})
		if err != nil {
			t.Fatal(err)
		}
		handlers[i] = verified(t, gosdk.NewHTTPHandler(server, nil))
	}
	served = new([2]atomic.Int64)
	var next atomic.Int64
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i := next.Add(1) % 2
		served[i].Add(1)
		handlers[i].ServeHTTP(w, r)
	}))
	t.Cleanup(ts.Close)
	return ts.URL, served
}

type plan struct {
	URL     string          `json:"url,omitempty"`
	Command []string        `json:"command,omitempty"` // a server on stdio, started with env
	Method  string          `json:"method"`
	Name    string          `json:"name"`
	Args    any             `json:"args,omitempty"`
	Answer  json.RawMessage `json:"answer,omitempty"`

	Everything bool `json:"everything,omitempty"`

	env []string
}

type report struct {
	Asked  []string
	Result map[string]json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
	Wire []exchange
}

type exchange struct {
	Request, Response string
	Status            int
}

// run has the TypeScript client carry a plan out.
func run(t *testing.T, p plan) report {
	t.Helper()
	dir, node := npm.Install(t, typescript)
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, "--input-type=module", "-")
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), p.env...), "PLAN="+string(text))
	cmd.Stdin = strings.NewReader(script)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the client: %v\n%s", err, &stderr)
	}
	var r report
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("the client's report: %v\n%s", err, out)
	}
	return r
}

const (
	yes     = `{"action":"accept","content":{"decision":"approve"}}`
	no      = `{"action":"accept","content":{"decision":"reject"}}`
	decline = `{"action":"decline"}`
	cancel  = `{"action":"cancel"}`
)

var restart = args{Service: "billing"}

// calls are made with every client.
var calls = []struct {
	method, name, answer string
	want                 string // in the result
	done                 bool
}{
	{"tool", "restart", yes, `"done":true,"outcome":"approved"`, true},
	{"tool", "restart", no, `"done":false,"outcome":"rejected"`, false},
	{"tool", "restart", decline, `"done":false,"outcome":"declined"`, false},
	{"tool", "restart", cancel, `"done":false,"outcome":"cancelled"`, false},
	{"prompt", "notes", yes, `approved`, false},
	{"prompt", "notes", decline, `declined`, false},
	{"resource", "release://log", yes, `approved`, false},
	{"resource", "release://log", cancel, `cancelled`, false},
}

func TestTypeScriptClientOverHTTP(t *testing.T) {
	for _, test := range calls {
		t.Run(test.method+"/"+test.answer, func(t *testing.T) {
			f, err := newFleet()
			if err != nil {
				t.Fatal(err)
			}
			url, served := f.serve(t)
			p := plan{URL: url, Method: test.method, Name: test.name, Answer: json.RawMessage(test.answer)}
			if test.method == "tool" {
				p.Args = restart
			}
			r := run(t, p)
			check(t, r, test.want)
			if got := f.deeds.Load() == 1; got != test.done || f.deeds.Load() > 1 {
				t.Errorf("%d deeds", f.deeds.Load())
			}
			if f.runs.Load() != 2 {
				t.Errorf("the handler ran %d times, not twice", f.runs.Load())
			}
			if served[0].Load() == 0 || served[1].Load() == 0 {
				t.Error("one replica took all requests")
			}
			first, retry := rounds(t, r)
			if first.ID == retry.ID || retry.Params.RequestState == "" || string(first.Params.Arguments) != string(retry.Params.Arguments) {
				t.Errorf("the client's retry: ids %s and %s", first.ID, retry.ID)
			}
		})
	}
}

type message struct {
	ID     string
	Params struct {
		Arguments    json.RawMessage
		RequestState string
	}
}

// rounds are the two requests that make the flow, the last two that were sent.
func rounds(t *testing.T, r report) (first, retry message) {
	t.Helper()
	if len(r.Wire) < 2 {
		t.Fatalf("%d requests", len(r.Wire))
	}
	for i, m := range []*message{&first, &retry} {
		var raw struct {
			ID     json.RawMessage
			Params json.RawMessage
		}
		if err := json.Unmarshal([]byte(r.Wire[len(r.Wire)-2+i].Request), &raw); err != nil {
			t.Fatal(err)
		}
		m.ID = string(raw.ID)
		if err := json.Unmarshal(raw.Params, &m.Params); err != nil {
			t.Fatal(err)
		}
	}
	return first, retry
}

// check looks for one question and the result.
func check(t *testing.T, r report, want string) {
	t.Helper()
	if r.Error != nil {
		t.Fatalf("%d %s", r.Error.Code, r.Error.Message)
	}
	text, err := json.Marshal(r.Result)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), want) && !strings.Contains(string(text), strings.ReplaceAll(want, `"`, `\"`)) {
		t.Errorf("the result has no %s: %s", want, text)
	}
	if len(r.Asked) != 1 {
		t.Errorf("asked %q", r.Asked)
	}
}

func TestTypeScriptClientOverStdio(t *testing.T) {
	for _, test := range calls {
		t.Run(test.method+"/"+test.answer, func(t *testing.T) {
			self, env := program(t)
			p := plan{Command: []string{self}, env: env, Method: test.method, Name: test.name, Answer: json.RawMessage(test.answer)}
			if test.method == "tool" {
				p.Args = restart
			}
			check(t, run(t, p), test.want)
		})
	}
}

func TestTypeScriptClientThatCannotAsk(t *testing.T) {
	f, err := newFleet()
	if err != nil {
		t.Fatal(err)
	}
	url, _ := f.serve(t)
	self, env := program(t)
	for _, p := range []plan{{URL: url}, {Command: []string{self}, env: env}} {
		p.Method, p.Name, p.Args = "tool", "restart", restart
		r := run(t, p)
		if r.Error == nil || r.Error.Code != -32021 || !strings.Contains(string(r.Error.Data), `"form"`) {
			t.Errorf("%+v", r.Error)
		}
	}
	if f.deeds.Load() != 0 {
		t.Error("it was done unconfirmed")
	}
}

// A retry of a real client, sent once more, is a replay.
func TestReplayOfATypeScriptClient(t *testing.T) {
	f, err := newFleet()
	if err != nil {
		t.Fatal(err)
	}
	url, _ := f.serve(t)
	r := run(t, plan{URL: url, Method: "tool", Name: "restart", Args: restart, Answer: json.RawMessage(yes)})
	check(t, r, `"done":true`)
	runs := f.runs.Load()
	for range 2 { // at each replica
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(r.Wire[len(r.Wire)-1].Request))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "restart",
		} {
			req.Header.Set(name, value)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(body, []byte("already redeemed")) || !bytes.Contains(body, []byte(`"isError":true`)) {
			t.Errorf("status %d: %s", res.StatusCode, body)
		}
	}
	if f.deeds.Load() != 1 || f.runs.Load() != runs {
		t.Errorf("%d deeds, and the handler ran %d times more", f.deeds.Load(), f.runs.Load()-runs)
	}
}

func TestGoClient(t *testing.T) {
	for _, transport := range []string{"http", "stdio"} {
		for _, test := range calls {
			t.Run(transport+"/"+test.method+"/"+test.answer, func(t *testing.T) {
				var to mcp.Transport
				if transport == "stdio" {
					self, env := program(t)
					cmd := exec.Command(self)
					cmd.Env = env
					to = &mcp.CommandTransport{Command: cmd}
				} else {
					f, err := newFleet()
					if err != nil {
						t.Fatal(err)
					}
					url, _ := f.serve(t)
					to = &mcp.StreamableClientTransport{Endpoint: url, MaxRetries: -1, DisableStandaloneSSE: true}
				}
				r := report{Result: map[string]json.RawMessage{}}
				client := mcp.NewClient(&mcp.Implementation{Name: "go", Version: "1.0.0"}, &mcp.ClientOptions{
					ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
						r.Asked = append(r.Asked, req.Params.Message)
						var answer mcp.ElicitResult
						return &answer, json.Unmarshal([]byte(test.answer), &answer)
					},
				})
				session, err := client.Connect(t.Context(), to, nil)
				if err != nil {
					t.Fatal(err)
				}
				defer session.Close()
				var res any
				switch test.method {
				case "tool":
					res, err = session.CallTool(t.Context(), &mcp.CallToolParams{Name: test.name, Arguments: restart})
				case "prompt":
					res, err = session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: test.name})
				case "resource":
					res, err = session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: test.name})
				}
				if err != nil {
					t.Fatal(err)
				}
				if r.Result["result"], err = json.Marshal(res); err != nil {
					t.Fatal(err)
				}
				check(t, r, test.want)
			})
		}
	}
}
