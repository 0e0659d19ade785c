// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package requeststate

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"log/slog"
)

// minSecret is the least number of bytes of a key's secret: as many as the hash and the cipher can use.
const minSecret = 32

// maxSecret keeps a file that was taken for a secret by mistake from becoming one.
const maxSecret = 1024

// strict is the only encoding of tokens and keys. The decoder still swallows line breaks; see decodeStrict.
var strict = base64.RawURLEncoding.Strict()

// KeyID names a key in tokens and logs. It is derived from the secret, so that two replicas can never mean different
// keys by one id; it tells nothing of the secret.
type KeyID [4]byte

// String returns the id as 8 hexadecimal digits.
func (id KeyID) String() string { return hex.EncodeToString(id[:]) }

// Key is one secret of a [Keyring]. Make one with [NewKey] or [KeyFromSecret]; [NewKeyring] refuses the zero value.
// A key prints as its id, whatever prints it.
type Key struct {
	*keyMaterial
}

// fmt calls no method of an unexported field, so whoever prints a structure with a key in one prints what is in the key. It
// follows a pointer for some verbs, but never two.
type keyMaterial struct {
	id KeyID
	*secrets
}

type secrets struct {
	secret []byte
	prk    []byte // HKDF-Extract of the secret; every other key is expanded from it
}

// NewKey returns a key of 32 random bytes.
func NewKey() Key {
	secret := make([]byte, minSecret)
	rand.Read(secret)
	return newKey(secret)
}

// KeyFromSecret returns the key of an existing secret, which is copied. The secret must be random: 32 to 1024 bytes; a
// passphrase is not one. An error is a [*KeyError].
func KeyFromSecret(secret []byte) (Key, error) {
	if len(secret) < minSecret || len(secret) > maxSecret {
		return Key{}, &KeyError{Reason: fmt.Sprintf("a secret has %d to %d random bytes, this one has %d: make one with \"reprise keys new\"", minSecret, maxSecret, len(secret))}
	}
	same := true
	for _, b := range secret {
		same = same && b == secret[0]
	}
	if same {
		return Key{}, &KeyError{Reason: "all bytes of the secret are equal, so it was never filled: make one with \"reprise keys new\""}
	}
	return newKey(append([]byte(nil), secret...)), nil
}

func newKey(secret []byte) Key {
	prk, err := hkdf.Extract(sha256.New, secret, nil)
	if err != nil {
		panic(err) // only for a secret or a hash that FIPS 140 forbids, and both are fixed here
	}
	k := Key{&keyMaterial{secrets: &secrets{secret: secret, prk: prk}}}
	k.id = KeyID(k.derive("key id", nil, len(k.id)))
	return k
}

// derive expands the sub-key for one purpose. Purposes have no 0 byte, so that purpose and context cannot run into each other.
func (k Key) derive(purpose string, context []byte, size int) []byte {
	sub, err := hkdf.Expand(sha256.New, k.prk, "reprise requestState v1 "+purpose+"\x00"+string(context), size)
	if err != nil {
		panic(err) // only for a size above 255 hashes
	}
	return sub
}

// ID returns the key's id; that of the zero Key is zero.
func (k Key) ID() KeyID {
	if k.keyMaterial == nil {
		return KeyID{}
	}
	return k.id
}

// String returns "key" and the id, never the secret.
func (k Key) String() string { return "key " + k.ID().String() }

// Format implements [fmt.Formatter]: every verb prints what String returns.
func (k Key) Format(f fmt.State, _ rune) { fmt.Fprint(f, k.String()) }

// LogValue implements [slog.LogValuer].
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }

// MarshalText implements [encoding.TextMarshaler], and with it JSON: it gives what String returns. Secrets are written
// by [Keyring.AppendText] only.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// decodeStrict decodes base64url with exactly one accepted spelling per value. The strict decoder refuses padding,
// other alphabets and unused bits, but skips CR and LF wherever they stand; then the text is longer than its value needs.
func decodeStrict(dst []byte, text string) ([]byte, bool) {
	size := strict.DecodedLen(len(text))
	if cap(dst)-len(dst) < size {
		dst = append(make([]byte, 0, len(dst)+size), dst...)
	}
	n, err := strict.Decode(dst[len(dst):len(dst)+size], []byte(text))
	return dst[:len(dst)+n], err == nil && strict.EncodedLen(n) == len(text)
}
