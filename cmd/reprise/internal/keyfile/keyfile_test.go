// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package keyfile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-mcp/reprise/cmd/reprise/internal/keyfile"
	"github.com/reprise-mcp/reprise/requeststate"
)

var now = time.Date(2026, 12, 5, 12, 0, 0, 0, time.UTC)

// secret is what no error may have.
var secret = regexp.MustCompile(`reprise1_[A-Za-z0-9_-]+`)

func ids(t *testing.T, path string) []requeststate.KeyID {
	t.Helper()
	ring, err := requeststate.ReadKeyring(path) // which wants mode 0600, too
	if err != nil {
		t.Fatal(err)
	}
	return ring.IDs()
}

func want(t *testing.T, path string, keys ...requeststate.KeyID) {
	t.Helper()
	if got := ids(t, path); !slices.Equal(got, keys) {
		t.Errorf("the ring is %v, want %v", got, keys)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("something was left beside the ring: %v, %v", entries, err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func must[T any](t *testing.T) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// refused checks an error that says why, and that nothing was done.
func refused(t *testing.T, path, why string, do func() error) {
	t.Helper()
	before := read(t, path)
	if err := do(); err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("the error is %v, want one that says %q", err, why)
	} else if secret.MatchString(err.Error()) {
		t.Errorf("the error holds a key")
	}
	if read(t, path) != before {
		t.Error("the file changed")
	}
}

func TestRotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ring")
	key := must[requeststate.KeyID](t)
	first := key(keyfile.Create(path))
	want(t, path, first)
	refused(t, path, "is there already", func() error { _, err := keyfile.Create(path); return err })
	refused(t, path, "seals already", func() error { _, err := keyfile.Promote(path, now, requeststate.KeyID{}); return err })
	refused(t, path, "add another key", func() error { return keyfile.Retire(path, now, first, time.Hour) })

	second := key(keyfile.Add(path))
	want(t, path, first, second)
	refused(t, path, "nothing says when", func() error { return keyfile.Retire(path, now, second, time.Hour) })

	if got := key(keyfile.Promote(path, now, requeststate.KeyID{})); got != second {
		t.Errorf("%s was promoted, and not the last, %s", got, second)
	}
	want(t, path, second, first)
	refused(t, path, "wait until 2026-12-05T13:00:00Z", func() error { return keyfile.Retire(path, now.Add(time.Hour-1), first, time.Hour) })
	refused(t, path, "there is no key 00000000", func() error { return keyfile.Retire(path, now, requeststate.KeyID{}, time.Hour) })
	if err := keyfile.Retire(path, now.Add(time.Hour), first, time.Hour); err != nil {
		t.Fatal(err)
	}
	want(t, path, second)
	if text := read(t, path); strings.Contains(text, "#") {
		t.Error("a note about a key that is gone was kept")
	}
}

// Back and forth: what counts is when a key last stopped to seal.
func TestPromoteBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ring")
	key := must[requeststate.KeyID](t)
	first := key(keyfile.Create(path))
	second := key(keyfile.Add(path))
	key(keyfile.Promote(path, now, second))
	key(keyfile.Promote(path, now.Add(time.Hour), first))
	want(t, path, first, second)
	refused(t, path, "add another key", func() error { return keyfile.Retire(path, now.Add(9*time.Hour), first, time.Hour) })
	key(keyfile.Promote(path, now.Add(2*time.Hour), second))
	want(t, path, second, first)
	refused(t, path, "wait until 2026-12-05T15:00:00Z", func() error { return keyfile.Retire(path, now.Add(2*time.Hour), first, time.Hour) })
}

func TestRetireNow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ring")
	key := must[requeststate.KeyID](t)
	first := key(keyfile.Create(path))
	second := key(keyfile.Add(path))
	third := key(keyfile.Add(path))
	if got := key(keyfile.RetireNow(path, second)); got != first {
		t.Errorf("%s seals, want %s", got, first)
	}
	want(t, path, first, third)
	if got := key(keyfile.RetireNow(path, first)); got != third {
		t.Errorf("%s seals, want %s", got, third)
	}
	want(t, path, third)
	fresh := key(keyfile.RetireNow(path, third))
	if fresh == third {
		t.Error("the last key is still there")
	}
	want(t, path, fresh)
}

func TestKeepsComments(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ring")
	key := must[requeststate.KeyID](t)
	key(keyfile.Create(path))
	if err := os.WriteFile(path, append([]byte("# of the team\n\n"), read(t, path)...), 0o600); err != nil {
		t.Fatal(err)
	}
	key(keyfile.Add(path))
	key(keyfile.Promote(path, now, requeststate.KeyID{}))
	if text := read(t, path); !strings.HasPrefix(text, "# of the team\n# key ") || strings.Count(text, "\n") != 4 {
		t.Errorf("the file has other comments now, and %d lines", strings.Count(text, "\n"))
	}
}

// A file behind a link is changed where it is, so that a link into a secret store stays one.
func TestLink(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ring")
	link := filepath.Join(t.TempDir(), "link")
	key := must[requeststate.KeyID](t)
	first := key(keyfile.Create(path))
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	second := key(keyfile.Add(link))
	want(t, path, first, second)
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
}

// Of two who change a ring at once, one does, and no half of a ring is ever there.
func TestOneAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ring")
	must[requeststate.KeyID](t)(keyfile.Create(path))
	if err := os.WriteFile(path+".new", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, path, "another command is changing the ring, or one was interrupted", func() error { _, err := keyfile.Add(path); return err })
	if err := os.Remove(path + ".new"); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	for range 8 {
		go func() { _, err := keyfile.Add(path); done <- err }()
	}
	added := 1
	for range 8 {
		if err := <-done; err == nil {
			added++
		}
	}
	if got := len(ids(t, path)); got != added {
		t.Errorf("%d keys are said to be there, and %d are", added, got)
	}
	if added == 1 {
		t.Error("nobody could")
	}
}

// What is refused of a file is what requeststate refuses.
func TestBadFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ring")
	must[requeststate.KeyID](t)(keyfile.Create(path))
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	refused(t, path, "chmod 600", func() error { _, err := keyfile.Add(path); return err })
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Repeat([]byte("x"), 9), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, path, "a key starts with", func() error { _, err := keyfile.Add(path); return err })
	if _, err := keyfile.Add(path + "nowhere"); err == nil {
		t.Error("a key was added to no file")
	}
}
