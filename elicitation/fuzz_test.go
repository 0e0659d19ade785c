// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package elicitation_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/reprise-mcp/reprise/elicitation"
)

func FuzzParseSchema(f *testing.F) {
	f.Add([]byte(everythingSchema))
	for _, property := range []string{
		`{"type":"string","title":"T","description":"D","minLength":1,"maxLength":9,"format":"date","default":"2026-07-28"}`,
		`{"type":"number","minimum":-1e3,"maximum":0.5,"default":-0.0}`,
		`{"type":"boolean","default":true}`,
		`{"type":"string","enum":["a","b"],"enumNames":["A","B"],"default":"a"}`,
		`{"type":"string","oneOf":[{"const":"\u0061","title":"A"}]}`,
		`{"type":"array","minItems":1,"items":{"anyOf":[{"const":"a","title":"A"}]},"default":["a"]}`,
		`{"type":"array","items":{"type":"string"}}`,
		`{"type":"object"}`,
	} {
		f.Add(form(`"a":`+property, `,"required":["a"],"$schema":"x"`))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		schema, err := elicitation.ParseSchema(in)
		if err != nil {
			if _, ok := errors.AsType[*elicitation.SchemaError](err); !ok {
				t.Fatalf("got %T", err)
			}
			return
		}
		out := schema.JSON()
		if !json.Valid(out) {
			t.Fatalf("not JSON: %s", out)
		}
		again, err := elicitation.ParseSchema(out)
		if err != nil {
			t.Fatalf("%s\nrefused when read back: %v", out, err)
		}
		if !bytes.Equal(again.JSON(), out) {
			t.Fatalf("read back differently:\n%s\n%s", out, again.JSON())
		}
		// The same rules, whichever of the two texts they were read from.
		for _, answer := range []string{`{}`, `{"a":"x"}`, `{"a":1}`, `{"a":["a"]}`, string(in)} {
			one, two := schema.Validate([]byte(answer)), again.Validate([]byte(answer))
			if (one == nil) != (two == nil) {
				t.Fatalf("%s: %v against %v", answer, one, two)
			}
		}
	})
}

func FuzzValidate(f *testing.F) {
	question := elicitation.MustForm[everything]()
	f.Add([]byte(`{"plain":"a","Untagged":"","mail":"a@example.com","region":"us","titled":"eu","many":["c","a"],"count":3e1,"force":false}`))
	f.Add([]byte(`{"plain":"a","Untagged":"","mail":"a@example.com","region":"us","titled":"eu","many":["c"],"named":[],"count":2,"big":18446744073709551615,"small":-128,"byte":9.0,"ratio":1.5,"single":1e38,"force":true,"maybe":true}`))
	f.Add([]byte(`{"plain":"\ud800","many":["a","a"],"count":1.5,"big":-1,"force":"true"}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, content []byte) {
		err := question.Schema().Validate(content)
		if err != nil {
			e, ok := errors.AsType[*elicitation.AnswerError](err)
			if !ok || len(e.Violations) == 0 {
				t.Fatalf("got %v (%T)", err, err)
			}
			for _, v := range e.Violations { // only the question speaks
				if v.Property != "" && !strings.Contains(everythingSchema, `"`+v.Property+`":{`) {
					t.Fatalf("an error names the property %q", v.Property)
				}
			}
		}
		if len(content) == 0 {
			return // no member of a response
		}
		response := append(append([]byte(`{"action":"accept","content":`), content...), '}')
		reply, decodeErr := question.Decode(response)
		if err == nil && (decodeErr != nil || reply.Action != elicitation.Accept) {
			t.Fatalf("Validate accepts what Decode refuses: %v", decodeErr)
		}
		if err != nil && decodeErr == nil && json.Valid(content) {
			t.Fatalf("Decode accepts what Validate refuses: %v", err)
		}
		if decodeErr != nil {
			return
		}
		got := reply.Content
		if n := utf8.RuneCountInString(got.Mail); n < 3 || n > 50 || !utf8.ValidString(got.Plain) {
			t.Fatalf("a text outside its limits: %+v", got)
		}
		if got.Count < 1 || got.Count > 30 || got.Byte != nil && *got.Byte > 9 || got.Ratio != nil && *got.Ratio < -0.5 {
			t.Fatalf("a number outside its limits: %+v", got)
		}
		if n := len(got.Many); n < 1 || n > 2 || n == 2 && got.Many[0] == got.Many[1] || got.Titled != "eu" && got.Titled != "us" {
			t.Fatalf("a choice outside its limits: %+v", got)
		}
	})
}

func FuzzParseResult(f *testing.F) {
	for _, seed := range []string{
		`{"action":"accept","content":{"a":1}}`, `{"action":"decline","content":null}`, `{"action":"cancel"}`, `{"action":"decline","Action":"accept"}`,
		`{"action":"accept","content":[]}`, `{"action":"accept"}{}`, `{"action":"\ud800"}`, `[]`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		action, content, err := elicitation.ParseResult(in)
		if err != nil {
			if _, ok := errors.AsType[*elicitation.AnswerError](err); !ok || action != "" || content != nil {
				t.Fatalf("got %q, %q, %T", action, content, err)
			}
			return
		}
		// The standard library's lenient decoder must not see another action.
		var other struct {
			Action  elicitation.Action
			Content json.RawMessage
		}
		if err := json.Unmarshal(in, &other); err != nil || other.Action != action {
			t.Fatalf("got %q, encoding/json reads %q, %v", action, other.Action, err)
		}
		if action == elicitation.Accept && content != nil && !bytes.Equal(content, other.Content) || action != elicitation.Accept && content != nil {
			t.Fatalf("got content %q, encoding/json reads %q", content, other.Content)
		}
	})
}
