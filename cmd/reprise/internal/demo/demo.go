// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

// Package demo shows the reference server on three replicas: a deployment that a human confirms, asked by one replica and
// redeemed by another, and every way of cheating as it fails. [Run] does all of it with real processes, real HTTP on
// loopback and a release root on disk, and checks what it shows.
package demo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/reprise-mcp/reprise/cmd/reprise/internal/deploy"
	"github.com/reprise-mcp/reprise/cmd/reprise/internal/deployserver"
	"github.com/reprise-mcp/reprise/cmd/reprise/internal/fleet"
	"github.com/reprise-mcp/reprise/cmd/reprise/internal/keyfile"
	"github.com/reprise-mcp/reprise/requeststate"
)

// Config says how the demonstration is run. The zero value is the ordinary way, without output.
type Config struct {
	Program    string    // the reprise command, to run as a replica; empty means the program that is running
	Sealer     string    // as deploy-server's --sealer; empty means aes-256-gcm
	Person     io.Reader // where the answer to the question of step 2 is read from; nil means that alice says yes
	Wire       bool      // print each message
	Out        io.Writer // nil means nowhere
	Transcript io.Writer // receives each message as a line of JSON; nil means nowhere
}

const (
	replicas = 3
	ttl      = 5 * time.Minute
	shortTTL = time.Second // of step 5, the shortest that a server takes

	limit = 2 * time.Minute // for everything but a person's thinking
)

// Run runs the demonstration. The error says which step did not come out as it must. The steps are returned as far as they
// were taken.
func Run(ctx context.Context, c Config) (_ []Step, err error) {
	if c.Out == nil {
		c.Out = io.Discard
	}
	if c.Sealer == "" {
		c.Sealer = "aes-256-gcm"
	}
	if _, err := deployserver.Algorithm(c.Sealer); err != nil {
		return nil, err
	}
	if c.Person == nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	dir, err := os.MkdirTemp("", "reprise-demo-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	d := &demo{config: c, dir: dir, root: filepath.Join(dir, "releases")}
	if c.Person != nil {
		d.person = bufio.NewScanner(c.Person)
	}
	close, err := d.start(ctx)
	defer func() { err = errors.Join(err, close()) }()
	if err != nil {
		return nil, err
	}
	d.printf("Three replicas share a keyring, a ledger and a release root. A balancer spreads requests over them in turn.\n")
	d.printf("requestState is sealed with %s.\n\n", c.Sealer)
	for _, r := range d.fleet.Replicas() {
		d.printf("  %s  process %d  %s\n", r.Name(), r.PID(), r.URL())
	}
	d.printf("  balancer   %s\n", d.alice.URL)
	for i, s := range steps {
		d.steps = append(d.steps, Step{Title: s.title, Why: s.why})
		d.printf("\n%2d. %s\n", i+1, s.title)
		if err := s.run(ctx, d); err != nil {
			return d.steps, fmt.Errorf("step %d: %w", i+1, err)
		}
		if d.wrong != "" {
			return d.steps, fmt.Errorf("step %d did not come out as it must: %s", i+1, d.wrong)
		}
	}
	d.printf("\nAll %d steps came out as they must: %d checks.\n", len(steps), d.checks)
	return d.steps, nil
}

// demo is one run.
type demo struct {
	config Config
	dir    string
	root   string // of the releases
	person *bufio.Scanner

	fleet    *fleet.Fleet
	releases *deploy.Engine // the operator's, beside the replicas
	alice    *fleet.Client
	mallory  *fleet.Client
	guest    *fleet.Client

	keyring string             // a file
	sealing requeststate.KeyID // the key that was in it first

	steps  []Step
	checks int
	wrong  string // the first check that failed
}

// start makes what the replicas share, and starts them. The function that it returns stops whatever came about.
func (d *demo) start(ctx context.Context) (func() error, error) {
	var closers []func() error
	stop := func() error {
		var errs []error
		for i := len(closers) - 1; i >= 0; i-- {
			errs = append(errs, closers[i]())
		}
		return errors.Join(errs...)
	}
	if err := os.Mkdir(d.root, 0o755); err != nil {
		return stop, err
	}
	if err := deploy.Seed(d.root); err != nil {
		return stop, err
	}
	releases, err := deploy.Open(d.root)
	if err != nil {
		return stop, err
	}
	d.releases = releases
	closers = append(closers, releases.Close)

	d.keyring = filepath.Join(d.dir, "keyring")
	if d.sealing, err = keyfile.Create(d.keyring); err != nil {
		return stop, err
	}
	people := []string{"alice", "mallory", "guest"}
	tokens, err := deployserver.WriteTokens(filepath.Join(d.dir, "tokens"), people...)
	if err != nil {
		return stop, err
	}

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return stop, err
	}
	url := "http://" + listener.Addr().String() + "/mcp"
	specs := make([]fleet.Spec, replicas)
	for i := range specs {
		specs[i] = d.spec(url, ttl)
	}
	d.fleet, err = fleet.Start(ctx, specs...)
	if err != nil {
		return stop, errors.Join(err, listener.Close())
	}
	closers = append(closers, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		return d.fleet.Stop(ctx)
	})
	balancer := &http.Server{Handler: d.fleet.Handler(), ReadHeaderTimeout: 10 * time.Second}
	go balancer.Serve(listener)
	closers = append(closers, balancer.Close)

	transcript := fleet.NewTranscript(&recorder{d})
	client := func(name string, capabilities any) *fleet.Client {
		return &fleet.Client{URL: url, Name: name, Token: tokens[name], Capabilities: capabilities, Transcript: transcript}
	}
	forms := map[string]any{"elicitation": map[string]any{"form": struct{}{}}}
	d.alice, d.mallory, d.guest = client("alice", forms), client("mallory", forms), client("guest", nil)
	return stop, nil
}

func (d *demo) spec(audience string, ttl time.Duration) fleet.Spec {
	return fleet.Spec{Path: d.config.Program, Args: []string{"deploy-server",
		"--listen", "127.0.0.1:0",
		"--audience", audience,
		"--data", d.dir,
		"--root", d.root,
		"--sealer", d.config.Sealer,
		"--ttl", ttl.String(),
	}}
}

// restart gives every replica another time to live for its questions.
func (d *demo) restart(ctx context.Context, ttl time.Duration) error {
	for _, r := range d.fleet.Replicas() {
		if err := r.Restart(ctx, d.spec(d.alice.URL, ttl)); err != nil {
			return err
		}
	}
	return nil
}

func (d *demo) printf(format string, args ...any) { fmt.Fprintf(d.config.Out, format, args...) }

// say tells what happens.
func (d *demo) say(format string, args ...any) { d.printf("    "+format+"\n", args...) }

// check prints what must be, and keeps the first that is not. It returns ok.
func (d *demo) check(ok bool, format string, args ...any) bool {
	text := fmt.Sprintf(format, args...)
	d.checks++
	mark := "ok   "
	if !ok {
		mark = "WRONG"
		if d.wrong == "" {
			d.wrong = text
		}
	}
	d.printf("    %s %s\n", mark, text)
	return ok
}
