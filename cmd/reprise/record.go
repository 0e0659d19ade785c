// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/reprise-mcp/reprise/cmd/reprise/internal/fleet"
	"github.com/reprise-mcp/reprise/transcript"
	"github.com/reprise-mcp/reprise/transcript/record"
	"github.com/reprise-mcp/reprise/wirecheck"
)

const recordUsage = `Usage: reprise record [flags] --upstream URL [--listen ADDR] -o FILE
       reprise record [flags] -o FILE -- COMMAND [ARGS]

Writes what a client and a server say to each other to FILE, a JSON-RPC message a line, and changes none of it. FILE must not
be there yet, and is readable by its owner only: states and answers stand in it. Credentials in headers never do.

With --upstream it is a proxy on a loopback address. The client is given the URL of the server's endpoint with that address
in it; other paths pass on unrecorded. An interrupt or SIGTERM stops it; it finishes the requests that are under way.

With a COMMAND it is that server's standard input and output. Its exit status is the command's, and signals are passed on.

--check says on standard error what is wrong, as reprise check would, while it happens. The exit status is 1 if an error was
found and there is no other to report.

--redact replaces states, bearer tokens and the texts of answers by placeholders that are equal where those were, numbers in
answers by 0 and booleans by false. What a server repeats of them elsewhere stays. Whether such an answer fits its form cannot
be told any more, by --check neither.
`

// exitStatus is that of another command, which has said itself what there is to say.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

func runRecord(ctx context.Context, args []string, std streams) error {
	fs := flag.NewFlagSet("record", flag.ContinueOnError)
	name := fs.String("o", "", "`file` to make; it must not be there yet")
	upstream := fs.String("upstream", "", "`URL` of the server's endpoint, such as http://127.0.0.1:8931/mcp")
	listen := fs.String("listen", "127.0.0.1:8932", "loopback `address` to listen on")
	checks := fs.Bool("check", false, "check the messages while they pass")
	redact := fs.Bool("redact", false, "hide states, bearer tokens and answers")
	if err := parse(fs, recordUsage, args, std, -1); err != nil {
		return err
	}
	switch {
	case *name == "":
		return &usageError{"-o is missing: name the file to write to"}
	case *upstream == "" && fs.NArg() == 0:
		return &usageError{"there is nothing to record: give --upstream or a command; see --help"}
	case *upstream != "" && fs.NArg() > 0:
		return &usageError{"record takes --upstream or a command, not both"}
	}
	to := &recording{name: *name, err: std.err}
	if *checks {
		to.checker = wirecheck.New()
	}
	o := record.Options{Redact: *redact, Warn: func(text string) { fmt.Fprintf(std.err, "reprise: %s\n", text) }}
	if fs.NArg() > 0 {
		return recordCommand(fs.Args(), to, o, std)
	}
	return recordProxy(ctx, *upstream, *listen, to, o, std)
}

// A recording is the file, and the checker if its lines are checked.
type recording struct {
	*os.File
	name    string
	err     io.Writer
	checker *wirecheck.Checker // nil: none
	lines   int
	found   int // errors
	other   int // warnings
	unsure  int
}

func (r *recording) create() (err error) {
	r.File, err = os.OpenFile(r.name, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	return err
}

// Write is called with one whole line at a time.
func (r *recording) Write(line []byte) (int, error) {
	n, err := r.File.Write(line)
	if err != nil || r.checker == nil {
		return n, err
	}
	r.lines++
	for entry, err := range transcript.Read(bytes.NewReader(line), transcript.JSONL) {
		if err != nil {
			fmt.Fprintf(r.err, "reprise: line %d cannot be checked: %v\n", r.lines, err)
			break
		}
		entry.Line = r.lines
		for _, finding := range r.checker.Check(entry) {
			fmt.Fprintf(r.err, "reprise: %s\n", finding)
			switch finding.Level {
			case wirecheck.Error:
				r.found++
			case wirecheck.Warning:
				r.other++
			default:
				r.unsure++
			}
		}
	}
	return n, nil
}

// verdict ends the check.
func (r *recording) verdict() error {
	if r.checker == nil {
		return nil
	}
	fmt.Fprintf(r.err, "reprise: %d messages, %d errors, %d warnings, %d cannot be told\n", r.checker.Messages(), r.found, r.other, r.unsure)
	if r.found > 0 {
		return errFound
	}
	return nil
}

func recordProxy(ctx context.Context, upstream, listen string, to *recording, o record.Options, std streams) (err error) {
	endpoint, err := url.Parse(upstream)
	if err != nil || endpoint.Scheme != "http" && endpoint.Scheme != "https" || endpoint.Host == "" || endpoint.User != nil ||
		endpoint.RawQuery != "" || endpoint.Fragment != "" {
		return &usageError{"--upstream is no plain http or https URL of an endpoint, such as http://127.0.0.1:8931/mcp"}
	}
	addr, err := net.ResolveTCPAddr("tcp", listen)
	if err != nil {
		return &usageError{fmt.Sprintf("--listen %q is no address with a port, such as 127.0.0.1:8932", listen)}
	}
	if !addr.IP.IsLoopback() {
		return &usageError{fmt.Sprintf("--listen %s can be reached from elsewhere, and the recording is of one machine's clients: use a loopback address, such as 127.0.0.1:8932", listen)}
	}
	listener, err := net.ListenTCP("tcp", addr)
	if err != nil {
		return err
	}
	defer listener.Close()
	if err := to.create(); err != nil {
		return err
	}
	recorder := record.New(to, o)
	defer func() {
		if recorder.Close() != nil {
			err = errors.Join(err, fmt.Errorf("%s is not complete", to.name))
		}
		if err = errors.Join(err, to.Close()); err == nil {
			err = to.verdict()
		}
	}()
	fmt.Fprintf(std.err, "reprise: give the client http://%s%s in place of %s\n", listener.Addr(), endpoint.EscapedPath(), endpoint)
	if err := fleet.Ready(std.out, listener.Addr()); err != nil {
		return err
	}
	server := &http.Server{Handler: recorder.Proxy(endpoint), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	const grace = 10 * time.Second
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if server.Shutdown(ctx) != nil {
		return server.Close() // a stream that stays open is no failure
	}
	return nil
}

func recordCommand(command []string, to *recording, o record.Options, std streams) error {
	cmd := exec.Command(command[0], command[1:]...)
	if cmd.Err != nil {
		return cmd.Err
	}
	if err := to.create(); err != nil {
		return err
	}
	defer to.Close()
	recorder := record.New(to, o)
	defer recorder.Close()
	in := std.in
	if i, ok := in.(input); ok {
		in = i.r // what an interrupt ends is for the command to say
	}
	cmd.Stderr = std.err
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	err := recorder.Run(cmd, in, std.out, signals)
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		if cmd.Process == nil {
			os.Remove(to.name) // nothing ran
			return err
		}
		if verdict := to.verdict(); err == nil {
			err = verdict
		}
		return err
	}
	to.verdict() // the command's own status comes first
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + exitStatus(status.Signal()) // as a shell says it
	}
	return exitStatus(exit.ExitCode())
}
