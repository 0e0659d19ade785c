// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package interop

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/reprise-mcp/reprise/requeststate"
	"github.com/reprise-mcp/reprise/sdk/gosdk"
)

// request is one request. The zero value asks to restart a service, as alice, who can fill forms in.
type request struct {
	id           string // as JSON; default 1
	method, name string
	arguments    string // as JSON
	capabilities string // as JSON
	more         string // further members of the params, each after a comma
	who          string // whose token comes with it; HTTP only
}

func (q request) filled() request {
	fill := func(s *string, value string) {
		if *s == "" {
			*s = value
		}
	}
	fill(&q.id, "1")
	fill(&q.method, "tools/call")
	fill(&q.name, "restart")
	if q.method == "tools/call" && (q.name == "restart" || q.name == "stop") {
		fill(&q.arguments, `{"service":"billing"}`)
	}
	fill(&q.arguments, `{}`)
	fill(&q.capabilities, `{"elicitation":{"form":{}}}`)
	fill(&q.who, "alice")
	return q
}

func (q request) body() string {
	target := fmt.Sprintf(`"name":%q,"arguments":%s`, q.name, q.arguments)
	if q.method == "resources/read" {
		target = fmt.Sprintf(`"uri":%q`, q.name)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":%s}%s}}`,
		q.id, q.method, target, q.capabilities, q.more)
}

// with returns the retry of q. An empty answers leaves the member out.
func (q request) with(state, answers string) request {
	q.id, q.more = "2", fmt.Sprintf(`,"requestState":%q`, state)
	if answers != "" {
		q.more += `,"inputResponses":` + answers
	}
	return q
}

type answer struct {
	status int         // of HTTP; 0 on stdio
	header http.Header // of HTTP
	id     string
	raw    string
	result map[string]json.RawMessage
	err    *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

func parse(t *testing.T, raw []byte) answer {
	t.Helper()
	a := answer{raw: string(raw)}
	var message struct {
		ID     json.RawMessage
		Result map[string]json.RawMessage
		Error  *struct {
			Code    int
			Message string
			Data    json.RawMessage
		}
	}
	if err := json.Unmarshal(raw, &message); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	a.id, a.result, a.err = string(message.ID), message.Result, message.Error
	return a
}

// outcome is what an answer amounts to, for people to read.
func (a answer) outcome() string {
	if a.err != nil {
		return fmt.Sprintf("%d %s", a.err.Code, a.err.Message)
	}
	switch string(a.result["resultType"]) {
	case `"input_required"`:
		return "asks " + strings.Join(slices.Sorted(maps.Keys(a.questions())), " ")
	case `"complete"`:
		if string(a.result["isError"]) == "true" {
			var content []struct{ Text string }
			if json.Unmarshal(a.result["content"], &content) == nil && len(content) == 1 {
				return "error " + content[0].Text
			}
			return "? " + a.raw
		}
		for _, member := range []string{"structuredContent", "messages", "contents"} {
			if content, ok := a.result[member]; ok {
				return "done " + string(content)
			}
		}
	}
	return "? " + a.raw
}

func (a answer) questions() map[string]json.RawMessage {
	var questions map[string]json.RawMessage
	json.Unmarshal(a.result["inputRequests"], &questions)
	return questions
}

func (a answer) state(t *testing.T) string {
	t.Helper()
	var state string
	if err := json.Unmarshal(a.result["requestState"], &state); err != nil || state == "" {
		t.Fatalf("no requestState: %s", a.outcome())
	}
	return state
}

func (a answer) want(t *testing.T, outcome string) answer {
	t.Helper()
	if got := a.outcome(); !strings.HasPrefix(got, outcome) {
		t.Errorf("got %.300s\nwant %s", got, outcome)
	}
	return a
}

// A door leads to one replica.
type door func(t *testing.T, q request) answer

const issuer = "https://issuer.example.com"

// http opens a door to a replica over Streamable HTTP, where a bearer token names its user.
func (f *fleet) http(t *testing.T, r replica) door {
	t.Helper()
	if r.identity == nil {
		r.identity = gosdk.Authenticated(issuer)
	}
	server, err := f.server(r)
	if err != nil {
		t.Fatal(err)
	}
	verify := func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		return &auth.TokenInfo{UserID: token}, nil
	}
	handler := auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(gosdk.NewHTTPHandler(server, nil))
	ts := httptest.NewServer(verified(t, handler))
	t.Cleanup(ts.Close)
	return func(t *testing.T, q request) answer {
		t.Helper()
		q = q.filled()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, ts.URL, strings.NewReader(q.body()))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": q.method, "Mcp-Name": q.name, "Authorization": "Bearer " + q.who,
		} {
			r.Header.Set(name, value)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(body)) {
			if event, ok := strings.CutPrefix(line, "data:"); ok {
				body = []byte(event)
			}
		}
		a := parse(t, body)
		a.status, a.header = res.StatusCode, res.Header
		return a
	}
}

// stdio opens a door to a replica on stdio. All of them serve one user.
func (f *fleet) stdio(t *testing.T, r replica) door {
	t.Helper()
	if r.identity == nil {
		r.identity = gosdk.Local("host:test", "alice")
	}
	server, err := f.server(r)
	if err != nil {
		t.Fatal(err)
	}
	serverIn, clientOut := io.Pipe()
	clientIn, serverOut := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		server.Run(ctx, &gosdk.StdioTransport{Reader: serverIn, Writer: serverOut})
		serverOut.Close()
	}()
	t.Cleanup(func() { cancel(); clientOut.Close(); clientIn.Close(); <-ended })
	lines := bufio.NewScanner(clientIn)
	lines.Buffer(nil, 1<<20)
	var mu sync.Mutex // one request at a time
	return func(t *testing.T, q request) answer {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		line := strings.ReplaceAll(q.filled().body(), "\n", " ") + "\n"
		if _, err := io.WriteString(clientOut, line); err != nil {
			t.Fatal(err)
		}
		if !lines.Scan() {
			t.Fatalf("no answer: %v", lines.Err())
		}
		verify(t, exchange{Request: line, Response: lines.Text()})
		return parse(t, lines.Bytes())
	}
}

// secret stands in answers, where it belongs, and may come up nowhere else.
const secret = "correct-horse"

// pair is a fleet of two, with a way to put up another.
type pair struct {
	*fleet
	doors [2]door
	open  func(*testing.T, replica) door
	http  bool
}

// everywhere runs test on two replicas, over each transport and with each sealer. In the end it looks for what should not
// be in the logs.
func everywhere(t *testing.T, test func(*testing.T, pair)) {
	for _, transport := range []string{"http", "stdio"} {
		for _, algorithm := range []requeststate.Algorithm{requeststate.AES256GCM, requeststate.HMACSHA256} {
			t.Run(fmt.Sprintf("%s/%v", transport, algorithm), func(t *testing.T) {
				f, err := newFleet()
				if err != nil {
					t.Fatal(err)
				}
				f.sealer.Algorithm, f.sealer.Readable = algorithm, true
				p := pair{fleet: f, open: f.stdio}
				if p.http = transport == "http"; p.http {
					p.open = f.http
				}
				var states sync.Map
				for i := range p.doors {
					open := p.open(t, replica{})
					p.doors[i] = func(t *testing.T, q request) answer {
						t.Helper()
						a := open(t, q)
						if strings.Contains(a.raw, secret) {
							t.Errorf("an answer was sent back: %s", a.raw)
						}
						if a.result["requestState"] != nil {
							states.Store(a.state(t), true)
						}
						return a
					}
				}
				test(t, p)
				f.log.mu.Lock()
				defer f.log.mu.Unlock()
				if log := f.log.buf.String(); strings.Contains(log, secret) {
					t.Errorf("an answer was logged:\n%s", log)
				} else {
					states.Range(func(state, _ any) bool {
						if strings.Contains(log, state.(string)) {
							t.Error("a requestState was logged")
						}
						return true
					})
				}
			})
		}
	}
}
