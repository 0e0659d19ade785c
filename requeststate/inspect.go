// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package requeststate

import "encoding/hex"

// Inspection is what an operator who holds the keys can read in a token.
type Inspection struct {
	Size      int // characters
	Algorithm Algorithm
	Key       KeyID
	Sealer    string // sealer id, hexadecimal
	Request   Digest
	State     *State // with the answers and values that it carries: show their keys, not them
}

// Inspect opens a token for an operator. It checks shape, key and seal, and neither binding nor times: what it returns
// authorises nothing. A [Rejection] says what failed.
func (r *Keyring) Inspect(token string) (*Inspection, error) {
	raw, ok := decodeStrict(nil, token)
	if !ok {
		return nil, Malformed
	}
	h, err := parseHeader(raw)
	if err != nil {
		return nil, err
	}
	for _, k := range r.keys {
		if k.id != h.key {
			continue
		}
		payload, ok := newSubKey(k, h.algorithm, h.sealer).open(raw, nil)
		if !ok {
			return nil, Forged
		}
		st, b, ok := parsePayload(payload)
		if !ok {
			return nil, Malformed
		}
		return &Inspection{
			Size:      len(token),
			Algorithm: h.algorithm,
			Key:       h.key,
			Sealer:    hex.EncodeToString(h.sealer[:]),
			Request:   b.request,
			State:     st,
		}, nil
	}
	return nil, UnknownKey
}
