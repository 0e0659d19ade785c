// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reprise-mcp/reprise/cmd/reprise/internal/deployserver"
	"github.com/reprise-mcp/reprise/cmd/reprise/internal/keyfile"
	"github.com/reprise-mcp/reprise/requeststate"
)

const keysUsage = `Usage: reprise keys new [-o FILE]
       reprise keys list FILE
       reprise keys add FILE
       reprise keys promote FILE [KEY]
       reprise keys retire [--lifetime DURATION] [--now] FILE KEY
       reprise keys compare URL...

"new" makes a keyring with one random key and writes it to FILE, readable by its owner only, or to standard output: give
the same file to every replica. "list" prints the id of each key, never a key: the first seals, all open. An id follows from
its key, so replicas that list the same ids hold the same keys.

To rotate, in two phases: "add" puts a new key behind the others, so that it opens. When every replica has that file,
"promote" puts the last key, or KEY, to the front, so that it seals. When every replica has that one, and the lifetime of a
flow has passed, "retire" takes the old key out; before that it refuses. If somebody else may know a key, "retire --now"
takes it out at once: what it sealed is given up, and if it sealed, the next key does, or a new one. A running server takes
its changed file by itself. "compare" asks replicas for the ids of their keys, and fails while one seals what another
cannot open.
`

func runKeys(ctx context.Context, args []string, std streams) error {
	if len(args) == 0 {
		return &usageError{"keys needs new, list, add, promote, retire or compare; see reprise keys --help"}
	}
	name, args := args[0], args[1:]
	fs := flag.NewFlagSet("keys "+name, flag.ContinueOnError)
	switch name {
	case "new":
		path := fs.String("o", "", "`file` to make; it must not be there yet")
		if err := parse(fs, keysUsage, args, std, 0); err != nil {
			return err
		}
		return keysNew(*path, std)
	case "list":
		if err := parse(fs, keysUsage, args, std, 1); err != nil {
			return err
		}
		return keysList(fs.Arg(0), std)
	case "add":
		if err := parse(fs, keysUsage, args, std, 1); err != nil {
			return err
		}
		id, err := keyfile.Add(fs.Arg(0))
		if err != nil {
			return err
		}
		fmt.Fprintln(std.out, id)
		return nil
	case "promote":
		if err := parse(fs, keysUsage, args, std, -1); err != nil {
			return err
		}
		if fs.NArg() < 1 || fs.NArg() > 2 {
			return &usageError{"keys promote takes a file, and a key if not the last; see --help"}
		}
		var id requeststate.KeyID
		if fs.NArg() == 2 {
			var err error
			if id, err = keyID(fs.Arg(1)); err != nil {
				return err
			}
		}
		id, err := keyfile.Promote(fs.Arg(0), time.Now(), id)
		if err != nil {
			return err
		}
		fmt.Fprintln(std.out, id)
		return nil
	case "retire":
		now := fs.Bool("now", false, "give up what the key sealed: somebody else may know it")
		lifetime := fs.Duration("lifetime", time.Hour, "how long a flow lives, as the servers have it")
		if err := parse(fs, keysUsage, args, std, 2); err != nil {
			return err
		}
		id, err := keyID(fs.Arg(1))
		if err != nil {
			return err
		}
		if *now {
			sealing, err := keyfile.RetireNow(fs.Arg(0), id)
			if err == nil {
				fmt.Fprintf(std.out, "%s  seals and opens\n", sealing)
			}
			return err
		}
		return keyfile.Retire(fs.Arg(0), time.Now(), id, *lifetime)
	case "compare":
		if err := parse(fs, keysUsage, args, std, -1); err != nil {
			return err
		}
		if fs.NArg() == 0 {
			return &usageError{"keys compare takes the URL of each replica, such as http://10.0.0.5:8931; see --help"}
		}
		return keysCompare(ctx, fs.Args(), std)
	case "-h", "-help", "--help", "help":
		fmt.Fprint(std.out, keysUsage)
		return nil
	}
	return &usageError{fmt.Sprintf("keys has no %q; see reprise keys --help", name)}
}

func keyID(text string) (id requeststate.KeyID, err error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(id) || requeststate.KeyID(b) == id { // zero stands for the last key
		return id, &usageError{fmt.Sprintf("%q is no id of a key, which has %d hexadecimal digits; see reprise keys list", text, 2*len(id))}
	}
	return requeststate.KeyID(b), nil
}

func keysNew(path string, std streams) error {
	if path != "" {
		id, err := keyfile.Create(path)
		if err == nil {
			fmt.Fprintln(std.out, id)
		}
		return err
	}
	ring, err := requeststate.NewKeyring(requeststate.NewKey())
	if err != nil {
		return err
	}
	text, err := ring.AppendText(nil)
	if err != nil {
		return err
	}
	_, err = std.out.Write(text)
	return err
}

func keysList(path string, std streams) error {
	ring, err := requeststate.ReadKeyring(path)
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
}

// keysCompare asks the replicas one after the other, prints what each has, and returns what keeps them from opening each other's
// states.
func keysCompare(ctx context.Context, urls []string, std streams) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	rings := make([][]string, len(urls))
	var wrong []error
	for i, url := range urls {
		ready, err := deployserver.AskReady(ctx, url)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		rings[i] = ready.Keys
		fmt.Fprintf(std.out, "%s  %s\n", url, strings.Join(ready.Keys, " "))
	}
	same := true
	for i, ring := range rings {
		for j, other := range rings {
			switch {
			case ring == nil || other == nil || slices.Equal(ring, other):
			case slices.Contains(other, ring[0]):
				same = false
			default:
				wrong = append(wrong, fmt.Errorf("%s seals with %s, which %s does not have", urls[i], ring[0], urls[j]))
			}
		}
	}
	if wrong == nil && !same {
		fmt.Fprintln(std.out, "They differ, and each opens what any other seals. Go on when they are the same.")
	}
	return errors.Join(wrong...)
}
