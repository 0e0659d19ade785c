// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package vectors_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-mcp/reprise/vectors"
)

// verifier copies the verifier and the vectors to a folder of their own and returns what runs it there. Each change
// is one replacement in one of the files.
func verifier(t *testing.T, file, old, new string) *exec.Cmd {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("the JavaScript verifier needs node, which is not installed")
	}
	folder := t.TempDir()
	script, err := os.ReadFile("verify.mjs")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"verify.mjs": script}
	for _, name := range []string{"tokens.json", "digests.json"} {
		if files[name], err = vectors.Files.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	if file != "" {
		changed := bytes.Replace(files[file], []byte(old), []byte(new), 1)
		if bytes.Equal(changed, files[file]) {
			t.Fatalf("%s does not have %q", file, old)
		}
		files[file] = changed
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return exec.Command(node, filepath.Join(folder, "verify.mjs"))
}

func TestAnotherLanguageOpensTheVectors(t *testing.T) {
	out, err := verifier(t, "", "", "").CombinedOutput()
	if err != nil || !strings.Contains(string(out), " 0 failed") {
		t.Fatalf("%v\n%s", err, out)
	}
}

func TestTheVerifierNoticesADifference(t *testing.T) {
	for _, c := range []struct{ name, file, old, new string }{
		{"a token that should open", "tokens.json", `"audience": "https://staging`, `"audience": "https://stagins`},
		{"another content", "tokens.json", `"key": "confirm"`, `"key": "confirn"`},
		{"another layer", "tokens.json", `"layer": "times"`, `"layer": "request"`},
		{"another digest", "digests.json", `"digest": "`, `"digest": "00`},
		{"another canonical form", "digests.json", `"canonical": "1e2"`, `"canonical": "100"`},
		{"arguments that are fine", "digests.json", `"argumentsHex": "5b5d"`, `"argumentsHex": "7b7d"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := verifier(t, c.file, c.old, c.new).CombinedOutput()
			if err == nil || strings.Contains(string(out), " 0 failed") {
				t.Fatalf("it passed:\n%s", out)
			}
		})
	}
}
