// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"os"
	"strings"

	"github.com/reprise-mcp/reprise/cmd/reprise/internal/demo"
)

const demoUsage = `Usage: reprise demo [flags]

Starts three replicas of the deploy server behind a round-robin balancer, in a temporary folder and on loopback, deploys a
release through a human confirmation that one replica asks and another redeems, and shows every way of cheating fail. Each
step is checked. The exit status is 1 where one does not come out as it must.
`

func runDemo(ctx context.Context, args []string, std streams) (err error) {
	c := demo.Config{Out: std.out}
	fs := flag.NewFlagSet("demo", flag.ContinueOnError)
	ask := fs.Bool("ask", false, "let the person at the terminal answer the question of step 2")
	transcript := fs.String("transcript", "", "`file` to write every message to, as JSON Lines")
	fs.StringVar(&c.Sealer, "sealer", "aes-256-gcm", "`algorithm` that seals requestState: aes-256-gcm or hmac-sha256")
	fs.BoolVar(&c.Wire, "wire", false, "print every message")
	if err := parse(fs, demoUsage, args, std, 0); err != nil {
		return err
	}
	// The replicas inherit the environment, and are told all they need by their flags.
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "REPRISE_") {
			os.Unsetenv(name)
		}
	}
	if *ask {
		c.Person = std.in
	}
	if *transcript != "" {
		f, err := os.Create(*transcript)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		c.Transcript = f
	}
	_, err = demo.Run(ctx, c)
	return err
}
