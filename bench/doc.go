// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

// Package bench measures the cost of a sealed requestState against other tokens that carry the same facts. It is a
// module of its own, so that what it compares with is nobody's dependency.
//
//	go test -run '^$' -bench . -count 6
//
// prints the usual lines, fit for benchstat, and then a table of seal and open pairs, all sides alternating in one run.
package bench
