// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package gosdk

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/reprise-mcp/reprise/wire"
)

// pipe runs s over a transport and returns the two ends of a client.
func pipe(t *testing.T, s *mcp.Server, transport func(io.ReadCloser, io.WriteCloser) mcp.Transport) (io.WriteCloser, *bufio.Scanner) {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Run(ctx, transport(inR, outW))
		outW.Close() // so that a client which waits for an answer sees the end
	}()
	t.Cleanup(func() { cancel(); inW.Close(); outR.Close(); <-ended })
	answers := bufio.NewScanner(outR)
	answers.Buffer(nil, 1<<20)
	return inW, answers
}

func strict(max int) func(io.ReadCloser, io.WriteCloser) mcp.Transport {
	return func(r io.ReadCloser, w io.WriteCloser) mcp.Transport {
		return &StdioTransport{Reader: r, Writer: w, MaxLine: max}
	}
}

// exchange sends one line and returns the line that comes back.
func exchange(t *testing.T, w io.Writer, answers *bufio.Scanner, request string) reply {
	t.Helper()
	go io.WriteString(w, request+"\n")
	if !answers.Scan() {
		t.Fatalf("no answer to %.200s: %v", request, answers.Err())
	}
	var r reply
	if err := json.Unmarshal(answers.Bytes(), &r); err != nil {
		t.Fatalf("%s: %v", answers.Bytes(), err)
	}
	return r
}

func TestStdioAnswersBadLinesAndGoesOn(t *testing.T) {
	ok := callBody(bothModes, "")
	w, answers := pipe(t, bare(done), strict(4096))
	for _, test := range []struct {
		name, line string
		code       int
		id         string
	}{
		{"no JSON", `{"jsonrpc"`, -32700, ""},
		{"two values in a line", ok + ok, -32700, "1"},
		{"batch", "[" + ok + "]", -32600, ""},
		{"wrong jsonrpc", strings.Replace(ok, `"2.0"`, `"1.0"`, 1), -32600, "1"},
		{"duplicate argument", callBody(bothModes, `,"arguments":{"a":1,"a":2}`), -32600, "1"},
		{"id that the SDK would change", strings.Replace(ok, `"id":1`, `"id":9007199254740993`, 1), -32600, "9007199254740993"},
		{"too long", callBody(bothModes, `,"requestState":"`+strings.Repeat("x", 4096)+`"`), -32600, ""},
		{"state is a number", callBody(bothModes, `,"requestState":7`), -32602, "1"},
		{"answers are null", callBody(bothModes, `,"inputResponses":null`), -32602, "1"},
		{"answer of unknown shape", callBody(bothModes, `,"inputResponses":{"q":{"pin":"hunter2"}}`), -32602, "1"},
		{"no _meta", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}`, -32602, "1"},
		{"old version", strings.Replace(ok, "2026-07-28", "1900-01-01", 1), -32022, "1"},
		{"future version", strings.Replace(ok, "2026-07-28", "2099-01-01", 1), -32022, "1"},
	} {
		r := exchange(t, w, answers, test.line)
		if r.Error == nil || r.Error.Code != test.code || string(r.ID) != test.id {
			t.Errorf("%s: %s", test.name, answers.Bytes())
		}
		if strings.Contains(answers.Text(), "hunter2") {
			t.Errorf("%s: the answer is repeated: %s", test.name, answers.Bytes())
		}
	}
	if r := exchange(t, w, answers, "\r\n\n"+ok+"\r"); r.Error != nil || string(r.Result["resultType"]) != `"complete"` {
		t.Errorf("a good call after all that: %s", answers.Bytes())
	}
}

func TestStdioHandsOnRawParams(t *testing.T) {
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
	w, answers := pipe(t, s, strict(0))
	const answer = `{"action":"decline","Action":"accept","content":{"n":9007199254740993}}`
	exchange(t, w, answers, callBody(bothModes, `,"inputResponses":{"q":`+answer+`},"requestState":""`))
	if !found || string(got.InputResponses["q"]) != answer || got.RequestState == nil {
		t.Fatalf("%v %+v", found, got)
	}
	exchange(t, w, answers, callBody(bothModes, ""))
	if !found || got.InputResponses != nil || got.RequestState != nil {
		t.Errorf("the next request has what the last one had: %+v", got)
	}
}

func TestStdioServesLegacyClients(t *testing.T) {
	serverIn, clientOut := io.Pipe()
	clientIn, serverOut := io.Pipe()
	session, err := bare(done).Connect(t.Context(), &StdioTransport{Reader: serverIn, Writer: serverOut}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	client := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "0"}, nil)
	cs, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: clientIn, Writer: clientOut}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	defer cs.Close()
	if res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "t"}); err != nil || len(res.Content) != 1 {
		t.Errorf("%+v, %v", res, err)
	}
}

// The SDK's client must find this server to be a modern one.
func TestStdioServesModernClients(t *testing.T) {
	serverIn, clientOut := io.Pipe()
	clientIn, serverOut := io.Pipe()
	session, err := bare(done).Connect(t.Context(), &StdioTransport{Reader: serverIn, Writer: serverOut}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	cs, err := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "0"}, nil).Connect(t.Context(), &mcp.IOTransport{Reader: clientIn, Writer: clientOut}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer cs.Close()
	if v := cs.InitializeResult().ProtocolVersion; v != "2026-07-28" {
		t.Errorf("version %s", v)
	}
	if res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "t"}); err != nil || len(res.Content) != 1 {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestStdioEndsWithItsInput(t *testing.T) {
	serverIn, clientOut := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- bare(done).Run(context.Background(), &StdioTransport{Reader: serverIn, Writer: keepOpen{io.Discard}})
	}()
	clientOut.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// gap: one bad line ends the SDK's own connection, without an answer.
func TestUpstreamStdioEndsAtABadLine(t *testing.T) {
	for _, bad := range []string{`{"jsonrpc"`, `{"jsonrpc":"1.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":{},"method":"tools/list"}`} {
		w, answers := pipe(t, bare(done), func(r io.ReadCloser, w io.WriteCloser) mcp.Transport { return &mcp.IOTransport{Reader: r, Writer: w} })
		go io.WriteString(w, bad+"\n"+callBody(`{}`, "")+"\n")
		if answers.Scan() {
			t.Errorf("%s: answered now: %s", bad, answers.Bytes())
		}
	}
}

// gap: one process serves one era only, and takes a request without _meta for a modern one after a modern one.
func TestUpstreamStdioRemembersTheEra(t *testing.T) {
	own := func(r io.ReadCloser, w io.WriteCloser) mcp.Transport { return &mcp.IOTransport{Reader: r, Writer: w} }
	w, answers := pipe(t, bare(done), own)
	exchange(t, w, answers, callBody(`{}`, ""))
	if r := exchange(t, w, answers, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t"}}`); r.Error != nil {
		t.Errorf("without _meta: refused now: %s", answers.Bytes())
	}
	w, answers = pipe(t, bare(asks(mcp.InputRequestMap{"q": form()}, "s")), own)
	exchange(t, w, answers, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"0"}}}`)
	go io.WriteString(w, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	if r := exchange(t, w, answers, callBody(bothModes, "")); r.Error == nil || r.Error.Code != 0 {
		t.Errorf("a modern request after initialize: %s", answers.Bytes())
	}
}

// slow starts a server whose tool waits until release is closed or its context ends, and says which it was.
func slow(started chan<- struct{}, release <-chan struct{}) *mcp.Server {
	return bare(func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		started <- struct{}{}
		text := "released"
		select {
		case <-release:
		case <-ctx.Done():
			text = "cancelled"
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
	})
}

// A client that closes its end behind the last request gets its answer, and the call is not cut off.
func TestStdioAnswersBeforeItEnds(t *testing.T) {
	started, release := make(chan struct{}), make(chan struct{})
	w, answers := pipe(t, slow(started, release), strict(0))
	go func() {
		io.WriteString(w, callBody(bothModes, "")+"\n")
		w.Close()
	}()
	<-started
	close(release)
	if !answers.Scan() || !strings.Contains(answers.Text(), "released") {
		t.Errorf("got %q, %v", answers.Text(), answers.Err())
	}
	if answers.Scan() {
		t.Errorf("and then %q", answers.Text())
	}
}

// A request that was cancelled does not hold the end back.
func TestStdioEndsAfterACancellation(t *testing.T) {
	started := make(chan struct{})
	w, answers := pipe(t, slow(started, nil), strict(0))
	io.WriteString(w, callBody(bothModes, "")+"\n")
	<-started
	io.WriteString(w, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`+"\n")
	w.Close()
	for answers.Scan() { // until the server ends; whether it answers a cancelled request is the SDK's affair
	}
}
