// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

// Command conformance is the fixture server that the official conformance suite is run against. Whatever asks is registered
// with the adapter, in asking.go; plain.go has the fixtures that have nothing to do with it.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/reprise-mcp/reprise"
	"github.com/reprise-mcp/reprise/ledger"
	"github.com/reprise-mcp/reprise/requeststate"
	"github.com/reprise-mcp/reprise/sdk/gosdk"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "`address` to listen on")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := serve(ctx, *listen); err != nil {
		log.Fatal(err)
	}
}

func serve(ctx context.Context, listen string) error {
	handler, err := handler()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	fmt.Printf("listening on http://%s\n", listener.Addr())
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { server.Close() })
	if err := server.Serve(listener); err != http.ErrServerClosed {
		return err
	}
	return nil
}

func handler() (http.Handler, error) {
	ring, err := requeststate.NewKeyring(requeststate.NewKey())
	if err != nil {
		return nil, err
	}
	sealer, err := requeststate.New(requeststate.Config{Keyring: ring, Audience: "urn:reprise:conformance"})
	if err != nil {
		return nil, err
	}
	engine, err := reprise.New(reprise.Config{Sealer: sealer, Ledger: &ledger.Memory{}})
	if err != nil {
		return nil, err
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "reprise-conformance", Version: "0.1.0"}, &mcp.ServerOptions{CompletionHandler: complete})
	adapter, err := gosdk.New(server, gosdk.Config{Engine: engine, Identity: gosdk.Anonymous()})
	if err != nil {
		return nil, err
	}
	addPlain(server)
	if err := addAsking(adapter); err != nil {
		return nil, err
	}
	return gosdk.NewHTTPHandler(server, nil), nil
}
