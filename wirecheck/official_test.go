// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-mcp/reprise/wirecheck"
)

// None of the official example messages breaks a rule, alone or as the answer to a request that fits it.
func TestOfficialExamples(t *testing.T) {
	const dir = "../../shared/spec/2026-07-28/examples"
	if _, err := os.Stat(dir); os.IsNotExist(err) {
		t.Skip("the official examples are not here; they are no part of this repository")
	}
	files, err := filepath.Glob(filepath.Join(filepath.FromSlash(dir), "*", "*.json"))
	if err != nil || len(files) < 100 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	method := map[string]string{
		"CallToolResult": "tools/call", "GetPromptResult": "prompts/get", "ReadResourceResult": "resources/read", "ListToolsResult": "tools/list",
		"ListPromptsResult": "prompts/list", "ListResourcesResult": "resources/list", "ListResourceTemplatesResult": "resources/templates/list",
		"CompleteResult": "completion/complete", "DiscoverResult": "server/discover", "InputRequiredResult": "tools/call", "SubscriptionsListenResult": "subscriptions/listen",
	}
	const all = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{},"context":{}},"roots":{}}}`
	messages := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		kind := filepath.Base(filepath.Dir(file))
		var m struct {
			JSONRPC string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
		}
		json.Unmarshal(text, &m)
		one := func(raw []byte) string { return strings.Join(strings.Fields(string(raw)), " ") }
		var recording string
		asks, isResult := method[strings.TrimSuffix(kind, "Response")]
		switch {
		case m.JSONRPC != "" && isResult:
			recording = `{"jsonrpc":"2.0","id":` + string(m.ID) + `,"method":"` + asks + `","params":{"name":"t","uri":"u",` + all + `}}` + "\n" + one(text)
		case m.JSONRPC != "":
			recording = one(text)
		case isResult:
			recording = `{"jsonrpc":"2.0","id":1,"method":"` + asks + `","params":{"name":"t","uri":"u",` + all + `}}` + "\n" + `{"jsonrpc":"2.0","id":1,"result":` + one(text) + `}`
		default:
			continue // a part of a message
		}
		messages++
		for _, f := range check(t, recording) {
			// The specification's page on caching demands hints that this example of its own lacks.
			defect := f.Rule == "cache-hints" && filepath.Base(file) == "read-resource-result-response.json"
			if f.Level != wirecheck.CannotTell && !defect {
				t.Errorf("%s/%s: %s", kind, filepath.Base(file), f)
			}
		}
	}
	if messages < 40 {
		t.Errorf("only %d examples are messages", messages)
	}
}
