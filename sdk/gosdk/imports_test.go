// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package gosdk

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// A server that has go-sdk already gets one package from elsewhere with the adapter, and its internals.
func TestLinkingAddsOnlyJSONText(t *testing.T) {
	deps := func(pkg string) []string {
		out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", pkg).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(string(out))
	}
	had := deps("github.com/modelcontextprotocol/go-sdk/mcp")
	var adds []string
	for _, pkg := range deps(".") {
		if !slices.Contains(had, pkg) && !strings.HasPrefix(pkg, "github.com/reprise-mcp/reprise") && !strings.HasPrefix(pkg, "github.com/go-json-experiment/json/internal") {
			adds = append(adds, pkg)
		}
	}
	if want := []string{"github.com/go-json-experiment/json/jsontext"}; len(had) < 5 || !slices.Equal(adds, want) {
		t.Errorf("linking the adapter adds %q, want %q", adds, want)
	}
}
