// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package requeststate

import (
	"bytes"
	"encoding/base64"
	"sync"
	"testing"
	"time"
)

var internalStart = time.UnixMilli(1_780_000_000_000)

func internalSealer(t testing.TB, a Algorithm) (*Sealer, Binding, *State) {
	t.Helper()
	key, err := KeyFromSecret([]byte("this is no secret: it is for tests only"))
	if err != nil {
		t.Fatal(err)
	}
	ring, err := NewKeyring(key)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Config{Keyring: ring, Audience: "https://deploy.example/mcp", Algorithm: a, Readable: true})
	if err != nil {
		t.Fatal(err)
	}
	alice, err := User("https://id.example", "alice", "", "")
	if err != nil {
		t.Fatal(err)
	}
	return s, Binding{Principal: alice, Request: Digest{1}}, &State{
		Flow: FlowID{1}, Started: internalStart, Round: 2,
		Questions: []Question{{Key: "confirm", Pin: Digest{2}, Schema: []byte("{}")}},
		Answers:   []Answer{{Key: "note", Pin: Digest{3}, Response: []byte(`{"action":"decline"}`)}},
		Values:    []Value{{Name: "order", JSON: []byte("7")}},
		Inner:     "inner",
	}
}

func sealerIDOf(t testing.TB, token string) sealerID {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		t.Fatal(err)
	}
	return sealerID(raw[6:14])
}

// No key may see more random nonces than it is good for, also when many goroutines seal at once.
func TestANewSealerIDBeforeTheOldOneIsWornOut(t *testing.T) {
	s, b, st := internalSealer(t, AES256GCM)
	s.maxSeals = 10
	var mu sync.Mutex
	seals := make(map[sealerID]int)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 25 {
				token, err := s.Seal(internalStart, b, st)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := s.Open(internalStart, b, token); err != nil {
					t.Error(err)
				}
				mu.Lock()
				seals[sealerIDOf(t, token)]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(seals) < 20 {
		t.Errorf("200 seals with %d sealer ids", len(seals))
	}
	for id, n := range seals {
		if n > 10 {
			t.Errorf("sealer %x sealed %d times", id, n)
		}
	}
}

// A flood of invented sealer ids may neither fill nor clear what is kept of real ones.
func TestOnlySealersThatExistAreRemembered(t *testing.T) {
	for _, a := range []Algorithm{AES256GCM, HMACSHA256} {
		s, b, st := internalSealer(t, a)
		token, err := s.Seal(internalStart, b, st)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Open(internalStart, b, token); err != nil {
			t.Fatal(err)
		}
		remembered := func() (ids []sealerID) {
			for i := range s.ring.Load().keys[0].subKeys {
				if k := s.ring.Load().keys[0].subKeys[i].Load(); k != nil {
					ids = append(ids, k.sealer)
				}
			}
			return ids
		}
		raw, err := base64.RawURLEncoding.DecodeString(token)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 1000 {
			raw[6], raw[7] = byte(i), byte(i>>8)
			raw[13] ^= 0x55
			if _, err := s.Open(internalStart, b, base64.RawURLEncoding.EncodeToString(raw)); err != Forged {
				t.Fatal(err)
			}
		}
		if ids := remembered(); len(ids) != 1 || ids[0] != sealerIDOf(t, token) {
			t.Errorf("%v: %d sealers are remembered", a, len(ids))
		}
	}
}

// However many principals come by, each has its own tag, in bounded memory.
func TestPrincipalTagsDoNotMix(t *testing.T) {
	s, _, _ := internalSealer(t, AES256GCM)
	key := s.ring.Load().keys[0]
	for round := range 2 {
		for i := range 3 * len(key.principals) {
			p := Principal{encoding: string([]byte{kindLocal, 1, 'a', 2, byte(i), byte(i >> 8)})}
			if got, want := key.principalTag(p), keyedTag(key.principalKey, p.encoding); got != want {
				t.Fatalf("round %d: principal %d has another's tag", round, i)
			}
		}
	}
}

// FuzzPayload: what is accepted as a payload is exactly what Seal writes.
func FuzzPayload(f *testing.F) {
	_, _, st := internalSealer(f, AES256GCM)
	f.Add(appendPayload(nil, &bound{}, st, 5, 10, 20))
	f.Add(appendPayload(nil, &bound{}, &State{}, 0, 0, 1))
	f.Add(make([]byte, minPayload))
	f.Fuzz(func(t *testing.T, payload []byte) {
		st, b, ok := parsePayload(payload)
		if !ok {
			return
		}
		again := appendPayload(nil, &b, st, st.Started.UnixMilli(), st.Issued.UnixMilli(), st.Expires.UnixMilli())
		if !bytes.Equal(again, payload) {
			t.Fatalf("%x was accepted and is written as %x", payload, again)
		}
		if !st.Issued.Before(st.Expires) || st.Started.After(st.Issued) || st.Round < 0 || st.Drift < 0 {
			t.Fatalf("%+v", st)
		}
	})
}

// FuzzSpelling: a text that is decoded is the only spelling of its bytes.
func FuzzSpelling(f *testing.F) {
	for _, text := range []string{"", "AQ", "AR", "AQH=", "AQ\nH", "AQHx", "AQHx5", "-_-_", "+/+/", "\r", "AAAA\n\n\n\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		raw, ok := decodeStrict([]byte("before"), text)
		if !bytes.HasPrefix(raw, []byte("before")) {
			t.Fatalf("%q lost what was there", text)
		}
		theirs, err := base64.RawURLEncoding.DecodeString(text)
		alone := err == nil && base64.RawURLEncoding.EncodeToString(theirs) == text
		if ok != alone || ok && !bytes.Equal(raw[len("before"):], theirs) {
			t.Fatalf("%q: %v, %x", text, ok, raw)
		}
	})
}
