// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package deploy

import (
	"errors"
	"fmt"
	"os"
)

// flock refuses: without a lock that dies with its holder, two processes could deploy at once.
func flock(*os.File) error {
	return fmt.Errorf("this system has no flock, deploy from Linux, macOS or a BSD: %w", errors.ErrUnsupported)
}

func funlock(*os.File) {}
