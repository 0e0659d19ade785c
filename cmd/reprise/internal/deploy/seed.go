// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
)

// Seed makes a release root to try things with, creating the directory where necessary: services billing and web in
// environments staging and production, each with releases 1.4.1, 1.4.2, 1.4.3 and 1.5.0-rc.1, of which 1.4.1 runs. What is
// there already stays as it is.
func Seed(root string) error {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return err
	}
	e, err := Open(root)
	if err != nil {
		return err
	}
	defer e.Close()
	for _, environment := range []string{"staging", "production"} {
		for _, name := range []string{"billing", "web"} {
			if err := e.seed(name, environment); err != nil {
				return fmt.Errorf("deploy: seeding %s in %s: %w", name, environment, err)
			}
		}
	}
	return nil
}

func (e *Engine) seed(name, environment string) error {
	if err := e.root.MkdirAll(path.Join(environment, name, "releases"), 0o755); err != nil {
		return err
	}
	s, err := e.open(name, environment)
	if err != nil {
		return err
	}
	defer s.root.Close()
	for _, version := range []string{"1.4.1", "1.4.2", "1.4.3", "1.5.0-rc.1"} {
		err := s.install(version, map[string]string{
			"VERSION":   version + "\n",
			"README.md": fmt.Sprintf("%s %s, a sample release for %s\n", name, version, environment),
		})
		if err != nil {
			return err
		}
	}
	if running, err := s.current(); err != nil || running != "" {
		return err
	}
	_, err = e.Swap(context.Background(), Change{Service: name, Environment: environment, To: "1.4.1", By: "seed"})
	return err
}

// install adds a release in the way that the package documentation asks for. A release that stands there stays.
func (s *service) install(version string, files map[string]string) error {
	final := "releases/" + version
	if _, err := s.root.Lstat(final); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	incoming := "releases/.incoming-" + version
	if err := s.root.RemoveAll(incoming); err != nil {
		return err
	}
	if err := s.root.Mkdir(incoming, 0o755); err != nil {
		return err
	}
	manifest := ""
	for name, text := range files {
		if err := s.write(path.Join(incoming, name), text); err != nil {
			return err
		}
		manifest += fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(text)), name)
	}
	if err := s.write(path.Join(incoming, manifestName), manifest); err != nil {
		return err
	}
	if err := s.syncDir(incoming); err != nil {
		return err
	}
	if err := s.root.Rename(incoming, final); err != nil {
		return err
	}
	return s.syncDir("releases")
}

func (s *service) write(name, text string) error {
	file, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.WriteString(text); err != nil {
		return err
	}
	return file.Sync()
}

func (s *service) syncDir(name string) error {
	root, err := s.root.OpenRoot(name)
	if err != nil {
		return err
	}
	defer root.Close()
	return syncDir(root)
}
