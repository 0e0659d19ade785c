// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

// Command reprise shows, runs and operates servers that ask before they act.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/reprise-mcp/reprise/cmd/reprise/internal/deployserver"
)

const usage = `Reprise: multi round-trip requests and elicitation for MCP 2026-07-28.

Usage:

	reprise demo            show a confirmed deployment on three replicas, and every way of cheating fail
	reprise deploy-server   serve the deployment of releases over MCP
	reprise check           check recordings of MCP messages against revision 2026-07-28
	reprise record          record what passes between a client and a server
	reprise keys            make, list, rotate and compare the keys that seal requestState
	reprise state           look into a requestState with the keys

Every command explains itself with --help.
`

// What goes where: results and what a program may read go to standard output, everything said to a person about a
// failure goes to standard error, one line, beginning with "reprise: ". Exit status 0 is success, 1 is a failure, and 2 is
// a command line that is not understood. Where record runs another command, all that is that command's.

type command struct {
	name string
	run  func(ctx context.Context, args []string, std streams) error
}

type streams struct {
	in       io.Reader
	out, err io.Writer
}

var commands = []command{
	{"demo", runDemo},
	{"deploy-server", runDeployServer},
	{"check", runCheck},
	{"record", runRecord},
	{"keys", runKeys},
	{"state", runState},
}

// usageError is for command lines that are not understood.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	status := run(ctx, os.Args[1:], streams{input{ctx, os.Stdin}, os.Stdout, os.Stderr})
	stop()
	os.Exit(status)
}

func run(ctx context.Context, args []string, std streams) int {
	if len(args) == 0 || args[0] == "help" || args[0] == "-h" || args[0] == "--help" || args[0] == "-help" {
		fmt.Fprint(std.out, usage)
		return 0
	}
	for _, c := range commands {
		if c.name != args[0] {
			continue
		}
		err := c.run(ctx, args[1:], std)
		if err == nil || errors.Is(err, flag.ErrHelp) {
			return 0
		}
		if status, ok := errors.AsType[exitStatus](err); ok {
			return int(status)
		}
		fmt.Fprintf(std.err, "reprise: %v\n", err)
		var usage *usageError
		var config *deployserver.ConfigError
		if errors.As(err, &usage) || errors.As(err, &config) {
			return 2
		}
		return 1
	}
	fmt.Fprintf(std.err, "reprise: there is no command %q; see reprise help\n", args[0])
	return 2
}

// input gives up reading when ctx ends: a read from a terminal or a pipe cannot be interrupted.
type input struct {
	ctx context.Context
	r   io.Reader
}

func (i input) Read(p []byte) (int, error) {
	type part struct {
		text []byte
		err  error
	}
	done := make(chan part, 1)
	go func() {
		text := make([]byte, len(p))
		n, err := i.r.Read(text)
		done <- part{text[:n], err}
	}()
	select {
	case got := <-done:
		return copy(p, got.text), got.err
	case <-i.ctx.Done():
		return 0, context.Cause(i.ctx)
	}
}

// parse parses the flags of one command. Each flag can also be given in the environment, as REPRISE_ and its name in
// capitals. About is printed above the flags for --help.
func parse(fs *flag.FlagSet, about string, args []string, std streams, operands int) error {
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	var bad error
	flags := 0
	fs.VisitAll(func(f *flag.Flag) {
		flags++
		name := "REPRISE_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		if value, ok := os.LookupEnv(name); ok && bad == nil {
			if err := fs.Set(f.Name, value); err != nil {
				bad = &usageError{fmt.Sprintf("%s: %v", name, err)}
			}
		}
	})
	if bad != nil {
		return bad
	}
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(std.out, about)
		fs.SetOutput(std.out)
		if flags > 0 {
			fmt.Fprint(std.out, "\nFlags, also from the environment (--some-flag as REPRISE_SOME_FLAG):\n\n")
			fs.PrintDefaults()
		}
		return err
	case err != nil:
		return &usageError{err.Error() + "; see --help"}
	case operands >= 0 && fs.NArg() != operands:
		return &usageError{fmt.Sprintf("%s takes %d operands, not %d; see --help", fs.Name(), operands, fs.NArg())}
	}
	return nil
}
