// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/reprise-mcp/reprise/requeststate"
)

const stateUsage = `Usage: reprise state inspect --keyring FILE < TOKEN

Opens a requestState for an operator who holds the keys, and says what it is: which key sealed it, until when it holds, what
was asked. It reads the token from standard input, so that it appears in no process list and no shell history. Answers
and values that the state carries are named and never shown.
`

// maxToken is above what any sealer may be configured to make.
const maxToken = 1 << 20

func runState(_ context.Context, args []string, std streams) error {
	if len(args) > 0 && (args[0] == "-h" || args[0] == "-help" || args[0] == "--help" || args[0] == "help") {
		fmt.Fprint(std.out, stateUsage)
		return nil
	}
	if len(args) == 0 || args[0] != "inspect" {
		return &usageError{"state needs inspect; see reprise state --help"}
	}
	fs := flag.NewFlagSet("state inspect", flag.ContinueOnError)
	keyring := fs.String("keyring", "", "keyring `file`, or env:NAME for an environment variable")
	if err := parse(fs, stateUsage, args[1:], std, 0); err != nil {
		return err
	}
	if *keyring == "" {
		return &usageError{"--keyring is missing"}
	}
	read := requeststate.ReadKeyring
	if name, ok := strings.CutPrefix(*keyring, "env:"); ok {
		read = func(string) (*requeststate.Keyring, error) { return requeststate.KeyringFromEnv(name) }
	}
	ring, err := read(*keyring)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(std.in, maxToken+2))
	if err != nil {
		return err
	}
	token := strings.TrimRight(string(text), "\r\n")
	switch {
	case token == "":
		return errors.New("there is no token on standard input")
	case len(token) > maxToken:
		return fmt.Errorf("this is no token: it has more than %d characters", maxToken)
	}
	in, err := ring.Inspect(token)
	if err != nil {
		return err
	}
	st := in.State
	life := "holds for another " + time.Until(st.Expires).Round(time.Second).String()
	if !time.Now().Before(st.Expires) {
		life = "has expired"
	}
	row := func(name, format string, args ...any) {
		fmt.Fprintf(std.out, "%-10s "+format+"\n", append([]any{name}, args...)...)
	}
	row("algorithm", "%s", in.Algorithm)
	row("key", "%s", in.Key)
	row("sealer", "%s", in.Sealer)
	row("size", "%d characters", in.Size)
	row("flow", "%s", st.Flow)
	row("request", "%x", in.Request[:])
	row("started", "%s", stamp(st.Started))
	row("issued", "%s", stamp(st.Issued))
	row("expires", "%s (%s)", stamp(st.Expires), life)
	row("round", "%d, asked again %d times because a question changed", st.Round, st.Drift)
	for _, q := range st.Questions {
		row("question", "%q, pinned as %x", q.Key, q.Pin[:8])
	}
	for _, a := range st.Answers {
		row("answer", "%q, %d bytes, not shown", a.Key, len(a.Response))
	}
	for _, v := range st.Values {
		row("value", "%q, %d bytes, not shown", v.Name, len(v.JSON))
	}
	if st.Inner != "" {
		row("inner", "%d bytes of the handler's own, not shown", len(st.Inner))
	}
	return nil
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
