// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

// Package vectors holds the test vectors of the requestState token, for this module's tests and, as plain JSON files,
// for implementations in any language. See README.md beside them, and docs/spec/requeststate-v1.md for the token.
package vectors

import "embed"

//go:generate go run ./internal/gen

// Files holds tokens.json and digests.json.
//
//go:embed tokens.json digests.json
var Files embed.FS
