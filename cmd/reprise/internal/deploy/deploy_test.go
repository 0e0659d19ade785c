// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package deploy_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/reprise-mcp/reprise/cmd/reprise/internal/deploy"
)

// seeded returns a release root with the samples, and an engine on it.
func seeded(t *testing.T) (root string, e *deploy.Engine) {
	t.Helper()
	root = t.TempDir()
	if err := deploy.Seed(root); err != nil {
		t.Fatal(err)
	}
	return root, open(t, root)
}

func open(t *testing.T, root string) *deploy.Engine {
	t.Helper()
	e, err := deploy.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func billing(from, to string) deploy.Change {
	return deploy.Change{Service: "billing", Environment: "staging", From: from, To: to, By: "alice"}
}

func running(t *testing.T, e *deploy.Engine) string {
	t.Helper()
	status, err := e.Status("billing", "staging")
	if err != nil {
		t.Fatal(err)
	}
	return status.Running
}

func steps(t *testing.T, e *deploy.Engine) []string {
	t.Helper()
	history, err := e.History(t.Context(), "billing", "staging")
	if err != nil {
		t.Fatal(err)
	}
	var steps []string
	for _, d := range history {
		steps = append(steps, d.From+">"+d.To)
	}
	return steps
}

// tree lists everything below root with its content, to show that nothing changed.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	seen := make(map[string]string)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch {
		case entry.Name() == ".lock": // holds nothing, and appears with the first lock
		case entry.Type()&fs.ModeSymlink != 0:
			seen[path], err = os.Readlink(path)
		case entry.IsDir():
			seen[path] = "directory"
		default:
			var text []byte
			text, err = os.ReadFile(path)
			seen[path] = string(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

func TestDeploymentIsLiveAndRecorded(t *testing.T) {
	root, e := seeded(t)
	before := time.Now()
	d, err := e.Swap(t.Context(), billing("1.4.1", "1.4.2"))
	if err != nil {
		t.Fatal(err)
	}
	want := deploy.Deployment{Number: 2, Service: "billing", Environment: "staging", From: "1.4.1", To: "1.4.2", By: "alice", At: d.At}
	if d != want {
		t.Errorf("Swap returned %+v, want %+v", d, want)
	}
	if d.At.Before(before.Add(-time.Second)) || d.At.Location() != time.UTC {
		t.Errorf("deployed at %v, want a time of this test in UTC", d.At)
	}
	if text, err := os.ReadFile(filepath.Join(root, "staging/billing/current/VERSION")); string(text) != "1.4.2\n" {
		t.Errorf("current/VERSION holds %q (%v), want 1.4.2", text, err)
	}
	if got := fmt.Sprint(steps(t, e)); got != "[>1.4.1 1.4.1>1.4.2]" {
		t.Errorf("history is %v", got)
	}
	status, err := e.Status("billing", "staging")
	if err != nil || status.Running != "1.4.2" || status.Last == nil || *status.Last != want {
		t.Errorf("Status = %+v, %v, want 1.4.2 by the deployment that Swap returned", status, err)
	}
	for _, other := range [][2]string{{"web", "staging"}, {"billing", "production"}} {
		if status, err := e.Status(other[0], other[1]); err != nil || status.Running != "1.4.1" {
			t.Errorf("Status(%s, %s) = %+v, %v, want 1.4.1: another deployment changed it", other[0], other[1], status, err)
		}
	}
}

func TestStaleConfirmationDeploysNothing(t *testing.T) {
	root, e := seeded(t)
	if _, err := e.Swap(t.Context(), billing("1.4.1", "1.4.2")); err != nil {
		t.Fatal(err)
	}
	before := tree(t, root)
	for _, shown := range []string{"1.4.1", "", "1.4.3"} {
		_, err := e.Swap(t.Context(), billing(shown, "1.4.3"))
		conflict, ok := errors.AsType[*deploy.ConflictError](err)
		if !ok || conflict.Shown != shown || conflict.Running != "1.4.2" {
			t.Errorf("Swap from %q: %v, want a conflict with 1.4.2", shown, err)
		}
	}
	if _, err := e.Swap(t.Context(), billing("1.4.2", "1.4.2")); !is[*deploy.UnchangedError](err) {
		t.Errorf("Swap to what runs: %v, want UnchangedError", err)
	}
	if after := tree(t, root); !reflect.DeepEqual(before, after) {
		t.Errorf("a refused deployment changed the tree:\n%v\n%v", before, after)
	}
}

func TestFirstDeployment(t *testing.T) {
	root, e := seeded(t)
	for _, file := range []string{"current", "history"} {
		if err := os.Remove(filepath.Join(root, "staging/billing", file)); err != nil {
			t.Fatal(err)
		}
	}
	if current, target, err := e.Resolve(t.Context(), "billing", "staging", "1.4.2"); current != "" || target != "1.4.2" || err != nil {
		t.Errorf("Resolve = %q, %q, %v, want nothing to be replaced by 1.4.2", current, target, err)
	}
	if history, err := e.History(t.Context(), "billing", "staging"); len(history) != 0 || err != nil {
		t.Errorf("History = %v, %v, want an empty one", history, err)
	}
	if _, err := e.Swap(t.Context(), billing("1.4.1", "1.4.2")); !is[*deploy.ConflictError](err) {
		t.Errorf("Swap from a release that does not run: %v, want a conflict", err)
	}
	if d, err := e.Swap(t.Context(), billing("", "1.4.2")); err != nil || d.Number != 1 {
		t.Errorf("first Swap = %+v, %v", d, err)
	}
}

func TestResolve(t *testing.T) {
	root, e := seeded(t)
	release := func(version string) string { return filepath.Join(root, "staging/billing/releases", version) }
	for _, version := range []string{"v1.4.10", "2.0.0-alpha", "nightly"} {
		if err := os.CopyFS(release(version), os.DirFS(release("1.4.1"))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(release(".incoming-9.9.9"), os.DirFS(release("1.4.1"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(release("3.0.0"), 0o755); err != nil { // newest of all, and empty
		t.Fatal(err)
	}
	versions, err := e.Releases("billing", "staging")
	if want := "[3.0.0 2.0.0-alpha 1.5.0-rc.1 v1.4.10 1.4.3 1.4.2 1.4.1 nightly]"; fmt.Sprint(versions) != want || err != nil {
		t.Errorf("Releases = %v, %v, want %v", versions, err, want)
	}
	for version, want := range map[string]string{"": "v1.4.10", "1.4.2": "1.4.2", "nightly": "nightly", "1.5.0-rc.1": "1.5.0-rc.1", "1.4.1": "1.4.1"} {
		current, target, err := e.Resolve(t.Context(), "billing", "staging", version)
		if current != "1.4.1" || target != want || err != nil {
			t.Errorf("Resolve(%q) = %q, %q, %v, want 1.4.1 replaced by %q", version, current, target, err, want)
		}
	}
	if _, _, err := e.Resolve(t.Context(), "billing", "staging", "3.0.0"); !is[*deploy.IncompleteError](err) {
		t.Errorf("Resolve of an empty release: %v, want IncompleteError", err)
	}
	for _, version := range []string{"1.4.1", "1.4.2", "1.4.3", "v1.4.10"} {
		if err := os.Remove(filepath.Join(release(version), "VERSION")); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err = e.Resolve(t.Context(), "billing", "staging", "")
	if unknown, ok := errors.AsType[*deploy.UnknownError](err); !ok || len(unknown.Known) != 8 || unknown.Name != "" {
		t.Errorf("Resolve without a complete release: %v, want an error that lists what there is", err)
	}
}

func TestUnknownNamesListWhatThereIs(t *testing.T) {
	root, e := seeded(t)
	before := tree(t, root)
	tests := []struct{ environment, service, version, want string }{
		{"prod", "billing", "1.4.2", `there is no environment "prod"; name one of production, staging`},
		{"staging", "bill", "1.4.2", `there is no service "bill" in staging; name one of billing, web`},
		{"staging", "billing", "1.4.9", `there is no release "1.4.9" of billing in staging; name one of 1.5.0-rc.1, 1.4.3, 1.4.2, 1.4.1`},
		{"Staging", "billing", "1.4.2", `there is no environment "Staging"; name one of production, staging`},
	}
	for _, test := range tests {
		_, _, err := e.Resolve(t.Context(), test.service, test.environment, test.version)
		if unknown, ok := errors.AsType[*deploy.UnknownError](err); !ok || unknown.Error() != test.want {
			t.Errorf("Resolve(%s, %s, %s): %v, want %s", test.service, test.environment, test.version, err, test.want)
		}
		_, err = e.Swap(t.Context(), deploy.Change{Service: test.service, Environment: test.environment, From: "1.4.1", To: test.version})
		if !is[*deploy.UnknownError](err) {
			t.Errorf("Swap(%s, %s, %s): %v, want UnknownError", test.service, test.environment, test.version, err)
		}
	}
	if after := tree(t, root); !reflect.DeepEqual(before, after) {
		t.Error("asking for what is not there changed the tree")
	}
}

var hostileNames = []string{
	"..", ".", "../production", "../../etc", "a/b", "/etc", "a/", `a\b`, `..\..`, ".hidden", ".incoming-1.4.2", "-rf", "_x", "",
	" ", "a b", "a\x00b", "a\nb", "a\x7f", "a\u202eb", "bílling", "\xff", "C:", "a:b", "~", "$HOME", "*", strings.Repeat("a", 65), strings.Repeat("../", 2000),
}

func TestNamesThatCouldLeaveTheRootAreRefused(t *testing.T) {
	root, e := seeded(t)
	before := tree(t, root)
	for _, name := range hostileNames {
		calls := map[string]error{}
		_, _, calls["Resolve environment"] = e.Resolve(t.Context(), "billing", name, "1.4.2")
		_, _, calls["Resolve service"] = e.Resolve(t.Context(), name, "staging", "1.4.2")
		_, calls["Releases"] = e.Releases(name, "staging")
		_, calls["Status"] = e.Status("billing", name)
		_, calls["History"] = e.History(t.Context(), name, "staging")
		_, calls["Swap to"] = e.Swap(t.Context(), billing("1.4.1", name))
		if name != "" { // an empty version has a meaning of its own in these two
			_, _, calls["Resolve version"] = e.Resolve(t.Context(), "billing", "staging", name)
			_, calls["Swap from"] = e.Swap(t.Context(), billing(name, "1.4.2"))
		}
		for call, err := range calls {
			refused, ok := errors.AsType[*deploy.NameError](err)
			if !ok || refused.Name != name {
				t.Errorf("%s %q: %v, want NameError", call, name, err)
			} else if text := err.Error(); len(text) > 400 || strings.ContainsAny(text, "\n\x00\x7f") {
				t.Errorf("%s %q: the error text is %q", call, name, text)
			}
		}
	}
	if after := tree(t, root); !reflect.DeepEqual(before, after) {
		t.Error("a refused name changed the tree")
	}
}

func TestLinksInThePlaceOfDirectoriesAreRefused(t *testing.T) {
	root, e := seeded(t)
	outside := t.TempDir()
	if err := os.CopyFS(outside, os.DirFS(filepath.Join(root, "staging"))); err != nil {
		t.Fatal(err)
	}
	link := func(target, name string) {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	link(outside, "out")
	link("staging", "alias")
	link(filepath.Join(outside, "billing"), "staging/out")
	link("../production/billing", "staging/alias")
	link(filepath.Join(outside, "billing/releases/1.4.2"), "staging/billing/releases/out")
	link("1.4.2", "staging/billing/releases/alias")
	for _, name := range []string{"out", "alias"} {
		_, _, err := e.Resolve(t.Context(), "billing", name, "1.4.2")
		if !is[*deploy.NameError](err) {
			t.Errorf("environment %s is a link: %v, want NameError", name, err)
		}
		if _, _, err = e.Resolve(t.Context(), name, "staging", "1.4.2"); !is[*deploy.NameError](err) {
			t.Errorf("service %s is a link: %v, want NameError", name, err)
		}
		if _, err = e.Swap(t.Context(), billing("1.4.1", name)); !is[*deploy.NameError](err) {
			t.Errorf("release %s is a link: %v, want NameError", name, err)
		}
	}
	// The folder in between has no name that anybody gives; it may not lead out either.
	releases := filepath.Join(root, "staging/web/releases")
	if err := os.RemoveAll(releases); err != nil {
		t.Fatal(err)
	}
	link(filepath.Join(outside, "web/releases"), "staging/web/releases")
	if _, target, err := e.Resolve(t.Context(), "web", "staging", "1.4.2"); err == nil {
		t.Errorf("Resolve read release %s outside the root", target)
	}
	if got := running(t, e); got != "1.4.1" {
		t.Errorf("%s runs, want 1.4.1 still", got)
	}
}

func TestIncompleteReleaseIsNotDeployed(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(dir string) error
	}{
		{"file missing", func(dir string) error { return os.Remove(filepath.Join(dir, "VERSION")) }},
		{"file changed", func(dir string) error { return os.WriteFile(filepath.Join(dir, "VERSION"), []byte("1.4.9\n"), 0o644) }},
		{"file cut off", func(dir string) error { return os.Truncate(filepath.Join(dir, "README.md"), 3) }},
		{"file added", func(dir string) error { return os.WriteFile(filepath.Join(dir, "extra"), nil, 0o644) }},
		{"file added below", func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, "sub"), 0o755), os.WriteFile(filepath.Join(dir, "sub/SHA256SUMS"), nil, 0o644))
		}},
		{"link added", func(dir string) error { return os.Symlink("VERSION", filepath.Join(dir, "link")) }},
		{"file is a link", func(dir string) error {
			return errors.Join(os.Rename(filepath.Join(dir, "VERSION"), filepath.Join(dir, "../../V")), os.Symlink("../../V", filepath.Join(dir, "VERSION")))
		}},
		{"manifest missing", func(dir string) error { return os.Remove(filepath.Join(dir, "SHA256SUMS")) }},
		{"manifest is a directory", func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "SHA256SUMS")), os.Mkdir(filepath.Join(dir, "SHA256SUMS"), 0o755))
		}},
		{"manifest empty", func(dir string) error { return os.Truncate(filepath.Join(dir, "SHA256SUMS"), 0) }},
		{"manifest cut in a line", func(dir string) error { return os.Truncate(filepath.Join(dir, "SHA256SUMS"), 70) }},
		{"manifest without its last byte", func(dir string) error { return rewrite(dir, func(s string) string { return s[:len(s)-1] }) }},
		{"manifest without a line", func(dir string) error {
			return rewrite(dir, func(s string) string { return s[:strings.IndexByte(s, '\n')+1] })
		}},
		{"line twice", func(dir string) error { return rewrite(dir, func(s string) string { return s + s }) }},
		{"listed file leads out", func(dir string) error {
			return rewrite(dir, func(s string) string { return s + strings.Repeat("0", 64) + "  ../1.4.1/VERSION\n" })
		}},
		{"digest too short", func(dir string) error { return rewrite(dir, func(s string) string { return s[2:] }) }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root, e := seeded(t)
			dir := filepath.Join(root, "staging/billing/releases/1.4.2")
			if _, _, err := e.Resolve(t.Context(), "billing", "staging", "1.4.2"); err != nil {
				t.Fatalf("before: %v", err)
			}
			if err := test.spoil(dir); err != nil {
				t.Fatal(err)
			}
			if _, _, err := e.Resolve(t.Context(), "billing", "staging", "1.4.2"); !is[*deploy.IncompleteError](err) {
				t.Errorf("Resolve: %v, want IncompleteError", err)
			}
			if _, err := e.Swap(t.Context(), billing("1.4.1", "1.4.2")); !is[*deploy.IncompleteError](err) {
				t.Errorf("Swap: %v, want IncompleteError", err)
			}
			if got := running(t, e); got != "1.4.1" {
				t.Errorf("%s runs, want 1.4.1 still", got)
			}
			if got := fmt.Sprint(steps(t, e)); got != "[>1.4.1]" {
				t.Errorf("history is %s", got)
			}
		})
	}
}

func rewrite(dir string, change func(string) string) error {
	name := filepath.Join(dir, "SHA256SUMS")
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return os.WriteFile(name, []byte(change(string(text))), 0o644)
}

// Manifests as the sha256sum command prints them, with its two marks and with what find puts in front of names.
func TestManifestOfOtherTools(t *testing.T) {
	root, e := seeded(t)
	err := rewrite(filepath.Join(root, "staging/billing/releases/1.4.2"), func(s string) string {
		return strings.Replace(strings.Replace(s, "  VERSION", " *VERSION", 1), "  README.md", "  ./README.md", 1)
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Swap(t.Context(), billing("1.4.1", "1.4.2")); err != nil {
		t.Error(err)
	}
}

// What a process leaves behind that dies at each point of a deployment, and what the next one makes of it.
func TestDeploymentThatWasCutOff(t *testing.T) {
	const begin = `{"number":2,"event":"begin","at":"2026-12-01T10:00:00Z","from":"1.4.1","to":"1.4.2","by":"bob"}` + "\n"
	tests := []struct {
		name     string
		history  string // appended
		next     bool   // the new link is there, not yet renamed
		current  string
		wantNext string // steps after one more deployment, to 1.4.3
	}{
		{"before anything", "", false, "1.4.1", "[>1.4.1 1.4.1>1.4.3]"},
		{"in the middle of the intent", begin[:40], false, "1.4.1", "[>1.4.1 1.4.1>1.4.3]"},
		{"intent without its line end", begin[:len(begin)-1], false, "1.4.1", "[>1.4.1 1.4.1>1.4.3]"},
		{"zeros after a power cut", string(make([]byte, 100)), false, "1.4.1", "[>1.4.1 1.4.1>1.4.3]"},
		{"after the intent", begin, false, "1.4.1", "[>1.4.1 1.4.1>1.4.3]"},
		{"after the new link", begin, true, "1.4.1", "[>1.4.1 1.4.1>1.4.3]"},
		{"after the rename", begin, false, "1.4.2", "[>1.4.1 1.4.1>1.4.2 1.4.2>1.4.3]"},
		{"in the middle of the mark", begin + `{"number":2,"ev`, false, "1.4.2", "[>1.4.1 1.4.1>1.4.2 1.4.2>1.4.3]"},
		{"after the mark", begin + `{"number":2,"event":"done","at":"2026-12-01T10:00:00Z"}` + "\n", false, "1.4.2", "[>1.4.1 1.4.1>1.4.2 1.4.2>1.4.3]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root, e := seeded(t)
			dir := filepath.Join(root, "staging/billing")
			file, err := os.OpenFile(filepath.Join(dir, "history"), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := file.WriteString(test.history); err != nil {
				t.Fatal(err)
			}
			file.Close()
			if test.next {
				if err := os.Symlink("releases/1.4.2", filepath.Join(dir, ".next")); err != nil {
					t.Fatal(err)
				}
			}
			if test.current != "1.4.1" {
				if err := errors.Join(os.Remove(filepath.Join(dir, "current")), os.Symlink("releases/"+test.current, filepath.Join(dir, "current"))); err != nil {
					t.Fatal(err)
				}
			}

			status, err := e.Status("billing", "staging") // nobody has repaired anything yet
			if err != nil || status.Running != test.current || status.Last == nil || status.Last.To != test.current {
				t.Errorf("Status = %+v, %v, want %s and its deployment", status, err, test.current)
			}
			e = open(t, root)
			want := test.wantNext[:strings.LastIndexByte(test.wantNext, ' ')] + "]"
			if got := fmt.Sprint(steps(t, e)); got != want {
				t.Errorf("history is %s, want %s", got, want)
			}
			if d, err := e.Swap(t.Context(), billing(test.current, "1.4.3")); err != nil || d.Number < 2 {
				t.Errorf("the next deployment: %+v, %v", d, err)
			}
			if got := fmt.Sprint(steps(t, e)); got != test.wantNext {
				t.Errorf("history is %s, want %s", got, test.wantNext)
			}
		})
	}
}

func TestDamagedFilesStopDeployments(t *testing.T) {
	put := func(text string) func(string) error {
		return func(name string) error { return errors.Join(os.Remove(name), os.WriteFile(name, []byte(text), 0o644)) }
	}
	link := func(target string) func(string) error {
		return func(name string) error { return errors.Join(os.Remove(name), os.Symlink(target, name)) }
	}
	tests := []struct {
		name, file string
		damage     func(string) error
	}{
		{"a file", "current", put("1.4.1")},
		{"a directory", "current", func(name string) error { return errors.Join(os.Remove(name), os.Mkdir(name, 0o755)) }},
		{"out of the root", "current", link("/tmp")},
		{"up", "current", link("../web/releases/1.4.1")},
		{"below a release", "current", link("releases/1.4.1/sub")},
		{"a hidden release", "current", link("releases/.incoming-1.4.1")},
		{"garbage line", "history", put("garbage\n")},
		{"unknown event", "history", put(`{"number":1,"event":"undo"}` + "\n")},
		{"a target that is no name", "history", put(`{"number":1,"event":"begin","to":"../x"}` + "\n")},
		{"endless line", "history", put(strings.Repeat("x", 1<<20))},
	}
	for _, test := range tests {
		t.Run(test.file+" is "+test.name, func(t *testing.T) {
			root, e := seeded(t)
			if err := test.damage(filepath.Join(root, "staging/billing", test.file)); err != nil {
				t.Fatal(err)
			}
			before := tree(t, root)
			_, swapErr := e.Swap(t.Context(), billing("1.4.1", "1.4.2"))
			_, historyErr := e.History(t.Context(), "billing", "staging")
			_, statusErr := e.Status("billing", "staging")
			for _, err := range []error{swapErr, historyErr, statusErr} {
				if state, ok := errors.AsType[*deploy.StateError](err); !ok || state.File != test.file {
					t.Errorf("%v, want StateError of %s", err, test.file)
				}
			}
			if after := tree(t, root); !reflect.DeepEqual(before, after) {
				t.Error("the damaged tree was changed")
			}
			if _, err := e.Swap(t.Context(), deploy.Change{Service: "web", Environment: "staging", From: "1.4.1", To: "1.4.2"}); err != nil {
				t.Errorf("the neighbour cannot deploy: %v", err)
			}
		})
	}
}

// The history is longer than what a deployment reads of it.
func TestLongHistory(t *testing.T) {
	root, e := seeded(t)
	by := strings.Repeat("\x01", 2000) // the longest record there can be
	from, to := "1.4.1", "1.4.2"
	const n = 30
	for range n {
		change := billing(from, to)
		change.By = by
		if _, err := e.Swap(t.Context(), change); err != nil {
			t.Fatal(err)
		}
		from, to = to, from
	}
	history, err := e.History(t.Context(), "billing", "staging")
	if err != nil || len(history) != n+1 {
		t.Fatalf("History has %d deployments, %v, want %d", len(history), err, n+1)
	}
	last := history[n]
	if last.By != by[:512] || last.Number != n+1 {
		t.Errorf("the last deployment is %d by %d bytes", last.Number, len(last.By))
	}
	if status, err := open(t, root).Status("billing", "staging"); err != nil || status.Last == nil || *status.Last != last {
		t.Errorf("Status = %+v, %v, want the last deployment", status, err)
	}
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	root, e := seeded(t)
	held := holdLock(t, filepath.Join(root, "staging/billing/.lock"))
	ctx, cancel := context.WithCancel(t.Context())
	errs := make(chan error)
	for range 3 { // one waits for the other holder, two for the one that waits
		go func() {
			_, err := e.Swap(ctx, billing("1.4.1", "1.4.2"))
			errs <- err
		}()
	}
	select {
	case err := <-errs:
		t.Fatalf("Swap did not wait for the holder of the lock: %v", err)
	default:
	}
	cancel()
	for range 3 {
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Errorf("Swap: %v, want context.Canceled", err)
		}
	}
	if got := running(t, e); got != "1.4.1" {
		t.Errorf("%s runs although every deployment gave up", got)
	}
	held()
	if _, err := e.Swap(t.Context(), billing("1.4.1", "1.4.2")); err != nil {
		t.Errorf("Swap after the holder let go: %v", err)
	}
}

func TestSeedLeavesWhatIsThere(t *testing.T) {
	root, e := seeded(t)
	if _, err := e.Swap(t.Context(), billing("1.4.1", "1.4.2")); err != nil {
		t.Fatal(err)
	}
	before := tree(t, root)
	if err := deploy.Seed(root); err != nil {
		t.Fatal(err)
	}
	if after := tree(t, root); !reflect.DeepEqual(before, after) {
		t.Error("seeding twice changed the tree")
	}
}

func TestOpenNeedsADirectory(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none")
	if _, err := deploy.Open(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open of nothing: %v", err)
	}
	if err := os.WriteFile(missing, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := deploy.Open(missing); err == nil {
		t.Error("Open of a file succeeded")
	}
}

func FuzzNames(f *testing.F) {
	for _, name := range hostileNames {
		f.Add(name)
	}
	f.Add("billing")
	root := f.TempDir()
	if err := deploy.Seed(root); err != nil {
		f.Fatal(err)
	}
	e, err := deploy.Open(root)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { e.Close() })
	f.Fuzz(func(t *testing.T, name string) {
		_, _, err := e.Resolve(t.Context(), name, "staging", "1.4.2")
		switch {
		case err == nil:
			if name != "billing" && name != "web" {
				t.Errorf("%q names a service", name)
			}
		case is[*deploy.UnknownError](err):
			if !filepath.IsLocal(name) || strings.ContainsAny(name, `/\`) || name != strings.ToValidUTF8(name, "") {
				t.Errorf("%q passed as a name", name)
			}
		case !is[*deploy.NameError](err):
			t.Errorf("%q: %v", name, err)
		}
	})
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func TestMain(m *testing.M) {
	if root := os.Getenv("REPRISE_TEST_DEPLOYER"); root != "" {
		deployer(root)
		return
	}
	os.Exit(m.Run())
}
