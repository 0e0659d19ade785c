// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

// fixed returns a fleet whose replicas listen at these URLs, as far as it knows.
func fixed(urls ...string) *Fleet {
	f := &Fleet{}
	for i, u := range urls {
		f.replicas = append(f.replicas, &Replica{name: fmt.Sprintf("replica-%d", i+1), running: &process{url: u, done: make(chan struct{})}})
	}
	f.balancer.replicas = f.replicas
	return f
}

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func closedPort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return "http://" + listener.Addr().String()
}

func TestRefusedConnectionGoesToTheNext(t *testing.T) {
	var got atomic.Value
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got.Store(r.URL.Path + "?" + r.URL.RawQuery + " " + r.Header.Get("Mcp-Name") + " " + string(body))
		w.Header().Set(HeaderReplica, "somebody else")
	})
	balancer := httptest.NewServer(fixed(closedPort(t), closedPort(t), up.URL).Handler())
	defer balancer.Close()
	body := strings.Repeat("all of it ", 100_000)
	request, err := http.NewRequest(http.MethodPost, balancer.URL+"/mcp?a=b;c", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Mcp-Name", "deploy")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != 200 || len(response.Header[HeaderReplica]) != 1 || response.Header.Get(HeaderReplica) != "replica-3" {
		t.Errorf("status %d from %q, want 200 from replica-3", response.StatusCode, response.Header[HeaderReplica])
	}
	if want := "/mcp?a=b;c deploy " + body; got.Load() != want {
		t.Errorf("the replica got %.60q..., want %.60q...", got.Load(), want)
	}
}

// A request that reached a replica may have been carried out, so it goes to no other.
func TestSentRequestIsNeverSentAgain(t *testing.T) {
	for name, cut := range map[string]func(net.Conn){
		"before an answer": func(net.Conn) {},
		"in the headers":   func(c net.Conn) { io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-") },
		"garbage":          func(c net.Conn) { io.WriteString(c, "no HTTP\r\n\r\n") },
	} {
		t.Run(name, func(t *testing.T) {
			var broken, other atomic.Int32
			breaks := serve(t, func(w http.ResponseWriter, r *http.Request) {
				broken.Add(1)
				io.Copy(io.Discard, r.Body)
				conn, _, err := w.(http.Hijacker).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				cut(conn)
				conn.Close()
			})
			works := serve(t, func(http.ResponseWriter, *http.Request) { other.Add(1) })
			balancer := httptest.NewServer(fixed(breaks.URL, works.URL).Handler())
			defer balancer.Close()
			response, err := http.Post(balancer.URL, "text/plain", strings.NewReader("once"))
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			if response.StatusCode != http.StatusBadGateway || response.Header.Get(HeaderReplica) != "replica-1" {
				t.Errorf("status %d from %q, want 502 from replica-1", response.StatusCode, response.Header.Get(HeaderReplica))
			}
			if broken.Load() != 1 || other.Load() != 0 {
				t.Errorf("the replicas got the request %d and %d times, want 1 and 0", broken.Load(), other.Load())
			}
		})
	}
}

func TestStreamsPassAtOnce(t *testing.T) {
	received, cancelled := make(chan struct{}), make(chan struct{})
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: 1\n\n")
		w.(http.Flusher).Flush()
		<-received // the client has it while this handler still runs
		fmt.Fprint(w, "data: 2\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(cancelled)
	})
	balancer := httptest.NewServer(fixed(up.URL).Handler())
	defer balancer.Close()
	response, err := http.Get(balancer.URL)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(response.Body)
	if !lines.Scan() || lines.Text() != "data: 1" {
		t.Fatalf("got %q, %v", lines.Text(), lines.Err())
	}
	close(received)
	if lines.Scan(); !lines.Scan() || lines.Text() != "data: 2" {
		t.Fatalf("got %q, %v", lines.Text(), lines.Err())
	}
	response.Body.Close() // on this transport that cancels the request, and the replica has to learn of it
	<-cancelled
}

// Without the Host that the client used, a server cannot tell whether a request comes from a page of its own.
func TestHostIsKept(t *testing.T) {
	hosts := make(chan string, 1)
	up := serve(t, func(w http.ResponseWriter, r *http.Request) { hosts <- r.Host })
	balancer := httptest.NewServer(fixed(up.URL).Handler())
	defer balancer.Close()
	response, err := http.Get(balancer.URL)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	at, _ := url.Parse(balancer.URL)
	if got := <-hosts; got != at.Host {
		t.Errorf("Host is %q, want %q", got, at.Host)
	}
}

func TestReadyLineInPieces(t *testing.T) {
	for _, text := range []string{
		"listening on http://127.0.0.1:1\n",
		"hello\n" + strings.Repeat("x", 10_000) + "\nreprise: listening on http://127.0.0.1:1 (3 tools)\r\nlistening on http://127.0.0.1:2\n",
		"listening on what?\nlistening on http://127.0.0.1:1\n",
	} {
		for _, size := range []int{1, 7, len(text)} {
			found := make(chan string, 2)
			r := &readyLine{found: found}
			for rest := text; rest != ""; {
				n := min(size, len(rest))
				if wrote, err := r.Write([]byte(rest[:n])); wrote != n || err != nil {
					t.Fatalf("Write = %d, %v", wrote, err)
				}
				rest = rest[n:]
			}
			if len(found) != 1 {
				t.Fatalf("found %d lines in %.40q in pieces of %d, want 1", len(found), text, size)
			}
			if got := <-found; got != "http://127.0.0.1:1" {
				t.Errorf("found %q", got)
			}
		}
	}
	found := make(chan string, 1)
	io.WriteString(&readyLine{found: found}, "listening on http://127.0.0.1:1") // the port may go on
	if len(found) != 0 {
		t.Error("took a line that has not ended")
	}
}

func TestLoopbackURLs(t *testing.T) {
	for text, want := range map[string]bool{
		"http://127.0.0.1:80": true, "http://127.0.0.2:8080/mcp": true, "http://[::1]:80": true,
		"http://127.0.0.1": false, "http://127.0.0.1:0": false, "http://localhost:80": false, "https://127.0.0.1:80": false,
		"http://10.0.0.1:80": false, "http://u@127.0.0.1:80": false, "127.0.0.1:80": false, "": false, "http://%zz": false,
	} {
		if got := checkURL(text) == nil; got != want {
			t.Errorf("checkURL(%q) accepts: %v, want %v", text, got, want)
		}
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	var end tail
	for i := range 20_000 {
		fmt.Fprintf(&end, "line %d of what a replica says on its standard error\n", i)
	}
	if got := end.String(); len(got) != 256<<10 || !strings.HasSuffix(got, "line 19999 of what a replica says on its standard error\n") {
		t.Errorf("%d bytes that end in %q", len(got), got[len(got)-60:])
	}
}

func TestCancelledRequestTriesNobodyElse(t *testing.T) {
	var hits atomic.Int32
	up := serve(t, func(http.ResponseWriter, *http.Request) { hits.Add(1) })
	f := fixed(up.URL, up.URL)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	request := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader("x"))
	f.Handler().ServeHTTP(httptest.NewRecorder(), request)
	if hits.Load() != 0 || f.balancer.next != 1 {
		t.Errorf("%d requests were sent, and the turn is %d, want 0 and 1", hits.Load(), f.balancer.next)
	}
}
