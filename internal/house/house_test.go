// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

// Package house holds the tests that look at the project as a whole: which room may lean on which, and the rules that a
// reader relies on everywhere.
package house

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	module   = "github.com/reprise-mcp/reprise"
	jsontext = "github.com/go-json-experiment/json/jsontext"
	goSDK    = "github.com/modelcontextprotocol/go-sdk/"
)

// rooms says what each package may import beside the standard library. An entry that ends in a slash stands for all below
// it. Arrows go one way only: nothing here is imported by what it imports.
var rooms = map[string][]string{
	"wire":         {jsontext},
	"requeststate": {jsontext},
	"elicitation":  {jsontext},
	"ledger":       {},
	"vectors":      {},
	"transcript":   {jsontext, module + "/internal/scan"},
	"wirecheck":    {jsontext, module + "/internal/scan", module + "/transcript", module + "/wire", module + "/elicitation"},
	"":             {module + "/requeststate", module + "/elicitation", module + "/ledger", module + "/wire"},

	"transcript/record": {jsontext, module + "/wire"},
	"ledger/ledgertest": {module + "/ledger"},
	"ledger/sqlledger":  {module + "/ledger", "modernc.org/sqlite", "modernc.org/sqlite/lib"},
	"sdk/gosdk": {jsontext, module, module + "/elicitation", module + "/requeststate", module + "/wire", goSDK,
		"github.com/yosida95/uritemplate/v3", "github.com/google/jsonschema-go/jsonschema"}, // go-sdk's own

	"cmd/reprise":                       {module + "/"}, // the command sees everything
	"cmd/reprise/internal/deploy":       {},
	"cmd/reprise/internal/fleet":        {module + "/wire"},
	"cmd/reprise/internal/deployserver": {module, module + "/", goSDK},
	"cmd/reprise/internal/demo":         {module + "/"},
	"cmd/reprise/internal/keyfile":      {module + "/requeststate"},

	"vectors/internal/gen": {}, // shares no code with what it tests
	"internal/house":       {},
	"internal/scan":        {},
	"bench":                nil, // imports what it compares with
	"sdk/gosdk/internal":   nil, // programs for the tests
}

type listed struct {
	ImportPath, Dir                    string
	Imports, TestImports, XTestImports []string
	Standard                           bool
}

// packages lists what is in the workspace.
func packages(t *testing.T, top string) []listed {
	t.Helper()
	var all []listed
	for _, m := range modules(t, top) {
		cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,TestImports,XTestImports", "./...")
		cmd.Dir = filepath.Join(top, m)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list in %q: %v\n%s", m, err, &stderr)
		}
		for d := json.NewDecoder(bytes.NewReader(out)); ; {
			var p listed
			if err := d.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			all = append(all, p)
		}
	}
	return all
}

// modules are the folders of go.work.
func modules(t *testing.T, top string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(top, "go.work"))
	if err != nil {
		t.Fatal(err)
	}
	_, uses, ok := strings.Cut(string(text), "use (")
	uses, _, closed := strings.Cut(uses, ")")
	if !ok || !closed {
		t.Fatal("go.work has no use block")
	}
	return strings.Fields(uses)
}

// own reports whether path is of this repository, and its room.
func own(path string) (string, bool) {
	if path == module {
		return "", true
	}
	return strings.CutPrefix(path, module+"/")
}

func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

func TestImportsGoOneWay(t *testing.T) {
	top := "../.."
	seen := map[string]bool{}
	for _, p := range packages(t, top) {
		room, ok := own(p.ImportPath)
		if !ok {
			t.Fatalf("%s is not of this repository", p.ImportPath)
		}
		allowed, known := rooms[room]
		if !known && strings.HasPrefix(room, "sdk/gosdk/internal/") {
			room, known = "sdk/gosdk/internal", true
		}
		if !known {
			t.Errorf("%s has no row in the table of rooms", p.ImportPath)
			continue
		}
		seen[room] = true
		if allowed == nil {
			continue
		}
		for _, path := range p.Imports {
			inside := path == p.ImportPath || strings.HasPrefix(path, p.ImportPath+"/internal/")
			if !standard(path) && !inside && !slices.ContainsFunc(allowed, func(a string) bool {
				return path == a || strings.HasSuffix(a, "/") && strings.HasPrefix(path, a)
			}) {
				t.Errorf("%s may not import %s", p.ImportPath, path)
			}
		}
	}
	for room := range rooms {
		if !seen[room] {
			t.Errorf("the table has a row for %q, and there is no such package", room)
		}
	}
}

// Whoever imports the core gets no SDK and no driver into their go.mod.
func TestTheCoreRequiresAlmostNothing(t *testing.T) {
	text, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	var required []string
	for _, m := range regexp.MustCompile(`(?m)^\s*(?:require )?([a-z][^\s]*\.[^\s]*/[^\s]*) v`).FindAllStringSubmatch(string(text), -1) {
		required = append(required, m[1])
	}
	if want := []string{"github.com/go-json-experiment/json"}; !slices.Equal(required, want) {
		t.Errorf("go.mod requires %q, want %q", required, want)
	}
}

// Every module can be installed by its path: a replace in a go.mod would forbid it.
func TestModulesReplaceNothing(t *testing.T) {
	for _, m := range modules(t, "../..") {
		text, err := os.ReadFile(filepath.Join("../..", m, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("replace")) {
			t.Errorf("%s/go.mod has a replace", m)
		}
		if !bytes.Contains(text, []byte("\ngo 1.26.0\n")) {
			t.Errorf("%s/go.mod does not say go 1.26.0", m)
		}
	}
}

// tracked lists the files of the project, or those of the folder where git does not know it.
func tracked(t *testing.T, suffix string) []string {
	t.Helper()
	cmd := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "*"+suffix)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	files := strings.Fields(string(out))
	if len(files) == 0 {
		t.Fatalf("there is no %s file", suffix)
	}
	return files
}

func TestGoFiles(t *testing.T) {
	const header = "// Copyright 2026 The Reprise Authors\n// SPDX-License-Identifier: Apache-2.0\n\n"
	sleep := "time." + "Sleep("
	for _, name := range tracked(t, ".go") {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted and not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(text, []byte(header)) {
			t.Errorf("%s does not begin with the licence", name)
		}
		if strings.HasSuffix(name, "_test.go") && bytes.Contains(text, []byte(sleep)) {
			t.Errorf("%s sleeps; wait for a condition, or use testing/synctest", name)
		}
	}
}

func TestMakefileIsShort(t *testing.T) {
	text, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n")); n > 40 {
		t.Errorf("Makefile has %d lines, more than 40", n)
	}
}

// Code that a document quotes, under a comment that names the file, stands in that file, but for indentation.
func TestQuotedCode(t *testing.T) {
	quote := regexp.MustCompile("(?s)<!-- from ([^ ]+) -->\n```go\n(.*?)```")
	plain := func(text []byte) string {
		var b strings.Builder
		for line := range bytes.Lines(text) {
			b.Write(bytes.TrimSpace(line))
			b.WriteByte('\n')
		}
		return b.String()
	}
	quotes := 0
	for _, name := range tracked(t, ".md") {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			continue // deleted and not yet committed
		}
		for _, m := range quote.FindAllSubmatch(text, -1) {
			quotes++
			source, err := os.ReadFile(filepath.Join("../..", string(m[1])))
			if err != nil {
				t.Error(err)
			} else if !strings.Contains(plain(source), plain(m[2])) {
				t.Errorf("%s quotes what does not stand in %s:\n%s", name, m[1], m[2])
			}
		}
	}
	if quotes == 0 {
		t.Error("no document quotes code")
	}
}

// Links between the documents lead somewhere, and so do the names of tests and targets that they cite.
func TestDocuments(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#\s]+)(#[^)\s]*)?\)`)
	target := regexp.MustCompile("`make ([a-z-]+)`")
	test := regexp.MustCompile(`\b((?:Test|Fuzz|Benchmark|Example)[A-Z][A-Za-z0-9_]*)\b`)
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	var code bytes.Buffer
	for _, name := range tracked(t, "_test.go") {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if err == nil {
			code.Write(text)
		}
	}
	for _, name := range tracked(t, ".md") {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllSubmatch(text, -1) {
			path := string(m[1])
			if strings.Contains(path, "://") || strings.HasPrefix(path, "mailto:") {
				continue
			}
			if _, err := os.Stat(filepath.Join("../..", filepath.Dir(name), path)); err != nil {
				t.Errorf("%s: the link to %s leads nowhere", name, path)
			}
		}
		for _, m := range target.FindAllSubmatch(text, -1) {
			if !regexp.MustCompile(fmt.Sprintf(`(?m)^%s:`, m[1])).Match(makefile) {
				t.Errorf("%s: there is no make target %s", name, m[1])
			}
		}
		for _, m := range test.FindAllSubmatch(text, -1) {
			if !regexp.MustCompile(`func ` + string(m[1]) + `\b`).Match(code.Bytes()) {
				t.Errorf("%s: there is no test %s", name, m[1])
			}
		}
	}
}
