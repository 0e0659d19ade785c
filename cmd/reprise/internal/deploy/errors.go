// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"fmt"
	"strings"
)

// A NameError refuses a name that may not be used for a file.
type NameError struct {
	Kind   string // "environment", "service" or "version"
	Name   string // as it was given: may be long and may hold anything
	Reason string
}

// Error quotes at most the first 64 bytes of the name.
func (e *NameError) Error() string {
	shown := fmt.Sprintf("%q", cut(e.Name, maxName))
	if len(e.Name) > maxName {
		shown += "..."
	}
	return fmt.Sprintf("%s is no name for %s %s: %s", shown, article(e.Kind), e.Kind, e.Reason)
}

// An UnknownError is returned for a name that is well formed and that nothing has.
type UnknownError struct {
	Kind        string   // "environment", "service" or "release"
	Environment string   // where it was looked for; empty when the environment itself is unknown
	Service     string   // empty unless a release was looked for
	Name        string   // empty when the newest release was asked for and there is none
	Known       []string // the names that there are; releases newest first
}

// Error lists what there is.
func (e *UnknownError) Error() string {
	var b strings.Builder
	if e.Name == "" {
		fmt.Fprintf(&b, "there is no complete %s", e.Kind)
	} else {
		fmt.Fprintf(&b, "there is no %s %q", e.Kind, e.Name)
	}
	if e.Service != "" {
		fmt.Fprintf(&b, " of %s", e.Service)
	}
	if e.Environment != "" {
		fmt.Fprintf(&b, " in %s", e.Environment)
	}
	const most = 20
	switch {
	case len(e.Known) == 0:
		fmt.Fprintf(&b, ", nor any other")
	case len(e.Known) > most:
		fmt.Fprintf(&b, "; name one of %s and %d more", strings.Join(e.Known[:most], ", "), len(e.Known)-most)
	default:
		fmt.Fprintf(&b, "; name one of %s", strings.Join(e.Known, ", "))
	}
	return b.String()
}

// A ConflictError says that the running release is not the one that was shown. Nothing was deployed: resolve and ask again.
type ConflictError struct {
	Service     string
	Environment string
	Shown       string // empty: none was shown
	Running     string // empty: none runs
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%s in %s runs %s, not %s as was shown: nothing was deployed, ask again",
		e.Service, e.Environment, orNothing(e.Running), orNothing(e.Shown))
}

// An UnchangedError says that the release runs already. Nothing was deployed, and nothing needs to be.
type UnchangedError struct {
	Service     string
	Environment string
	Running     string
}

func (e *UnchangedError) Error() string {
	return fmt.Sprintf("%s in %s runs %s already: there is nothing to deploy", e.Service, e.Environment, e.Running)
}

// An IncompleteError refuses a release whose files are not those of its SHA256SUMS. Build the release again.
type IncompleteError struct {
	Service     string
	Environment string
	Version     string
	File        string // the first file found wrong, relative to the release
	Reason      string
}

func (e *IncompleteError) Error() string {
	return fmt.Sprintf("release %s of %s in %s is not complete and was not deployed: %q %s; build it again",
		e.Version, e.Service, e.Environment, e.File, e.Reason)
}

// A StateError says that a file of the engine itself is not as the engine left it. Nothing is deployed until somebody has
// looked: the engine does not guess.
type StateError struct {
	Service     string
	Environment string
	File        string // "current" or "history"
	Reason      string
}

func (e *StateError) Error() string {
	return fmt.Sprintf("%q of %s in %s is damaged: %s; restore it by hand before the next deployment",
		e.File, e.Service, e.Environment, e.Reason)
}

func orNothing(version string) string {
	if version == "" {
		return "no release"
	}
	return version
}

func article(kind string) string {
	if kind == "environment" {
		return "an"
	}
	return "a"
}
