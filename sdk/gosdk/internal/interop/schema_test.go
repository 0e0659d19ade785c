// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package interop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// official is where the official schema and its examples are, beside the repository.
const official = "../../../../../shared/spec/2026-07-28"

// schema holds every definition as a property of that name, so that it is resolved once.
type schema struct {
	names    []string
	resolved *jsonschema.Resolved
}

var loadSchema = sync.OnceValues(func() (*schema, error) {
	text, err := os.ReadFile(filepath.FromSlash(official + "/schema.json"))
	if err != nil {
		return nil, err
	}
	var whole jsonschema.Schema
	if err := json.Unmarshal(text, &whole); err != nil {
		return nil, err
	}
	whole.Properties = map[string]*jsonschema.Schema{}
	for name := range whole.Defs {
		whole.Properties[name] = &jsonschema.Schema{Ref: "#/$defs/" + name}
	}
	resolved, err := whole.Resolve(nil)
	return &schema{slices.Sorted(maps.Keys(whole.Defs)), resolved}, err
})

// validate returns why message is not what the definition describes.
func (s *schema) validate(definition string, message any) error {
	if !slices.Contains(s.names, definition) {
		return fmt.Errorf("the schema does not define %s", definition)
	}
	return s.resolved.Validate(map[string]any{definition: message})
}

// results are the definitions of complete results. The schema lets every result pass as an InputRequiredResult, whose
// members are all optional, so the response's own definition would find nothing.
var results = map[string]string{
	"server/discover": "DiscoverResult",
	"tools/call":      "CallToolResult",
	"tools/list":      "ListToolsResult",
	"prompts/get":     "GetPromptResult",
	"resources/read":  "ReadResourceResult",
}

var protocolErrors = map[float64]string{
	-32700: "ParseError", -32600: "InvalidRequestError", -32601: "MethodNotFoundError", -32602: "InvalidParamsError", -32603: "InternalError",
	-32020: "HeaderMismatchError", -32021: "MissingRequiredClientCapabilityError", -32022: "UnsupportedProtocolVersionError",
}

// response returns why message is no response to a request of this method.
func (s *schema) response(method string, message map[string]any) error {
	if e, ok := message["error"].(map[string]any); ok {
		code, _ := e["code"].(float64)
		definition, ok := protocolErrors[code]
		if !ok {
			return fmt.Errorf("an error of unknown code %v", e["code"])
		}
		// In the schema the five errors of JSON-RPC are the error alone, those of MCP the whole response.
		if code < -32022 {
			return errors.Join(s.validate("JSONRPCErrorResponse", message), s.validate(definition, e))
		}
		return s.validate(definition, message)
	}
	if err := s.validate("JSONRPCResultResponse", message); err != nil {
		return err
	}
	result, _ := message["result"].(map[string]any)
	switch result["resultType"] {
	case "complete":
		definition, ok := results[method]
		if !ok {
			return fmt.Errorf("no definition for the result of %s", method)
		}
		return s.validate(definition, result)
	case "input_required":
		if _, ok := results[method]; !ok || strings.HasSuffix(method, "/list") || method == "server/discover" {
			return fmt.Errorf("%s may not ask", method)
		}
		if result["inputRequests"] == nil && result["requestState"] == nil {
			return errors.New("neither inputRequests nor requestState")
		}
		return s.validate("InputRequiredResult", result)
	}
	return fmt.Errorf("resultType %v", result["resultType"])
}

// verify holds what a server sent against the official schema, where that is present. A request and a response are messages, as
// many as there are lines.
func verify(t testing.TB, e exchange) {
	t.Helper()
	s, err := loadSchema()
	if errors.Is(err, fs.ErrNotExist) {
		return // TestOfficialSchema says so
	}
	if err != nil {
		t.Error(err)
		return
	}
	methods := map[string]string{}
	for line := range strings.Lines(e.Request) {
		var request struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal([]byte(line), &request) == nil {
			methods[string(request.ID)] = request.Method
		}
	}
	sent := 0
	for line := range strings.Lines(e.Response) {
		line = strings.TrimSpace(strings.TrimPrefix(line, "data:"))
		if !strings.HasPrefix(line, "{") {
			continue // the rest of an event
		}
		sent++
		var id struct{ ID json.RawMessage }
		var message map[string]any
		if err := errors.Join(json.Unmarshal([]byte(line), &id), json.Unmarshal([]byte(line), &message)); err != nil {
			t.Errorf("no JSON: %v", err)
		} else if err := s.response(methods[string(id.ID)], message); err != nil {
			t.Errorf("the answer to %q: %v", methods[string(id.ID)], err)
		}
	}
	if sent == 0 {
		t.Error("the server sent no message")
	}
}

// verified is next, whose messages are verified.
func verified(t *testing.T, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client left
		}
		r.Body = io.NopCloser(bytes.NewReader(request))
		seen := &seen{ResponseWriter: w}
		next.ServeHTTP(seen, r)
		if r.Method == http.MethodPost && seen.status != http.StatusAccepted {
			verify(t, exchange{Request: strings.ReplaceAll(string(request), "\n", " "), Response: seen.body.String()})
		}
	})
}

// seen remembers what is written.
type seen struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (s *seen) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

func (s *seen) Write(p []byte) (int, error) {
	s.body.Write(p)
	return s.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (s *seen) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// Flush is for what asks for an http.Flusher.
func (s *seen) Flush() { http.NewResponseController(s.ResponseWriter).Flush() }

// TestOfficialSchema shows that the validator understands the schema: it accepts the official examples and refuses what
// would be a fault of ours. The messages themselves are verified where they are sent, in all tests of this package.
func TestOfficialSchema(t *testing.T) {
	s, err := loadSchema()
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the official schema is not here; it is no part of this repository")
	}
	if err != nil {
		t.Fatal(err)
	}
	examples, err := filepath.Glob(filepath.FromSlash(official + "/examples/*/*.json"))
	if err != nil || len(examples) < 90 {
		t.Fatalf("%d examples, %v", len(examples), err)
	}
	for _, path := range examples {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var example any
		if err := json.Unmarshal(text, &example); err != nil {
			t.Fatal(err)
		}
		if err := s.validate(filepath.Base(filepath.Dir(path)), example); err != nil {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
	}

	const (
		form = `{"method":"elicitation/create","params":{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"number","minimum":0.5}}}}}`
		ask  = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"q":` + form + `},"requestState":"s"}}`
		done = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[]}}`
		gate = `{"jsonrpc":"2.0","id":1,"error":{"code":-32021,"message":"m","data":{"requiredCapabilities":{"elicitation":{"form":{}}}}}}`
	)
	for _, test := range []struct{ good, old, new string }{
		{ask, `"resultType":"input_required",`, ``},
		{ask, `"input_required"`, `"asked"`},
		{ask, `"requestState":"s"`, `"requestState":7`},
		{ask, `"requestState":"s"`, `"requestState":null`},
		{ask, `"elicitation/create"`, `"elicitation/ask"`},
		{ask, `"mode":"form"`, `"mode":"page"`},
		{ask, `"message":"m",`, ``},
		{ask, `"type":"number"`, `"type":"object"`},
		{ask, form, `7`},
		{ask, `"inputRequests":{"q":` + form + `},"requestState":"s"`, `"ttlMs":0`},
		{ask, `"id":1`, `"id":1.5`},
		{done, `,"content":[]`, ``},
		{done, `"content":[]`, `"content":null`},
		{done, `"content":[]`, `"content":[{"type":"text"}]`},
		{gate, `,"data":{"requiredCapabilities":{"elicitation":{"form":{}}}}`, ``},
		{gate, `{"elicitation":{"form":{}}}`, `["elicitation"]`},
		{gate, `-32021`, `-32002`},
	} {
		for _, text := range []string{test.good, strings.Replace(test.good, test.old, test.new, 1)} {
			var message map[string]any
			if err := json.Unmarshal([]byte(text), &message); err != nil {
				t.Fatal(err)
			}
			if err := s.response("tools/call", message); (err == nil) != (text == test.good) {
				t.Errorf("%s\n%v", text, err)
			}
		}
	}

	// A slip in the schema: an answer may hold an integer and no fraction, though a form may ask for one. Ours are read by
	// the form (TestWireRounds); when this fails, the slip was mended.
	var answer any
	if err := json.Unmarshal([]byte(`{"action":"accept","content":{"size":95.5}}`), &answer); err != nil {
		t.Fatal(err)
	}
	if s.validate("ElicitResult", answer) == nil {
		t.Error("the schema takes fractions now")
	}
	t.Logf("%d definitions, %d examples", len(s.names), len(examples))
}
