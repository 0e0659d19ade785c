// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package gosdk_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/reprise-mcp/reprise/sdk/gosdk"
)

func ExampleFilter() {
	server := mcp.NewServer(&mcp.Implementation{Name: "example", Version: "1"}, nil)
	handler := gosdk.Filter(mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true},
	), nil)

	srv := httptest.NewServer(handler)
	defer srv.Close()
	resp, err := http.Post(srv.URL, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}`))
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	fmt.Println(resp.Status)
	fmt.Println(string(body))
	// Output:
	// 400 Bad Request
	// {"jsonrpc":"2.0","error":{"code":-32600,"message":"invalid request: a member name appears twice in one object"}}
}
