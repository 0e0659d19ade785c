// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

// Command gen writes the test vectors. It is an implementation of docs/spec/requeststate-v1.md of its own, which shares
// nothing with the package under test, since a writer and a reader that share a mistake would agree on it. It can write what a
// sealer never would. Everything that is random in a real token comes from the vector's name here, so that every run writes the same.
//
//	go generate ./vectors
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

func main() {
	for name, content := range files() {
		if err := os.WriteFile(name, content, 0o644); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// files returns what belongs into the folder of package vectors.
func files() map[string][]byte {
	return map[string][]byte{
		"tokens.json":  encode(tokens()),
		"digests.json": encode(digests()),
	}
}

func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		panic(err) // only for types that JSON does not have
	}
	return b.Bytes()
}
