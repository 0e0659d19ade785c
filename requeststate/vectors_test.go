// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package requeststate_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/reprise-mcp/reprise/requeststate"
	"github.com/reprise-mcp/reprise/vectors"
)

// vectorFile reads one of the files of package vectors.
func vectorFile(t testing.TB, name string, into any) {
	t.Helper()
	text, err := vectors.Files.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

type vectorRequest struct {
	Method    string  `json:"method"`
	Target    string  `json:"target"`
	Arguments *string `json:"arguments"`
	Digest    string  `json:"digest"`
}

func (r vectorRequest) digest(t testing.TB) requeststate.Digest {
	t.Helper()
	var arguments []byte
	if r.Arguments != nil {
		arguments = []byte(*r.Arguments)
	}
	d, err := requeststate.RequestDigest(r.Method, r.Target, arguments)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

type tokenVector struct {
	Name, Algorithm string
	Keyring         []string
	Audience        string
	Principal       struct{ Kind, Issuer, Subject, Tenant, Client string }
	Request         vectorRequest
	Now             int64
	Leeway          int64
	Lifetime        int64
	MaxSize         int
	Token           string
	Refused         *struct{ Layer, Reason string }
	State           *struct {
		Flow                     string
		Started, Issued, Expires int64
		Round, Drift             int
		Questions                []struct{ Key, Pin, Schema string }
		Answers                  []struct{ Key, Pin, Response string }
		Values                   []struct{ Name, JSON string }
		Inner                    string
	}
}

type tokenVectors struct {
	Keys    []struct{ Name, Text, ID string }
	Vectors []tokenVector
}

// reasons are the vectors' names of the rejections.
var reasons = map[string]requeststate.Rejection{
	"too large":       requeststate.TooLarge,
	"malformed":       requeststate.Malformed,
	"unsupported":     requeststate.Unsupported,
	"unknown key":     requeststate.UnknownKey,
	"forged":          requeststate.Forged,
	"wrong principal": requeststate.WrongPrincipal,
	"wrong audience":  requeststate.WrongAudience,
	"from the future": requeststate.FromFuture,
	"expired":         requeststate.Expired,
	"outlived":        requeststate.Outlived,
	"wrong request":   requeststate.WrongRequest,
}

func (v tokenVector) principal(t testing.TB) requeststate.Principal {
	t.Helper()
	var p requeststate.Principal
	var err error
	switch v.Principal.Kind {
	case "user":
		p, err = requeststate.User(v.Principal.Issuer, v.Principal.Subject, v.Principal.Tenant, v.Principal.Client)
	case "local":
		p, err = requeststate.Local(v.Principal.Issuer, v.Principal.Subject)
	case "anonymous":
		p = requeststate.Anonymous()
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (f tokenVectors) ring(t testing.TB, names []string) *requeststate.Keyring {
	t.Helper()
	var text string
	for _, name := range names {
		for _, k := range f.Keys {
			if k.Name == name {
				text += k.Text + "\n"
			}
		}
	}
	ring, err := requeststate.ParseKeyring([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

var algorithms = map[string]requeststate.Algorithm{
	"AES-256-GCM": requeststate.AES256GCM,
	"HMAC-SHA256": requeststate.HMACSHA256,
}

func TestTokenVectors(t *testing.T) {
	var f tokenVectors
	vectorFile(t, "tokens.json", &f)
	for _, k := range f.Keys {
		if got := f.ring(t, []string{k.Name}).IDs()[0].String(); got != k.ID {
			t.Errorf("key %s has the id %s, want %s", k.Name, got, k.ID)
		}
	}
	if len(f.Vectors) < 100 {
		t.Fatalf("only %d vectors", len(f.Vectors))
	}
	for _, v := range f.Vectors {
		t.Run(v.Name, func(t *testing.T) {
			ring := f.ring(t, v.Keyring)
			lifetime := time.Duration(v.Lifetime) * time.Millisecond
			sealer, err := requeststate.New(requeststate.Config{
				Keyring: ring, Audience: v.Audience, Algorithm: algorithms[v.Algorithm],
				Lifetime: lifetime, Leeway: time.Duration(v.Leeway) * time.Millisecond, MaxSize: v.MaxSize,
			})
			if err != nil {
				t.Fatal(err)
			}
			binding := requeststate.Binding{Principal: v.principal(t), Request: v.Request.digest(t)}
			st, err := sealer.Open(time.UnixMilli(v.Now), binding, v.Token)
			if v.Refused != nil {
				if want := reasons[v.Refused.Reason]; err != want || st != nil {
					t.Errorf("refused as %v, want %v", err, v.Refused.Reason)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, want := *st, v.state(); !reflect.DeepEqual(got, want) {
				t.Errorf("state %+v\nwant  %+v", got, want)
			}
			if seen, err := ring.Inspect(v.Token); err != nil || !reflect.DeepEqual(seen.State, st) || seen.Request != binding.Request {
				t.Errorf("Inspect: %+v, %v", seen, err)
			}
		})
	}
}

// FuzzToken: no text opens but tokens of the vectors, which are the seeds: all processes of a fuzzing run must know what was
// sealed. Which vectors open for whom is for TestTokenVectors.
func FuzzToken(f *testing.F) {
	var file tokenVectors
	vectorFile(f, "tokens.json", &file)
	sealed := make(map[string]bool)
	var sealers []*requeststate.Sealer
	var binding requeststate.Binding
	var now time.Time
	for _, v := range file.Vectors {
		f.Add(v.Token)
		sealed[v.Token] = true
		if strings.HasSuffix(v.Name, ": one question") {
			sealers = append(sealers, sealerOf(f, requeststate.Config{Keyring: file.ring(f, v.Keyring), Audience: v.Audience, Algorithm: algorithms[v.Algorithm]}))
			binding = requeststate.Binding{Principal: v.principal(f), Request: v.Request.digest(f)}
			now = time.UnixMilli(v.Now)
		}
	}
	if len(sealers) != 2 {
		f.Fatalf("%d sealers", len(sealers))
	}
	f.Fuzz(func(t *testing.T, token string) {
		opened := 0
		for _, s := range sealers {
			st, err := s.Open(now, binding, token)
			if _, ok := err.(requeststate.Rejection); (err == nil) != (st != nil) || err != nil && !ok {
				t.Fatalf("%q: %v, %v", token, st, err)
			}
			if err == nil {
				opened++
			}
		}
		if opened > 1 || opened == 1 && !sealed[token] {
			t.Fatalf("%q was opened by %d sealers", token, opened)
		}
	})
}

func unhex(s string) (b [32]byte) {
	hex.Decode(b[:], []byte(s))
	return b
}

// state is what Open returns for the vector: lists and texts that are empty are nil.
func (v tokenVector) state() requeststate.State {
	w := v.State
	flow := unhex(w.Flow)
	st := requeststate.State{
		Flow:    requeststate.FlowID(flow[:16]),
		Started: time.UnixMilli(w.Started), Issued: time.UnixMilli(w.Issued), Expires: time.UnixMilli(w.Expires),
		Round: w.Round, Drift: w.Drift, Inner: w.Inner,
	}
	text := func(s string) []byte {
		if s == "" {
			return nil
		}
		return []byte(s)
	}
	for _, q := range w.Questions {
		st.Questions = append(st.Questions, requeststate.Question{Key: q.Key, Pin: unhex(q.Pin), Schema: text(q.Schema)})
	}
	for _, a := range w.Answers {
		st.Answers = append(st.Answers, requeststate.Answer{Key: a.Key, Pin: unhex(a.Pin), Response: text(a.Response)})
	}
	for _, x := range w.Values {
		st.Values = append(st.Values, requeststate.Value{Name: x.Name, JSON: text(x.JSON)})
	}
	return st
}

func TestDigestVectors(t *testing.T) {
	var f struct {
		Canonical []struct{ Input, Canonical string }
		Equal     []struct {
			Name              string
			Requests          []vectorRequest
			Canonical, Digest string
		}
		Distinct []struct {
			Name     string
			Requests []vectorRequest
		}
		Refused []struct{ Name, ArgumentsHex string }
	}
	vectorFile(t, "digests.json", &f)
	if len(f.Canonical) < 40 || len(f.Equal) < 5 || len(f.Distinct) < 10 || len(f.Refused) < 40 {
		t.Fatal("vectors are missing")
	}
	for _, v := range f.Canonical {
		got, err := requeststate.AppendCanonical([]byte("-"), []byte(v.Input))
		if err != nil || string(got) != "-"+v.Canonical {
			t.Errorf("canonical form of %s: %s, %v, want %s", v.Input, got, err, v.Canonical)
		}
		again, err := requeststate.AppendCanonical(nil, []byte(v.Canonical))
		if err != nil || string(again) != v.Canonical {
			t.Errorf("canonical form of the canonical %s: %s, %v", v.Canonical, again, err)
		}
	}
	for _, v := range f.Equal {
		for _, r := range v.Requests {
			if d := r.digest(t); hex.EncodeToString(d[:]) != v.Digest {
				t.Errorf("%s: digest %x, want %s", v.Name, d, v.Digest)
			}
		}
	}
	for _, v := range f.Distinct {
		seen := make(map[requeststate.Digest]bool)
		for _, r := range v.Requests {
			d := r.digest(t)
			if hex.EncodeToString(d[:]) != r.Digest {
				t.Errorf("%s: digest %x, want %s", v.Name, d, r.Digest)
			}
			if seen[d] {
				t.Errorf("%s: two requests share a digest", v.Name)
			}
			seen[d] = true
		}
	}
	for _, v := range f.Refused {
		arguments, err := hex.DecodeString(v.ArgumentsHex)
		if err != nil {
			t.Fatal(err)
		}
		d, err := requeststate.RequestDigest("tools/call", "deploy_release", arguments)
		var refused *requeststate.ArgumentsError
		if !errors.As(err, &refused) || d != (requeststate.Digest{}) {
			t.Errorf("%s: digest %x, %v", v.Name, d, err)
		}
	}
}
