// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package transcript_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/reprise-mcp/reprise/transcript"
)

const (
	ask    = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}`
	answer = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}`
	notice = `{"jsonrpc":"2.0","method":"notifications/progress"}`
)

// lines is a recording as one line an entry.
func lines(t testing.TB, recording string, format transcript.Format) (string, error) {
	t.Helper()
	var b strings.Builder
	for e, err := range transcript.Read(strings.NewReader(recording), format) {
		if err != nil {
			return b.String(), err
		}
		fmt.Fprintf(&b, "%d %s %s", e.Line, e.Direction, bytes.Join(bytes.Fields(e.Message), nil))
		if e.HTTP {
			fmt.Fprintf(&b, " http %d %s", e.Status, e.Headers["mcp-method"])
		}
		if e.Client != "" {
			fmt.Fprintf(&b, " of %s", e.Client)
		}
		if e.Legacy {
			b.WriteString(" legacy")
		}
		if e.Violation != "" {
			fmt.Fprintf(&b, " wrong: %s", e.Violation)
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
}

func TestFormats(t *testing.T) {
	sse := "event: message\ndata: " + notice + "\n\n: comment\ndata: " + answer[:20] + "\ndata: " + answer[20:] + "\n\n"
	har := func(content string) string {
		return `{"log":{"version":"1.2","creator":{"name":"x"},"entries":[
			{"request":{"method":"GET","headers":[]},"response":{"status":200,"headers":[],"content":{}}},
			{"request":{"method":"POST","headers":[{"name":"Mcp-Method","value":"tools/call"}],"postData":{"text":` + quote(ask) + `}},
			 "response":{"status":200,"headers":[],"content":` + content + `}}]}}`
	}
	for _, test := range []struct {
		name, recording string
		format          transcript.Format
		want            string
	}{
		{"bare lines", ask + "\n\n" + answer + "\r\n" + notice, transcript.JSONL, "1  " + ask + "\n3  " + answer + "\n4  " + notice + "\n"},
		{"byte order mark", "\ufeff" + ask, transcript.JSONL, "1  " + ask + "\n"},
		{"wrapped lines", `{"message":` + ask + `,"direction":"client","http":{"headers":{"Mcp-Method":"tools/call"}},"client":"alice","violation":"why"}
{"message":` + answer + `,"direction":"server","http":{"headers":{},"status":200},"client":"alice","legacy":true}
{"message":null,"direction":"server","http":{"headers":{},"status":202}}
{"message":"no JSON","direction":"client"}`, transcript.JSONL,
			"1 client " + ask + " http 0 tools/call of alice wrong: why\n2 server " + answer + " http 200  of alice legacy\n3 server  http 202 \n4 client noJSON\n"},
		{"what is no JSON", "{\n" + ask, transcript.JSONL, "1  {\n2  " + ask + "\n"},
		{"array", "[" + ask + ",\n{\"message\":" + answer + ",\"direction\":\"server\"}]", transcript.Array, "1  " + ask + "\n2 server " + answer + "\n"},
		{"empty array", "[]", transcript.Array, ""},
		{"HAR with JSON", har(`{"mimeType":"application/json","text":` + quote(answer) + `}`), transcript.HAR, "2 client " + ask + " http 0 tools/call\n2 server " + answer + " http 200 \n"},
		{"HAR with base64", har(`{"mimeType":"application/json","encoding":"base64","text":"` + base64.StdEncoding.EncodeToString([]byte(answer)) + `"}`), transcript.HAR,
			"2 client " + ask + " http 0 tools/call\n2 server " + answer + " http 200 \n"},
		{"HAR with events", har(`{"mimeType":"text/event-stream; charset=utf-8","text":` + quote(sse) + `}`), transcript.HAR,
			"2 client " + ask + " http 0 tools/call\n2 server " + notice + " http 200 \n2 server " + answer + " http 200 \n"},
		{"HAR without a message", har(`{"mimeType":"text/plain","text":"Bad Gateway"}`), transcript.HAR, "2 client " + ask + " http 0 tools/call\n2 server  http 200 \n"},
		{"mcpsnoop", `{"session_id":"s","seq":1,"direction":"c2s","raw":` + ask + `,"conn_id":"c1"}
{"session_id":"s","seq":2,"direction":"meta","raw":"started"}
{"session_id":"s","seq":3,"direction":"s2c","raw":` + quote(answer) + `,"conn_id":"c1","status":200}`, transcript.MCPSnoop,
			"1 client " + ask + " of s\n3 server " + answer + " http 200  of s\n"},
		{"log of a server", "starting\nread: " + ask + "\nwrite: " + answer + "\nread error: EOF\n", transcript.Log, "2 client " + ask + "\n3 server " + answer + "\n"},
		{"log of a client", "write: " + ask + "\nread: " + answer + "\n", transcript.Log, "1 client " + ask + "\n2 server " + answer + "\n"},
		{"arrows", "--> " + ask + "\n<-- " + answer + "\n", transcript.Log, "1 client " + ask + "\n2 server " + answer + "\n"},
		{"stdio with marks", "> " + ask + "\n< " + answer + "\n", transcript.Log, "1 client " + ask + "\n2 server " + answer + "\n"},
		{"txtar", "A conversation.\n\n-- prompts --\ncode_review\n-- client --\n" + ask + "\n{\n  \"jsonrpc\": \"2.0\",\n  \"method\": \"notifications/progress\"\n}\n-- server --\n" + answer + "\n", transcript.Txtar,
			"6 client " + ask + "\n7 client " + notice + "\n12 server " + answer + "\n"},
		{"nothing", "", transcript.JSONL, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, format := range []transcript.Format{"", test.format} { // recognised, and told
				got, err := lines(t, test.recording, format)
				if err != nil {
					t.Fatal(err)
				}
				if want := strings.ReplaceAll(test.want, "data: ", ""); got != want {
					t.Errorf("format %q: got\n%swant\n%s", format, got, want)
				}
			}
		})
	}
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

func TestWhatCannotBeRead(t *testing.T) {
	for _, test := range []struct {
		name, recording string
		format          transcript.Format
		line            int
	}{
		{"prose", "hello", "", 0},
		{"unknown format", ask, "yaml", 0},
		{"a broken array", "[" + ask + ",{", transcript.Array, 2},
		{"an archive without entries", `{"log":{"version":"1.2"}}`, transcript.HAR, 0},
		{"an archive that is none", ask, transcript.HAR, 0},
		{"entries that are none", `{"log":{"entries":[7]}}`, transcript.HAR, 1},
		{"http that is none", `{"message":` + ask + `,"http":7}`, transcript.JSONL, 1},
		{"a broken section", "-- client --\n{\n", transcript.Txtar, 2},
		{"a broken line of mcpsnoop", `{"direction":"c2s","raw":`, transcript.MCPSnoop, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := lines(t, test.recording, test.format)
			var at *transcript.Error
			if !errors.As(err, &at) || at.Line != test.line {
				t.Errorf("got %v", err)
			}
		})
	}
}

// A reader that fails is reported, and a caller that has had enough is left alone.
func TestStopping(t *testing.T) {
	broken := io.MultiReader(strings.NewReader(ask+"\n"), errReader{})
	n := 0
	for _, err := range transcript.Read(broken, transcript.JSONL) {
		if n++; n == 2 && !errors.Is(err, errBroken) {
			t.Errorf("%v", err)
		}
	}
	if n != 2 {
		t.Errorf("%d", n)
	}
	for range transcript.Read(strings.NewReader(ask+"\n"+ask), "") {
		break
	}
}

var errBroken = errors.New("broken")

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errBroken }

// endless yields a recording of n lines.
type endless struct {
	n    int
	rest string
}

func (r *endless) Read(p []byte) (int, error) {
	if r.rest == "" {
		if r.n == 0 {
			return 0, io.EOF
		}
		r.n--
		r.rest = ask + "\n"
	}
	k := copy(p, r.rest)
	r.rest = r.rest[k:]
	return k, nil
}

// Memory does not grow with the recording.
func TestMemoryIsFlat(t *testing.T) {
	peak := func(n int) uint64 {
		var m runtime.MemStats
		most, i := uint64(0), 0
		for _, err := range transcript.Read(&endless{n: n}, "") {
			if err != nil {
				t.Fatal(err)
			}
			if i++; i%20_000 == 0 {
				runtime.GC()
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
		}
		return most
	}
	small, large := peak(20_000), peak(400_000)
	if large > small+4<<20 {
		t.Errorf("%d bytes for a small recording, %d for one twenty times as large", small, large)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(ask+"\n"+answer, "")
	f.Add("read: "+ask, "log")
	f.Add("-- client --\n"+ask, "txtar")
	f.Add(`{"log":{"entries":[{}]}}`, "har")
	f.Add("["+ask+"]", "array")
	f.Add(`{"direction":"c2s","raw":{}}`, "mcpsnoop")
	f.Fuzz(func(t *testing.T, recording, format string) {
		for e, err := range transcript.Read(strings.NewReader(recording), transcript.Format(format)) {
			if (e == nil) == (err == nil) {
				t.Fatal("an entry and an error, or neither")
			}
		}
	})
}
