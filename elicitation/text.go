// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package elicitation

import (
	"strings"
	"unicode/utf8"
)

// safeMessage is what a client is sent of a message.
func safeMessage(message string) (string, error) {
	if strings.TrimSpace(message) == "" || !utf8.ValidString(message) {
		return "", errMessage
	}
	return message, nil
}
