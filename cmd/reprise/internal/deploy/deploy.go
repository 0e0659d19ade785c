// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

// Package deploy runs releases on a directory tree. A release is a directory, the running release is a symbolic link,
// and deploying moves that link, provided that it still points where the person who said yes was told it points.
//
// Most callers need three calls. [Open] takes a release root. [Engine.Resolve] says what would be replaced by what, for
// the question. [Engine.Swap] does it after the answer, or returns a [*ConflictError] when another release runs by then.
//
// # The tree
//
//	<root>/<environment>/<service>/
//	    releases/<version>/...     one directory per release, never changed once it stands there
//	    releases/<version>/SHA256SUMS
//	    current                    symbolic link to releases/<version>: what runs; absent before the first deployment
//	    history                    one JSON object a line, only ever appended to
//	    .lock                      held while a deployment of this service is under way
//
// A release is complete when SHA256SUMS (the format of the sha256sum command) lists every other file in it, and each has
// the digest it lists. To add one, build it in a directory next to the others whose name begins with a dot, make it
// durable, and rename it into place. Nothing but a complete release is ever deployed.
//
// Names of environments, services and versions are 1 to 64 characters: letters and digits of ASCII, and behind the first
// of them also '.', '_', '-' and '+'. Everything else is refused with a [*NameError] before the tree is touched, links in
// the place of directories are refused too, and all access goes through [os.Root], so that no name can leave the tree.
//
// # Order of versions
//
// Versions are ordered as Semantic Versioning orders them, for any count of numbers: parts between dots are compared as
// numbers of any length, missing ones count as 0, a pre-release ("1.5.0-rc.1") comes before its release, and what stands
// behind a '+' decides only between equals. One leading "v" is ignored. A name that is no such version comes before all
// that are, ordered by its bytes. Nothing but a name selects a pre-release or a name that is no version: the newest
// release, where none is named, is never one of those.
//
// # Durability
//
// A deployment writes its intent to history and makes it durable; renames a new link over current, which is atomic;
// makes the directory durable; and marks the intent as done. A process that dies at any point leaves current on the old
// or on the new release, both complete. The next deployment or reading of the history of that service sees an intent
// without an end, looks at current, and writes what became of it. The mark itself is not waited for, because it can
// always be found again in this way. When Swap returns without an error, the deployment and its record survive a power
// cut, on a local file system that honours fsync. Locks are flock(2) locks, which the kernel drops with the process; they
// hold between the processes of one host. Where there is no flock (Windows, Solaris, ...), Swap and History return an
// error that wraps [errors.ErrUnsupported].
package deploy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// An Engine deploys the releases below one root. Its zero value is of no use: [Open] makes one. It is safe for concurrent
// use, also together with other engines and other processes on the same root.
type Engine struct {
	root  *os.Root
	mu    sync.Mutex
	gates map[string]chan struct{} // one per service, so that waiters of this process do not each block a thread in flock
}

// Open opens a release root, which must exist.
func Open(root string) (*Engine, error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("deploy: no release root (create the directory, or seed one with samples): %w", err)
	}
	return &Engine{root: r, gates: make(map[string]chan struct{})}, nil
}

// Close releases the root. The engine is of no use afterwards.
func (e *Engine) Close() error { return e.root.Close() }

// A Change asks for one release to take the place of another. Change holds what a person was shown before saying yes.
type Change struct {
	Service     string
	Environment string
	From        string // the release that was shown as running; empty means that none was
	To          string // the release to run, never empty
	By          string // who wants it, for the history; empty means unknown. Cut off behind 512 bytes.
}

// A Deployment is a change that happened.
type Deployment struct {
	Number      uint64    `json:"number"` // counts the attempts on this service in this environment, from 1
	Service     string    `json:"service"`
	Environment string    `json:"environment"`
	From        string    `json:"from"` // empty: nothing ran before
	To          string    `json:"to"`
	By          string    `json:"by"` // empty: unknown
	At          time.Time `json:"at"` // UTC
}

// Status says what runs.
type Status struct {
	Service     string
	Environment string
	Running     string      // empty: nothing has been deployed yet
	Last        *Deployment // the deployment that made it run; nil where the history does not tell
}

// Resolve says what a deployment would replace by what: the release that runs, empty when none does, and the release that
// the version names. An empty version means the newest complete release (see the order of versions in the package
// documentation). Both can be the same one: then there is nothing to deploy. Resolve changes nothing. It reads the target
// completely.
//
// Errors are a [*NameError], an [*UnknownError] that lists what there is, an [*IncompleteError] for a target that is named
// and not complete, a [*StateError] for a current that is not ours, and those of the file system and of ctx.
func (e *Engine) Resolve(ctx context.Context, service, environment, version string) (current, target string, err error) {
	s, err := e.open(service, environment)
	if err != nil {
		return "", "", err
	}
	defer s.root.Close()
	if current, err = s.current(); err != nil {
		return "", "", err
	}
	if version != "" {
		if err := s.complete(ctx, version); err != nil {
			return "", "", err
		}
		return current, version, nil
	}
	versions, err := s.versions()
	if err != nil {
		return "", "", err
	}
	for _, v := range versions {
		if parsed := parseVersion(v); !parsed.ok || parsed.pre != nil {
			continue
		}
		err := s.complete(ctx, v)
		if err == nil {
			return current, v, nil
		}
		if incomplete := (*IncompleteError)(nil); !errors.As(err, &incomplete) {
			return "", "", err
		}
	}
	return "", "", &UnknownError{Kind: "release", Environment: environment, Service: service, Known: versions}
}

// Releases returns the versions that stand in the tree for a service, newest first, complete or not.
func (e *Engine) Releases(service, environment string) ([]string, error) {
	s, err := e.open(service, environment)
	if err != nil {
		return nil, err
	}
	defer s.root.Close()
	return s.versions()
}

// Status says which release runs and who deployed it. It takes no lock, and waits for nobody.
func (e *Engine) Status(service, environment string) (Status, error) {
	s, err := e.open(service, environment)
	if err != nil {
		return Status{}, err
	}
	defer s.root.Close()
	status := Status{Service: service, Environment: environment}
	if status.Running, err = s.current(); err != nil || status.Running == "" {
		return status, err
	}
	tail, err := s.tail()
	if err != nil {
		return Status{}, err
	}
	for _, r := range slices.Backward(tail.records) {
		if r.Event == eventBegin && r.To == status.Running {
			d := r.deployment(s)
			status.Last = &d
			break
		}
	}
	return status, nil
}

// History returns the deployments of a service, oldest first. It waits for a deployment that is under way, as long as ctx
// allows, and first writes what became of one that was cut off.
func (e *Engine) History(ctx context.Context, service, environment string) ([]Deployment, error) {
	s, err := e.open(service, environment)
	if err != nil {
		return nil, err
	}
	defer s.root.Close()
	unlock, err := e.lock(ctx, s)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if _, _, err := s.recover(); err != nil {
		return nil, err
	}
	return s.history()
}

// Swap makes the release change.To run in place of change.From, if that is still the one that runs. Exactly one of several
// that start from the same release wins, be they of one process or of several; the others get a [*ConflictError] and
// change nothing.
//
// Further errors: [*NameError], [*UnknownError], [*IncompleteError]; [*UnchangedError] for a release that runs already;
// [*StateError]; those of ctx while it waits for its turn and reads the release; and those of the file system. Nothing has
// changed in all those cases, except in one of the last kind that says that it may have.
func (e *Engine) Swap(ctx context.Context, change Change) (Deployment, error) {
	s, err := e.open(change.Service, change.Environment)
	if err != nil {
		return Deployment{}, err
	}
	defer s.root.Close()
	if change.From != "" {
		if err := checkName("version", change.From); err != nil {
			return Deployment{}, err
		}
	}
	if err := checkName("version", change.To); err != nil {
		return Deployment{}, err
	}
	unlock, err := e.lock(ctx, s)
	if err != nil {
		return Deployment{}, err
	}
	defer unlock()

	running, number, err := s.recover()
	if err != nil {
		return Deployment{}, err
	}
	if running != change.From {
		return Deployment{}, &ConflictError{Service: s.name, Environment: s.environment, Shown: change.From, Running: running}
	}
	if running == change.To {
		return Deployment{}, &UnchangedError{Service: s.name, Environment: s.environment, Running: running}
	}
	if err := s.complete(ctx, change.To); err != nil {
		return Deployment{}, err
	}
	begin := record{Number: number + 1, Event: eventBegin, At: time.Now().UTC(), From: running, To: change.To, By: cut(change.By, 512)}
	if err := s.append(begin, true); err != nil {
		return Deployment{}, err
	}
	if err := s.link(change.To); err != nil {
		if now, readErr := s.current(); readErr == nil && now == running {
			s.append(record{Number: begin.Number, Event: eventAbandoned, At: begin.At}, false) // else the next one writes it
			return Deployment{}, err
		}
		return Deployment{}, fmt.Errorf("deploy: the release may have changed, look at its status: %w", err)
	}
	// The deployment stands, with its intent as the record. Should this line not get written, recover writes it.
	s.append(record{Number: begin.Number, Event: eventDone, At: time.Now().UTC()}, false)
	return begin.deployment(s), nil
}

// service is one open service directory. Its own root keeps links inside it from leading to a neighbour.
type service struct {
	root              *os.Root
	name, environment string
}

func (e *Engine) open(name, environment string) (*service, error) {
	if err := checkName("environment", environment); err != nil {
		return nil, err
	}
	if err := checkName("service", name); err != nil {
		return nil, err
	}
	if err := find(e.root, ".", environment, UnknownError{Kind: "environment"}); err != nil {
		return nil, err
	}
	if err := find(e.root, environment, name, UnknownError{Kind: "service", Environment: environment}); err != nil {
		return nil, err
	}
	root, err := e.root.OpenRoot(path.Join(environment, name))
	if err != nil {
		return nil, err
	}
	return &service{root: root, name: name, environment: environment}, nil
}

// find looks a directory up in the listing of dir. A file system that folds case would take another spelling for the same
// directory; a listing does not.
func find(root *os.Root, dir, name string, unknown UnknownError) error {
	known, err := directories(root, dir)
	if err != nil {
		return err
	}
	if slices.Contains(known, name) {
		return nil
	}
	if info, err := root.Lstat(path.Join(dir, name)); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return &NameError{Kind: unknown.Kind, Name: name, Reason: "it is a symbolic link, and only directories count"}
	}
	unknown.Name, unknown.Known = name, known
	return &unknown
}

// directories lists those entries of dir that are directories with a good name.
func directories(root *os.Root, dir string) ([]string, error) {
	entries, err := fs.ReadDir(root.FS(), dir)
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, entry := range entries {
		if entry.IsDir() && nameFault(entry.Name()) == "" {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// versions lists the releases, newest first.
func (s *service) versions() ([]string, error) {
	names, err := directories(s.root, "releases")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	slices.SortFunc(names, func(a, b string) int { return compareVersions(b, a) })
	return names, nil
}

// current returns the version that runs, empty when none does.
func (s *service) current() (string, error) {
	target, err := s.root.Readlink("current")
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", &StateError{Service: s.name, Environment: s.environment, File: "current", Reason: "it is not a symbolic link"}
	}
	version, ok := strings.CutPrefix(target, "releases/")
	if !ok || nameFault(version) != "" {
		return "", &StateError{Service: s.name, Environment: s.environment, File: "current", Reason: "it does not lead to releases/<version>"}
	}
	return version, nil
}

// link moves current. Rename is the one instant at which the running release changes.
func (s *service) link(version string) error {
	const next = ".next" // under the lock nobody else makes one; an old one was left by a process that died
	if err := s.root.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := s.root.Symlink("releases/"+version, next); err != nil {
		return err
	}
	if err := s.root.Rename(next, "current"); err != nil {
		return err
	}
	return syncDir(s.root)
}

// lock waits for the service's turn, among the goroutines of this process and among the processes of this host.
func (e *Engine) lock(ctx context.Context, s *service) (unlock func(), err error) {
	key := s.environment + "/" + s.name
	e.mu.Lock()
	gate := e.gates[key]
	if gate == nil {
		gate = make(chan struct{}, 1)
		e.gates[key] = gate
	}
	e.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("deploy: gave up before the turn of %s came: %w", key, err)
	}
	select {
	case gate <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("deploy: gave up waiting for the deployment of %s that is under way: %w", key, ctx.Err())
	}
	file, err := s.root.OpenFile(".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		<-gate
		return nil, err
	}
	unlock = func() {
		funlock(file) // said aloud: a child that is just being started may hold a copy of the descriptor for a moment
		file.Close()
		<-gate
	}
	locked := make(chan error, 1)
	go func() { locked <- flock(file) }()
	select {
	case err := <-locked:
		if err != nil {
			unlock()
			return nil, fmt.Errorf("deploy: cannot lock %s: %w", key, err)
		}
		return unlock, nil
	case <-ctx.Done():
		go func() { // flock cannot be interrupted: the turn is given back when it comes
			<-locked
			unlock()
		}()
		return nil, fmt.Errorf("deploy: gave up waiting for the deployment of %s by another process: %w", key, ctx.Err())
	}
}

// syncDir makes names in a directory durable.
func syncDir(root *os.Root) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

// cut shortens text to at most n bytes without breaking a character.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "")
}
