// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/reprise-mcp/reprise/transcript"
	"github.com/reprise-mcp/reprise/wirecheck"
)

const checkUsage = `Usage: reprise check [flags] FILE...
       reprise check --explain RULE

Reads recordings of MCP messages and says which rule of revision 2026-07-28 was broken, by whom, on which message. "-" is
standard input. The form of a recording is recognised: JSON Lines and arrays of messages, HTTP archives (HAR), the recordings of
mcpsnoop, go-sdk's logs and txtar conversations.

The exit status is 0 when no error was found, 1 when one was, and 2 when a recording cannot be read. What a recording cannot
tell is said and counted, and is no error.
`

// errFound is for recordings in which something is wrong; what it is was printed already.
var errFound = errors.New("there are errors")

func runCheck(_ context.Context, args []string, std streams) error {
	fs := flag.NewFlagSet("check", flag.ContinueOnError)
	format := fs.String("format", "", "`form` of the recordings: jsonl, array, har, mcpsnoop, log or txtar (default: recognised)")
	output := fs.String("output", "text", "how to say it: `text`, json, sarif or junit")
	strict := fs.Bool("strict", false, "warnings count as errors")
	explain := fs.String("explain", "", "say what the `rule` demands and why, and check nothing")
	if err := parse(fs, checkUsage, args, std, -1); err != nil {
		return err
	}
	if *explain != "" {
		return explainRule(*explain, std.out)
	}
	if fs.NArg() == 0 {
		return &usageError{"check needs a file; see --help"}
	}
	write, ok := wirecheck.Writers[*output]
	if !ok {
		return &usageError{fmt.Sprintf("--output %q is unknown: use text, json, sarif or junit", *output)}
	}
	var reports []wirecheck.Report
	for _, name := range fs.Args() {
		report, err := checkFile(name, transcript.Format(*format), std.in)
		if err != nil {
			return &usageError{fmt.Sprintf("%s: %v", name, err)}
		}
		reports = append(reports, *report)
	}
	if err := write(std.out, reports); err != nil {
		return err
	}
	for _, r := range reports {
		if n := r.Count(); n[wirecheck.Error] > 0 || *strict && n[wirecheck.Warning] > 0 {
			return errFound
		}
	}
	return nil
}

func checkFile(name string, format transcript.Format, stdin io.Reader) (*wirecheck.Report, error) {
	in := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	return wirecheck.CheckAll(name, transcript.Read(in, format))
}

func explainRule(id string, out io.Writer) error {
	var ids []string
	for _, rule := range wirecheck.Rules() {
		if rule.ID == id {
			fmt.Fprintf(out, "%s (%s)\n\n%s.\n%s\n\nSpecification %s: %s\n", rule.ID, rule.Level, rule.Title, rule.Text, rule.Since, rule.Section)
			return nil
		}
		ids = append(ids, rule.ID)
	}
	return &usageError{fmt.Sprintf("there is no rule %q; there are %s", id, strings.Join(ids, ", "))}
}
