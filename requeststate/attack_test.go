// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package requeststate_test

import (
	"encoding/base64"
	"flag"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reprise-mcp/reprise/requeststate"
)

var (
	attacks    = flag.Int64("attack", 20_000, "how many mutated tokens TestAttack throws at Open")
	attackSeed = flag.Uint64("attackseed", 0, "seed of the mutations; 0 takes one from the clock")
)

// TestAttack throws mutated tokens at Open, half of them at each algorithm. None may be accepted and none may panic.
//
//	go test -run TestAttack -timeout 0 -attack 100000000 ./requeststate
func TestAttack(t *testing.T) {
	seed := *attackSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	both(t, func(t *testing.T, a requeststate.Algorithm) {
		ring := ringOf(t, requeststate.NewKey(), requeststate.NewKey())
		s := sealerOf(t, requeststate.Config{Keyring: ring, Algorithm: a, Readable: true})
		other := sealerOf(t, requeststate.Config{Keyring: ring, Algorithm: 3 - a, Readable: true})
		b := alicesBinding(t)
		var valid [][]byte
		isValid := make(map[string]bool)
		for i := range 16 {
			st := firstRound()
			if i%4 == 3 {
				st.Answers = []requeststate.Answer{{Key: "note", Response: []byte(`{"action":"accept","content":{"decision":"stop"}}`)}}
			}
			from := s
			if i%4 == 2 {
				from = other // pieces of what the other algorithm makes
			}
			token := seal(t, from, start, b, st)
			isValid[token] = from == s
			raw, err := base64.RawURLEncoding.DecodeString(token)
			if err != nil {
				t.Fatal(err)
			}
			valid = append(valid, raw)
		}
		var left atomic.Int64
		left.Store(*attacks / 2)
		var counts [requeststate.WrongRequest + 1]atomic.Int64
		var wg sync.WaitGroup
		for worker := range runtime.GOMAXPROCS(0) {
			wg.Go(func() {
				random := rand.New(rand.NewPCG(seed, uint64(worker)+uint64(a)<<32))
				buf := make([]byte, 0, 1024)
				for left.Add(-1) >= 0 {
					var token string
					buf, token = mutate(random, buf, valid)
					if isValid[token] {
						continue // turned back into what it was
					}
					st, err := s.Open(start, b, token)
					r, ok := err.(requeststate.Rejection)
					if !ok || st != nil {
						t.Errorf("seed %d: %q: %v, %v", seed, token, st, err)
						return
					}
					counts[r].Add(1)
				}
			})
		}
		wg.Wait()
		// Where nothing reaches the seal, nothing was tried.
		if counts[requeststate.Forged].Load() < *attacks/20 {
			t.Errorf("only %d of %d reached the seal", counts[requeststate.Forged].Load(), *attacks/2)
		}
		for r := range counts {
			if n := counts[r].Load(); n > 0 {
				t.Logf("seed %d: %d times %v", seed, n, requeststate.Rejection(r))
			}
		}
	})
}

// mutate makes a token that was never sealed out of some that were.
func mutate(random *rand.Rand, buf []byte, valid [][]byte) ([]byte, string) {
	raw := append(buf[:0], valid[random.IntN(len(valid))]...)
	for range 1 + random.IntN(3) {
		if len(raw) == 0 {
			break
		}
		at := random.IntN(len(raw))
		switch random.IntN(12) {
		case 0: // cut
			raw = raw[:at]
		case 1: // longer
			raw = append(raw, byte(random.Uint32()))
		case 2: // the beginning of this and the end of another
			donor := valid[random.IntN(len(valid))]
			raw = append(raw[:at], donor[min(at, len(donor)):]...)
		case 3: // a run of another, in place
			donor := valid[random.IntN(len(valid))]
			if at < len(donor) {
				copy(raw[at:], donor[at:min(len(donor), at+1+random.IntN(40))])
			}
		case 4: // a byte out of the middle
			raw = append(raw[:at], raw[at+1:]...)
		case 5: // zeros
			clear(raw[at:min(len(raw), at+1+random.IntN(32))])
		case 6: // noise to the end
			for i := at; i < len(raw); i++ {
				raw[i] = byte(random.Uint32())
			}
		case 7: // header
			raw[min(random.IntN(14), len(raw)-1)] = byte(random.Uint32())
		default: // one bit
			raw[at] ^= 1 << random.IntN(8)
		}
	}
	text := base64.RawURLEncoding.EncodeToString(raw)
	if len(text) > 0 && random.IntN(8) == 0 { // spelling
		at := random.IntN(len(text))
		text = text[:at] + string("AZaz09-_+/=\n\r \x00"[random.IntN(15)]) + text[at+random.IntN(2):]
	}
	return raw, text
}
