// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
)

// HeaderReplica is the response header by which the balancer says which replica answered.
const HeaderReplica = "X-Reprise-Replica"

// Handler returns the balancer: a plain round-robin over the replicas that run, without memory of who was where.
// Responses are streamed as they come, and carry the name of the replica in [HeaderReplica].
//
// It turns to the next replica only if none of the request was sent, that is, no connection came about. A request whose
// connection broke off is never sent again, because it may have been carried out: the answer to it is status 502 with the
// replica's name. When no replica can be reached, it is 502 without one.
func (f *Fleet) Handler() http.Handler {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme = "http"              // the rest is chosen per attempt
			r.Out.URL.RawQuery = r.In.URL.RawQuery // as it came: ReverseProxy would drop what Go does not parse
		},
		Transport: &f.balancer,
		ErrorLog:  log.New(io.Discard, "", 0),
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if broken, ok := errors.AsType[*brokenError](err); ok {
				w.Header().Set(HeaderReplica, broken.replica)
			}
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
	}
}

// brokenError says that a replica got at least part of a request, and gave no answer.
type brokenError struct {
	replica string
	err     error
}

func (e *brokenError) Error() string {
	return fmt.Sprintf("%s broke off the request, and may have carried it out: %v", e.replica, e.err)
}

func (e *brokenError) Unwrap() error { return e.err }

type balancer struct {
	replicas []*Replica
	mu       sync.Mutex
	next     int
}

// backend opens a connection for each request: over one that is kept, nobody can tell whether a replica that died between
// two requests saw the second.
var backend = &http.Transport{
	DisableKeepAlives:  true,
	DisableCompression: true,
	DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		if err != nil {
			return nil, &unsentError{err}
		}
		return conn, nil
	},
}

type unsentError struct{ error }

func (e *unsentError) Unwrap() error { return e.error }

func (b *balancer) RoundTrip(r *http.Request) (*http.Response, error) {
	unreachable := errors.New("no replica runs")
	for range b.replicas {
		replica, target := b.pick()
		if replica == nil {
			break
		}
		attempt := r.Clone(r.Context())
		attempt.URL.Scheme, attempt.URL.Host = target.Scheme, target.Host
		if r.Body != nil {
			attempt.Body = io.NopCloser(r.Body) // an attempt that did not get through must leave it open; ReverseProxy closes it
		}
		response, err := backend.RoundTrip(attempt)
		if err == nil {
			response.Header.Set(HeaderReplica, replica.name)
			return response, nil
		}
		if _, unsent := errors.AsType[*unsentError](err); !unsent || r.Context().Err() != nil {
			return nil, &brokenError{replica.name, err}
		}
		unreachable = err
	}
	return nil, fmt.Errorf("no replica can be reached, nothing was done: %w", unreachable)
}

// pick returns the next replica that runs.
func (b *balancer) pick() (*Replica, *url.URL) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for range b.replicas {
		replica := b.replicas[b.next%len(b.replicas)]
		b.next = (b.next + 1) % len(b.replicas)
		if at, err := url.Parse(replica.URL()); err == nil && at.Host != "" {
			return replica, at
		}
	}
	return nil, nil
}
