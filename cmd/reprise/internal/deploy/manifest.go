// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

const (
	manifestName = "SHA256SUMS"
	maxManifest  = 4 << 20
)

// complete verifies a release, by reading all of it.
func (s *service) complete(ctx context.Context, version string) error {
	if err := checkName("version", version); err != nil {
		return err
	}
	if known, err := s.versions(); err != nil {
		return err
	} else if err := find(s.root, "releases", version, UnknownError{Kind: "release", Environment: s.environment, Service: s.name}); err != nil {
		if unknown, ok := err.(*UnknownError); ok {
			unknown.Known = known // newest first
		}
		return err
	}
	root, err := s.root.OpenRoot("releases/" + version)
	if err != nil {
		return err
	}
	defer root.Close()
	wrong := func(file, reason string) error {
		return &IncompleteError{Service: s.name, Environment: s.environment, Version: version, File: file, Reason: reason}
	}
	if info, err := root.Lstat(manifestName); err != nil || !info.Mode().IsRegular() {
		return wrong(manifestName, "is missing")
	}
	file, err := root.Open(manifestName)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxManifest+1))
	file.Close()
	if err != nil {
		return err
	}
	sums, err := parseManifest(text)
	if err != nil {
		return wrong(manifestName, err.Error())
	}
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if entry.IsDir() || name == manifestName {
			return nil
		}
		if !entry.Type().IsRegular() {
			return wrong(name, "is neither a file nor a directory")
		}
		want, listed := sums[name]
		if !listed {
			return wrong(name, "is not listed in "+manifestName)
		}
		delete(sums, name)
		got, err := sum(root, name)
		if err != nil {
			return err
		}
		if got != want {
			return wrong(name, "has another digest than "+manifestName+" says")
		}
		return nil
	})
	if err != nil {
		return err
	}
	for name := range sums {
		return wrong(name, "is missing")
	}
	return nil
}

func sum(root *os.Root, name string) (digest [sha256.Size]byte, err error) {
	file, err := root.Open(name)
	if err != nil {
		return digest, err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return digest, err
	}
	return [sha256.Size]byte(hash.Sum(nil)), nil
}

// parseManifest reads what `sha256sum FILE...` prints. It refuses anything that it does not understand, and a last line
// without its end, so that a manifest which was cut off never passes for a shorter one.
func parseManifest(text []byte) (map[string][sha256.Size]byte, error) {
	if len(text) > maxManifest {
		return nil, fmt.Errorf("is longer than %d bytes", maxManifest)
	}
	if len(text) == 0 || text[len(text)-1] != '\n' {
		return nil, fmt.Errorf("is empty or cut off")
	}
	sums := make(map[string][sha256.Size]byte)
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		digest, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		raw, err := hex.DecodeString(digest)
		if !ok || err != nil || len(raw) != sha256.Size || name == "" || name[0] != ' ' && name[0] != '*' {
			return nil, fmt.Errorf("has a line %d that sha256sum would not print", n)
		}
		name = strings.TrimPrefix(name[1:], "./")
		if !fs.ValidPath(name) || name == "." || name == manifestName {
			return nil, fmt.Errorf("lists a file in line %d that cannot be part of a release", n)
		}
		if _, twice := sums[name]; twice {
			return nil, fmt.Errorf("lists a file twice, in line %d again", n)
		}
		sums[name] = [sha256.Size]byte(raw)
	}
	return sums, nil
}
