// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

// Package deployserver is the reference server: it deploys releases over MCP, and asks a human first. [Config] says all
// that an operator can choose; [Open] makes a server of it, which [Server.Serve] runs over HTTP and [Server.ServeStdio] on
// stdio.
package deployserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/reprise-mcp/reprise"
	"github.com/reprise-mcp/reprise/cmd/reprise/internal/deploy"
	"github.com/reprise-mcp/reprise/elicitation"
	"github.com/reprise-mcp/reprise/ledger"
	"github.com/reprise-mcp/reprise/ledger/sqlledger"
	"github.com/reprise-mcp/reprise/requeststate"
	"github.com/reprise-mcp/reprise/sdk/gosdk"
)

// confirmations is what deploy_release asks, so that a client which cannot answer is refused before anything is looked up.
var confirmations = []elicitation.Kind{elicitation.FormMode}

// Config is what an operator chooses. The zero value of a field is its default.
type Config struct {
	Listen        string        // address; default 127.0.0.1:8931
	Stdio         bool          // serve standard input and output in place of Listen
	Data          string        // directory of what the server keeps; default reprise-data
	Root          string        // release root; default DATA/releases
	Seed          bool          // fill an absent release root with samples
	Keyring       string        // file, or env:NAME; default DATA/keyring
	Tokens        string        // bearer tokens; default DATA/tokens
	Ledger        string        // memory or sqlite:FILE; default sqlite:DATA/ledger.db
	SingleProcess bool          // the operator says that there is no other replica
	Issuer        string        // who vouches for the subjects of the tokens
	Subject       string        // stdio only: who is at the other end; default: the user of the operating system
	Audience      string        // the server's resource URI; default from Listen
	Algorithm     string        // aes-256-gcm (default) or hmac-sha256
	TTL           time.Duration // default 10 minutes
	Lifetime      time.Duration // default 1 hour
	Origins       []string      // accepted values of the Origin header
	ClockOffset   time.Duration // tests only: how far this replica's clock is off
	Out           io.Writer     // what the operator must read
	Log           *slog.Logger
}

// A Server is ready to serve.
type Server struct {
	config   Config
	mcp      *mcp.Server
	releases *deploy.Engine
	ledger   ledger.Ledger
	tokens   tokens
	close    []func() error
}

// Open checks the configuration, makes what is missing where that is safe, and opens the store. What it cannot keep, it
// refuses.
func Open(ctx context.Context, c Config) (_ *Server, err error) {
	c.defaults()
	s := &Server{config: c}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if err := s.reachable(); err != nil {
		return nil, err
	}
	ring, err := s.keyring()
	if err != nil {
		return nil, err
	}
	sealer, err := s.sealer(ring)
	if err != nil {
		return nil, err
	}
	if err := s.openReleases(); err != nil {
		return nil, err
	}
	if err := s.openLedger(ctx); err != nil {
		return nil, err
	}
	engine, err := reprise.New(reprise.Config{Sealer: sealer, Ledger: s.ledger, Logger: c.Log})
	if err != nil {
		return nil, err
	}
	identity := gosdk.Authenticated(c.Issuer)
	if c.Stdio {
		identity = gosdk.Local(c.Issuer, c.Subject)
	} else if err := s.openTokens(); err != nil {
		return nil, err
	}
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: "reprise-deploy", Title: "Release deployment", Version: "0.1.0"}, &mcp.ServerOptions{
		Instructions: "Deploys releases. deploy_release asks the user before it replaces a running release.",
		Logger:       c.Log,
	})
	adapter, err := gosdk.New(s.mcp, gosdk.Config{Engine: engine, Identity: identity, Now: s.now})
	if err != nil {
		return nil, err
	}
	return s, addTools(s.mcp, adapter, s.releases)
}

func (c *Config) defaults() {
	set := func(field *string, value string) {
		if *field == "" {
			*field = value
		}
	}
	set(&c.Listen, "127.0.0.1:8931")
	set(&c.Data, "reprise-data")
	set(&c.Root, filepath.Join(c.Data, "releases"))
	set(&c.Keyring, filepath.Join(c.Data, "keyring"))
	set(&c.Tokens, filepath.Join(c.Data, "tokens"))
	set(&c.Ledger, "sqlite:"+filepath.Join(c.Data, "ledger.db"))
	if !c.Stdio {
		set(&c.Issuer, "urn:reprise:token-file")
	}
	if c.Audience == "" && c.Stdio {
		c.Audience = "urn:reprise:deploy-server:stdio"
	}
	if _, port, err := net.SplitHostPort(c.Listen); c.Audience == "" && err == nil && port != "0" {
		c.Audience = "http://" + c.Listen + "/mcp"
	}
	if c.Out == nil {
		c.Out = io.Discard
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
}

func (s *Server) now() time.Time { return time.Now().Add(s.config.ClockOffset) }

// reachable refuses what would be open to others without a key that they were given.
func (s *Server) reachable() error {
	if s.config.Stdio {
		return nil
	}
	if s.config.Audience == "" {
		return errors.New("--audience is missing: with port 0 every replica would have another; give the URL by which clients reach the fleet")
	}
	if loopback(s.config.Listen) || exists(s.config.Tokens) {
		return nil
	}
	return fmt.Errorf("%s can be reached from elsewhere and there are no tokens in %s: name a token file with --tokens, or listen on 127.0.0.1", s.config.Listen, s.config.Tokens)
}

func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func (s *Server) keyring() (*requeststate.Keyring, error) {
	if name, ok := strings.CutPrefix(s.config.Keyring, "env:"); ok {
		return requeststate.KeyringFromEnv(name)
	}
	if exists(s.config.Keyring) {
		return requeststate.ReadKeyring(s.config.Keyring)
	}
	if !s.config.Stdio && !loopback(s.config.Listen) {
		return nil, fmt.Errorf("there is no keyring in %s: make one with \"reprise keys new -o %s\" and give it to every replica", s.config.Keyring, s.config.Keyring)
	}
	ring, err := requeststate.NewKeyring(requeststate.NewKey())
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(s.config.Keyring), 0o700); err != nil {
		return nil, err
	}
	if err := WriteKeyring(s.config.Keyring, ring); err != nil {
		return nil, err
	}
	s.say("made a NEW key in %s. It is for this machine only: replicas need the same file, and confirmations asked under another key are refused.", s.config.Keyring)
	return ring, nil
}

// WriteKeyring writes ring to a new file with mode 0600. It is an error if the file is there already.
func WriteKeyring(path string, ring *requeststate.Keyring) error {
	text, err := ring.AppendText(nil)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already; a key that is overwritten is lost, and with it every open question", path)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close())
}

func (s *Server) sealer(ring *requeststate.Keyring) (*requeststate.Sealer, error) {
	c := requeststate.Config{Keyring: ring, Audience: s.config.Audience, TTL: s.config.TTL, Lifetime: s.config.Lifetime}
	switch strings.ToLower(s.config.Algorithm) {
	case "", "aes-256-gcm":
		c.Algorithm = requeststate.AES256GCM
	case "hmac-sha256":
		c.Algorithm = requeststate.HMACSHA256
	default:
		return nil, fmt.Errorf("--sealer %q is unknown: use aes-256-gcm or hmac-sha256", s.config.Algorithm)
	}
	return requeststate.New(c)
}

func (s *Server) openReleases() error {
	if s.config.Seed && !exists(s.config.Root) {
		if err := os.MkdirAll(s.config.Root, 0o755); err != nil {
			return err
		}
		if err := deploy.Seed(s.config.Root); err != nil {
			return err
		}
	}
	releases, err := deploy.Open(s.config.Root)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no release root %s: name one with --root, or try --seed for samples", s.config.Root)
	}
	if err != nil {
		return err
	}
	s.releases = releases
	s.close = append(s.close, releases.Close)
	return nil
}

func (s *Server) openLedger(ctx context.Context) error {
	path, sqlite := strings.CutPrefix(s.config.Ledger, "sqlite:")
	switch {
	case sqlite:
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		store, err := sqlledger.Open(ctx, path)
		if err != nil {
			return err
		}
		s.ledger = store
		s.close = append(s.close, store.Close)
	case s.config.Ledger != "memory":
		return fmt.Errorf("--ledger %q is unknown: use sqlite:FILE, or memory with --single-process", s.config.Ledger)
	case !s.config.SingleProcess:
		return errors.New("--ledger memory forgets with the process what was redeemed, and no other replica knows it, while the keyring outlives " +
			"both: a confirmation could be used again. Use sqlite:FILE, or say --single-process if nothing else ever has this keyring")
	default:
		s.ledger = &ledger.Memory{}
	}
	return nil
}

func (s *Server) openTokens() error {
	if !exists(s.config.Tokens) {
		made, err := WriteTokens(s.config.Tokens, "local")
		if err != nil {
			return err
		}
		s.say("made a NEW token for \"local\" in %s. It is shown once, in this client configuration:", s.config.Tokens)
		client := map[string]any{"mcpServers": map[string]any{"reprise-deploy": map[string]any{
			"type":    "http",
			"url":     "http://" + s.config.Listen + "/mcp",
			"headers": map[string]string{"Authorization": "Bearer " + made["local"]},
		}}}
		text, err := json.MarshalIndent(client, "", "  ")
		if err != nil {
			return err
		}
		fmt.Fprintf(s.config.Out, "%s\n", text)
	}
	known, err := readTokens(s.config.Tokens)
	s.tokens = known
	return err
}

func (s *Server) say(format string, args ...any) {
	fmt.Fprintf(s.config.Out, "reprise: "+format+"\n", args...)
}

// Handler serves MCP at /mcp, and at /healthz whether the store that single use depends on can be reached.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/mcp", auth.RequireBearerToken(s.tokens.verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(
		gosdk.NewHTTPHandler(s.mcp, &gosdk.FilterOptions{Origins: s.config.Origins})))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		var flow ledger.FlowID
		rand.Read(flow[:])
		if _, err := s.ledger.Lookup(r.Context(), s.now(), flow); err != nil {
			s.config.Log.Error("ledger", slog.Any("error", err))
			http.Error(w, "the ledger cannot be reached", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	return mux
}

// Serve serves until ctx ends, and then lets requests that are under way finish for up to ten seconds.
func (s *Server) Serve(ctx context.Context, ready func(net.Addr) error) error {
	listener, err := net.Listen("tcp", s.config.Listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, ErrorLog: slog.NewLogLogger(s.config.Log.Handler(), slog.LevelWarn)}
	if err := ready(listener.Addr()); err != nil {
		return errors.Join(err, listener.Close())
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return server.Shutdown(ctx)
}

// ServeStdio serves standard input and output until the client closes it or ctx ends.
func (s *Server) ServeStdio(ctx context.Context) error {
	err := s.mcp.Run(ctx, &gosdk.StdioTransport{})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// Close closes the store and the release root.
func (s *Server) Close() error {
	var errs []error
	for _, c := range s.close {
		errs = append(errs, c())
	}
	s.close = nil
	return errors.Join(errs...)
}
