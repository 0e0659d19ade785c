// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package requeststate_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/reprise-mcp/reprise/requeststate"
)

func TestRecords(t *testing.T) {
	old, fresh, other := requeststate.NewKey(), requeststate.NewKey(), requeststate.NewKey()
	ring := func(keys ...requeststate.Key) *requeststate.Keyring {
		r, err := requeststate.NewKeyring(keys...)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	secret, alice := []byte("registry key of alice"), []byte("alice")
	record := ring(old).SealRecord("credential", secret, alice)
	if len(record) != len(secret)+49 {
		t.Errorf("a record of %d bytes for %d", len(record), len(secret))
	}
	if bytes.Contains(record, secret) || bytes.Equal(record, ring(old).SealRecord("credential", secret, alice)) {
		t.Error("it is not encrypted, or twice the same")
	}
	tests := map[string]struct {
		ring    *requeststate.Keyring
		purpose string
		bound   string
		want    error
	}{
		"as it was":         {ring(old), "credential", "alice", nil},
		"after a rotation":  {ring(fresh, old), "credential", "alice", nil},
		"the key is gone":   {ring(fresh), "credential", "alice", requeststate.UnknownKey},
		"another ring":      {ring(other), "credential", "alice", requeststate.UnknownKey},
		"another purpose":   {ring(old), "result", "alice", requeststate.Forged},
		"of somebody else":  {ring(old), "credential", "bob", requeststate.Forged},
		"bound to nothing":  {ring(old), "credential", "", requeststate.Forged},
		"bound to a prefix": {ring(old), "credential", "alic", requeststate.Forged},
	}
	for name, test := range tests {
		got, err := test.ring.OpenRecord(test.purpose, record, []byte(test.bound))
		if !errors.Is(err, test.want) || test.want == nil && !bytes.Equal(got, secret) || test.want != nil && got != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for i := range record {
		changed := bytes.Clone(record)
		changed[i] ^= 1
		if got, err := ring(old).OpenRecord("credential", changed, alice); err == nil || got != nil {
			t.Errorf("it opens with byte %d changed", i)
		}
	}
	for n := range record {
		if _, err := ring(old).OpenRecord("credential", record[:n], alice); err == nil {
			t.Errorf("it opens when it is cut to %d bytes", n)
		}
	}
	if got, err := ring(old).OpenRecord("credential", ring(old).SealRecord("credential", nil, nil), nil); err != nil || len(got) != 0 {
		t.Errorf("an empty record: %v", err)
	}
}
