// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package record

// Redact is what a message becomes in a recording that hides.
func Redact(message []byte, client bool) ([]byte, error) {
	direction := fromServer
	if client {
		direction = fromClient
	}
	return newRedactor().message(direction, message)
}
