// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package record_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/reprise-mcp/reprise/transcript/record"
)

// taped is a recorder with the file that it writes to.
type taped struct {
	*record.Recorder
	t    *testing.T
	file string

	mu     sync.Mutex
	warned []string
}

func tape(t *testing.T, redact bool) *taped {
	t.Helper()
	r := &taped{t: t, file: filepath.Join(t.TempDir(), "r.jsonl")}
	f, err := os.OpenFile(r.file, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	r.Recorder = record.New(f, record.Options{Redact: redact, Warn: r.warn})
	return r
}

func (r *taped) warn(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.warned = append(r.warned, text)
}

// warnings are those until now, a line each.
func (r *taped) warnings() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.warned, "\n")
}

// text is what stands in the file by now.
func (r *taped) text() string {
	r.t.Helper()
	text, err := os.ReadFile(r.file)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

type line struct {
	Message   json.RawMessage `json:"message"`
	Direction string          `json:"direction"`
	HTTP      *struct {
		Headers map[string]string `json:"headers"`
		Status  int               `json:"status"`
	} `json:"http"`
	Client   string `json:"client"`
	Redacted bool   `json:"redacted"`
}

func (r *taped) lines() []line {
	r.t.Helper()
	var all []line
	text := r.text()
	if text != "" && !strings.HasSuffix(text, "\n") {
		r.t.Errorf("the last line has no end")
	}
	for row := range strings.Lines(text) {
		var l line
		d := json.NewDecoder(strings.NewReader(row))
		d.DisallowUnknownFields()
		if err := d.Decode(&l); err != nil {
			r.t.Fatalf("line %d: %v", len(all)+1, err)
		}
		if d.More() {
			r.t.Fatalf("line %d holds more than one object", len(all)+1)
		}
		all = append(all, l)
	}
	return all
}

// short is the recording without headers: "> alice MESSAGE" and "< alice 200 MESSAGE".
func (r *taped) short() string {
	r.t.Helper()
	var b strings.Builder
	for _, l := range r.lines() {
		mark := map[string]string{"client": ">", "server": "<"}[l.Direction]
		fmt.Fprintf(&b, "%s %s", mark, l.Client)
		if l.HTTP != nil && l.HTTP.Status != 0 {
			fmt.Fprintf(&b, " %d", l.HTTP.Status)
		}
		fmt.Fprintf(&b, " %s\n", l.Message)
	}
	return b.String()
}

func (r *taped) wants(want string) {
	r.t.Helper()
	if got := r.short(); got != want {
		r.t.Errorf("recorded\n%swant\n%s", got, want)
	}
}

func (r *taped) warns(want ...string) {
	r.t.Helper()
	got := r.warnings()
	if len(want) == 0 && got != "" || len(want) != 0 && strings.Count(got, "\n")+1 != len(want) {
		r.t.Errorf("it warned %q, want %q", got, want)
	}
	for _, w := range want {
		if !strings.Contains(got, w) {
			r.t.Errorf("it warned %q, want %q", got, want)
		}
	}
}

// A disk that is full stops the recording, once and for all, and nothing else.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("this system has no /dev/full")
	} else if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	r := &taped{t: t}
	r.Recorder = record.New(full, record.Options{Warn: r.warn})
	s := serve(t, r, answering("application/json", `{"jsonrpc":"2.0","id":1,"result":{}}`))
	for range 3 {
		if status, body := s.post("/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`); status != 200 || !strings.Contains(body, "result") {
			t.Errorf("status %d: %s", status, body)
		}
	}
	r.warns("recording has stopped, and messages pass on unrecorded: write /dev/full: " + syscall.ENOSPC.Error())
	if err := r.Close(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Close: %v", err)
	}
}

// What a full disk left of a line is cut off. The file is a real one; only its Write is short.
func TestHalfALine(t *testing.T) {
	r := tape(t, false)
	f, err := os.OpenFile(r.file, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r.Recorder = record.New(&short{f, 400}, record.Options{Warn: r.warn})
	s := serve(t, r, answering("application/json", `{"jsonrpc":"2.0","id":1,"result":{}}`))
	for range 3 {
		s.post("/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	}
	r.wants(`>  {"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n")
	r.warns("recording has stopped")
}

type short struct {
	*os.File
	left int
}

func (s *short) Write(p []byte) (int, error) {
	n, err := s.File.Write(p[:min(len(p), s.left)])
	if s.left -= n; err == nil && n < len(p) {
		err = syscall.ENOSPC
	}
	return n, err
}

const (
	typed  = "Mülls & <Söhne> 4711"
	sealed = "v1.k1.AAAA-sealed_state"
)

// quoted is JSON text that holds the values in two spellings.
func escaped(s string) string {
	var b strings.Builder
	for _, c := range s {
		fmt.Fprintf(&b, `\u%04x`, c)
	}
	return `"` + b.String() + `"`
}

// Nothing secret stays, what was equal stays equal, and all else stays as it was.
func TestRedact(t *testing.T) {
	r := tape(t, true)
	s := serve(t, r, answering("application/json", `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":`+escaped(sealed)+
		`,"inputRequests":{"q":{"method":"elicitation/create","params":{"message":"What <name>?","requestedSchema":{"type":"object","properties":{"requestState":{"type":"string"}}}}}}}}`))
	s.header.Set("Authorization", "Bearer tok-of-alice")
	s.header.Set("Cookie", "session=crumbs")
	s.header.Set("Proxy-Authorization", "Basic c2VjcmV0")
	const meta = `"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"alice"}}`
	for _, params := range []string{
		`"requestState":"` + sealed + `","inputResponses":{"q":{"action":"accept","content":{"name":"` + typed + `","n":4711,"big":47.11e3,"yes":true,"no":false,"nil":null,"many":["` + typed + `","4711-b"],"deep":{"a":{"b":"4711-c"}}}}}`,
		`"inputResponses":{"q":{"action":"decline"},"r":{"action":"cancel"},"s":{"action":"4711-d","content":"4711-e","action2":"accept"},"t":"4711-f","u":[{"action":"4711-g"}],"v":{"action":{"action":"4711-h"}}}`,
		`"arguments":{"requestState":"` + sealed + `","x":{"INPUTRESPONSES":{"q":{"action":"accept","content":{"name":` + escaped(typed) + `}}}}},"RequestState":{"a":["` + sealed + `"]}`,
		`"inputResponses":"4711-i","requestState":4711`,
		`"inputResponses":{"m":{"role":"assistant","content":{"type":"text","text":"4711-j"},"model":"4711-k"},"l":{"roots":[{"uri":"file:///home/4711"}]}}`,
	} {
		s.post("/mcp", `{"jsonrpc":"2.0","id":1, "method":"tools/call","params":{`+params+`,`+meta+`}}`)
	}
	s.post("/mcp", `{"jsonrpc":"2.0","id":9,"result":{"action":"accept","content":{"name":"`+typed+`"}}}`)
	s.post("/mcp", `[{"jsonrpc":"2.0","id":9,"result":{"content":{"name":"4711-l"}}}]`)
	s.post("/mcp", `{"requestState":"`+sealed+`"`) // no JSON
	s.header.Set("Authorization", "bearer  tok-of-bob")
	s.post("/mcp", `"requestState"`)
	s.header.Set("Authorization", "Basic dG9rLW9mLWFsaWNl")
	s.post("/mcp", `1.50`)

	text := r.text()
	for _, secret := range []string{"4711", "tok-of", "dG9r", "sealed_state", "crumbs", "c2VjcmV0", "Söhne", `\u`, "47.11"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q stays in\n%s", secret, text)
		}
	}
	lines := r.lines()
	placeholder := func(path ...string) string {
		t.Helper()
		for _, l := range lines {
			var v any
			json.Unmarshal(l.Message, &v)
			for _, name := range path {
				m, _ := v.(map[string]any)
				v = m[name]
			}
			if s, ok := v.(string); ok {
				return s
			}
		}
		t.Fatalf("nothing at %q", path)
		return ""
	}
	state, name := placeholder("result", "requestState"), placeholder("params", "inputResponses", "q", "content", "name")
	if !strings.HasPrefix(state, "redacted:") || len(state) != len("redacted:")+16 || !strings.HasPrefix(name, "redacted:") || state == name {
		t.Errorf("the placeholders are %q and %q", state, name)
	}
	// By its order of first appearance, each placeholder gets a short name.
	short, known := r.short(), map[string]string{}
	for i := strings.Index(short, "redacted:"); i >= 0; i = strings.Index(short, "redacted:") {
		p := short[i : i+len(state)]
		if known[p] == "" {
			known[p] = string(rune('A' + len(known)))
		}
		short = strings.ReplaceAll(short, p, known[p])
	}
	asked := `< alice 200 {"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"A","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"What <name>?","requestedSchema":{"type":"object","properties":{"requestState":{"type":"string"}}}}}}}}` + "\n"
	begin := `> alice {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{`
	end := `,` + meta + "}}\n"
	want := begin + `"requestState":"A","inputResponses":{"q":{"action":"accept","content":{"name":"B","n":0,"big":0,"yes":false,"no":false,"nil":null,"many":["B","C"],"deep":{"a":{"b":"D"}}}}}` + end + asked +
		begin + `"inputResponses":{"q":{"action":"decline"},"r":{"action":"cancel"},"s":{"action":"E","content":"F","action2":"G"},"t":"H","u":[{"action":"I"}],"v":{"action":{"action":"J"}}}` + end + asked +
		begin + `"arguments":{"requestState":"A","x":{"INPUTRESPONSES":{"q":{"action":"accept","content":{"name":"B"}}}}},"RequestState":{"a":["A"]}` + end + asked +
		begin + `"inputResponses":"K","requestState":0` + end + asked +
		begin + `"inputResponses":{"m":{"role":"L","content":{"type":"M","text":"N"},"model":"O"},"l":{"roots":[{"uri":"P"}]}}` + end + asked
	anonymous := strings.Replace(asked, "alice", "", 1)
	want += `>  {"jsonrpc":"2.0","id":9,"result":{"action":"accept","content":{"name":"B"}}}` + "\n" + anonymous +
		`>  [{"jsonrpc":"2.0","id":9,"result":{"content":{"name":"Q"}}}]` + "\n" + anonymous +
		`>  "R"` + "\n" + anonymous + `>  "requestState"` + "\n" + anonymous + `>  1.50` + "\n" + anonymous
	if short != want {
		t.Errorf("recorded\n%swant\n%s", short, want)
	}
	first, last := lines[0].HTTP.Headers, lines[len(lines)-2].HTTP.Headers
	if a, b, c := first["Authorization"], lines[2].HTTP.Headers["Authorization"], lines[len(lines)-4].HTTP.Headers["Authorization"]; a != b || !strings.HasPrefix(a, "Bearer redacted:") || !strings.HasPrefix(c, "bearer redacted:") || a[7:] == c[7:] {
		t.Errorf("the tokens are %q, %q and %q", a, b, c)
	}
	if first["Cookie"] != "[redacted]" || last["Authorization"] != "[redacted]" {
		t.Errorf("the headers are %v and %v", first, last)
	}

	// Another recording has other placeholders, so that nobody can try texts out.
	other := tape(t, true)
	s = serve(t, other, answering("application/json", `{"jsonrpc":"2.0","id":1,"result":{"requestState":"`+sealed+`"}}`))
	s.post("/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`)
	if strings.Contains(other.text(), state) {
		t.Error("the placeholder of a state is the same in two recordings")
	}
}

// Whatever the message is, hiding keeps it a message, and touches nothing where there is nothing to hide.
func FuzzRedact(f *testing.F) {
	for _, text := range []string{
		`{"params":{"requestState":"s","inputResponses":{"a":{"action":"accept","content":{"b":[1,true,null,"x"]}}}}}`,
		`[{"result":{"requestState":["s"]}},1]`, ` { "a/b~c" : "\ud800" , "a/b~c" : {} } `, `"x"`, `[[[]]]`, `{"result":1}`, `{"inputResponses":3,"":{"":""}}`,
	} {
		f.Add([]byte(text), true)
		f.Add([]byte(text), false)
	}
	f.Fuzz(func(t *testing.T, message []byte, client bool) {
		if !json.Valid(message) {
			return
		}
		hidden, err := record.Redact(message, client)
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(hidden) {
			t.Fatalf("%s became %s", message, hidden)
		}
		if lower := bytes.ToLower(message); !bytes.Contains(lower, []byte("re")) && !bytes.Contains(lower, []byte("in")) && !bytes.Contains(lower, []byte(`\u`)) && !bytes.Contains(lower, []byte("ſ")) &&
			!bytes.Equal(message, hidden) {
			t.Fatalf("%s became %s", message, hidden)
		}
		if shape(message) != shape(hidden) {
			t.Fatalf("%s became %s", message, hidden)
		}
	})
}

// shape is a message without what its scalars say.
func shape(message []byte) string {
	var b strings.Builder
	d := json.NewDecoder(bytes.NewReader(message))
	d.UseNumber()
	for token, err := d.Token(); err == nil; token, err = d.Token() {
		if delim, ok := token.(json.Delim); ok {
			fmt.Fprintf(&b, "%v", delim)
		} else {
			fmt.Fprintf(&b, "%T ", token)
		}
	}
	return b.String()
}
