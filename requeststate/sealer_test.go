// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package requeststate_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reprise-mcp/reprise/requeststate"
)

const audience = "https://deploy.example/mcp"

var start = time.UnixMilli(1_780_000_000_000)

// both runs a test under each algorithm.
func both(t *testing.T, test func(t *testing.T, a requeststate.Algorithm)) {
	t.Helper()
	for _, a := range []requeststate.Algorithm{requeststate.AES256GCM, requeststate.HMACSHA256} {
		t.Run(a.String(), func(t *testing.T) { test(t, a) })
	}
}

func ringOf(t testing.TB, keys ...requeststate.Key) *requeststate.Keyring {
	t.Helper()
	ring, err := requeststate.NewKeyring(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// sealerOf fills in what a test leaves out.
func sealerOf(t testing.TB, c requeststate.Config) *requeststate.Sealer {
	t.Helper()
	if c.Keyring == nil {
		c.Keyring = ringOf(t, requeststate.NewKey())
	}
	if c.Audience == "" {
		c.Audience = audience
	}
	s, err := requeststate.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func user(t testing.TB, issuer, subject, tenant, client string) requeststate.Principal {
	t.Helper()
	p, err := requeststate.User(issuer, subject, tenant, client)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func digestOf(t testing.TB, method, target, arguments string) requeststate.Digest {
	t.Helper()
	d, err := requeststate.RequestDigest(method, target, []byte(arguments))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func alicesBinding(t testing.TB) requeststate.Binding {
	return requeststate.Binding{
		Principal: user(t, "https://id.example", "alice", "acme", "client-7"),
		Request:   digestOf(t, "tools/call", "deploy_release", `{"service":"billing","environment":"staging"}`),
	}
}

func firstRound() *requeststate.State {
	return &requeststate.State{
		Flow: requeststate.NewFlowID(), Started: start, Round: 1,
		Questions: []requeststate.Question{{Key: "confirm", Pin: requeststate.Digest{1, 2, 3}}},
	}
}

func seal(t testing.TB, s *requeststate.Sealer, now time.Time, b requeststate.Binding, st *requeststate.State) string {
	t.Helper()
	token, err := s.Seal(now, b, st)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestWhatIsSealedIsOpened(t *testing.T) {
	both(t, func(t *testing.T, a requeststate.Algorithm) {
		s := sealerOf(t, requeststate.Config{Algorithm: a, Readable: true})
		b := alicesBinding(t)
		for name, st := range map[string]requeststate.State{
			"first round": *firstRound(),
			"no question": {Flow: requeststate.NewFlowID(), Started: start},
			"everything": {
				Flow: requeststate.NewFlowID(), Started: start.Add(-20 * time.Minute), Round: 65535, Drift: 2,
				Questions: []requeststate.Question{{Key: "a", Pin: requeststate.Digest{1}, Schema: []byte(`{"type":"object"}`)}, {Key: "", Pin: requeststate.Digest{2}}},
				Answers:   []requeststate.Answer{{Key: "b", Pin: requeststate.Digest{3}, Response: []byte(`{"action":"decline"}`)}, {Key: "ü", Pin: requeststate.Digest{4}}},
				Values:    []requeststate.Value{{Name: "order", JSON: []byte(`"ord_7"`)}, {Name: "x", JSON: []byte("1")}},
				Inner:     strings.Repeat("inner", 1000),
			},
		} {
			t.Run(name, func(t *testing.T) {
				before := fmt.Sprintf("%v", st)
				got, err := s.Open(start.Add(time.Minute), b, seal(t, s, start, b, &st))
				if err != nil {
					t.Fatal(err)
				}
				if fmt.Sprintf("%v", st) != before {
					t.Error("Seal changed the state that it was given")
				}
				want := st
				want.Issued, want.Expires = start, start.Add(10*time.Minute)
				if !reflect.DeepEqual(*got, want) {
					t.Errorf("opened %+v\nsealed %+v", *got, want)
				}
			})
		}
	})
}

func TestAnOpenedStateIsOfItsOwn(t *testing.T) {
	both(t, func(t *testing.T, a requeststate.Algorithm) {
		s := sealerOf(t, requeststate.Config{Algorithm: a, Readable: true})
		b := alicesBinding(t)
		st := firstRound()
		st.Answers = []requeststate.Answer{{Key: "note", Response: []byte(`{"action":"accept","content":{"note":"first"}}`)}}
		first, err := s.Open(start, b, seal(t, s, start, b, st))
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("%v", *first)
		for range 100 { // whatever is used again inside is used again now
			other := firstRound()
			other.Answers = []requeststate.Answer{{Key: "node", Response: []byte(`{"action":"accept","content":{"note":"other"}}`)}}
			if _, err := s.Open(start, b, seal(t, s, start, b, other)); err != nil {
				t.Fatal(err)
			}
		}
		if got := fmt.Sprintf("%v", *first); got != want {
			t.Errorf("the state changed behind its owner's back\nfrom %s\nto   %s", want, got)
		}
	})
}

// Every rejection, and with each the faults of all later checks: the first check in the order must be the one that reports.
func TestRejectionsAndTheirOrder(t *testing.T) {
	both(t, func(t *testing.T, a requeststate.Algorithm) {
		ours, foreign := requeststate.NewKey(), requeststate.NewKey()
		type attempt struct {
			now   time.Time
			b     requeststate.Binding
			token string
		}
		s := sealerOf(t, requeststate.Config{Keyring: ringOf(t, ours), Algorithm: a, MaxSize: 600})
		good := alicesBinding(t)
		token := seal(t, s, start, good, firstRound())
		sealedBy := func(c requeststate.Config) string {
			c.Algorithm = a
			return seal(t, sealerOf(t, c), start, good, firstRound())
		}
		change := func(token string, at int, to byte) string {
			raw, err := base64.RawURLEncoding.DecodeString(token)
			if err != nil {
				t.Fatal(err)
			}
			if at < 0 {
				at += len(raw)
			}
			raw[at] ^= to
			return base64.RawURLEncoding.EncodeToString(raw)
		}
		mallory := user(t, "https://id.example", "mallory", "acme", "client-7")
		late := start.Add(100 * time.Hour)
		other := digestOf(t, "tools/call", "delete_release", `{}`)
		wrong := requeststate.Binding{Principal: mallory, Request: other}

		faults := []struct {
			want requeststate.Rejection
			attempt
		}{
			{requeststate.TooLarge, attempt{late, wrong, strings.Repeat("=", 601)}},
			{requeststate.Malformed, attempt{late, wrong, change(token, -1, 1) + "="}},
			{requeststate.Malformed, attempt{late, wrong, token[:100]}},
			{requeststate.Unsupported, attempt{late, wrong, change(sealedBy(requeststate.Config{Keyring: ringOf(t, foreign)}), 0, 3)}},
			{requeststate.Unsupported, attempt{late, wrong, change(sealedBy(requeststate.Config{Keyring: ringOf(t, foreign)}), 1, 3)}},
			{requeststate.UnknownKey, attempt{late, wrong, change(sealedBy(requeststate.Config{Keyring: ringOf(t, foreign)}), -1, 1)}},
			{requeststate.Forged, attempt{late, wrong, change(token, -1, 1)}},
			{requeststate.Forged, attempt{start, good, change(token, 7, 1)}},
			{requeststate.Forged, attempt{start, good, change(token, 20, 1)}},
			{requeststate.WrongPrincipal, attempt{late, wrong, sealedBy(requeststate.Config{Keyring: ringOf(t, ours), Audience: "https://payroll.example/mcp"})}},
			{requeststate.WrongPrincipal, attempt{late, requeststate.Binding{Principal: mallory, Request: good.Request}, token}},
			{requeststate.WrongAudience, attempt{late, requeststate.Binding{Principal: good.Principal, Request: other}, sealedBy(requeststate.Config{Keyring: ringOf(t, ours), Audience: "https://payroll.example/mcp"})}},
			{requeststate.FromFuture, attempt{start.Add(-time.Hour), requeststate.Binding{Principal: good.Principal, Request: other}, token}},
			{requeststate.Expired, attempt{late, requeststate.Binding{Principal: good.Principal, Request: other}, token}},
			{requeststate.WrongRequest, attempt{start, requeststate.Binding{Principal: good.Principal, Request: other}, token}},
		}
		for _, f := range faults {
			t.Run(f.want.Error(), func(t *testing.T) {
				st, err := s.Open(f.now, f.b, f.token)
				if err != error(f.want) || st != nil {
					t.Errorf("got %v, %v, want %v", st, err, f.want)
				}
				if !errors.Is(fmt.Errorf("wrapped: %w", err), f.want) {
					t.Error("errors.Is does not find the rejection")
				}
			})
		}
		if _, err := s.Open(start, good, token); err != nil {
			t.Errorf("after all the refusals the untouched state: %v", err)
		}
	})
}

func TestErrorsHoldNothingOfTheToken(t *testing.T) {
	for r := requeststate.TooLarge; r <= requeststate.WrongRequest; r++ {
		if text := r.Error(); !strings.HasPrefix(text, "requeststate: ") || len(text) < 30 {
			t.Errorf("rejection %d says %q", r, text)
		}
	}
	if requeststate.Rejection(0).Error() != requeststate.Rejection(200).Error() {
		t.Error("values that are no rejection differ")
	}
	// A Rejection is a number, so it cannot hold anything. The other errors of a sealer hold sizes.
	s := sealerOf(t, requeststate.Config{MaxSize: 512})
	st := firstRound()
	st.Answers = []requeststate.Answer{{Key: "note", Response: []byte(`"` + strings.Repeat("salary 91000 ", 100) + `"`)}}
	_, err := s.Seal(start, alicesBinding(t), st)
	var size *requeststate.SizeError
	if !errors.As(err, &size) || strings.Contains(err.Error(), "salary") {
		t.Errorf("got %v", err)
	}
}

func TestConfigIsCheckedAtStart(t *testing.T) {
	ring := ringOf(t, requeststate.NewKey())
	for _, c := range []struct {
		name, field string
		change      func(c *requeststate.Config)
	}{
		{"no ring", "Keyring", func(c *requeststate.Config) { c.Keyring = nil }},
		{"a ring that was not made by NewKeyring", "Keyring", func(c *requeststate.Config) { c.Keyring = new(requeststate.Keyring) }},
		{"no audience", "Audience", func(c *requeststate.Config) { c.Audience = "" }},
		{"blank audience", "Audience", func(c *requeststate.Config) { c.Audience = " \n" }},
		{"unknown algorithm", "Algorithm", func(c *requeststate.Config) { c.Algorithm = 3 }},
		{"negative TTL", "TTL", func(c *requeststate.Config) { c.TTL = -time.Second }},
		{"TTL of a nanosecond", "TTL", func(c *requeststate.Config) { c.TTL = 1 }},
		{"TTL below a second", "TTL", func(c *requeststate.Config) { c.TTL = 300 * time.Millisecond }},
		{"TTL that would be rounded", "TTL", func(c *requeststate.Config) { c.TTL = time.Second + 1 }},
		{"TTL above a day", "TTL", func(c *requeststate.Config) { c.TTL = 24*time.Hour + time.Millisecond }},
		{"absurd TTL", "TTL", func(c *requeststate.Config) { c.TTL = 1<<63 - 1 }},
		{"lifetime below the TTL", "Lifetime", func(c *requeststate.Config) { c.TTL, c.Lifetime = time.Hour, time.Minute }},
		{"negative lifetime", "Lifetime", func(c *requeststate.Config) { c.Lifetime = -time.Hour }},
		{"lifetime above a week", "Lifetime", func(c *requeststate.Config) { c.Lifetime = 8 * 24 * time.Hour }},
		{"lifetime that would be rounded", "Lifetime", func(c *requeststate.Config) { c.Lifetime = time.Hour + 1 }},
		{"negative leeway", "Leeway", func(c *requeststate.Config) { c.Leeway = -1 }},
		{"absurd leeway", "Leeway", func(c *requeststate.Config) { c.Leeway = time.Hour }},
		{"small size", "MaxSize", func(c *requeststate.Config) { c.MaxSize = 100 }},
		{"negative size", "MaxSize", func(c *requeststate.Config) { c.MaxSize = -1 }},
		{"absurd size", "MaxSize", func(c *requeststate.Config) { c.MaxSize = 1<<20 + 1 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := requeststate.Config{Keyring: ring, Audience: audience}
			c.change(&config)
			s, err := requeststate.New(config)
			var ce *requeststate.ConfigError
			if !errors.As(err, &ce) || ce.Field != c.field || s != nil {
				t.Fatalf("got %v, want a ConfigError of %s", err, c.field)
			}
			if !strings.Contains(err.Error(), "Config."+c.field) {
				t.Errorf("%q does not name the field", err)
			}
		})
	}
	s := sealerOf(t, requeststate.Config{Keyring: ring})
	if s.TTL() != 10*time.Minute {
		t.Errorf("the default TTL is %v", s.TTL())
	}
	if s = sealerOf(t, requeststate.Config{TTL: 24 * time.Hour}); s.TTL() != 24*time.Hour {
		t.Errorf("the longest TTL is %v", s.TTL())
	}
}

func TestExpiry(t *testing.T) {
	both(t, func(t *testing.T, a requeststate.Algorithm) {
		s := sealerOf(t, requeststate.Config{Algorithm: a, TTL: time.Minute, Leeway: 5 * time.Minute})
		b := alicesBinding(t)
		token := seal(t, s, start.Add(999*time.Microsecond), b, firstRound()) // less than the precision
		for _, c := range []struct {
			at   time.Duration
			want error
		}{
			{-5*time.Minute - 1, requeststate.FromFuture},
			{-5 * time.Minute, nil},
			{0, nil},
			{time.Minute - time.Second, nil},
			{time.Minute - 1, nil},
			{time.Minute, requeststate.Expired}, // the leeway never lengthens a life
			{time.Minute + time.Second, requeststate.Expired},
		} {
			if _, err := s.Open(start.Add(c.at), b, token); err != c.want {
				t.Errorf("at %v: %v, want %v", c.at, err, c.want)
			}
		}
		st, err := s.Open(start, b, token)
		if err != nil || !st.Issued.Equal(start) || !st.Expires.Equal(start.Add(time.Minute)) {
			t.Errorf("%v, %v", st, err)
		}
	})
}

func TestTheFlowsLifetimeEndsRenewals(t *testing.T) {
	both(t, func(t *testing.T, a requeststate.Algorithm) {
		s := sealerOf(t, requeststate.Config{Algorithm: a, TTL: 10 * time.Minute, Lifetime: 25 * time.Minute})
		b := alicesBinding(t)
		st := firstRound()
		token := seal(t, s, start, b, st)
		now := start
		for _, life := range []time.Duration{10 * time.Minute, 10 * time.Minute, 9 * time.Minute, time.Minute} {
			var err error
			if st, err = s.Open(now, b, token); err != nil {
				t.Fatal(err)
			}
			if got := st.Expires.Sub(st.Issued); got != life {
				t.Errorf("at %v a life of %v, want %v", now.Sub(start), got, life)
			}
			now = now.Add(8 * time.Minute)
			if token, err = s.Seal(now, b, st); err != nil {
				if now.Sub(start) < 25*time.Minute || err != requeststate.Outlived {
					t.Fatalf("at %v: %v", now.Sub(start), err)
				}
				return
			}
			if !st.Started.Equal(start) {
				t.Errorf("the flow's start moved to %v", st.Started)
			}
		}
		t.Error("the flow never ended")
	})
}

func TestAFlowOutlivesNoShorterLifetime(t *testing.T) {
	both(t, func(t *testing.T, a requeststate.Algorithm) {
		ring := ringOf(t, requeststate.NewKey())
		long := sealerOf(t, requeststate.Config{Keyring: ring, Algorithm: a, Lifetime: 2 * time.Hour})
		short := sealerOf(t, requeststate.Config{Keyring: ring, Algorithm: a, Lifetime: time.Hour})
		b := alicesBinding(t)
		token := seal(t, long, start.Add(55*time.Minute), b, firstRound())
		if _, err := short.Open(start.Add(time.Hour-1), b, token); err != nil {
			t.Error(err)
		}
		if _, err := short.Open(start.Add(time.Hour), b, token); err != requeststate.Outlived {
			t.Errorf("got %v", err)
		}
		if _, err := long.Open(start.Add(time.Hour), b, token); err != nil {
			t.Error(err)
		}
	})
}

func TestAReplicaWhoseClockIsBehind(t *testing.T) {
	both(t, func(t *testing.T, a requeststate.Algorithm) {
		s := sealerOf(t, requeststate.Config{Algorithm: a, Leeway: 30 * time.Second, Lifetime: 10 * time.Minute})
		b := alicesBinding(t)
		behind := start.Add(-20 * time.Second)
		st, err := s.Open(behind, b, seal(t, s, start, b, firstRound()))
		if err != nil {
			t.Fatal(err)
		}
		// The next round is sealed before the flow's start. It may end earlier for that, never later.
		st, err = s.Open(behind, b, seal(t, s, behind, b, st))
		if err != nil {
			t.Fatal(err)
		}
		if end := start.Add(10 * time.Minute); st.Expires.After(end) || st.Started.After(start) || st.Issued.Before(st.Started) {
			t.Errorf("started %v, issued %v, expires %v", st.Started, st.Issued, st.Expires)
		}
		if _, err := s.Seal(start.Add(-31*time.Second), b, firstRound()); err != requeststate.FromFuture {
			t.Errorf("beyond the leeway: %v", err)
		}
	})
}

func TestRetainCoversEveryFork(t *testing.T) {
	s := sealerOf(t, requeststate.Config{Lifetime: time.Hour, Leeway: time.Minute})
	st := &requeststate.State{Started: start}
	if got := s.Retain(st); !got.Equal(start.Add(62 * time.Minute)) {
		t.Errorf("retain until %v after the start", got.Sub(start))
	}
}

func TestSealRefusesMistakes(t *testing.T) {
	both(t, func(t *testing.T, a requeststate.Algorithm) {
		s := sealerOf(t, requeststate.Config{Algorithm: a})
		b := alicesBinding(t)
		for name, seal := range map[string]func() (string, error){
			"no flow id":     func() (string, error) { return s.Seal(start, b, &requeststate.State{}) },
			"negative round": func() (string, error) { st := firstRound(); st.Round = -1; return s.Seal(start, b, st) },
			"absurd round":   func() (string, error) { st := firstRound(); st.Round = 65536; return s.Seal(start, b, st) },
			"negative drift": func() (string, error) { st := firstRound(); st.Drift = -1; return s.Seal(start, b, st) },
			"no clock":       func() (string, error) { return s.Seal(time.Time{}, b, firstRound()) },
			"clock of the year 20000": func() (string, error) {
				st := firstRound()
				st.Started = time.Time{}
				return s.Seal(time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC), b, st)
			},
			"flow that is over": func() (string, error) { return s.Seal(start.Add(time.Hour), b, firstRound()) },
		} {
			if token, err := seal(); err == nil || token != "" {
				t.Errorf("%s: sealed", name)
			}
		}
		st := firstRound()
		st.Started = time.Time{}
		got, err := s.Open(start, b, seal(t, s, start, b, st))
		if err != nil || !got.Started.Equal(start) {
			t.Errorf("a flow that starts now started at %v, %v", got, err)
		}
	})
}

func TestABindingIsRequired(t *testing.T) {
	both(t, func(t *testing.T, a requeststate.Algorithm) {
		s := sealerOf(t, requeststate.Config{Algorithm: a})
		good := alicesBinding(t)
		token := seal(t, s, start, good, firstRound())
		for name, b := range map[string]requeststate.Binding{
			"nothing":      {},
			"no principal": {Request: good.Request},
			"no request":   {Principal: good.Principal},
		} {
			if _, err := s.Seal(start, b, firstRound()); err != requeststate.ErrUnbound {
				t.Errorf("%s: Seal: %v", name, err)
			}
			if _, err := s.Open(start, b, token); err != requeststate.ErrUnbound {
				t.Errorf("%s: Open: %v", name, err)
			}
		}
		if _, err := s.PrincipalTag(requeststate.Principal{}); err != requeststate.ErrUnbound {
			t.Errorf("PrincipalTag: %v", err)
		}
	})
}

func TestWhatATokenShows(t *testing.T) {
	st := firstRound()
	st.Answers = []requeststate.Answer{{Key: "note", Response: []byte(`{"action":"accept","content":{"note":"salary 91000"}}`)}}
	st.Values = []requeststate.Value{{Name: "quote", JSON: []byte(`"ord_71"`)}}
	b := alicesBinding(t)
	shows := func(token, text string) bool {
		raw, err := base64.RawURLEncoding.DecodeString(token)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Contains(raw, []byte(text))
	}

	token := seal(t, sealerOf(t, requeststate.Config{}), start, b, st)
	for _, text := range []string{"salary", "ord_71", "confirm", "note", "alice", audience} {
		if shows(token, text) {
			t.Errorf("AES-256-GCM shows %q", text)
		}
	}
	closed := sealerOf(t, requeststate.Config{Algorithm: requeststate.HMACSHA256})
	for name, change := range map[string]func(st *requeststate.State){
		"answers": func(st *requeststate.State) { st.Values = nil },
		"values":  func(st *requeststate.State) { st.Answers = nil },
	} {
		carried := *st
		change(&carried)
		if token, err := closed.Seal(start, b, &carried); err != requeststate.ErrReadable || token != "" {
			t.Errorf("HMAC-SHA256 carries %s in the open: %v", name, err)
		}
	}
	readable := sealerOf(t, requeststate.Config{Algorithm: requeststate.HMACSHA256, Readable: true})
	token = seal(t, readable, start, b, st)
	if !shows(token, "salary 91000") {
		t.Error("an operator cannot read the token of HMAC-SHA256")
	}
	if shows(token, "alice") || shows(token, audience) {
		t.Error("HMAC-SHA256 shows the principal or the audience")
	}
	if _, err := readable.Open(start, b, token); err != nil {
		t.Error(err)
	}
}

func TestSizeCap(t *testing.T) {
	both(t, func(t *testing.T, a requeststate.Algorithm) {
		s := sealerOf(t, requeststate.Config{Algorithm: a, MaxSize: 1000})
		b := alicesBinding(t)
		var fits, over int
		for n := 1; over == 0; n++ {
			st := firstRound()
			st.Inner = strings.Repeat("x", n)
			token, err := s.Seal(start, b, st)
			var size *requeststate.SizeError
			switch {
			case err == nil:
				fits = len(token)
				if _, err := s.Open(start, b, token); err != nil {
					t.Fatalf("%d characters were sealed and not opened: %v", fits, err)
				}
			case errors.As(err, &size):
				over = size.Size
				if size.Max != 1000 || size.Size <= 1000 {
					t.Errorf("%v", err)
				}
			default:
				t.Fatal(err)
			}
		}
		if fits < 998 || fits > 1000 || over > 1003 {
			t.Errorf("%d characters fit and %d do not", fits, over)
		}
		huge := strings.Repeat("A", 2<<20)
		if n := testing.AllocsPerRun(10, func() {
			if _, err := s.Open(start, b, huge); err != requeststate.TooLarge {
				t.Errorf("2 MiB: %v", err)
			}
		}); n > 0 {
			t.Errorf("something was done with 2 MiB before they were refused: %v allocations", n)
		}
	})
}

func TestOneSpelling(t *testing.T) {
	both(t, func(t *testing.T, a requeststate.Algorithm) {
		s := sealerOf(t, requeststate.Config{Algorithm: a})
		b := alicesBinding(t)
		const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
		for extra := range 3 { // each remainder of the length
			st := firstRound()
			st.Inner = strings.Repeat("x", extra)
			token := seal(t, s, start, b, st)
			var spellings []string
			for _, c := range alphabet {
				spellings = append(spellings, token[:len(token)-1]+string(c), token+string(c))
			}
			for i := range len(token) + 1 {
				for _, c := range []string{"\n", "\r", "\r\n", " ", "=", "\x00", "\n\n\n\n"} {
					spellings = append(spellings, token[:i]+c+token[i:])
				}
			}
			spellings = append(spellings, token+"==", strings.NewReplacer("-", "+", "_", "/").Replace(token), "%"+token)
			for _, spelling := range spellings {
				if spelling == token {
					continue
				}
				if _, err := s.Open(start, b, spelling); err != requeststate.Malformed && err != requeststate.Forged {
					t.Errorf("another spelling: %v: %q", err, spelling)
				}
			}
			if _, err := s.Open(start, b, token); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestReplicasShareTheRingAndNothingElse(t *testing.T) {
	both(t, func(t *testing.T, a requeststate.Algorithm) {
		key, b := requeststate.NewKey(), alicesBinding(t)
		var replicas, strangers []*requeststate.Sealer
		for range 3 {
			replicas = append(replicas, sealerOf(t, requeststate.Config{Keyring: ringOf(t, key), Algorithm: a}))
			strangers = append(strangers, sealerOf(t, requeststate.Config{Algorithm: a}))
		}
		for i := range replicas {
			for j := range replicas {
				if _, err := replicas[j].Open(start, b, seal(t, replicas[i], start, b, firstRound())); err != nil {
					t.Errorf("asked on %d, answered on %d: %v", i, j, err)
				}
				if _, err := strangers[j].Open(start, b, seal(t, strangers[i], start, b, firstRound())); i != j && err != requeststate.UnknownKey {
					t.Errorf("with a key for each process: %v", err)
				}
			}
		}
	})
}

func TestRotationLosesNoFlow(t *testing.T) {
	both(t, func(t *testing.T, a requeststate.Algorithm) {
		k1, k2, b := requeststate.NewKey(), requeststate.NewKey(), alicesBinding(t)
		with := func(keys ...requeststate.Key) *requeststate.Sealer {
			return sealerOf(t, requeststate.Config{Keyring: ringOf(t, keys...), Algorithm: a})
		}
		replicas := []*requeststate.Sealer{with(k1), with(k1), with(k1)}
		everywhere := func(step string) {
			for _, asks := range replicas {
				token := seal(t, asks, start, b, firstRound())
				for _, answers := range replicas {
					if _, err := answers.Open(start, b, token); err != nil {
						t.Errorf("%s: %v", step, err)
					}
				}
			}
		}
		old := seal(t, replicas[0], start, b, firstRound())
		for _, phase := range [][]requeststate.Key{{k1, k2}, {k2, k1}} {
			for i := range replicas {
				replicas[i] = with(phase...)
				everywhere(fmt.Sprintf("replica %d has %v", i, phase))
				if _, err := replicas[i].Open(start, b, old); err != nil {
					t.Errorf("a question that was open during the rotation: %v", err)
				}
			}
		}
		// The last step too early is an unknown key, not a forgery.
		if _, err := with(k2).Open(start, b, old); err != requeststate.UnknownKey {
			t.Errorf("after the old key has gone: %v", err)
		}
		replicas = []*requeststate.Sealer{with(k2), with(k2, k1)}
		everywhere("the old key goes")
	})
}

func TestServersWithOneRingAreKeptApart(t *testing.T) {
	both(t, func(t *testing.T, a requeststate.Algorithm) {
		ring, b := ringOf(t, requeststate.NewKey()), alicesBinding(t)
		deploy := sealerOf(t, requeststate.Config{Keyring: ring, Algorithm: a})
		for _, other := range []string{"https://payroll.example/mcp", audience + "/", strings.ToUpper(audience), audience[:len(audience)-1]} {
			if _, err := sealerOf(t, requeststate.Config{Keyring: ring, Algorithm: a, Audience: other}).Open(start, b, seal(t, deploy, start, b, firstRound())); err != requeststate.WrongAudience {
				t.Errorf("%s: %v", other, err)
			}
		}
	})
}

func TestATokenDoesNotChooseItsAlgorithm(t *testing.T) {
	both(t, func(t *testing.T, a requeststate.Algorithm) {
		ring, b := ringOf(t, requeststate.NewKey()), alicesBinding(t)
		token := seal(t, sealerOf(t, requeststate.Config{Keyring: ring, Algorithm: a}), start, b, firstRound())
		other := sealerOf(t, requeststate.Config{Keyring: ring, Algorithm: 3 - a})
		if _, err := other.Open(start, b, token); err != requeststate.Unsupported {
			t.Errorf("got %v", err)
		}
		raw, err := base64.RawURLEncoding.DecodeString(token)
		if err != nil {
			t.Fatal(err)
		}
		raw[1] = byte(3 - a)
		if _, err := other.Open(start, b, base64.RawURLEncoding.EncodeToString(raw)); err != requeststate.Forged {
			t.Errorf("relabelled: %v", err)
		}
	})
}

func TestInspect(t *testing.T) {
	both(t, func(t *testing.T, a requeststate.Algorithm) {
		key := requeststate.NewKey()
		ring, b := ringOf(t, requeststate.NewKey(), key), alicesBinding(t)
		token := seal(t, sealerOf(t, requeststate.Config{Keyring: ringOf(t, key), Algorithm: a}), start, b, firstRound())
		seen, err := ring.Inspect(token)
		if err != nil {
			t.Fatal(err)
		}
		if seen.Algorithm != a || seen.Key != key.ID() || seen.Request != b.Request || seen.Size != len(token) || len(seen.Sealer) != 16 || seen.State.Questions[0].Key != "confirm" {
			t.Errorf("%+v", seen)
		}
		if _, err := ringOf(t, requeststate.NewKey()).Inspect(token); err != requeststate.UnknownKey {
			t.Errorf("without the key: %v", err)
		}
		last := byte('A')
		if token[len(token)/2] == last {
			last = 'B'
		}
		if _, err := ring.Inspect(token[:len(token)/2] + string(last) + token[len(token)/2+1:]); err != requeststate.Forged {
			t.Errorf("altered: %v", err)
		}
		if _, err := ring.Inspect("nothing of the kind"); err != requeststate.Malformed {
			t.Errorf("nonsense: %v", err)
		}
	})
}

func TestPrincipalTag(t *testing.T) {
	key := requeststate.NewKey()
	s, again := sealerOf(t, requeststate.Config{Keyring: ringOf(t, key)}), sealerOf(t, requeststate.Config{Keyring: ringOf(t, key), Algorithm: requeststate.HMACSHA256})
	stranger := sealerOf(t, requeststate.Config{})
	seen := make(map[[16]byte]bool)
	for _, p := range []requeststate.Principal{requeststate.Anonymous(), user(t, "a", "b", "", ""), user(t, "a", "b", "c", ""), user(t, "a", "b", "", "c")} {
		tag, err := s.PrincipalTag(p)
		if err != nil || seen[tag] || tag == [16]byte{} {
			t.Errorf("%v: %x, %v", p, tag, err)
		}
		seen[tag] = true
		if other, _ := again.PrincipalTag(p); other != tag {
			t.Errorf("%v: replicas disagree", p)
		}
		if other, _ := stranger.PrincipalTag(p); other == tag {
			t.Errorf("%v: the tag does not depend on the key", p)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	both(t, func(t *testing.T, a requeststate.Algorithm) {
		key := requeststate.NewKey()
		sealers := []*requeststate.Sealer{
			sealerOf(t, requeststate.Config{Keyring: ringOf(t, key), Algorithm: a}),
			sealerOf(t, requeststate.Config{Keyring: ringOf(t, key), Algorithm: a}),
		}
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				b := alicesBinding(t)
				for j := range 50 {
					p := user(t, "https://id.example", fmt.Sprintf("user %d", (i+j)%5), "", "")
					b := requeststate.Binding{Principal: p, Request: b.Request}
					st := firstRound()
					st.Inner = p.String()
					token, err := sealers[j%2].Seal(start, b, st)
					if err != nil {
						t.Error(err)
						return
					}
					got, err := sealers[(i+j)%2].Open(start, b, token)
					if err != nil || got.Flow != st.Flow || got.Inner != st.Inner {
						t.Errorf("%v, %v", got, err)
					}
				}
			})
		}
		wg.Wait()
	})
}

func TestSizeAndAllocations(t *testing.T) {
	both(t, func(t *testing.T, a requeststate.Algorithm) {
		s := sealerOf(t, requeststate.Config{Algorithm: a})
		b := alicesBinding(t)
		st := firstRound()
		token := seal(t, s, start, b, st)
		if len(token) > 256 {
			t.Errorf("%d characters for one question", len(token))
		}
		if raceDetector {
			return // it makes pools forget on purpose
		}
		if n := testing.AllocsPerRun(1000, func() {
			if _, err := s.Seal(start, b, st); err != nil {
				t.Error(err)
			}
		}); n > 2 {
			t.Errorf("%v allocations to seal", n)
		}
		if n := testing.AllocsPerRun(1000, func() {
			if _, err := s.Open(start, b, token); err != nil {
				t.Error(err)
			}
		}); n > 3 {
			t.Errorf("%v allocations to open", n)
		}
		arguments := []byte(`{"service":"billing","environment":"staging","count":12.5}`)
		if n := testing.AllocsPerRun(1000, func() {
			if _, err := requeststate.RequestDigest("tools/call", "deploy_release", arguments); err != nil {
				t.Error(err)
			}
		}); n > 0 {
			t.Errorf("%v allocations to digest", n)
		}
	})
}
