// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

//go:build race

package requeststate_test

const raceDetector = true
