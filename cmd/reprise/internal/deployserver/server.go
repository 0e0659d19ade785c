// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

// Package deployserver is the reference server: it deploys releases over MCP, and asks a human first. [Config] says all
// that an operator can choose; [Open] makes a server of it, which [Server.Serve] runs over HTTP and [Server.ServeStdio] on
// stdio.
package deployserver

import (
	"context"
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
	"os/signal"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/reprise-mcp/reprise"
	"github.com/reprise-mcp/reprise/cmd/reprise/internal/deploy"
	"github.com/reprise-mcp/reprise/cmd/reprise/internal/keyfile"
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
	Audit         string        // file for a line of JSON about each flow that ended; default DATA/audit.jsonl
	Ledger        string        // memory or sqlite:FILE; default sqlite:DATA/ledger.db
	SingleProcess bool          // the operator says that there is no other replica
	Issuer        string        // who vouches for the subjects of the tokens
	Subject       string        // stdio only: who is at the other end; default: the user of the operating system
	Audience      string        // the server's resource URI; default from Listen if that is a loopback address with a port
	Algorithm     string        // aes-256-gcm (default) or hmac-sha256
	TTL           time.Duration // default 10 minutes
	Lifetime      time.Duration // default 1 hour, or TTL if that is longer
	Origins       []string      // accepted values of the Origin header
	ClockOffset   time.Duration // tests only: how far this replica's clock is off
	Out           io.Writer     // what the operator must read
	Log           *slog.Logger
}

// A ConfigError says which flag of the command cannot stand as it is.
type ConfigError struct {
	Flag   string // without dashes
	Reason string
}

// Error names the flag and says what it may be.
func (e *ConfigError) Error() string { return "--" + e.Flag + " " + e.Reason }

// A Server is ready to serve.
type Server struct {
	config   Config
	listener net.Listener // nil on stdio
	mcp      *mcp.Server
	releases *deploy.Engine
	sealer   *requeststate.Sealer
	ledger   ledger.Ledger
	tokens   tokens
	close    []func() error
}

// Open checks the configuration, takes the address, makes what is missing where that is safe, and opens the store. What it
// cannot keep, it refuses, with a [*ConfigError] where the configuration alone is enough to tell.
func Open(ctx context.Context, c Config) (_ *Server, err error) {
	c.defaults()
	s := &Server{config: c}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if err := c.check(); err != nil {
		return nil, err
	}
	identity := gosdk.Authenticated(c.Issuer)
	if c.Stdio {
		if identity, err = c.local(); err != nil {
			return nil, err
		}
	}
	// Keys and tokens come last: a server that does not start should not leave new ones behind.
	if err := s.listen(); err != nil {
		return nil, err
	}
	if err := s.openReleases(); err != nil {
		return nil, err
	}
	ring, err := s.keyring()
	if err != nil {
		return nil, err
	}
	if s.sealer, err = s.newSealer(ring); err != nil {
		return nil, err
	}
	if err := s.openLedger(ctx); err != nil {
		return nil, err
	}
	audit, err := s.openAudit()
	if err != nil {
		return nil, err
	}
	engine, err := reprise.New(reprise.Config{Sealer: s.sealer, Ledger: s.ledger, Logger: c.Log, Audit: audit})
	if err != nil {
		return nil, err
	}
	if err := s.openTokens(); err != nil {
		return nil, err
	}
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: "reprise-deploy", Title: "Release deployment", Version: "0.1.0"}, &mcp.ServerOptions{
		Instructions: "Deploys releases. deploy_release asks the user before it replaces a running release.",
		Logger:       c.Log,
		// What there is never changes. To say that they might would invite streams that stay open and delay a shutdown.
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Prompts: &mcp.PromptCapabilities{}, Resources: &mcp.ResourceCapabilities{}},
	})
	adapter, err := gosdk.New(s.mcp, gosdk.Config{Engine: engine, Identity: identity, Now: s.now})
	if err != nil {
		return nil, err
	}
	return s, errors.Join(addTools(s.mcp, adapter, s.releases), addReading(adapter, s.releases))
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
	set(&c.Audit, filepath.Join(c.Data, "audit.jsonl"))
	set(&c.Ledger, "sqlite:"+filepath.Join(c.Data, "ledger.db"))
	if !c.Stdio {
		set(&c.Issuer, "urn:reprise:token-file")
	}
	if c.Audience == "" && c.Stdio {
		c.Audience = "urn:reprise:deploy-server:stdio"
	}
	if _, port, _ := net.SplitHostPort(c.Listen); c.Audience == "" && loopback(c.Listen) && port != "0" {
		c.Audience = "http://" + c.Listen + "/mcp"
	}
	if c.TTL == 0 {
		c.TTL = 10 * time.Minute
	}
	if c.Lifetime == 0 {
		c.Lifetime = max(time.Hour, c.TTL)
	}
	if c.Out == nil {
		c.Out = io.Discard
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
}

func (s *Server) now() time.Time { return time.Now().Add(s.config.ClockOffset) }

// check refuses what can be judged without looking at this machine.
func (c *Config) check() error {
	bad := func(flag, format string, args ...any) error { return &ConfigError{flag, fmt.Sprintf(format, args...)} }
	if !c.Stdio {
		if _, _, err := net.SplitHostPort(c.Listen); err != nil {
			return bad("listen", "%q is no address with a port, such as 127.0.0.1:8931", c.Listen)
		}
		if c.Audience == "" {
			return bad("audience", "is missing: give the URL by which clients reach the server; all replicas need the same, and every other server another")
		}
	}
	if _, err := Algorithm(c.Algorithm); err != nil {
		return err
	}
	const maxTTL, maxLifetime = 24 * time.Hour, 7 * 24 * time.Hour // those of requeststate.Config
	switch {
	case c.TTL < time.Second || c.TTL > maxTTL || c.TTL%time.Millisecond != 0:
		return bad("ttl", "is %v: use 1s to %v, in whole milliseconds", c.TTL, maxTTL)
	case c.Lifetime < c.TTL || c.Lifetime > maxLifetime || c.Lifetime%time.Millisecond != 0:
		return bad("lifetime", "is %v: use the --ttl (%v) to %v, in whole milliseconds", c.Lifetime, c.TTL, maxLifetime)
	case strings.HasPrefix(c.Ledger, sqlite):
	case c.Ledger != "memory":
		return bad("ledger", "%q is unknown: use sqlite:FILE, or memory with --single-process", c.Ledger)
	case !c.SingleProcess:
		return bad("ledger", "memory forgets with the process what was redeemed, and no other replica knows it, while the keyring outlives "+
			"both: a confirmation could be used again. Use sqlite:FILE, or say --single-process if nothing else ever has this keyring")
	}
	return nil
}

const sqlite = "sqlite:"

// Algorithm returns the sealer of that name, aes-256-gcm where it is empty. The error is a [*ConfigError].
func Algorithm(name string) (requeststate.Algorithm, error) {
	switch strings.ToLower(name) {
	case "", "aes-256-gcm":
		return requeststate.AES256GCM, nil
	case "hmac-sha256":
		return requeststate.HMACSHA256, nil
	}
	return 0, &ConfigError{"sealer", fmt.Sprintf("%q is unknown: use aes-256-gcm or hmac-sha256", name)}
}

// local is who is at the other end of stdio.
func (c *Config) local() (gosdk.Identity, error) {
	if c.Issuer == "" {
		host, err := os.Hostname()
		if err != nil {
			return nil, err
		}
		c.Issuer = "host:" + host
	}
	if c.Subject == "" {
		u, err := user.Current()
		if err != nil {
			return nil, err
		}
		c.Subject = u.Username
	}
	_, err := requeststate.Local(c.Issuer, c.Subject)
	return gosdk.Local(c.Issuer, c.Subject), err
}

// listen takes the address, unless the server would be open to others without a token that they were given.
func (s *Server) listen() error {
	if s.config.Stdio {
		return nil
	}
	if !loopback(s.config.Listen) && !exists(s.config.Tokens) {
		return fmt.Errorf("%s can be reached from elsewhere and there are no tokens in %s: name a token file with --tokens, or listen on 127.0.0.1", s.config.Listen, s.config.Tokens)
	}
	listener, err := net.Listen("tcp", s.config.Listen)
	if err != nil {
		return err
	}
	s.listener = listener
	s.close = append(s.close, func() error {
		if err := listener.Close(); !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil // by Serve
	})
	return nil
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
	if err := os.MkdirAll(filepath.Dir(s.config.Keyring), 0o700); err != nil {
		return nil, err
	}
	if _, err := keyfile.Create(s.config.Keyring); err != nil {
		return nil, err
	}
	s.say("made a NEW key in %s. It is for this machine only: replicas need the same file, and confirmations asked under another key are refused.", s.config.Keyring)
	return requeststate.ReadKeyring(s.config.Keyring)
}

func (s *Server) newSealer(ring *requeststate.Keyring) (*requeststate.Sealer, error) {
	algorithm, err := Algorithm(s.config.Algorithm)
	if err != nil {
		return nil, err
	}
	return requeststate.New(requeststate.Config{
		Keyring: ring, Audience: s.config.Audience, Algorithm: algorithm, TTL: s.config.TTL, Lifetime: s.config.Lifetime,
	})
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
	path, inFile := strings.CutPrefix(s.config.Ledger, sqlite)
	if !inFile {
		s.ledger = &ledger.Memory{}
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	store, err := sqlledger.Open(ctx, path)
	if err != nil {
		return err
	}
	s.ledger = store
	s.close = append(s.close, store.Close)
	return nil
}

// openAudit opens the audit record, to which all replicas append.
func (s *Server) openAudit() (*slog.Logger, error) {
	if err := os.MkdirAll(filepath.Dir(s.config.Audit), 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(s.config.Audit, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	s.close = append(s.close, file.Close)
	replica := fmt.Sprintf("process %d", os.Getpid())
	if s.listener != nil {
		replica = s.listener.Addr().String()
	}
	return slog.New(slog.NewJSONHandler(file, nil)).With("replica", replica), nil
}

func (s *Server) openTokens() error {
	if s.config.Stdio {
		return nil
	}
	if !exists(s.config.Tokens) {
		if err := os.MkdirAll(filepath.Dir(s.config.Tokens), 0o700); err != nil {
			return err
		}
		made, err := WriteTokens(s.config.Tokens, "local")
		if err != nil {
			return err
		}
		s.say("made a NEW token for \"local\" in %s. It is shown once, in this client configuration:", s.config.Tokens)
		client := map[string]any{"mcpServers": map[string]any{"reprise-deploy": map[string]any{
			"type":    "http",
			"url":     "http://" + s.listener.Addr().String() + "/mcp",
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

// Handler serves MCP at /mcp, a [Readiness] at /readyz, and at /healthz that the process lives.
func (s *Server) Handler() http.Handler {
	// A 401 must say how to authenticate (RFC 9110, 15.5.2), and the SDK says it only for OAuth: so the header is set before
	// the token is checked, and taken away after.
	const challenge = "WWW-Authenticate"
	serve := gosdk.NewHTTPHandler(s.mcp, &gosdk.FilterOptions{Origins: s.config.Origins})
	checked := auth.RequireBearerToken(s.tokens.verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Del(challenge)
			serve.ServeHTTP(w, r)
		}))
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(challenge, "Bearer")
		checked.ServeHTTP(w, r)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", s.ready)
	return mux
}

// Serve serves until ctx ends, and then lets requests that are under way finish for up to ten seconds. It takes a keyring file
// that was changed within two seconds, or at once on SIGHUP.
func (s *Server) Serve(ctx context.Context, ready func(net.Addr) error) error {
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, ErrorLog: slog.NewLogLogger(s.config.Log.Handler(), slog.LevelWarn)}
	if err := ready(s.listener.Addr()); err != nil {
		return err
	}
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	defer s.reload(ctx, hangup)()
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(s.listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	const grace = 10 * time.Second
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		return fmt.Errorf("requests were still under way after %v: %w", grace, err)
	}
	return nil
}

// ServeStdio serves standard input and output until the client closes it or ctx ends. It takes a keyring file that was changed
// within two seconds.
func (s *Server) ServeStdio(ctx context.Context) error {
	defer s.reload(ctx, nil)()
	session, err := s.mcp.Connect(ctx, &gosdk.StdioTransport{}, nil)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { session.Close() }) // which lets requests under way finish
	defer stop()
	return session.Wait()
}

// Close gives up the address, the store and the release root.
func (s *Server) Close() error {
	var errs []error
	for _, c := range s.close {
		errs = append(errs, c())
	}
	s.close = nil
	return errors.Join(errs...)
}
