// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package requeststate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
)

// keyPrefix starts a key in a key file: it tells people and secret scanners what the text is.
const keyPrefix = "reprise1_"

// maxKeyFile is far above any ring; it keeps a wrong path from being read into memory.
const maxKeyFile = 1 << 20

// KeyError says why a key or a key ring cannot be used, and what to do. It never holds a part of a secret.
type KeyError struct {
	Source string // the file or the environment variable; empty for text and for keys made in code
	Line   int    // line of the key's text, from 1; 0 where the error is of no single line
	Reason string
	Err    error // the operating system's error, where there is one
}

// Error implements error.
func (e *KeyError) Error() string {
	var b strings.Builder
	b.WriteString("requeststate: ")
	if e.Source != "" {
		b.WriteString(e.Source + ": ")
	}
	if e.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", e.Line)
	}
	b.WriteString(e.Reason)
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Unwrap returns Err.
func (e *KeyError) Unwrap() error { return e.Err }

// Keyring is an ordered set of keys that all replicas share: the first seals, all open. It does not change once made,
// and is safe for concurrent use.
//
// To rotate without losing a round trip: add the new key behind the old one on every replica; when all have it, move it
// to the front on every replica; when the last token of the old key has expired (one lifetime of a flow), remove the old key.
type Keyring struct {
	keys []Key
}

// NewKeyring returns the ring of the given keys. No key, the zero Key and two keys with one id are each a [*KeyError].
func NewKeyring(keys ...Key) (*Keyring, error) {
	if len(keys) == 0 {
		return nil, &KeyError{Reason: "the key ring is empty: make a key with \"reprise keys new\""}
	}
	for i, k := range keys {
		if k.keyMaterial == nil {
			return nil, &KeyError{Reason: "a key of the ring is the zero Key: use NewKey or KeyFromSecret"}
		}
		for _, other := range keys[:i] {
			if k.id == other.id {
				return nil, &KeyError{Reason: "two keys of the ring have the id " + k.id.String() + ": remove one; if they are different keys, replace one"}
			}
		}
	}
	return &Keyring{keys: append([]Key(nil), keys...)}, nil
}

// ParseKeyring reads a ring from text: keys in the form that [Keyring.AppendText] writes, separated by white space, in
// the order of the ring. A line that starts with # is a comment. An error is a [*KeyError] with the line.
func ParseKeyring(text []byte) (*Keyring, error) {
	var keys []Key
	n := 0
	for line := range bytes.Lines(text) {
		n++
		if bytes.HasPrefix(bytes.TrimSpace(line), []byte("#")) {
			continue
		}
		for field := range bytes.FieldsSeq(line) {
			encoded, ok := strings.CutPrefix(string(field), keyPrefix)
			if !ok {
				return nil, &KeyError{Line: n, Reason: "a key starts with " + keyPrefix + ": make one with \"reprise keys new\""}
			}
			secret, ok := decodeStrict(nil, encoded)
			if !ok {
				return nil, &KeyError{Line: n, Reason: "what follows " + keyPrefix + " is not unpadded base64url: copy the key again"}
			}
			key, err := KeyFromSecret(secret)
			if err != nil {
				err.(*KeyError).Line = n
				return nil, err
			}
			keys = append(keys, key)
		}
	}
	return NewKeyring(keys...)
}

// ReadKeyring reads a ring from a file, in the form of [ParseKeyring]. The path may be a symbolic link, but what it leads to must be
// a regular file that only its owner may read and write (mode 0600 or less; not checked on Windows). An error is a [*KeyError].
func ReadKeyring(path string) (*Keyring, error) {
	text, err := readSecretFile(path)
	if err != nil {
		return nil, withSource(err, path)
	}
	ring, err := ParseKeyring(text)
	return ring, withSource(err, path)
}

// KeyringFromEnv reads a ring from an environment variable, in the form of [ParseKeyring]; several keys may stand in one
// line, separated by spaces. An error is a [*KeyError].
func KeyringFromEnv(name string) (*Keyring, error) {
	text := os.Getenv(name)
	if text == "" {
		return nil, &KeyError{Source: "$" + name, Reason: "the variable is unset or empty: put the output of \"reprise keys new\" there"}
	}
	ring, err := ParseKeyring([]byte(text))
	return ring, withSource(err, "$"+name)
}

// IDs returns the ids of the ring's keys, in order.
func (r *Keyring) IDs() []KeyID {
	ids := make([]KeyID, len(r.keys))
	for i, k := range r.keys {
		ids[i] = k.id
	}
	return ids
}

// AppendText appends the ring to dst in the form of [ParseKeyring], one key a line, and with it every secret of the ring. The error is always nil.
func (r *Keyring) AppendText(dst []byte) ([]byte, error) {
	for _, k := range r.keys {
		dst = append(dst, keyPrefix...)
		dst = strict.AppendEncode(dst, k.secret)
		dst = append(dst, '\n')
	}
	return dst, nil
}

// String names the ring's keys by their ids.
func (r *Keyring) String() string { return fmt.Sprintf("keyring %v", r.IDs()) }

func readSecretFile(path string) ([]byte, error) {
	// Asked before opening too: opening a pipe would wait for its writer.
	info, err := os.Stat(path)
	if err != nil {
		return nil, &KeyError{Reason: "the key file cannot be read", Err: unpath(err)}
	}
	if err := checkSecretFile(info); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, &KeyError{Reason: "the key file cannot be read", Err: unpath(err)}
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, &KeyError{Reason: "the key file cannot be read", Err: unpath(err)}
	}
	if err := checkSecretFile(info); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxKeyFile+1))
	if err != nil {
		return nil, &KeyError{Reason: "the key file cannot be read", Err: unpath(err)}
	}
	if len(text) > maxKeyFile {
		return nil, &KeyError{Reason: "this is no key file: it is larger than 1 MiB"}
	}
	return text, nil
}

func checkSecretFile(info os.FileInfo) error {
	switch {
	case !info.Mode().IsRegular():
		return &KeyError{Reason: "the key file is not a regular file"}
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return &KeyError{Reason: fmt.Sprintf("others than the owner have access to the key file (mode %04o): run chmod 600 on it, and replace the key if anybody may have read it", info.Mode().Perm())}
	}
	return nil
}

func withSource(err error, source string) error {
	var ke *KeyError
	if errors.As(err, &ke) {
		ke.Source = source
	}
	return err
}

// unpath drops the path from an operating system's error, since KeyError names it already.
func unpath(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
