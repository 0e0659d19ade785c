// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package fleet

import "syscall"

// dieWithParent does nothing: here only the pipe tells a replica that its parent is gone.
func dieWithParent() *syscall.SysProcAttr { return nil }
