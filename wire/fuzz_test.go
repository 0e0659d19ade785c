// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wire_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/reprise-mcp/reprise/wire"
)

// What is accepted must mean the same once it is written again.

func FuzzMessage(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"a":[1,{"b":"\u003c"}]}}}`,
		`{"jsonrpc":"2.0","id":"a\u0000b","result":{"resultType":"complete"}}`,
		`{"jsonrpc":"2.0","error":{"code":-32700,"message":"m","data":null}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
		`{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}`,
		`[]`, ``, `{"jsonrpc":"2.0","id":-0,"method":"\ud800"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := wire.Parse(data)
		if m == nil {
			t.Fatal("no message")
		}
		if err != nil {
			if c := code(err); c != wire.CodeParseError && c != wire.CodeInvalidRequest && c != wire.CodeInvalidParams {
				t.Fatalf("code %d", c)
			}
			if _, err := (&wire.Message{ID: m.ID, Error: err.(*wire.Error)}).MarshalJSON(); err != nil {
				t.Fatal(err)
			}
			return
		}
		if !json.Valid(data) {
			t.Fatalf("%q is accepted but is no JSON", data)
		}
		b, err := m.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		again, err := wire.Parse(b)
		if err != nil || !reflect.DeepEqual(m, again) {
			t.Fatalf("%q became %q: %+v, %v", data, b, again, err)
		}
	})
}

func FuzzParams(f *testing.F) {
	for _, method := range []string{"tools/call", "resources/read", "tools/list"} {
		f.Add(method, []byte(`{"name":"n","uri":"a:b",`+meta+`,"arguments":{"a":1e400},"inputResponses":{"a":{"action":"accept"},"b":7},"requestState":"s"}`))
		f.Add(method, []byte(`{"name":"n",`+meta+`,"inputResponses":null}`))
	}
	f.Fuzz(func(t *testing.T, method string, data []byte) {
		p, err := wire.ParseParams(method, data)
		if err != nil {
			if code(err) != wire.CodeInvalidParams || p != nil {
				t.Fatalf("%+v, %v", p, err)
			}
			return
		}
		again, err := wire.ParseParams(method, write(t, method, p))
		if err != nil || !reflect.DeepEqual(p, again) {
			t.Fatalf("%+v became %+v, %v", p, again, err)
		}
	})
}

// write is the inverse of ParseParams.
func write(t *testing.T, method string, p *wire.Params) []byte {
	caps := jsontext.Value(`{}`)
	for _, path := range []string{"elicitation.form", "elicitation.url", "sampling", "sampling.tools", "sampling.context", "roots"} {
		if p.Capabilities.Has(path) {
			var all []string
			for _, path := range []string{"elicitation.form", "elicitation.url", "sampling", "sampling.tools", "sampling.context", "roots"} {
				if p.Capabilities.Has(path) {
					all = append(all, path)
				}
			}
			var data struct {
				RequiredCapabilities json.RawMessage `json:"requiredCapabilities"`
			}
			if err := json.Unmarshal(wire.RequiredCapabilities(all...), &data); err != nil {
				t.Fatal(err)
			}
			caps = jsontext.Value(data.RequiredCapabilities)
			break
		}
	}
	str := func(s string) string {
		b, err := jsontext.AppendQuote(nil, s)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	out := `{"_meta":{"io.modelcontextprotocol/protocolVersion":` + str(p.Version) + `,"io.modelcontextprotocol/clientCapabilities":` + string(caps) + `}`
	if wire.MayAsk(method) {
		name := "name"
		if method == wire.MethodResourcesRead {
			name = "uri"
		}
		out += `,"` + name + `":` + str(p.Target)
	}
	if p.Arguments != nil {
		out += `,"arguments":` + string(p.Arguments)
	}
	if p.InputResponses != nil {
		b, err := p.InputResponses.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		out += `,"inputResponses":` + string(b)
	}
	if p.RequestState != nil {
		out += `,"requestState":` + str(*p.RequestState)
	}
	return []byte(out + `}`)
}

func FuzzInputResponses(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `[]`, `12345`, `{"confirm":{"action":"accept","content":{"decision":"go"}}}`,
		`{"confirm":7,"":null,"undefined":{}}`, `{"a":1,"\u0061":2}`, `{"a":{"b":1,"b":1}}`, `{"\ud800":1}`, `{} {}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := wire.ParseInputResponses(data)
		if err != nil {
			if code(err) != wire.CodeInvalidParams || r != nil {
				t.Fatalf("%v, %v", r, err)
			}
			return
		}
		b, err := r.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		again, err := wire.ParseInputResponses(b)
		if err != nil || !reflect.DeepEqual(r, again) {
			t.Fatalf("%q became %q: %v, %v", data, b, again, err)
		}
	})
}
