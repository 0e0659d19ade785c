// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/reprise-mcp/reprise/cmd/reprise/internal/deployserver"
	"github.com/reprise-mcp/reprise/cmd/reprise/internal/fleet"
)

const deployServerUsage = `Usage: reprise deploy-server [flags]

Serves MCP over Streamable HTTP at /mcp: the tools deploy_release, which asks a human before it replaces a running release,
list_releases and release_status; the prompt release_notes, which asks for whom; and the resources release://ENVIRONMENT/SERVICE/log,
which ask for a reason. On a loopback address it makes the key and the token that are missing, and prints the
configuration for a client. GET /readyz has status 200 while the ledger can be reached, and names the keys; GET /healthz says
that the process lives. A keyring file that changes is taken within two seconds, or at once on SIGHUP. An interrupt or SIGTERM
stops the server; it finishes the requests that are under way. Try it:

	reprise deploy-server --seed
`

// clockOffsetEnv shifts the clock of a replica. It is for tests, so it is not a flag.
const clockOffsetEnv = "REPRISE_TEST_CLOCK_OFFSET"

func runDeployServer(ctx context.Context, args []string, std streams) error {
	var c deployserver.Config
	var origins string
	fs := flag.NewFlagSet("deploy-server", flag.ContinueOnError)
	fs.StringVar(&c.Listen, "listen", "127.0.0.1:8931", "`address` to listen on; anything but a loopback address needs --audience, and --tokens and --keyring files")
	fs.BoolVar(&c.Stdio, "stdio", false, "serve standard input and output in place of HTTP")
	fs.StringVar(&c.Data, "data", "reprise-data", "`directory` for what the server keeps, DATA in the defaults of other flags")
	fs.StringVar(&c.Root, "root", "", "release root `directory` (default DATA/releases)")
	fs.BoolVar(&c.Seed, "seed", false, "fill a release root that is not there yet with samples")
	fs.StringVar(&c.Keyring, "keyring", "", "keyring `file`, or env:NAME for an environment variable (default DATA/keyring)")
	fs.StringVar(&c.Tokens, "tokens", "", "`file` of bearer tokens: a line each, the subject and the token or sha256:HEX of it (default DATA/tokens)")
	fs.StringVar(&c.Audit, "audit", "", "`file` to append a line to for each flow that ended: who called what, what was asked and reported, what was done (default DATA/audit.jsonl)")
	fs.StringVar(&c.Ledger, "ledger", "", "where redeemed confirmations are kept: `sqlite:FILE`, or memory with --single-process (default sqlite:DATA/ledger.db)")
	fs.BoolVar(&c.SingleProcess, "single-process", false, "there is no other replica with this keyring, and a restart may forget what was redeemed")
	fs.StringVar(&c.Issuer, "issuer", "", "`name` of who vouches for the subjects (default urn:reprise:token-file, on stdio the host)")
	fs.StringVar(&c.Subject, "subject", "", "on stdio, `name` of who is at the other end (default the user of the operating system)")
	fs.StringVar(&c.Audience, "audience", "", "resource `URI` of the server, the same on all replicas and on no other server (default from --listen, where that is a loopback address)")
	fs.StringVar(&c.Algorithm, "sealer", "aes-256-gcm", "`algorithm` that seals requestState: aes-256-gcm or hmac-sha256")
	fs.DurationVar(&c.TTL, "ttl", 10*time.Minute, "how long a human has for one question, 1s to 24h")
	fs.DurationVar(&c.Lifetime, "lifetime", time.Hour, "how long all rounds of a call may take together, from the --ttl to 168h")
	fs.StringVar(&origins, "origins", "", "`list` of web origins that may call, separated by commas")
	if err := parse(fs, deployServerUsage, args, std, 0); err != nil {
		return err
	}
	switch { // here 0 is no default but a mistake
	case c.TTL == 0:
		return &usageError{"--ttl is 0: it must be at least 1s"}
	case c.Lifetime == 0:
		return &usageError{"--lifetime is 0: it must be at least the --ttl"}
	}
	if origins != "" {
		c.Origins = strings.Split(origins, ",")
	}
	if text := os.Getenv(clockOffsetEnv); text != "" {
		offset, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("%s: %w", clockOffsetEnv, err)
		}
		c.ClockOffset = offset
	}
	c.Out = std.err
	c.Log = slog.New(slog.NewTextHandler(std.err, &slog.HandlerOptions{Level: slog.LevelWarn}))

	if !c.Stdio { // there, standard input is the client's
		var cancel context.CancelFunc
		ctx, cancel = fleet.WithParent(ctx)
		defer cancel()
	}
	server, err := deployserver.Open(ctx, c)
	if err != nil {
		return err
	}
	defer server.Close()
	if c.Stdio {
		return server.ServeStdio(ctx)
	}
	return server.Serve(ctx, func(addr net.Addr) error { return fleet.Ready(std.out, addr) })
}
