// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package deploy

import (
	"errors"
	"os"
	"syscall"
)

// flock waits until no other open file holds the lock.
func flock(file *os.File) error {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

func funlock(file *os.File) { syscall.Flock(int(file.Fd()), syscall.LOCK_UN) }
