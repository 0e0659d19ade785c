// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package gosdk

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// BenchmarkFilter compares what the filter costs with what the SDK costs for the same request.
func BenchmarkFilter(b *testing.B) {
	nothing := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	for name, body := range map[string]string{
		"call":  callBody(bothModes, `,"arguments":{"service":"billing","environment":"staging"}`),
		"retry": callBody(bothModes, `,"arguments":{"service":"billing","environment":"staging"},"inputResponses":{"confirm":{"action":"accept","content":{"decision":"go"}}},"requestState":"`+strings.Repeat("A", 250)+`"`),
	} {
		for which, h := range map[string]http.Handler{
			"request": nothing, "filter": Filter(nothing, nil), "sdk": overHTTP(bare(done), mcp.StreamableHTTPOptions{}),
		} {
			b.Run(name+"/"+which, func(b *testing.B) {
				b.ReportAllocs()
				r := newPost(body)
				for b.Loop() {
					r.Body = io.NopCloser(strings.NewReader(body))
					h.ServeHTTP(httptest.NewRecorder(), r)
				}
			})
		}
	}
}
