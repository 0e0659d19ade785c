// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package elicitation_test

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/reprise-mcp/reprise/elicitation"
)

type region string

type everything struct {
	Plain    string   `json:"plain"`
	Untagged string   // keeps its Go name
	Mail     string   `json:"mail" title:"E-mail" description:"Where to write, or \"none\"" format:"email" minLength:"3" maxLength:"50" default:"user@example.com"`
	Region   region   `json:"region" enum:"eu,us" default:"eu"`
	Titled   string   `json:"titled" enum:"eu=Europe,us=United States = USA"`
	Many     []region `json:"many" enum:"a,b,c" minItems:"1" maxItems:"2" default:"a,b"`
	Named    []string `json:"named,omitempty" enum:"a=A,b=B" default:""`
	Count    int      `json:"count" minimum:"1" maximum:"3e1" default:"2"`
	Big      uint64   `json:"big,omitzero"`
	Small    *int8    `json:"small"`
	Byte     *uint8   `json:"byte" maximum:"9"`
	Ratio    *float64 `json:"ratio" minimum:"-0.5"`
	Single   *float32 `json:"single"`
	Force    bool     `json:"force" default:"true"`
	Maybe    *bool    `json:"maybe"`
	Left     chan int `json:"-"`
	internal int
}

const everythingSchema = `{"type":"object","properties":{` +
	`"plain":{"type":"string"},` +
	`"Untagged":{"type":"string"},` +
	`"mail":{"type":"string","title":"E-mail","description":"Where to write, or \"none\"","minLength":3,"maxLength":50,"format":"email","default":"user@example.com"},` +
	`"region":{"type":"string","enum":["eu","us"],"default":"eu"},` +
	`"titled":{"type":"string","oneOf":[{"const":"eu","title":"Europe"},{"const":"us","title":"United States = USA"}]},` +
	`"many":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["a","b","c"]},"default":["a","b"]},` +
	`"named":{"type":"array","items":{"anyOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]},"default":[]},` +
	`"count":{"type":"integer","minimum":1,"maximum":3e1,"default":2},` +
	`"big":{"type":"integer","minimum":0},` +
	`"small":{"type":"integer","minimum":-128,"maximum":127},` +
	`"byte":{"type":"integer","minimum":0,"maximum":9},` +
	`"ratio":{"type":"number","minimum":-0.5},` +
	`"single":{"type":"number"},` +
	`"force":{"type":"boolean","default":true},` +
	`"maybe":{"type":"boolean"}},` +
	`"required":["plain","Untagged","mail","region","titled","many","count","force"]}`

func TestFormSchema(t *testing.T) {
	form, err := elicitation.NewForm[everything]()
	if err != nil {
		t.Fatal(err)
	}
	_ = everything{}.internal
	got := form.Schema().JSON()
	if string(got) != everythingSchema {
		t.Errorf("schema:\n got %s\nwant %s", got, everythingSchema)
	}
	for range 20 { // nothing may depend on the order of a map
		again := elicitation.MustForm[everything]()
		if string(again.Schema().JSON()) != string(got) || string(again.Identity()) != string(form.Identity()) {
			t.Fatal("the same type gives two different forms")
		}
	}
	parsed, err := elicitation.ParseSchema(got)
	if err != nil {
		t.Fatalf("ParseSchema does not take the form's own schema: %v", err)
	}
	if string(parsed.JSON()) != string(got) {
		t.Errorf("parsed and rendered again:\n got %s\nwant %s", parsed.JSON(), got)
	}
	got[0] = 'x'
	if form.Schema().JSON()[0] != '{' {
		t.Error("the caller can change the schema through JSON")
	}
}

// The examples of client/elicitation, Requested Schema, member for member.
func TestFormSchemaOfTheSpecification(t *testing.T) {
	const (
		text    = `{"type":"string","title":"Display Name","description":"Description text","minLength":3,"maxLength":50,"format":"email","default":"user@example.com"}`
		number  = `"title":"Display Name","description":"Description text","minimum":0,"maximum":100,"default":50}`
		boolean = `{"type":"boolean","title":"Display Name","description":"Description text","default":false}`
		color   = `"title":"Color Selection","description":"Choose your favorite color",`
		colors  = `"title":"Color Selection","description":"Choose your favorite colors","minItems":1,"maxItems":2,`
		titled  = `[{"const":"#FF0000","title":"Red"},{"const":"#00FF00","title":"Green"},{"const":"#0000FF","title":"Blue"}]`
	)
	for _, test := range []struct {
		name, want string
		build      func() (*elicitation.Schema, error)
	}{
		{"string", text, schemaOf[struct {
			A string `title:"Display Name" description:"Description text" minLength:"3" maxLength:"50" format:"email" default:"user@example.com"`
		}]},
		{"uri", `{"type":"string","format":"uri"}`, schemaOf[struct {
			A string `format:"uri"`
		}]},
		{"date", `{"type":"string","format":"date"}`, schemaOf[struct {
			A string `format:"date"`
		}]},
		{"date-time", `{"type":"string","format":"date-time"}`, schemaOf[struct {
			A string `format:"date-time"`
		}]},
		{"number", `{"type":"number",` + number, schemaOf[struct {
			A float64 `title:"Display Name" description:"Description text" minimum:"0" maximum:"100" default:"50"`
		}]},
		{"integer", `{"type":"integer",` + number, schemaOf[struct {
			A int `title:"Display Name" description:"Description text" minimum:"0" maximum:"100" default:"50"`
		}]},
		{"boolean", boolean, schemaOf[struct {
			A bool `title:"Display Name" description:"Description text" default:"false"`
		}]},
		{"one of, without titles", `{"type":"string",` + color + `"enum":["Red","Green","Blue"],"default":"Red"}`, schemaOf[struct {
			A string `title:"Color Selection" description:"Choose your favorite color" enum:"Red,Green,Blue" default:"Red"`
		}]},
		{"one of, with titles", `{"type":"string",` + color + `"oneOf":` + titled + `,"default":"#FF0000"}`, schemaOf[struct {
			A string `title:"Color Selection" description:"Choose your favorite color" enum:"#FF0000=Red,#00FF00=Green,#0000FF=Blue" default:"#FF0000"`
		}]},
		{"some of, without titles", `{"type":"array",` + colors + `"items":{"type":"string","enum":["Red","Green","Blue"]},"default":["Red","Green"]}`, schemaOf[struct {
			A []string `title:"Color Selection" description:"Choose your favorite colors" enum:"Red,Green,Blue" minItems:"1" maxItems:"2" default:"Red,Green"`
		}]},
		{"some of, with titles", `{"type":"array",` + colors + `"items":{"anyOf":` + titled + `},"default":["#FF0000","#00FF00"]}`, schemaOf[struct {
			A []string `title:"Color Selection" description:"Choose your favorite colors" enum:"#FF0000=Red,#00FF00=Green,#0000FF=Blue" minItems:"1" maxItems:"2" default:"#FF0000,#00FF00"`
		}]},
	} {
		t.Run(test.name, func(t *testing.T) {
			schema, err := test.build()
			if err != nil {
				t.Fatal(err)
			}
			want := `{"type":"object","properties":{"A":` + test.want + `},"required":["A"]}`
			if got := string(schema.JSON()); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func schemaOf[T any]() (*elicitation.Schema, error) {
	form, err := elicitation.NewForm[T]()
	if err != nil {
		return nil, err
	}
	return form.Schema(), nil
}

// Decoders are pooled: answers that are read at the same time must not mix.
func TestFormIsSafeForConcurrentUse(t *testing.T) {
	type answer struct {
		Text string   `json:"text" maxLength:"9"`
		Many []string `json:"many" enum:"a,b,c"`
	}
	form := elicitation.MustForm[answer]()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			want := answer{Text: strings.Repeat(string(rune('a'+i)), i), Many: []string{"a", "b", "c"}[:i%4]}
			chosen := `"` + strings.Join(want.Many, `","`) + `"`
			if len(want.Many) == 0 {
				chosen = ""
			}
			response := []byte(`{"action":"accept","content":{"text":"` + want.Text + `","many":[` + chosen + `],"x":{"y":[1]}}}`)
			for range 200 {
				reply, err := form.Decode(response)
				if err != nil || reply.Content.Text != want.Text || !slices.Equal(reply.Content.Many, want.Many) {
					t.Errorf("got %+v, %v; want %+v", reply, err, want)
					return
				}
				if _, err := form.Decode(response[:len(response)-i-1]); err == nil {
					t.Error("a truncated answer was accepted")
					return
				}
			}
		})
	}
	all.Wait()
}

func TestFormDecode(t *testing.T) {
	form := elicitation.MustForm[everything]()
	reply, err := form.Decode([]byte(`{"action":"accept","content":{
		"plain":"a\u00e9\n\u0022","Untagged":"","mail":"a@example.com","region":"us","titled":"eu","many":["c","a"],
		"count":3e1,"big":18446744073709551615,"small":-128,"byte":9.0,"ratio":1.5,"single":0.1,"force":false,"maybe":true,
		"unknown":{"deep":[null]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	small, byt, ratio, single, maybe := int8(-128), uint8(9), 1.5, float32(0.1), true
	want := everything{
		Plain: "aé\n\"", Mail: "a@example.com", Region: "us", Titled: "eu", Many: []region{"c", "a"},
		Count: 30, Big: math.MaxUint64, Small: &small, Byte: &byt, Ratio: &ratio, Single: &single, Maybe: &maybe,
	}
	if reply.Action != elicitation.Accept || !reflect.DeepEqual(reply.Content, want) {
		t.Errorf("got %+v\nwant %+v", reply, want)
	}
}

func TestFormDefaultIsNoAnswer(t *testing.T) {
	type consent struct {
		Force bool     `json:"force" default:"true"`
		Level *int     `json:"level" default:"5"`
		Areas []string `json:"areas,omitempty" enum:"a,b" default:"a"`
	}
	form := elicitation.MustForm[consent]()
	_, err := form.Decode([]byte(`{"action":"accept","content":{}}`))
	wantViolations(t, err, "force required")
	reply, err := form.Decode([]byte(`{"action":"accept","content":{"force":false}}`))
	if err != nil || reply.Content.Force || reply.Content.Level != nil || reply.Content.Areas != nil {
		t.Errorf("got %+v, %v: a default was filled in", reply, err)
	}
}

// A no must not carry content that could be taken for a yes.
func TestFormDecodeDeclineAndCancel(t *testing.T) {
	type decision struct {
		Decision string `json:"decision" enum:"go,stop"`
	}
	form := elicitation.MustForm[decision]()
	for _, action := range []elicitation.Action{elicitation.Decline, elicitation.Cancel} {
		for _, content := range []string{``, `,"content":null`, `,"content":{}`, `,"content":{"decision":"go"}`, `,"content":[7]`, `,"content":"go"`, `,"resultType":"complete"`} {
			response := `{"action":"` + string(action) + `"` + content + `}`
			reply, err := form.Decode([]byte(response))
			if err != nil || reply != (elicitation.Reply[decision]{Action: action}) {
				t.Errorf("%s: got %+v, %v", response, reply, err)
			}
		}
	}
}

func TestFormAcceptWithoutContent(t *testing.T) {
	type optional struct {
		Note *string `json:"note"`
	}
	type mixed struct {
		Name string  `json:"name"`
		Note *string `json:"note"`
	}
	for _, content := range []string{``, `,"content":null`, `,"content":{}`} {
		response := []byte(`{"action":"accept"` + content + `}`)
		reply, err := elicitation.MustForm[optional]().Decode(response)
		if err != nil || reply.Action != elicitation.Accept || reply.Content.Note != nil {
			t.Errorf("optional, %s: got %+v, %v", response, reply, err)
		}
		refused, err := elicitation.MustForm[mixed]().Decode(response)
		wantViolations(t, err, "name required")
		if refused.Action != "" {
			t.Errorf("required, %s: the refused answer has the action %q", response, refused.Action)
		}
	}
}

func TestFormNumbersThatDoNotFit(t *testing.T) {
	type numbers struct {
		I8  *int8    `json:"i8"`
		I64 *int64   `json:"i64"`
		U64 *uint64  `json:"u64"`
		F32 *float32 `json:"f32"`
		F64 *float64 `json:"f64"`
		Int *int     `json:"int"`
	}
	form := elicitation.MustForm[numbers]()
	for content, want := range map[string]string{
		`{"i8":127,"i64":9223372036854775807,"u64":18446744073709551615}`: "",
		`{"i8":-128,"i64":-9223372036854775808,"u64":-0}`:                 "",
		`{"i64":922337203685477580.7e1}`:                                  "",
		`{"i8":128}`:                                                      "i8 maximum",
		`{"i8":1e2,"i64":9223372036854775808}`:                            "i64 fits",
		`{"i64":-9223372036854775809}`:                                    "i64 fits",
		`{"u64":18446744073709551616}`:                                    "u64 fits",
		`{"u64":-1}`:                                                      "u64 minimum",
		`{"u64":1e300}`:                                                   "u64 fits",
		`{"int":1e99999999999999999999}`:                                  "int fits",
		`{"int":1.5}`:                                                     "int type",
		`{"f32":1e39}`:                                                    "f32 fits",
		`{"f64":1e39}`:                                                    "",
		`{"f64":1e309}`:                                                   "f64 fits",
		`{"f64":-1e-400}`:                                                 "",
	} {
		_, err := form.Decode([]byte(`{"action":"accept","content":` + content + `}`))
		wantViolations(t, err, want)
		if validateErr := form.Schema().Validate([]byte(content)); (validateErr == nil) != (err == nil) {
			t.Errorf("%s: Decode says %v, Validate says %v", content, err, validateErr)
		}
	}
}

func TestFormParams(t *testing.T) {
	type name struct {
		Name string `json:"name"`
	}
	form := elicitation.MustForm[name]()
	if form.Kind() != elicitation.FormMode || form.Method() != "elicitation/create" {
		t.Errorf("got %q, %q", form.Kind(), form.Method())
	}
	params, err := form.Params("Who \"are\" you?\n")
	want := `{"mode":"form","message":"Who \"are\" you?\n","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}`
	if err != nil || string(params) != want {
		t.Errorf("got %s, %v\nwant %s", params, err, want)
	}
	for _, message := range []string{"", " \n", "a\xff"} {
		if params, err := form.Params(message); err == nil {
			t.Errorf("message %q: got %s", message, params)
		}
	}
}

// An answer may only be used for the question that it was given to.
func TestFormIdentity(t *testing.T) {
	type a struct {
		X string `json:"x" enum:"eu=Europe,us=United States"`
	}
	type same struct {
		Y string `json:"x" enum:"eu=Europe,us=United States"`
	}
	type otherTitle struct {
		X string `json:"x" enum:"eu=Everywhere,us=United States"`
	}
	type optional struct {
		X *string `json:"x" enum:"eu=Europe,us=United States"`
	}
	base := string(elicitation.MustForm[a]().Identity())
	if got := string(elicitation.MustForm[same]().Identity()); got != base {
		t.Errorf("equal schemas, different questions: %s", got)
	}
	if got := string(elicitation.MustForm[otherTitle]().Identity()); got == base {
		t.Error("another title is the same question")
	}
	if got := string(elicitation.MustForm[optional]().Identity()); got == base {
		t.Error("an optional property is the same question")
	}
}

func TestZeroFormIsHarmless(t *testing.T) {
	var form elicitation.Form[struct{ A string }]
	if _, err := form.Params("?"); err == nil {
		t.Error("Params: no error")
	}
	if _, err := form.Decode([]byte(`{"action":"accept"}`)); err == nil {
		t.Error("Decode: no error")
	}
}

func TestFormRefused(t *testing.T) {
	type base struct{ A string }
	tests := []struct {
		name  string
		build func() error
		field string
		says  string
	}{
		{"no properties", build[struct{}], "", "without showing it"},
		{"only left out fields", build[struct {
			A string `json:"-"`
		}], "", "without showing it"},
		{"not a struct", build[string], "", "not from string"},
		{"pointer to a struct", build[*base], "", "not from *"},
		{"nested struct", build[struct{ A base }], "A", "flat"},
		{"embedded struct", build[struct{ base }], "base", "embedded"},
		{"map", build[struct{ A map[string]string }], "A", "flat"},
		{"interface", build[struct{ A any }], "A", "flat"},
		{"bytes", build[struct{ A []byte }], "A", "flat"},
		{"list of numbers", build[struct{ A []int }], "A", "flat"},
		{"list of structs", build[struct{ A []base }], "A", "flat"},
		{"array", build[struct{ A [2]string }], "A", "flat"},
		{"free list", build[struct{ A []string }], "A", "free list"},
		{"pointer to a list", build[struct {
			A *[]string `enum:"a"`
		}], "A", "not allowed"},
		{"list of pointers", build[struct {
			A []*string `enum:"a"`
		}], "A", "not allowed"},
		{"pointer to a pointer", build[struct{ A **string }], "A", "not allowed"},
		{"complex", build[struct{ A complex128 }], "A", "not allowed"},
		{"uintptr", build[struct{ A uintptr }], "A", "not allowed"},
		{"name used twice", build[struct {
			A string `json:"B"`
			B string
		}], "B", "twice"},
		{"unexported with tags", build[struct {
			B string
			a string `title:"a"`
		}], "a", "not exported"},
		{"json option string", build[struct {
			A int `json:"a,string"`
		}], "A", `"string"`},
		{"misspelt tag", build[struct {
			A string `maxlength:"3"`
		}], "A", `"maxlength"`},
		{"another package's tag", build[struct {
			A string `json:"a" yaml:"a"`
		}], "A", `"yaml"`},
		{"tag twice", build[struct {
			//lint:ignore SA5008 this is the fault
			A string `maxLength:"3" maxLength:"4"`
		}], "A", "twice"},
		{"maxLength on an int", build[struct {
			A int `maxLength:"3"`
		}], "A", `"maxLength"`},
		{"maximum on a string", build[struct {
			A string `maximum:"3"`
		}], "A", `"maximum"`},
		{"enum on an int", build[struct {
			A int `enum:"1,2"`
		}], "A", `"enum"`},
		{"enum on a bool", build[struct {
			A bool `enum:"true"`
		}], "A", `"enum"`},
		{"format on a choice", build[struct {
			A string `enum:"a" format:"uri"`
		}], "A", `"format"`},
		{"maxLength on a choice", build[struct {
			A string `enum:"a" maxLength:"3"`
		}], "A", `"maxLength"`},
		{"minItems on a string", build[struct {
			A string `minItems:"1"`
		}], "A", `"minItems"`},
		{"unknown format", build[struct {
			A string `format:"hostname"`
		}], "A", "hostname"},
		{"negative length", build[struct {
			A string `maxLength:"-1"`
		}], "A", "maxLength"},
		{"length that is no number", build[struct {
			A string `maxLength:"many"`
		}], "A", "maxLength"},
		{"length with a fraction", build[struct {
			A string `maxLength:"1.5"`
		}], "A", "maxLength"},
		{"limit that is no JSON number", build[struct {
			A int `minimum:"+1"`
		}], "A", "minimum"},
		{"hexadecimal limit", build[struct {
			A int `minimum:"0x10"`
		}], "A", "minimum"},
		{"limit with space", build[struct {
			A int `minimum:" 1"`
		}], "A", "minimum"},
		{"lengths crossed", build[struct {
			A string `minLength:"4" maxLength:"3"`
		}], "A", "above"},
		{"limits crossed", build[struct {
			A float64 `minimum:"0.2" maximum:"0.1"`
		}], "A", "above"},
		{"limits that floats cannot tell apart crossed", build[struct {
			A int64 `minimum:"9007199254740993" maximum:"9007199254740992"`
		}], "A", "above"},
		{"limit outside the type", build[struct {
			A int8 `minimum:"128"`
		}], "A", "above"},
		{"items crossed", build[struct {
			A []string `enum:"a,b,c" minItems:"2" maxItems:"1"`
		}], "A", "above"},
		{"more items than values", build[struct {
			A []string `enum:"a,b" minItems:"3"`
		}], "A", "number of values"},
		{"empty enum", build[struct {
			A string `enum:""`
		}], "A", "empty value"},
		{"empty value in an enum", build[struct {
			A string `enum:"a,,b"`
		}], "A", "empty value"},
		{"empty value with a title", build[struct {
			A string `enum:"=A,b=B"`
		}], "A", "empty value"},
		{"value without its title", build[struct {
			A string `enum:"a=A,b="`
		}], "A", "no title"},
		{"titles for some", build[struct {
			A string `enum:"a=A,b"`
		}], "A", "either all"},
		{"comma in a title", build[struct {
			A string `enum:"eu=Europe,west,us=America"`
		}], "A", "comma"},
		{"space next to a comma", build[struct {
			A string `enum:"a, b"`
		}], "A", "space"},
		{"value twice", build[struct {
			A string `enum:"a,b,a"`
		}], "A", "twice"},
		{"default of the wrong type", build[struct {
			A int `default:"two"`
		}], "A", "default"},
		{"default that is no boolean", build[struct {
			A bool `default:"yes"`
		}], "A", "default"},
		{"default too long", build[struct {
			A string `maxLength:"2" default:"äöü"`
		}], "A", "at most 2 characters"},
		{"default outside the limits", build[struct {
			A int `maximum:"2" default:"3"`
		}], "A", "at most 2"},
		{"default with a fraction", build[struct {
			A int `default:"2.5"`
		}], "A", "an integer"},
		{"default that is a title", build[struct {
			A string `enum:"eu=Europe" default:"Europe"`
		}], "A", "one of"},
		{"default of another format", build[struct {
			A string `format:"email" default:"nobody"`
		}], "A", "e-mail"},
		{"default twice the same", build[struct {
			A []string `enum:"a,b" default:"a,a"`
		}], "A", "twice"},
		{"default with too few items", build[struct {
			A []string `enum:"a,b" minItems:"1" default:""`
		}], "A", "at least 1 value"},
		{"default that does not fit", build[struct {
			A int64 `default:"9223372036854775808"`
		}], "A", "int64"},
		{"text that is not UTF-8", build[struct {
			A string "title:\"\\xff\""
		}], "A", "UTF-8"},
		{"value that is not UTF-8", build[struct {
			A string "enum:\"\\xff\""
		}], "A", "UTF-8"},
		{"default that is not UTF-8", build[struct {
			A string "default:\"\\xff\""
		}], "A", "default"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := test.build()
			e, ok := errors.AsType[*elicitation.SchemaError](err)
			if !ok {
				t.Fatalf("got %v, want a *SchemaError", err)
			}
			if e.Field != test.field || !strings.Contains(e.Error(), test.says) || e.Sensitive {
				t.Errorf("got field %q, %v; want field %q and %q", e.Field, e, test.field, test.says)
			}
		})
	}
}

func build[T any]() error {
	_, err := elicitation.NewForm[T]()
	return err
}

func TestMustFormPanics(t *testing.T) {
	defer func() {
		if err, ok := recover().(error); !ok || !strings.Contains(err.Error(), "form") {
			t.Errorf("recovered %v", err)
		}
	}()
	elicitation.MustForm[struct{}]()
}

// wantViolations compares an AnswerError with a list like "note maxLength; force type".
func wantViolations(t *testing.T, err error, want string) {
	t.Helper()
	got := ""
	if err != nil {
		e, ok := errors.AsType[*elicitation.AnswerError](err)
		if !ok {
			t.Fatalf("got %v (%T), want an *AnswerError", err, err)
		}
		var all []string
		for _, v := range e.Violations {
			if v.Want == "" || !strings.Contains(e.Error(), v.String()) {
				t.Errorf("%+v is not told in %q", v, e.Error())
			}
			all = append(all, strings.TrimSpace(v.Property+" "+string(v.Rule)))
		}
		got = strings.Join(all, "; ")
	}
	if got != want {
		t.Errorf("got violations %q (%v), want %q", got, err, want)
	}
}
