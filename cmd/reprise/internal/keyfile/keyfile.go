// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

// Package keyfile makes keyring files and takes them through a rotation, one step at a time.
//
// A file is replaced as a whole, so that whoever reads it sees a whole ring, before or after. Comments are kept, above the keys.
package keyfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reprise-mcp/reprise/requeststate"
)

// Create writes a ring with one random key to a new file with mode 0600, and returns its id. It is an error if the file is there
// already.
func Create(path string) (requeststate.KeyID, error) {
	f := &file{}
	id, err := f.add()
	if err != nil {
		return id, err
	}
	err = write(path, f.text())
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%s is there already; a key that is overwritten is lost, and with it every open question", path)
	}
	return id, err
}

func write(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		os.Remove(path)
	}
	return err
}

// A file is what stands in a keyring file.
type file struct {
	comments []string
	ids      []requeststate.KeyID
	keys     []string // a line each
}

func parse(text []byte) (*file, error) {
	ring, err := requeststate.ParseKeyring(text)
	if err != nil {
		return nil, err
	}
	f := &file{ids: ring.IDs()}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "#") {
			f.comments = append(f.comments, line)
		}
	}
	lines, err := ring.AppendText(nil)
	if err != nil {
		return nil, err
	}
	f.keys = strings.Split(strings.TrimSpace(string(lines)), "\n")
	return f, nil
}

func (f *file) text() []byte {
	return []byte(strings.Join(slices.Concat(f.comments, f.keys), "\n") + "\n")
}

// edit replaces the ring in a file by what change makes of it.
func edit(path string, change func(*file) error) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	if _, err := requeststate.ReadKeyring(path); err != nil { // which looks at its permissions, too
		return err
	}
	before, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	f, err := parse(before)
	if err != nil {
		return err
	}
	if err := change(f); err != nil {
		return err
	}
	after := f.text()
	if _, err := requeststate.ParseKeyring(after); err != nil {
		return err
	}
	next := path + ".new"
	if err := write(next, after); errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there: another command is changing the ring, or one was interrupted; look at it, and remove it", next)
	} else if err != nil {
		return err
	}
	defer os.Remove(next)
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, before) {
		return errors.Join(err, fmt.Errorf("%s changed meanwhile; nothing was done", path))
	}
	if err := os.Rename(next, path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Add puts a new random key behind the others, and returns its id: it opens, and does not seal. This is the first phase of a
// rotation.
func Add(path string) (requeststate.KeyID, error) {
	var id requeststate.KeyID
	err := edit(path, func(f *file) (err error) {
		id, err = f.add()
		return err
	})
	return id, err
}

func (f *file) add() (requeststate.KeyID, error) {
	key := requeststate.NewKey()
	ring, err := requeststate.NewKeyring(key)
	if err != nil {
		return requeststate.KeyID{}, err
	}
	line, err := ring.AppendText(nil)
	if err != nil {
		return requeststate.KeyID{}, err
	}
	f.ids = append(f.ids, key.ID())
	f.keys = append(f.keys, strings.TrimSpace(string(line)))
	return key.ID(), nil
}

// Promote puts a key to the front, so that it seals: the second phase of a rotation, for when every replica has the key. The zero
// id means the last key, which was added last. It notes in the file when the key that sealed before stopped to.
func Promote(path string, now time.Time, id requeststate.KeyID) (requeststate.KeyID, error) {
	err := edit(path, func(f *file) error {
		if id == (requeststate.KeyID{}) {
			id = f.ids[len(f.ids)-1]
		}
		i, err := f.find(id)
		if err != nil {
			return err
		}
		if i == 0 {
			return fmt.Errorf("key %s seals already", id)
		}
		f.forget(id)
		f.forget(f.ids[0])
		f.comments = append(f.comments, sealedUntil(f.ids[0])+now.UTC().Format(time.RFC3339))
		line := f.keys[i]
		f.ids = slices.Insert(slices.Delete(f.ids, i, i+1), 0, id)
		f.keys = slices.Insert(slices.Delete(f.keys, i, i+1), 0, line)
		return nil
	})
	return id, err
}

func sealedUntil(id requeststate.KeyID) string { return fmt.Sprintf("# key %s sealed until ", id) }

// forget drops what is noted about a key.
func (f *file) forget(id requeststate.KeyID) {
	f.comments = slices.DeleteFunc(f.comments, func(c string) bool { return strings.HasPrefix(c, sealedUntil(id)) })
}

// until is when a key stopped to seal, as far as that is noted.
func (f *file) until(id requeststate.KeyID) (time.Time, bool) {
	for _, c := range f.comments {
		if text, ok := strings.CutPrefix(c, sealedUntil(id)); ok {
			t, err := time.Parse(time.RFC3339, text)
			return t, err == nil
		}
	}
	return time.Time{}, false
}

func (f *file) find(id requeststate.KeyID) (int, error) {
	i := slices.Index(f.ids, id)
	if i < 0 {
		return 0, fmt.Errorf("there is no key %s in the ring; it has %v", id, f.ids)
	}
	return i, nil
}

// Retire takes a key out, so that nothing opens any more that it sealed. It refuses to take the key that seals, and one that sealed
// within the lifetime of a flow or of which that is not known, since open questions would be lost.
func Retire(path string, now time.Time, id requeststate.KeyID, lifetime time.Duration) error {
	return edit(path, func(f *file) error {
		i, err := f.find(id)
		if err != nil {
			return err
		}
		until, known := f.until(id)
		switch {
		case i == 0:
			return fmt.Errorf("key %s seals: add another key and promote it first, or say --now if it is known to others", id)
		case !known:
			return fmt.Errorf("nothing says when key %s stopped to seal, so questions that are open may need it: say --now if none does", id)
		case now.Before(until.Add(lifetime)):
			return fmt.Errorf("key %s sealed until %s, and flows live for %v: wait until %s, or say --now to give up what it sealed",
				id, until.Format(time.RFC3339), lifetime, until.Add(lifetime).Format(time.RFC3339))
		}
		f.take(i)
		return nil
	})
}

func (f *file) take(i int) {
	f.forget(f.ids[i])
	f.ids, f.keys = slices.Delete(f.ids, i, i+1), slices.Delete(f.keys, i, i+1)
}

// RetireNow takes a key out that somebody else may know. All that it sealed is given up. If it sealed, the next key does, or a new
// one where there is no other; RetireNow returns the id of the key that seals.
func RetireNow(path string, id requeststate.KeyID) (sealing requeststate.KeyID, err error) {
	err = edit(path, func(f *file) error {
		i, err := f.find(id)
		if err != nil {
			return err
		}
		f.take(i)
		if len(f.ids) == 0 {
			if _, err := f.add(); err != nil {
				return err
			}
		}
		sealing = f.ids[0]
		return nil
	})
	return sealing, err
}
