// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package scan_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/reprise-mcp/reprise/internal/scan"
)

func TestValid(t *testing.T) {
	for text, want := range map[string][2]bool{
		`{}`: {true, false}, `[]`: {true, false}, ` {"a" : [ 1 , -0.5e+3 , "x\n\u00e9" , true,false, null ] } `: {true, false},
		`{"a":1,"a":2}`: {true, true}, `{"a":1,"\u0061":2}`: {true, true}, `{"a":{"a":1},"b":{"a":1}}`: {true, false}, `[{"a":1},{"a":1}]`: {true, false},
		``: {}, ` `: {}, `{`: {}, `{"a"}`: {}, `{"a":}`: {}, `{"a":1,}`: {}, `{,}`: {}, `[1,]`: {}, `[1 2]`: {}, `{} {}`: {}, `01`: {}, `1.`: {}, `.5`: {}, `1e`: {}, `-`: {}, `+1`: {},
		`tru`: {}, `"`: {}, `"\x"`: {}, `"\u12"`: {}, "\"\n\"": {}, "\"\xff\"": {}, `{1:2}`: {}, `'a'`: {}, "\ufeff{}": {},
		strings.Repeat("[", 1000) + strings.Repeat("]", 1000): {true, false}, strings.Repeat("[", 2000) + strings.Repeat("]", 2000): {},
	} {
		ok, repeats := scan.Valid([]byte(text))
		if ok != want[0] || repeats != want[1] {
			t.Errorf("%.40q: %t, %t", text, ok, repeats)
		}
	}
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, `"n%d":%d,`, i, i)
	}
	if ok, repeats := scan.Valid([]byte("{" + b.String() + `"x":0}`)); !ok || repeats {
		t.Error("many names")
	}
	if _, repeats := scan.Valid([]byte("{" + b.String() + `"n3":0}`)); !repeats {
		t.Error("one of the first names again")
	}
	if _, repeats := scan.Valid([]byte("{" + b.String() + `"n97":0}`)); !repeats {
		t.Error("one of the last names again")
	}
}

func TestWalk(t *testing.T) {
	var got []string
	for name, value := range scan.Members([]byte(` { "a" : 1 , "b\"c" : [ {"x":"}"} , "]" ] , "d":null , "a":{} } `)) {
		got = append(got, fmt.Sprintf("%s=%s", name, value))
	}
	if want := `a=1|b"c=[ {"x":"}"} , "]" ]|d=null|a={}`; strings.Join(got, "|") != want {
		t.Errorf("%q", got)
	}
	got = nil
	for value := range scan.Elements([]byte(`[ 1 ,"a,b", [2,[3]] ,{"x":[]} ,true]`)) {
		got = append(got, string(value))
	}
	if want := `1|"a,b"|[2,[3]]|{"x":[]}|true`; strings.Join(got, "|") != want {
		t.Errorf("%q", got)
	}
	for range scan.Members([]byte(`[1]`)) {
		t.Error("an array has no members")
	}
	for range scan.Elements([]byte(`{}`)) {
		t.Error("an object has no elements")
	}
}

// FuzzScan compares with the standard library, which is laxer in UTF-8 and nesting only.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2,{"b":"c\\"}],"d":-1.5e10}`, `{"a":1,"a":2}`, `[[],{},""]`, `{`, `"\ud800"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		ok, repeats := scan.Valid(text)
		if want := json.Valid(text) && utf8.Valid(text); ok != want && bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) <= 1000 {
			t.Fatalf("valid: %t, the standard library says %t", ok, want)
		}
		if !ok {
			return
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(text, &object) == nil && object != nil {
			n := 0
			last := map[string]string{}
			for name, value := range scan.Members(text) {
				n++
				last[string(name)] = string(value)
			}
			if n != len(object) && !repeats {
				t.Fatalf("%d members, the standard library has %d", n, len(object))
			}
			for name, value := range object {
				if last[name] != string(value) {
					t.Fatalf("member %q is %q, the standard library has %q", name, last[name], value)
				}
			}
		}
		var array []json.RawMessage
		if json.Unmarshal(text, &array) == nil && array != nil {
			i := 0
			for value := range scan.Elements(text) {
				if i >= len(array) || string(value) != string(array[i]) {
					t.Fatalf("element %d", i)
				}
				i++
			}
			if i != len(array) {
				t.Fatalf("%d elements, the standard library has %d", i, len(array))
			}
		}
	})
}
