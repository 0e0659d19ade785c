// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

// Package adopt tests the servers that docs/adopt.md quotes, and counts what it says of them.
package adopt

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/reprise-mcp/reprise"
	"github.com/reprise-mcp/reprise/ledger"
	"github.com/reprise-mcp/reprise/requeststate"
	"github.com/reprise-mcp/reprise/sdk/gosdk"
	"github.com/reprise-mcp/reprise/sdk/gosdk/internal/adopt/after"
	"github.com/reprise-mcp/reprise/sdk/gosdk/internal/adopt/before"
	"github.com/reprise-mcp/reprise/sdk/gosdk/internal/adopt/byhand"
	"github.com/reprise-mcp/reprise/sdk/gosdk/internal/adopt/store"
	"github.com/reprise-mcp/reprise/sdk/gosdk/internal/adopt/typed"
)

// setup is what a server does once, whatever it has of tools.
func setup(server *mcp.Server) (*gosdk.Adapter, error) {
	ring, err := requeststate.NewKeyring(requeststate.NewKey())
	if err != nil {
		return nil, err
	}
	sealer, err := requeststate.New(requeststate.Config{Keyring: ring, Audience: "https://tables.example.com/mcp"})
	if err != nil {
		return nil, err
	}
	engine, err := reprise.New(reprise.Config{Sealer: sealer, Ledger: &ledger.Memory{}})
	if err != nil {
		return nil, err
	}
	return gosdk.New(server, gosdk.Config{Engine: engine, Identity: gosdk.Authenticated("https://issuer.example.com")})
}

func withAdapter(add func(*gosdk.Adapter, *store.DB) error) func(*mcp.Server, *store.DB) error {
	return func(server *mcp.Server, db *store.DB) error {
		adapter, err := setup(server)
		if err != nil {
			return err
		}
		return add(adapter, db)
	}
}

func TestTheServersOfTheDocuments(t *testing.T) {
	servers := map[string]func(*mcp.Server, *store.DB) error{
		"before": func(s *mcp.Server, db *store.DB) error { before.AddTools(s, db); return nil },
		"after":  withAdapter(after.AddTools),
		"typed":  withAdapter(typed.AddTools),
		"byhand": func(s *mcp.Server, db *store.DB) error {
			return byhand.AddTools(s, db, bytes.Repeat([]byte{7}, 32))
		},
	}
	accept := func(name string, value any) *mcp.ElicitResult {
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{name: value}}
	}
	for _, test := range []struct {
		server  string
		answer  *mcp.ElicitResult
		asked   string
		dropped bool
	}{
		{"before", nil, "", true},
		{"after", accept("decision", "approve"), "Drop the table users?", true},
		{"after", accept("decision", "reject"), "Drop the table users?", false},
		{"after", &mcp.ElicitResult{Action: "decline"}, "Drop the table users?", false},
		{"after", &mcp.ElicitResult{Action: "cancel"}, "Drop the table users?", false},
		{"typed", accept("name", "users"), "Type users to drop it for good.", true},
		{"typed", accept("name", "user"), "Type users to drop it for good.", false},
		{"typed", &mcp.ElicitResult{Action: "decline"}, "Type users to drop it for good.", false},
		{"byhand", accept("name", "users"), "Type users to drop it for good.", true},
		{"byhand", accept("name", "user"), "Type users to drop it for good.", false},
		{"byhand", &mcp.ElicitResult{Action: "decline"}, "Type users to drop it for good.", false},
	} {
		name := test.server
		if test.answer != nil {
			name += "/" + test.answer.Action
		}
		t.Run(name, func(t *testing.T) {
			db := store.New(map[string]store.Table{"users": {ID: "t-1", Rows: 42}})
			server := mcp.NewServer(&mcp.Implementation{Name: "tables", Version: "1.0.0"}, nil)
			if err := servers[test.server](server, db); err != nil {
				t.Fatal(err)
			}
			asked := ""
			options := &mcp.ClientOptions{}
			if test.answer != nil {
				options.ElicitationHandler = func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					asked = req.Params.Message
					return test.answer, nil
				}
			}
			res, err := call(t, server, options)
			if err != nil {
				t.Fatal(err)
			}
			got, _ := res.StructuredContent.(map[string]any)
			if res.IsError || got["dropped"] != test.dropped || asked != test.asked {
				t.Errorf("error %t, result %v, asked %q", res.IsError, got, asked)
			}
			if _, err := db.Get(t.Context(), "users"); (err != nil) != test.dropped {
				t.Errorf("the table is gone: %t", err != nil)
			}
		})
	}
}

// call calls drop_table over HTTP, as an authenticated user.
func call(t *testing.T, server *mcp.Server, options *mcp.ClientOptions) (*mcp.CallToolResult, error) {
	verify := func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		return &auth.TokenInfo{UserID: token}, nil
	}
	handler := auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(gosdk.NewHTTPHandler(server, nil))
	ts := httptest.NewServer(handler)
	defer ts.Close()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1.0.0"}, options)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: ts.URL, HTTPClient: &http.Client{Transport: bearer("alice")}, MaxRetries: -1, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	return session.CallTool(t.Context(), &mcp.CallToolParams{Name: "drop_table", Arguments: map[string]any{"table": "users"}})
}

type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// From unprotected to confirmed, ten lines of a tool change.
func TestAConfirmationIsTenLines(t *testing.T) {
	old, changed := tool(t, "before/before.go"), 0
	for _, line := range tool(t, "after/after.go") {
		if at := index(old, line); at >= 0 {
			old = append(old[:at:at], old[at+1:]...)
		} else {
			changed++
		}
	}
	if changed != 10 {
		t.Errorf("%d lines are new or changed, and docs/adopt.md says 10", changed)
	}
}

// tool returns the lines of AddTools without its own first line, whose parameters are the server's and not the tool's.
func tool(t *testing.T, file string) []string {
	_, text, ok := strings.Cut(read(t, file), "\nfunc AddTools(")
	if !ok {
		t.Fatalf("%s has no AddTools", file)
	}
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines[1:]
}

func index(lines []string, line string) int {
	for i, l := range lines {
		if l == line {
			return i
		}
	}
	return -1
}

// A confirmation by a typed name takes a fifth of the lines, or less, of what careful servers write by hand.
func TestATypedNameIsAFifthOfTheLines(t *testing.T) {
	ours, byHand := lines(t, "typed/typed.go"), lines(t, "byhand/byhand.go")
	t.Logf("%d lines, and %d by hand", ours, byHand)
	if ours*5 > byHand {
		t.Errorf("%d lines are more than a fifth of %d", ours, byHand)
	}
	adopt := read(t, "../../../../docs/adopt.md")
	for _, n := range []string{"19 lines", "141 lines"} {
		if !strings.Contains(adopt, n) {
			t.Errorf("docs/adopt.md does not say %q", n)
		}
	}
	if ours != 19 || byHand != 141 {
		t.Errorf("docs/adopt.md says 19 and 141 lines; they are %d and %d", ours, byHand)
	}
}

// lines counts the lines between the marks that are neither empty nor a comment alone.
func lines(t *testing.T, file string) int {
	_, text, ok := strings.Cut(read(t, file), "\n// begin\n")
	text, _, closed := strings.Cut(text, "\n// end\n")
	if !ok || !closed {
		t.Fatalf("%s has no marks", file)
	}
	return len(regexp.MustCompile(`(?m)^\s*[^\s/]`).FindAllString(text, -1))
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
