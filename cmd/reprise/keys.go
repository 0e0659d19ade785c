// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/reprise-mcp/reprise/cmd/reprise/internal/deployserver"
	"github.com/reprise-mcp/reprise/requeststate"
)

const keysUsage = `Usage: reprise keys new [-o FILE]
       reprise keys list FILE

"new" makes a keyring with one random key and writes it to FILE, readable by its owner only, or to standard output: give
the same file to every replica. "list" prints the id of each key, never a key: the first seals, all open. An id follows from
its key, so replicas that list the same ids hold the same keys.
`

func runKeys(_ context.Context, args []string, std streams) error {
	if len(args) == 0 {
		return &usageError{"keys needs new or list; see reprise keys --help"}
	}
	fs := flag.NewFlagSet("keys "+args[0], flag.ContinueOnError)
	switch args[0] {
	case "new":
		path := fs.String("o", "", "`file` to make; it must not be there yet")
		if err := parse(fs, keysUsage, args[1:], std, 0); err != nil {
			return err
		}
		ring, err := requeststate.NewKeyring(requeststate.NewKey())
		if err != nil {
			return err
		}
		if *path != "" {
			if err := deployserver.WriteKeyring(*path, ring); err != nil {
				return err
			}
			fmt.Fprintln(std.out, ring.IDs()[0])
			return nil
		}
		text, err := ring.AppendText(nil)
		if err != nil {
			return err
		}
		_, err = std.out.Write(text)
		return err
	case "list":
		if err := parse(fs, keysUsage, args[1:], std, 1); err != nil {
			return err
		}
		ring, err := requeststate.ReadKeyring(fs.Arg(0))
		if err != nil {
			return err
		}
		for i, id := range ring.IDs() {
			role := "opens"
			if i == 0 {
				role = "seals and opens"
			}
			fmt.Fprintf(std.out, "%s  %s\n", id, role)
		}
		return nil
	case "-h", "-help", "--help", "help":
		fmt.Fprint(std.out, keysUsage)
		return nil
	}
	return &usageError{fmt.Sprintf("keys has no %q; see reprise keys --help", args[0])}
}
