// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package deployserver_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-mcp/reprise/cmd/reprise/internal/fleet"
	"github.com/reprise-mcp/reprise/wire"
)

// members are those of a result.
func members(t *testing.T, r *fleet.Response) map[string]json.RawMessage {
	t.Helper()
	if r.Result == nil {
		t.Fatalf("no result: status %d, %s", r.Status, said(r))
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(r.Result.Raw, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// onlyAsks checks that a result has a question, and nothing of a complete result or a cache.
func onlyAsks(t *testing.T, r *fleet.Response, key string) {
	t.Helper()
	all := members(t, r)
	if r.Result.ResultType != wire.ResultInputRequired || len(r.Result.InputRequests) != 1 || r.Result.InputRequests[key].Params == nil || len(all) != 4 {
		t.Fatalf("it has the members %v", all)
	}
}

func TestReleaseNotes(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	alice := s.client("alice")
	get := func(in map[string]string, extra fleet.Extra) *fleet.Response {
		t.Helper()
		r, err := alice.Prompt(t.Context(), "release_notes", in, extra)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	in := map[string]string{"service": "billing", "environment": "staging", "version": "1.4.2"}
	asked := get(in, fleet.Extra{})
	onlyAsks(t, asked, "audience")
	if params := asked.Result.InputRequests["audience"].Params; !bytes.Contains(params, []byte(`{"const":"customers","title":"People who use it"}`)) {
		t.Errorf("it asked %s", params)
	}
	choose := func(who string) fleet.Extra {
		return fleet.Extra{RequestState: asked.Result.RequestState, InputResponses: map[string]any{"audience": map[string]any{"action": "accept", "content": map[string]any{"audience": who}}}}
	}
	for range 2 { // it has no effect, so it may be had again
		done := get(in, choose("customers"))
		if text := string(members(t, done)["messages"]); !strings.Contains(text, "billing 1.4.2 for customers") || !strings.Contains(text, "take the place of 1.4.1") {
			t.Errorf("messages %s", text)
		}
	}
	if again := get(in, choose("everybody")); again.Result == nil || again.Result.ResultType != wire.ResultInputRequired {
		t.Errorf("a choice that is not there: %s", said(again))
	}
	refused := get(in, fleet.Extra{RequestState: asked.Result.RequestState, InputResponses: map[string]any{"audience": map[string]any{"action": "decline"}}})
	if refused.Error == nil || refused.Error.Code != wire.CodeInvalidParams {
		t.Errorf("declined: %s", said(refused))
	}
	if unknown := get(map[string]string{"service": "billing", "environment": "mars"}, fleet.Extra{}); unknown.Error == nil || unknown.Error.Code != wire.CodeInvalidParams {
		t.Errorf("an environment that is not there: %s", said(unknown))
	}
	alice.Capabilities = map[string]any{}
	if unable := get(in, fleet.Extra{}); unable.Status != 400 || unable.Error == nil || unable.Error.Code != wire.CodeMissingCapability {
		t.Errorf("a client that cannot ask: %d %s", unable.Status, said(unable))
	}
}

// The log is read with a reason, once for each.
func TestReleaseLog(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	alice := s.client("alice")
	const uri = "release://staging/billing/log"
	read := func(uri string, extra fleet.Extra) *fleet.Response {
		t.Helper()
		r, err := alice.Read(t.Context(), uri, extra)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	asked := read(uri, fleet.Extra{})
	onlyAsks(t, asked, "reason")
	because := func(reason string) fleet.Extra {
		return fleet.Extra{RequestState: asked.Result.RequestState, InputResponses: map[string]any{"reason": map[string]any{"action": "accept", "content": map[string]any{"reason": reason}}}}
	}
	onlyAsks(t, read(uri, because("short")), "reason")
	if other := read("release://production/billing/log", because("invoices are late")); other.Error == nil {
		t.Error("the reason for one log opened another")
	}
	done := read(uri, because("invoices are late"))
	all := members(t, done)
	if !bytes.Contains(all["contents"], []byte(`\"to\":\"1.4.1\"`)) || string(all["cacheScope"]) != `"private"` || string(all["ttlMs"]) != "0" {
		t.Errorf("got %s", done.Result.Raw)
	}
	if again := read(uri, because("invoices are late")); again.Error == nil || again.Error.Code != wire.CodeInvalidParams {
		t.Errorf("read again: %s", said(again))
	}
	for _, uri := range []string{"release://mars/billing/log", "release://staging/billing/..%2f/log", "release://staging/billing", "release:///billing/log"} {
		if r := read(uri, fleet.Extra{}); r.Error == nil || r.Error.Code != wire.CodeInvalidParams {
			t.Errorf("%s: %s", uri, said(r))
		}
	}
	records := s.audit()
	if len(records) != 1 || records[0]["reason"] != "invoices are late" || records[0]["target"] != uri || records[0]["executed"] != "done" {
		t.Errorf("audit %v", records)
	}
}

// audit is the audit record.
func (s *site) audit() []map[string]any {
	s.t.Helper()
	path := filepath.Join(s.config.Data, "audit.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		s.t.Errorf("others may read the audit record: %v", err)
	}
	var all []map[string]any
	for line := range bytes.Lines(text) {
		var record map[string]any
		if err := json.Unmarshal(line, &record); err != nil {
			s.t.Fatal(err)
		}
		all = append(all, record)
	}
	return all
}

// Every flow that ended has a line, and no other.
func TestAuditRecord(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	alice := s.client("alice")
	state, _ := s.asked(alice, billing("1.4.2"))
	s.retry(alice, billing("1.4.2"), state, decline)
	state, message := s.asked(alice, billing("1.4.2"))
	s.toolError(s.retry(s.client("bob"), billing("1.4.2"), state, approve))
	s.retry(alice, billing("1.4.2"), state, approve)
	s.retry(alice, billing("1.4.2"), state, approve)
	s.asked(alice, billing("1.4.3"))
	records := s.audit()
	if len(records) != 2 {
		t.Fatalf("%d records: %v", len(records), records)
	}
	for i, want := range []struct{ reported, executed string }{{"decline", "nothing"}, {"accept", "done"}} {
		question := records[i]["questions"].(map[string]any)["confirm"].(map[string]any)
		if records[i]["executed"] != want.executed || question["client_reported"] != want.reported || question["message"] != message ||
			!strings.Contains(records[i]["principal"].(string), `"alice"`) || records[i]["replica"] == "" {
			t.Errorf("record %d: %v", i, records[i])
		}
	}
	text, _ := json.Marshal(records)
	if bytes.Contains(text, []byte(state)) {
		t.Error("the state stands in the record")
	}
}
