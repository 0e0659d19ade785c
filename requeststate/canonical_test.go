// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package requeststate_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/reprise-mcp/reprise/requeststate"
)

func TestCanonicalErrorsHoldNothingOfTheJSON(t *testing.T) {
	for _, text := range []string{`{"secret":1,"secret":2}`, `{"secret":"\ud800"}`, "{\"secret\":\"\xff\"}", `{"secret":1} secret`, `{"secret":}`, `{"secret":1e999999}`} {
		_, err := requeststate.AppendCanonical(nil, []byte(text))
		var refused *requeststate.ArgumentsError
		if !errors.As(err, &refused) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestCanonicalLeavesItsInputsAlone(t *testing.T) {
	prefix := append(make([]byte, 0, 100), "before"...)
	value := []byte(`{"b":[1.0,2],"a":"\u0041"}`)
	got, err := requeststate.AppendCanonical(prefix, value)
	if err != nil || string(got) != `before{"a":"A","b":[1,2]}` || string(value) != `{"b":[1.0,2],"a":"\u0041"}` {
		t.Errorf("%s, %v, from %s", got, err, value)
	}
	if got, err := requeststate.AppendCanonical(prefix, []byte(`{"a":`)); err == nil || string(got) != "before" {
		t.Errorf("refused with %q", got)
	}
}

// Two spellings have one canonical form exactly if they are the same rational number.
func TestNumbersAreExact(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	number := func() string {
		var b strings.Builder
		if random.IntN(3) == 0 {
			b.WriteByte('-')
		}
		digits := func(n int) {
			for range n {
				b.WriteByte("0001259"[random.IntN(7)])
			}
		}
		if random.IntN(3) == 0 {
			b.WriteByte('0')
		} else {
			b.WriteByte("129"[random.IntN(3)])
			digits(random.IntN(5))
		}
		if random.IntN(2) == 0 {
			b.WriteByte('.')
			digits(1 + random.IntN(4))
		}
		if random.IntN(2) == 0 {
			fmt.Fprintf(&b, "%c%s%0*d", "eE"[random.IntN(2)], []string{"", "+", "-"}[random.IntN(3)], 1+random.IntN(3), random.IntN(4))
		}
		return b.String()
	}
	type spelled struct{ text, form string }
	seen := make(map[string]spelled) // by the value
	for range 20_000 {
		text := number()
		exact, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%s is no number", text)
		}
		form, err := requeststate.AppendCanonical(nil, []byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if back, ok := new(big.Rat).SetString(string(form)); !ok || back.Cmp(exact) != 0 {
			t.Fatalf("%s became %s", text, form)
		}
		if other, ok := seen[exact.RatString()]; ok && other.form != string(form) {
			t.Fatalf("%s and %s are equal, and have the forms %s and %s", other.text, text, other.form, form)
		}
		seen[exact.RatString()] = spelled{text, string(form)}
	}
	if len(seen) < 1000 || len(seen) > 19_000 {
		t.Errorf("%d values among 20000 numbers test nothing", len(seen))
	}
}

// A library that reads the same JSON must agree on what is JSON, and on every value as far as its numbers go.
func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{
		`{"service":"billing","environment":"staging"}`, `[1,1.0,1e0,-0,0.10,1e400,9007199254740993]`, `{"b":{"d":1,"c":[]},"a":{}}`,
		`"\ud83d\ude00\u00fc\/\b\u0000"`, `"\ud800"`, `{"a":1,"\u0061":2}`, ` [ true , false , null ] `, `{"a":1}{}`, `1e`, `[[[[]]]]`, "\"\xff\"", `01`, `"a`, `{"a"}`, "\ufeff1",
		`{"aa":1,"a":2,"ab":3,"":4,"A":5,"é":6,"😀":7,"\uffff":8}`, `-`, `1e100001`, `0e1000000`, strings.Repeat("[", 130) + strings.Repeat("]", 130),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		form, err := requeststate.AppendCanonical(nil, value)
		theirs := jsontext.Value(bytes.Clone(value))
		theirErr := theirs.Canonicalize()
		if err != nil {
			var refused *requeststate.ArgumentsError
			if !errors.As(err, &refused) || len(form) > 0 {
				t.Fatalf("%q, %v", form, err)
			}
			bounded := strings.Contains(err.Error(), "exponent") || strings.Contains(err.Error(), "nested")
			if theirErr == nil && !bounded {
				t.Fatalf("refused %q, which is JSON: %v", value, err)
			}
			return
		}
		if theirErr != nil {
			t.Fatalf("accepted %q as %q: %v", value, form, theirErr)
		}
		ours := jsontext.Value(bytes.Clone(form))
		if err := ours.Canonicalize(); err != nil || !bytes.Equal(ours, theirs) {
			t.Fatalf("%q became %q, which is %q, not %q, %v", value, form, ours, theirs, err)
		}
		again, err := requeststate.AppendCanonical(nil, form)
		if err != nil || !bytes.Equal(again, form) {
			t.Fatalf("%q became %q, and that %q, %v", value, form, again, err)
		}
	})
}
