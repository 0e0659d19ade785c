// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package requeststate

import (
	"bytes"
	"crypto/cipher"
	"crypto/rand"
)

// What a server keeps for itself is: version (1), key id, salt (16), nonce (12), ciphertext, tag (16). Each record has a sub-key
// of its own, from the salt, so there is no number of records after which a key is used up.
const (
	recordVersion = 1
	recordSalt    = 16
	recordHeader  = 1 + len(KeyID{}) + recordSalt
)

// SealRecord encrypts what a server keeps in a store (a result, a credential), with AES-256-GCM under the first key. The
// purpose keeps records of different kinds apart and has no zero byte; bound is what else must be the same when it is opened,
// such as whose it is. Neither is stored. A record is 49 bytes longer than its plaintext.
//
// Records live as long as the keys that sealed them: keep a key in the ring until the last of its records is gone, or seal
// them again.
func (r *Keyring) SealRecord(purpose string, plaintext, bound []byte) []byte {
	key := r.keys[0]
	b := make([]byte, recordHeader, recordHeader+12+len(plaintext)+16)
	b[0] = recordVersion
	copy(b[1:], key.id[:])
	rand.Read(b[recordHeader-recordSalt:])
	return recordKey(key, purpose, b).Seal(b, nil, plaintext, append(bytes.Clone(b), bound...))
}

// OpenRecord returns the plaintext of a record that [Keyring.SealRecord] made for the same purpose and bound to the same. The
// error is [Malformed], [UnknownKey] or [Forged], which it also is for another purpose or something else that it is bound to.
func (r *Keyring) OpenRecord(purpose string, record, bound []byte) ([]byte, error) {
	if len(record) < recordHeader+12+16 || record[0] != recordVersion {
		return nil, Malformed
	}
	header := record[:recordHeader]
	for _, key := range r.keys {
		if !bytes.Equal(key.id[:], header[1:1+len(key.id)]) {
			continue
		}
		plaintext, err := recordKey(key, purpose, header).Open(nil, nil, record[recordHeader:], append(bytes.Clone(header), bound...))
		if err != nil {
			return nil, Forged
		}
		return plaintext, nil
	}
	return nil, UnknownKey
}

// recordKey is the sub-key of one record.
func recordKey(key Key, purpose string, header []byte) cipher.AEAD {
	return newAEAD(key.derive("record "+purpose, header[recordHeader-recordSalt:recordHeader], 32))
}
