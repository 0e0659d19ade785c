// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"bytes"
	"io"
	"log"
	"mime"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strings"
	"sync"
)

// upstream opens a connection for each request: on one that is kept, nobody can tell whether a server that closed it saw
// the request.
var upstream = &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, DisableCompression: true, ForceAttemptHTTP2: true}

// Proxy returns a proxy to the server of endpoint, an http or https URL. Requests keep their path, so a client that is to go
// through the proxy changes only the scheme, host and port of the URL that it uses.
//
// Bodies pass on byte for byte: a POST to the endpoint when it is complete, everything else as it comes. Hop-by-hop headers
// stay behind (RFC 9110, 7.6.1), Host becomes the server's, and Accept-Encoding asks for none, as compressed messages are
// not recorded; all other headers pass on. A client that goes away ends its request at the server, and a response that
// breaks off there breaks off here. A server that gives no response is status 502.
//
// Only what goes to the path of the endpoint and comes back is recorded: other paths of a server have secrets of other
// kinds. A request for a Host that is neither a loopback address nor localhost has status 403: the server sees its own name
// as the Host, and cannot refuse a web page that gave the proxy a name of its own.
func (r *Recorder) Proxy(endpoint *url.URL) http.Handler {
	path := endpoint.Path
	if path == "" {
		path = "/"
	}
	var elsewhere sync.Once
	return http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
		if !isLoopback(in.Host) {
			http.Error(w, "this proxy is for clients on its own machine: use a loopback address", http.StatusForbidden)
			return
		}
		w.Header()["Content-Type"] = nil // none is made up where the server gave none
		x := &exchange{r: r, in: in}
		proxy := &httputil.ReverseProxy{Transport: upstream, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0), ErrorHandler: x.failed}
		proxy.Rewrite = func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.URL.Host, p.Out.Host = endpoint.Scheme, endpoint.Host, endpoint.Host
			p.Out.URL.RawQuery = in.URL.RawQuery // ReverseProxy takes out what Go does not parse, and these
			for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
				if values, ok := in.Header[name]; ok {
					p.Out.Header[name] = values
				}
			}
			p.Out.Header.Set("Accept-Encoding", "identity")
		}
		if in.URL.Path == path {
			x.request()
			proxy.ModifyResponse = x.response
		} else if in.Method == http.MethodPost && mediaType(in.Header) == "application/json" {
			elsewhere.Do(func() { r.warn("messages to other paths than " + path + " pass on unrecorded") })
		}
		proxy.ServeHTTP(w, in)
	})
}

func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || err == nil && addr.IsLoopback()
}

func mediaType(h http.Header) string {
	t, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return t
}

// An exchange is one request and its response.
type exchange struct {
	r      *Recorder
	in     *http.Request
	client string
	asked  bool // the request was recorded

	header http.Header // of the response
	status int
	said   bool // something of the response was recorded, or it was said why not
}

// compressed reports, and warns, that a message cannot be read.
func (x *exchange) compressed(h http.Header) bool {
	coding := h.Get("Content-Encoding")
	if coding == "" || strings.EqualFold(coding, "identity") {
		return false
	}
	x.r.warn("a compressed message was passed on and not recorded")
	x.said = true
	return true
}

// request records the request. It reads the body before any of it is sent on, so that it is recorded before any response.
func (x *exchange) request() {
	in := x.in
	if in.Method != http.MethodPost || x.compressed(in.Header) {
		return
	}
	body, err := io.ReadAll(io.LimitReader(in.Body, maxMessage+1))
	in.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), in.Body), in.Body} // which fails again if it failed
	if err == nil {
		x.asked, x.client = len(body) <= maxMessage, clientName(body)
		x.r.record(entry{message: body, direction: fromClient, client: x.client, header: in.Header})
	}
}

// response records the response while its body is read.
func (x *exchange) response(response *http.Response) error {
	if response.StatusCode == http.StatusSwitchingProtocols {
		return nil
	}
	x.header, x.status = response.Header.Clone(), response.StatusCode
	t := &tap{ReadCloser: response.Body, x: x, left: response.ContentLength}
	switch kind := mediaType(response.Header); {
	case kind == "application/json" && !x.compressed(response.Header):
		t.body = &bytes.Buffer{}
	case kind == "text/event-stream" && !x.compressed(response.Header):
		t.events = newEvents(x.message)
	}
	response.Body = t
	return nil
}

// failed answers a request to which the server gave no response.
func (x *exchange) failed(w http.ResponseWriter, _ *http.Request, err error) {
	if x.in.Context().Err() != nil {
		return // the client is gone
	}
	x.r.warn("the server gave no response: " + err.Error())
	x.header, x.status = http.Header{}, http.StatusBadGateway
	x.message(nil)
	w.WriteHeader(x.status)
}

// message records a message of the server. Nil, which is that there is none, is recorded where one was waited for.
func (x *exchange) message(message []byte) {
	x.said = true
	if message != nil || x.asked {
		x.r.record(entry{message, fromServer, x.client, x.header, x.status})
	}
}

// tap is the body of a response. What was read from it is recorded.
type tap struct {
	io.ReadCloser
	x      *exchange
	left   int64 // bytes to come; negative: not known
	body   *bytes.Buffer
	events *events
	done   bool
}

func (t *tap) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.left -= int64(n)
	switch {
	case t.events != nil:
		t.events.Write(p[:n])
	case t.body != nil && t.body.Len() <= maxMessage:
		t.body.Write(p[:n])
	}
	switch {
	case t.done:
	case err == io.EOF || t.left == 0: // a client that knows the length does not wait for more
		if t.body != nil && t.body.Len() > 0 {
			t.x.message(t.body.Bytes())
		}
		t.end()
	case err != nil && t.x.in.Context().Err() == nil:
		t.x.r.warn("a response broke off: " + err.Error())
		t.x.message(nil)
		t.end()
	}
	return n, err
}

func (t *tap) end() {
	if !t.done && !t.x.said {
		t.x.message(nil)
	}
	t.done = true
}

// Close comes before the end if the client is gone.
func (t *tap) Close() error {
	t.end()
	return t.ReadCloser.Close()
}
