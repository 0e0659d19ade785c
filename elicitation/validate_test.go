// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package elicitation_test

import (
	"strings"
	"testing"

	"github.com/reprise-mcp/reprise/elicitation"
)

func TestValidate(t *testing.T) {
	const (
		note     = `"note":{"type":"string","minLength":2,"maxLength":4}`
		force    = `"force":{"type":"boolean","default":true}`
		ratio    = `"ratio":{"type":"number","minimum":0,"maximum":2.5}`
		count    = `"count":{"type":"integer","minimum":1,"maximum":9007199254740993}`
		decision = `"decision":{"type":"string","enum":["go","stop",""]}`
		place    = `"place":{"type":"string","oneOf":[{"const":"eu","title":"Europe"},{"const":"us","title":"United States"}]}`
		legacy   = `"legacy":{"type":"string","enum":["eu"],"enumNames":["Europe"]}`
		regions  = `"regions":{"type":"array","minItems":1,"maxItems":2,"items":{"anyOf":[{"const":"eu","title":"Europe"},{"const":"us","title":"United States"},{"const":"as","title":"Asia"}]}}`
	)
	// Each line is a form, an answer, and the violations; the property is
	// required where the line says so.
	tests := []struct{ schema, content, want string }{
		// Types: nothing is coerced.
		{force, `{"force":true}`, ``},
		{force, `{"force":false}`, ``},
		{force, `{"force":"false"}`, `force type`},
		{force, `{"force":"true"}`, `force type`},
		{force, `{"force":0}`, `force type`},
		{force, `{"force":1}`, `force type`},
		{force, `{"force":null}`, `force type`},
		{force, `{"force":[]}`, `force type`},
		{force, `{}`, `force required`},
		{note, `{"note":{"a":1}}`, `note type`},
		{note, `{"note":[["x"]]}`, `note type`},
		{note, `{"note":["xy"]}`, `note type`},
		{note, `{"note":777}`, `note type`},
		{note, `{"note":true}`, `note type`},
		{note, `{"note":null}`, `note type`},
		{count, `{"count":"7"}`, `count type`},
		{count, `{"count":true}`, `count type`},
		{ratio, `{"ratio":"1.5"}`, `ratio type`},
		{ratio, `{"ratio":[1.5]}`, `ratio type`},
		{decision, `{"decision":["go"]}`, `decision type`},
		{decision, `{"decision":1}`, `decision type`},

		// Lengths are counted in characters, not in bytes or UTF-16 units.
		{note, `{"note":"a"}`, `note minLength`},
		{note, `{"note":"ab"}`, ``},
		{note, `{"note":"äöüß"}`, ``},
		{note, `{"note":"😀😀😀😀"}`, ``},
		{note, `{"note":"\ud83d\ude00"}`, `note minLength`},
		{note, `{"note":"\u0061\n"}`, ``},
		{note, `{"note":"äöüßä"}`, `note maxLength`},
		{note, `{"note":"\ufffd\ufffd"}`, ``},
		{note, `{"note":""}`, `note minLength`},

		// Numbers: 1.5 is one, 30.0 is an integer, limits are exact.
		{ratio, `{"ratio":1.5}`, ``},
		{ratio, `{"ratio":0}`, ``},
		{ratio, `{"ratio":-0}`, ``},
		{ratio, `{"ratio":-0.0000001}`, `ratio minimum`},
		{ratio, `{"ratio":2.50}`, ``},
		{ratio, `{"ratio":2.5000000000000000000001}`, `ratio maximum`},
		{ratio, `{"ratio":1e400}`, `ratio maximum`},
		{ratio, `{"ratio":1e-400}`, ``},
		{ratio, `{"ratio":1e9999999}`, `ratio fits`},
		{count, `{"count":30}`, ``},
		{count, `{"count":30.0}`, ``},
		{count, `{"count":3e1}`, ``},
		{count, `{"count":300e-1}`, ``},
		{count, `{"count":30.5}`, `count type`},
		{count, `{"count":1e-1}`, `count type`},
		{count, `{"count":0}`, `count minimum`},
		{count, `{"count":9007199254740993}`, ``},
		{count, `{"count":9007199254740994}`, `count maximum`},
		{count, `{"count":9007199254740992.0}`, ``},
		{count, `{"count":-1e30}`, `count minimum`},

		// Choices: titles are not values.
		{decision, `{"decision":"go"}`, ``},
		{decision, `{"decision":"\u0067o"}`, ``},
		{decision, `{"decision":""}`, ``},
		{decision, `{"decision":"GO"}`, `decision enum`},
		{decision, `{"decision":"go "}`, `decision enum`},
		{place, `{"place":"eu"}`, ``},
		{place, `{"place":"Europe"}`, `place enum`},
		{legacy, `{"legacy":"eu"}`, ``},
		{legacy, `{"legacy":"Europe"}`, `legacy enum`},
		{regions, `{"regions":["eu","us"]}`, ``},
		{regions, `{"regions":["us"]}`, ``},
		{regions, `{"regions":[]}`, `regions minItems`},
		{regions, `{"regions":["eu","eu"]}`, `regions uniqueItems`},
		{regions, `{"regions":["eu","\u0065u"]}`, `regions uniqueItems`},
		{regions, `{"regions":["eu","eu","us"]}`, `regions uniqueItems; regions maxItems`},
		{regions, `{"regions":["eu","us","as"]}`, `regions maxItems`},
		{regions, `{"regions":["Europe"]}`, `regions enum`},
		{regions, `{"regions":"eu"}`, `regions type`},
		{regions, `{"regions":["eu",7]}`, `regions type`},
		{regions, `{"regions":[["eu"]]}`, `regions type`},
		{regions, `{"regions":[null]}`, `regions type`},
		{regions, `{"regions":{"0":"eu"}}`, `regions type`},

		// Names are exact, unknown ones are ignored, everything is collected.
		{note, `{"Note":"abc"}`, `note required`},
		{note, `{"note":"abc","Note":7,"other":{"a":[1,null]}}`, ``},
		{note, `{"\u006eote":"abc"}`, ``},
		{note + "," + force + "," + count, `{"count":0.5,"note":"abcde"}`, `note maxLength; force required; count type`},

		// One well-formed object.
		{note, ``, `note required`},
		{note, `null`, `note required`},
		{note, ` null `, `note required`},
		{note, `{}`, `note required`},
		{note, ` `, `json`},
		{note, `nul`, `json`},
		{note, `null null`, `type`},
		{note, `[]`, `type`},
		{note, `"note"`, `type`},
		{note, `true`, `type`},
		{note, `{"note":"abc"`, `json`},
		{note, `{"note":"abc"}{}`, `json`},
		{note, `{"note":"abc"} `, ``},
		{note, `{"note":"abc","note":"abc"}`, `json`},
		{note, `{"note":"abc","n\u006fte":"abc"}`, `json`},
		{note, `{"note":"abc","other":{"a":1,"a":1}}`, `json`},
		{note, "{\"note\":\"a\xffb\"}", `json`},
		{note, `{"note":"a\ud800b"}`, `json`},
		{note, `{"note":"\ude00\ud83d"}`, `json`},
		{note, `{"note":"abc","other":"\ud800"}`, `json`},
		{note, `{'note':'abc'}`, `json`},
		{ratio, `{"ratio":NaN}`, `json`},
		{ratio, `{"ratio":01}`, `json`},
	}
	for _, test := range tests {
		t.Run(test.content, func(t *testing.T) {
			var required []string
			for _, name := range []string{"note", "force", "ratio", "count", "decision", "place", "legacy", "regions"} {
				if strings.Contains(test.schema, `"`+name+`":{`) {
					required = append(required, `"`+name+`"`)
				}
			}
			schema, err := elicitation.ParseSchema(form(test.schema, `,"required":[`+strings.Join(required, ",")+`]`))
			if err != nil {
				t.Fatal(err)
			}
			wantViolations(t, schema.Validate([]byte(test.content)), test.want)

			// The same form with nothing required: only the absence is no fault any more.
			schema, err = elicitation.ParseSchema(form(test.schema, ""))
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for v := range strings.SplitSeq(test.want, "; ") {
				if v != "" && !strings.HasSuffix(v, " required") {
					want = append(want, v)
				}
			}
			wantViolations(t, schema.Validate([]byte(test.content)), strings.Join(want, "; "))
		})
	}
}

func TestValidateFormats(t *testing.T) {
	good := map[string][]string{
		"email": {"a@example.com", "a.b+c@sub.example.com", `"a b"@example.com`, "a@localhost", "o'neil@example.com", `"ab"@example.com`, `"a\"b"@example.com`,
			"a@1.2.3.4", "a@[127.0.0.1]", "a@[IPv6:::1]", "a@xn--bcher-kva.example"},
		"uri": {"https://example.com/", "https://example.com", "HTTP://EXAMPLE.COM:8080/a?b=c&d#e", "mailto:a@example.com", "urn:isbn:0451450523",
			"https://[::1]:80/%20", "file:///etc/hosts", "https://xn--bnk-ela.example/", "tel:+49-89-123",
			"javascript:alert(1)", "https://user@example.com/", "https://example.com/?q=%2F#%41", "x://"},
		"date": {"2026-07-28", "2024-02-29", "0001-01-01", "9999-12-31"},
		"date-time": {"2026-07-28T12:00:00Z", "2026-07-28T12:00:00.123456789Z", "2026-07-28T23:59:59+14:00", "2026-07-28t12:00:00z",
			"2016-12-31T23:59:60Z", "2017-01-01T00:59:60+01:00", "2026-07-28T12:00:00-00:00"},
	}
	bad := map[string][]string{
		"email": {"", "a", "@example.com", "a@", "a@b@c", "A <a@example.com>", "<a@example.com>", " a@example.com", "a@example.com ", "a b@example.com",
			"a@example.com (home)", "a@exa mple.com", "a@example.com, b@example.com", "ä@example.com", "a@bücher.example", "a@example.com\n", "a@example..com",
			"a..b@example.com", ".a@example.com", "a.@example.com", "a@example.com.", "a@-example.com", "a@example-", "a@b!c", "a@b_c", "a@x=y.com", `"a"b"@example.com`,
			"a@[127.0.0.256]", "a@[::1]", "a@[IPv6:127.0.0.1]", "a@[]", "\"a\nb\"@example.com"},
		"uri": {"", "example.com", "/connect", "//example.com/", "https://", "https:///path", "https:", "https://exa mple.com/", "https://example.com/a b",
			"https://example.com/%zz", "https://example.com/ä", "https://example.com/\n", "http://[::1", "1http://example.com", ":a", "mailto:", "C:\\x", "https://:80/", "https://a\"b/",
			"https://a/?%zz", "https://a/%4", "https://a/#b#c", "https://a/[x]", "https://a/?[x]", "https://a]b/", "https://a[b]/", "https://[::1]/[", "https://[zz]/", "http:a"},
		"date": {"", "2026-7-28", "2026-02-30", "2023-02-29", "28.07.2026", "2026-07-28T00:00:00Z", "2026-07-28 ", "20260728", "02026-07-28", "2026-13-01", "２０２６-07-28"},
		"date-time": {"", "2026-07-28", "2026-07-28T12:00:00", "2026-07-28 12:00:00Z", "2026-07-28T12:00Z", "2026-07-28T24:00:00Z", "2026-07-28T1:00:00Z",
			"2026-07-28T12:00:00,5Z", "2026-07-28T12:00:00+24:00", "2026-07-28T12:00:00+0100", "2026-07-28T12:00:60Z", "2016-12-31T23:59:61Z", "2026-02-30T00:00:00Z",
			"2026-07-28T12:00:00.Z", "2016-12-31T23:59:60", "2016-12-31T23:59:60+01:00", "2026-07-28T12:00:00Z "},
	}
	for format := range good {
		schema, err := elicitation.ParseSchema(form(`"a":{"type":"string","format":"`+format+`"}`, ""))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range good[format] {
			if err := schema.Validate(content(t, s)); err != nil {
				t.Errorf("%s %q: %v", format, s, err)
			}
		}
		for _, s := range bad[format] {
			if err := schema.Validate(content(t, s)); err == nil {
				t.Errorf("%s %q: accepted", format, s)
			} else {
				wantViolations(t, err, "a format")
			}
		}
	}
}

// Whatever its size and depth, an answer is judged like any other.
func TestValidateHugeAnswers(t *testing.T) {
	schema, err := elicitation.ParseSchema(form(`"note":{"type":"string","maxLength":20},"count":{"type":"integer","maximum":9},
		"regions":{"type":"array","maxItems":2,"items":{"type":"string","enum":["eu","us"]}}`, ""))
	if err != nil {
		t.Fatal(err)
	}
	const million = 1_000_000
	nested := func(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }
	for name, test := range map[string]struct{ content, want string }{
		"long text":             {`{"note":"` + strings.Repeat("ä", million) + `"}`, `note maxLength`},
		"long number":           {`{"count":` + strings.Repeat("9", million) + `}`, `count maximum`},
		"long fraction":         {`{"count":1.` + strings.Repeat("0", million) + `}`, ``},
		"long list":             {`{"regions":["eu"` + strings.Repeat(`,"us"`, million) + `]}`, `regions uniqueItems; regions maxItems`},
		"large unknown":         {`{"note":"x","y":[` + strings.Repeat(`{},`, million) + `0]}`, ``},
		"deep in a property":    {`{"note":` + nested(5_000) + `}`, `note type`},
		"deep in an unknown":    {`{"other":` + nested(5_000) + `}`, ``},
		"too deep anywhere":     {`{"other":` + nested(20_000) + `}`, `json`},
		"too deep, not closed":  {`{"other":` + strings.Repeat("[", million), `json`},
		"deep objects in array": {`{"regions":[` + strings.Repeat(`{"a":`, 5_000) + `1` + strings.Repeat(`}`, 5_000) + `]}`, `regions type`},
	} {
		t.Run(name, func(t *testing.T) { wantViolations(t, schema.Validate([]byte(test.content)), test.want) })
	}
}

// An error must be fit for a log: it tells the rule and never the answer.
func TestAnswerErrorHoldsNoAnswer(t *testing.T) {
	const needle = "S3CRET"
	schema, err := elicitation.ParseSchema(form(`"a":{"type":"string","maxLength":2,"format":"email"},"b":{"type":"integer"},
		"c":{"type":"string","enum":["x"]},"d":{"type":"array","items":{"type":"string","enum":["x"]}},"e":{"type":"number","maximum":1}`, ""))
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{
		`{"a":"S3CRET","b":"S3CRET","c":"S3CRET","d":["S3CRET","S3CRET"],"e":83636}`,
		`{"S3CRET":1,"S3CRET":2}`, `{"S3CRET":S3CRET}`, `S3CRET`, `"S3CRET"`, `{"a":"S3CRET`, `{"a":"x"}S3CRET`, "{\"S3CRET\":\"\xff\"}",
	} {
		err := schema.Validate([]byte(content))
		if err == nil || strings.Contains(err.Error(), needle) || strings.Contains(err.Error(), "83636") {
			t.Errorf("%s: %v", content, err)
		}
		for _, response := range []string{`{"action":"accept","content":` + content + `}`, content, `{"action":"S3CRET"}`, `{"Action":"S3CRET"}`} {
			_, content, err := elicitation.ParseResult([]byte(response))
			if err == nil {
				err = schema.Validate(content)
			}
			if err == nil || strings.Contains(err.Error(), needle) {
				t.Errorf("%s: %v", response, err)
			}
		}
	}

	type answer struct {
		Small int8     `json:"small"`
		Float *float32 `json:"float"`
		When  *string  `json:"when" format:"date"`
		Site  *string  `json:"site" format:"uri"`
	}
	question := elicitation.MustForm[answer]()
	for _, content := range []string{
		`{"small":83636}`, `{"small":1,"float":8.3636e83636}`, `{"small":1,"float":8.3636e99}`, `{"small":1,"when":"S3CRET"}`, `{"small":1,"site":"http://S3CRET:83636z/"}`,
	} {
		_, err := question.Decode([]byte(`{"action":"accept","content":` + content + `}`))
		if err == nil || strings.Contains(err.Error(), needle) || strings.Contains(err.Error(), "3636") {
			t.Errorf("%s: %v", content, err)
		}
	}
	sampling, err := elicitation.NewSampling(elicitation.SamplingRequest{MaxTokens: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, response := range []string{
		`{"role":"S3CRET","model":"m","content":[]}`, `{"role":"user","model":["S3CRET"],"content":[]}`, `{"role":"user","model":"m","content":{"type":"S3CRET"}}`,
		`{"roots":[{"uri":"https://S3CRET/"}]}`, `{"roots":["S3CRET"]}`, `{"roots":"S3CRET"}`,
	} {
		_, samplingErr := sampling.Decode([]byte(response))
		_, rootsErr := elicitation.NewRoots().Decode([]byte(response))
		for _, err := range []error{samplingErr, rootsErr} {
			if err == nil || strings.Contains(err.Error(), needle) {
				t.Errorf("%s: %v", response, err)
			}
		}
	}
}

func BenchmarkValidate(b *testing.B) {
	schema, err := elicitation.ParseSchema(form(`"decision":{"type":"string","enum":["go","stop"]},"note":{"type":"string","maxLength":20}`, `,"required":["decision"]`))
	if err != nil {
		b.Fatal(err)
	}
	answer := []byte(`{"decision":"go","note":"after lunch"}`)
	b.ReportAllocs()
	for b.Loop() {
		if err := schema.Validate(answer); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	type window struct {
		Decision string  `json:"decision" enum:"go,stop"`
		Hours    int     `json:"hours" minimum:"1"`
		Note     *string `json:"note" maxLength:"20"`
	}
	question := elicitation.MustForm[window]()
	response := []byte(`{"action":"accept","content":{"decision":"go","hours":3,"note":"after lunch"}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := question.Decode(response); err != nil {
			b.Fatal(err)
		}
	}
}
