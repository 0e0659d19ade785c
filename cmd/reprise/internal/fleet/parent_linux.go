// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import "syscall"

// dieWithParent has the kernel kill a replica whose parent is gone, in case that the replica does not listen to its pipe.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
