// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package deploy_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/reprise-mcp/reprise/cmd/reprise/internal/deploy"
)

func Example() {
	root, err := os.MkdirTemp("", "releases")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(root)
	if err := deploy.Seed(root); err != nil {
		panic(err)
	}
	engine, err := deploy.Open(root)
	if err != nil {
		panic(err)
	}
	defer engine.Close()

	ctx := context.Background()
	current, target, err := engine.Resolve(ctx, "billing", "staging", "")
	fmt.Println(current, "->", target, err)

	// A person says yes to exactly that. It happens once.
	change := deploy.Change{Service: "billing", Environment: "staging", From: current, To: target, By: "alice"}
	done, err := engine.Swap(ctx, change)
	fmt.Println(done.From, "->", done.To, err)

	_, err = engine.Swap(ctx, change)
	conflict, ok := errors.AsType[*deploy.ConflictError](err)
	fmt.Println(ok, conflict)
	// Output:
	// 1.4.1 -> 1.4.3 <nil>
	// 1.4.1 -> 1.4.3 <nil>
	// true billing in staging runs 1.4.3, not 1.4.1 as was shown: nothing was deployed, ask again
}
