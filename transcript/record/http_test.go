// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package record_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// site is a proxy before a server.
type site struct {
	t      *testing.T
	proxy  string // its URL
	server *httptest.Server
	header http.Header // of all requests
}

func serve(t *testing.T, r *taped, handler http.Handler) *site {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return &site{t, before(t, r, server.URL+"/mcp"), server, http.Header{"Content-Type": {"application/json"}}}
}

// before starts a proxy before a server and returns its URL.
func before(t *testing.T, r *taped, server string) string {
	t.Helper()
	endpoint, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(r.Proxy(endpoint))
	t.Cleanup(proxy.Close)
	return proxy.URL
}

// answering always gives this answer.
func answering(contentType, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		io.WriteString(w, body)
	})
}

// client sends what it is told, and keeps no connection that a test would have to close.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

func (s *site) request(method, path string, body io.Reader) *http.Request {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.proxy+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header = s.header.Clone()
	return r
}

func (s *site) do(r *http.Request) *http.Response {
	s.t.Helper()
	response, err := client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { response.Body.Close() })
	return response
}

func (s *site) post(path, body string) (int, string) {
	s.t.Helper()
	response := s.do(s.request("POST", path, strings.NewReader(body)))
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func random(t *testing.T, n int) []byte {
	t.Helper()
	text := make([]byte, n)
	rand.Read(text)
	return text
}

// Whatever the bytes are, and however their length is told, they arrive as they were sent, both ways.
func TestBodiesAreByteExact(t *testing.T) {
	t.Parallel()
	large, small := random(t, 1<<20), random(t, 5000)
	type seen struct {
		method, uri, host string
		sum               [sha256.Size]byte
		length            int64
	}
	got := make(chan seen, 1)
	r := tape(t, false)
	s := serve(t, r, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- seen{r.Method, r.RequestURI, r.Host, sha256.Sum256(body), r.ContentLength}
		back := small
		if len(body) > len(small) {
			back = large
		}
		w.Header().Set("Content-Type", r.Header.Get("Accept"))
		if r.Header.Get("X-Length") != "" {
			w.Header().Set("Content-Length", fmt.Sprint(len(back)))
		}
		w.WriteHeader(299)
		w.Write(back)
	}))
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "BREW"} {
		for _, path := range []string{"/mcp", "/mcp?a;b=%zz&c", "/a%2Fb/../c//d"} {
			for _, kind := range []string{"application/json", "text/event-stream", "application/octet-stream"} {
				for _, chunked := range []bool{false, true} {
					body, back := random(t, 5000), small
					if method == "POST" && path == "/mcp" {
						body, back = random(t, 1<<20), large
					}
					request := s.request(method, path, bytes.NewReader(body))
					request.Header.Set("Accept", kind)
					if chunked {
						request.ContentLength = -1
					} else {
						request.Header.Set("X-Length", "told")
					}
					response := s.do(request)
					text, err := io.ReadAll(response.Body)
					if err != nil || sha256.Sum256(text) != sha256.Sum256(back) || response.StatusCode != 299 || (response.ContentLength < 0) != chunked {
						t.Errorf("%s %s %s: %d bytes came back, of a length of %d: %v", method, path, kind, len(text), response.ContentLength, err)
					}
					want := seen{method, path, strings.TrimPrefix(s.server.URL, "http://"), sha256.Sum256(body), request.ContentLength}
					if at := <-got; at != want {
						t.Errorf("%s %s: got %s %s at %s of a length of %d", method, path, at.method, at.uri, at.host, at.length)
					}
				}
			}
		}
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	got := make(chan http.Header, 1)
	r := tape(t, false)
	s := serve(t, r, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header.Clone()
		conn, out, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		io.WriteString(out, "HTTP/1.1 200 OK\r\nX-Two: 1\r\nX-Two: 2\r\nSet-Cookie: session=crumbs\r\nConnection: X-Hop\r\nX-Hop: 1\r\n"+
			"Keep-Alive: timeout=5\r\nProxy-Authenticate: Basic\r\nContent-Length: 6\r\n\r\n<html>")
		out.Flush()
	}))
	s.header = http.Header{
		"Authorization": {"Bearer tok-of-alice"}, "Cookie": {"session=crumbs"}, "Origin": {"https://a.example"}, "X-Two": {"1", "2"}, "User-Agent": {""},
		"Forwarded": {"for=192.0.2.1"}, "X-Forwarded-For": {"192.0.2.1"}, "X-Forwarded-Host": {"a.example"}, "X-Forwarded-Proto": {"https"},
		"Connection": {"X-Hop"}, "X-Hop": {"1"}, "Keep-Alive": {"timeout=5"}, "Proxy-Authorization": {"Basic c2VjcmV0"}, "Accept-Encoding": {"gzip, br"},
	}
	response := s.do(s.request("POST", "/mcp", strings.NewReader("{}")))
	text, err := io.ReadAll(response.Body)
	if err != nil || string(text) != "<html>" {
		t.Errorf("%q came back: %v", text, err)
	}
	at := <-got
	for _, name := range []string{"X-Hop", "Keep-Alive", "Proxy-Authorization", "User-Agent"} {
		if values, ok := at[name]; ok {
			t.Errorf("the server got %s: %q", name, values)
		}
	}
	for name, want := range map[string]string{
		"Authorization": "Bearer tok-of-alice", "Cookie": "session=crumbs", "Origin": "https://a.example", "X-Two": "1, 2", "Content-Length": "2",
		"Forwarded": "for=192.0.2.1", "X-Forwarded-For": "192.0.2.1", "X-Forwarded-Host": "a.example", "X-Forwarded-Proto": "https", "Accept-Encoding": "identity",
	} {
		if values := strings.Join(at[name], ", "); values != want {
			t.Errorf("the server got %s: %q, want %q", name, values, want)
		}
	}
	for _, name := range []string{"X-Hop", "Keep-Alive", "Proxy-Authenticate", "Content-Type"} {
		if values, ok := response.Header[name]; ok {
			t.Errorf("the client got %s: %q", name, values)
		}
	}
	if c := response.Header["X-Two"]; len(c) != 2 || response.Header.Get("Set-Cookie") != "session=crumbs" {
		t.Errorf("the client got %v", response.Header)
	}
	r.wants(">  {}\n<  200 null\n")
	lines := r.lines()
	for name, want := range map[string]string{"Authorization": "[redacted]", "Cookie": "[redacted]", "Proxy-Authorization": "[redacted]", "X-Two": "1, 2", "Accept-Encoding": "gzip, br"} {
		if value := lines[0].HTTP.Headers[name]; value != want {
			t.Errorf("recorded %s: %q, want %q", name, value, want)
		}
	}
	if h := lines[1].HTTP.Headers; h["Set-Cookie"] != "[redacted]" || h["X-Two"] != "1, 2" {
		t.Errorf("recorded %v", h)
	}
}

const (
	ping   = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"alice"}}}}`
	notice = `{"jsonrpc":"2.0","method":"notifications/cancelled"}`
	pong   = `{"jsonrpc":"2.0","id":1,"result":{}}`
)

func TestWhatIsRecorded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 16<<20)
	for name, test := range map[string]struct {
		method, path, body string // default: POST, /mcp, ping
		kind, answer       string
		status             int // default: 200
		want, warning      string
	}{
		"a response":     {kind: "application/json; charset=utf-8", answer: pong, want: "> alice " + ping + "\n< alice 200 " + pong + "\n"},
		"an error":       {kind: "application/json", answer: `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}`, status: 400, want: "> alice " + ping + "\n< alice 400 " + `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}` + "\n"},
		"a notification": {body: notice, status: 202, want: ">  " + notice + "\n<  202 null\n"},
		"white space, escapes and repeated names": {body: "\n{\"a\" : \"<\\u0041> \u2028\",\r\n\t\"a\":1.50e0, \"b\":\"\xff\"}\n", kind: "application/json", answer: "{\r\n}\n",
			want: ">  {\"a\":\"<\\u0041> \u2028\",\"a\":1.50e0,\"b\":\"\xff\"}\n<  200 {}\n"},
		"no JSON":                 {body: "{{\n", kind: "application/json", answer: "oh\nno", want: `>  "{{\n"` + "\n" + `<  200 "oh\nno"` + "\n"},
		"nothing":                 {body: " ", kind: "application/json", answer: "", want: `>  " "` + "\n<  200 null\n"},
		"another type":            {kind: "text/plain", answer: pong, status: 502, want: "> alice " + ping + "\n< alice 502 null\n"},
		"a client without a name": {body: `{"params":{"_meta":{"io.modelcontextprotocol/clientInfo":{"name":7}}}}`, status: 400, want: ">  " + `{"params":{"_meta":{"io.modelcontextprotocol/clientInfo":{"name":7}}}}` + "\n<  400 null\n"},
		"events": {kind: "text/event-stream", answer: "\ufeff: hello\ndata:" + notice + "\n\nid: 7\ndata:\n\nevent: other\ndata: no\n\revent: message\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\ndata: oops\r\rdata: not ended\n",
			want: "> alice " + ping + "\n< alice 200 " + notice + "\n< alice 200 {\"a\":1}\n< alice 200 \"oops\"\n"},
		"no events":              {kind: "text/event-stream", answer: ": nothing\n\n", want: "> alice " + ping + "\n< alice 200 null\n"},
		"a stream of its own":    {method: "GET", kind: "text/event-stream", answer: "data: " + notice + "\n\n", want: "<  200 " + notice + "\n"},
		"no such stream":         {method: "GET", kind: "text/plain", status: 405, want: ""},
		"a query":                {path: "/mcp?a=b", kind: "application/json", answer: pong, want: "> alice " + ping + "\n< alice 200 " + pong + "\n"},
		"another path":           {path: "/mcp/", kind: "application/json", answer: pong, want: "", warning: "messages to other paths than /mcp pass on unrecorded"},
		"a redirect":             {kind: "text/plain", status: 307, want: "> alice " + ping + "\n< alice 307 null\n"},
		"a request too long":     {body: `{"a":"` + long + `"}`, kind: "application/json", answer: pong, want: "<  200 " + pong + "\n", warning: "a message of more than 16 MiB was passed on and not recorded"},
		"a response too long":    {kind: "application/json", answer: `{"a":"` + long + `"}`, want: "> alice " + ping + "\n", warning: "more than 16 MiB"},
		"an event too long":      {kind: "text/event-stream", answer: "data: " + long + "x\n\ndata: " + pong + "\n\n", want: "> alice " + ping + "\n< alice 200 " + pong + "\n", warning: "more than 16 MiB"},
		"lines too long":         {kind: "text/event-stream", answer: "data: " + long[:9<<20] + "\ndata: " + long[:9<<20] + "\n\n", want: "> alice " + ping + "\n", warning: "more than 16 MiB"},
		"a method of its own":    {method: "PUT", kind: "application/json", answer: pong, want: "<  200 " + pong + "\n"},
		"a head without a body":  {method: "HEAD", kind: "application/json", answer: pong, want: ""},
		"a response of no bytes": {kind: "application/json", status: 204, want: "> alice " + ping + "\n< alice 204 null\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := tape(t, false)
			s := serve(t, r, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", test.kind)
				if test.status != 0 {
					w.WriteHeader(test.status)
				}
				io.WriteString(w, test.answer)
			}))
			method, path, body := test.method, test.path, test.body
			if method == "" {
				method = "POST"
			}
			if path == "" {
				path = "/mcp"
			}
			if body == "" {
				body = ping
			}
			response := s.do(s.request(method, path, strings.NewReader(body)))
			text, err := io.ReadAll(response.Body)
			if err != nil || string(text) != test.answer && method != "HEAD" {
				t.Errorf("%d bytes came back, want %d: %v", len(text), len(test.answer), err)
			}
			if got := r.short(); got != test.want {
				t.Errorf("recorded %d bytes\n%.400q, want %d bytes\n%.400q", len(got), got, len(test.want), test.want)
			}
			if got := r.warnings(); !strings.Contains(got, test.warning) || test.warning == "" && got != "" {
				t.Errorf("it warned %q, want %q", got, test.warning)
			}
		})
	}
}

// The second message to another path warns no more.
func TestOtherPathsWarnOnce(t *testing.T) {
	t.Parallel()
	r := tape(t, false)
	s := serve(t, r, answering("application/json", `{"access_token":"secret"}`))
	for range 3 {
		if status, body := s.post("/token", `{"client_secret":"secret"}`); status != 200 || !strings.Contains(body, "secret") {
			t.Errorf("status %d: %s", status, body)
		}
	}
	r.wants("")
	r.warns("other paths")
}

// The server sends an event only when the client has the one before, and each is recorded before the client has it.
func TestEventsPassAtOnce(t *testing.T) {
	t.Parallel()
	next := make(chan struct{})
	r := tape(t, false)
	s := serve(t, r, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		for i := range 8 { // half an event is passed on, too
			select {
			case <-next:
			case <-r.Context().Done():
				return
			}
			if i%2 == 0 {
				fmt.Fprintf(w, "data: {\"n\":%d}", i/2)
			} else {
				io.WriteString(w, "\n\n")
			}
			w.(http.Flusher).Flush()
		}
	}))
	response := s.do(s.request("POST", "/mcp", strings.NewReader(ping))) // returns although there is no event yet
	in := bufio.NewReader(response.Body)
	want := "> alice " + ping + "\n"
	for i := range 4 {
		r.wants(want)
		next <- struct{}{}
		half := fmt.Sprintf("data: {\"n\":%d}", i)
		got := make([]byte, len(half))
		if _, err := io.ReadFull(in, got); err != nil || string(got) != half {
			t.Fatalf("got %q: %v", got, err)
		}
		next <- struct{}{}
		end := make([]byte, 2)
		if _, err := io.ReadFull(in, end); err != nil || string(end) != "\n\n" {
			t.Fatalf("got %q: %v", end, err)
		}
		want += fmt.Sprintf("< alice 200 {\"n\":%d}\n", i)
	}
	io.Copy(io.Discard, in)
	r.wants(want)
}

// A response that breaks off breaks off for the client, and the recording says so.
func TestBreaksOff(t *testing.T) {
	t.Parallel()
	const request = "> alice " + ping + "\n"
	for name, test := range map[string]struct{ raw, want, warning string }{
		"before the response": {"", request + "< alice 502 null\n", "the server gave no response: EOF"},
		"in the head":         {"HTTP/1.1 200 O", request + "< alice 502 null\n", "the server gave no response: "},
		"by its length":       {"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n" + pong, request + "< alice 200 null\n", "a response broke off: unexpected EOF"},
		"in a chunk":          {"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"a\"", request + "< alice 200 null\n", "a response broke off: unexpected EOF"},
		"after a chunk":       {"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n", request + "< alice 200 null\n", "a response broke off: unexpected EOF"},
		"between events":      {"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\na\r\ndata: {}\n\n\r\n", request + "< alice 200 {}\n< alice 200 null\n", "a response broke off: unexpected EOF"},
		"of another type":     {"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 99\r\n\r\n", request + "< alice 200 null\n", "a response broke off: unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := tape(t, false)
			s := serve(t, r, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				conn, buffered, err := w.(http.Hijacker).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				buffered.WriteString(test.raw)
				buffered.Flush()
				conn.Close()
			}))
			response, err := client.Do(s.request("POST", "/mcp", strings.NewReader(ping)))
			if err != nil { // the client may see the end before the head
				if strings.Contains(test.want, "502") {
					t.Error(err)
				}
			} else {
				defer response.Body.Close()
				if _, err := io.ReadAll(response.Body); (err != nil) == (response.StatusCode == 502) {
					t.Errorf("status %d, then %v", response.StatusCode, err)
				}
			}
			r.wants(test.want)
			r.warns(test.warning)
		})
	}
}

func TestNoServer(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	r := tape(t, false)
	s := &site{t: t, proxy: before(t, r, "http://"+closed.Addr().String()), header: http.Header{}}
	if status, _ := s.post("/", ping); status != 502 {
		t.Errorf("status %d", status)
	}
	r.wants("> alice " + ping + "\n< alice 502 null\n")
	r.warns("refused")
}

// A client that goes away takes its request with it, and the recording says that no message came.
func TestClientGoes(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{}, 2)
	r := tape(t, false)
	s := serve(t, r, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if r.Header.Get("X-Silent") == "" {
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(200)
			w.(http.Flusher).Flush()
		} else {
			gone <- struct{}{}
		}
		<-r.Context().Done()
		gone <- struct{}{}
	}))
	ctx, cancel := context.WithCancel(t.Context())
	if response, err := client.Do(s.request("POST", "/mcp", strings.NewReader(ping)).WithContext(ctx)); err != nil || response.StatusCode != 200 {
		t.Fatal(err)
	}
	cancel()
	<-gone
	want := "> alice " + ping + "\n< alice 200 null\n"
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(10 * time.Second); r.short() != want && time.Now().Before(deadline); <-tick.C {
	}
	r.wants(want)

	// Before there is a response, too.
	ctx, cancel = context.WithCancel(t.Context())
	s.header.Set("X-Silent", "yes")
	go func() {
		<-gone
		cancel()
	}()
	if _, err := client.Do(s.request("POST", "/mcp", strings.NewReader(notice)).WithContext(ctx)); err == nil {
		t.Error("there is a response")
	}
	<-gone
	r.wants(want + ">  " + notice + "\n")
	r.warns()
}

// A request that breaks off is no message.
func TestRequestBreaksOff(t *testing.T) {
	t.Parallel()
	got := make(chan error, 1)
	r := tape(t, false)
	s := serve(t, r, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		got <- err
	}))
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.proxy, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n%s", notice)
	conn.(*net.TCPConn).CloseWrite()
	io.Copy(io.Discard, conn)
	conn.Close()
	select { // the server may get none of it
	case err := <-got:
		if err == nil {
			t.Error("the server takes half a request for a whole one")
		}
	default:
	}
	r.wants("")
}

// A compressed message cannot be read. The server is asked for none.
func TestCompressed(t *testing.T) {
	t.Parallel()
	compress := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		io.WriteString(w, text)
		w.Close()
		return b.String()
	}
	r := tape(t, false)
	s := serve(t, r, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") || r.Header.Get("X-Stubborn") != "" {
			w.Header().Set("Content-Encoding", "gzip")
			io.WriteString(w, compress(pong))
			return
		}
		if r.Header.Get("Content-Encoding") == "gzip" && string(body) != compress(ping) {
			t.Error("the server got another body")
		}
		io.WriteString(w, pong)
	}))
	s.header.Set("Accept-Encoding", "gzip")
	if _, body := s.post("/mcp", ping); body != pong {
		t.Errorf("got %q", body)
	}
	r.wants("> alice " + ping + "\n< alice 200 " + pong + "\n")
	r.warns()

	s.header.Set("X-Stubborn", "yes")
	if _, body := s.post("/mcp", ping); body != compress(pong) {
		t.Errorf("got %q", body)
	}
	s.header.Del("X-Stubborn")
	s.header.Set("Content-Encoding", "gzip")
	if _, body := s.post("/mcp", compress(ping)); body != pong {
		t.Errorf("got %q", body)
	}
	r.wants("> alice " + ping + "\n< alice 200 " + pong + "\n> alice " + ping + "\n<  200 " + pong + "\n")
	r.warns("a compressed message was passed on", "a compressed message was passed on")
}

// A web page that gave its own name the address of this machine is a stranger.
func TestHost(t *testing.T) {
	t.Parallel()
	r := tape(t, false)
	s := serve(t, r, answering("application/json", pong))
	for host, want := range map[string]int{
		"": 200, "localhost": 200, "LocalHost:80": 200, "127.0.0.1": 200, "127.9.9.9:1": 200, "[::1]": 200, "[::1]:80": 200,
		"evil.example": 403, "evil.example:80": 403, "localhost.evil.example": 403, "192.0.2.1:80": 403, "127.0.0.1.evil.example": 403, "0.0.0.0": 403,
	} {
		request := s.request("POST", "/mcp", strings.NewReader(ping))
		request.Host = host
		if got := s.do(request).StatusCode; got != want {
			t.Errorf("Host %q: status %d, want %d", host, got, want)
		}
	}
}

// The server may also speak TLS and HTTP/2.
func TestOverTLS(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { t.Error("it trusts anybody") }))
	server.Config.ErrorLog = nil
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	r := tape(t, false)
	s := &site{t: t, proxy: before(t, r, server.URL+"/mcp"), header: http.Header{}}
	if status, _ := s.post("/mcp", ping); status != 502 {
		t.Errorf("status %d", status)
	}
	r.warns("certificate")
}
