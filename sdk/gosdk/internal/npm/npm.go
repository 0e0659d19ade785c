// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

// Package npm installs what tests run in Node.js, below .cache in the root of the repository.
package npm

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Node is the version of Node.js that the tests run, whatever the machine has: the conformance suite needs 22.
const Node = "node@22.23.3"

// Install returns a folder whose node_modules has Node and these packages, at exact versions, and the path of its Node. What was installed
// once is used again. Where npm is missing the test is skipped.
func Install(t testing.TB, packages ...string) (dir, node string) {
	t.Helper()
	packages = append([]string{Node}, packages...)
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("npm is missing, and with it what this test runs; make deps installs it or says how")
	}
	cache := filepath.Join(root(t), ".cache")
	dir = filepath.Join(cache, fmt.Sprintf("npm-%x", sha256.Sum256([]byte(strings.Join(packages, " "))))[:len("npm-")+16])
	node = filepath.Join(dir, "node_modules", "node", "bin", "node")
	if _, err := os.Stat(node); err == nil {
		return dir, node
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	made, err := os.MkdirTemp(cache, "installing-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(made)
	cmd := exec.Command(npm, append([]string{"install", "--prefix", made, "--no-save", "--no-package-lock", "--no-audit", "--no-fund"}, packages...)...)
	cmd.Dir = made
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm install: %v\n%s", err, out)
	}
	// Another test may install the same: whoever is first has made it.
	if err := os.Rename(made, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		if _, there := os.Stat(node); there != nil {
			t.Fatal(err)
		}
	}
	return dir, node
}

// root is the folder of go.work.
func root(t testing.TB) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.work above the test")
		}
		dir = filepath.Dir(dir)
	}
}
