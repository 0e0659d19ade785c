// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"testing"

	"github.com/reprise-mcp/reprise/vectors"
)

func TestCommittedVectorsAreTheGenerators(t *testing.T) {
	for name, want := range files() {
		got, err := vectors.Files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from what the generator writes: run go generate ./vectors and look at the difference", name)
		}
	}
}

func TestVectorNamesAreUnique(t *testing.T) {
	seen := make(map[string]bool)
	for _, v := range tokens().Vectors {
		if seen[v.Name] {
			t.Errorf("two vectors are named %q", v.Name)
		}
		seen[v.Name] = true
	}
}
