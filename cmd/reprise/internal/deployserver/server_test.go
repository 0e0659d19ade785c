// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package deployserver_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/reprise-mcp/reprise/cmd/reprise/internal/deployserver"
	"github.com/reprise-mcp/reprise/cmd/reprise/internal/fleet"
	"github.com/reprise-mcp/reprise/wire"
)

const tool = "deploy_release"

// Answers to the question.
var (
	approve = answer("accept", map[string]any{"decision": "approve"})
	reject  = answer("accept", map[string]any{"decision": "reject"})
	decline = answer("decline", nil)
	cancel  = answer("cancel", nil)
)

func answer(action string, content map[string]any) map[string]any {
	given := map[string]any{"action": action}
	if content != nil {
		given["content"] = content
	}
	return map[string]any{"confirm": given}
}

type args map[string]any

func billing(version string) args {
	return args{"service": "billing", "environment": "staging", "version": version}
}

// site is a server on loopback with everything that it keeps.
type site struct {
	t      *testing.T
	config deployserver.Config
	url    string // without a path
	tokens map[string]string
	log    *syncBuffer
	stop   func()
}

// serve starts a server as the command would. Edit changes the configuration.
func serve(t *testing.T, edit func(*deployserver.Config)) *site {
	t.Helper()
	dir := t.TempDir()
	tokens, err := deployserver.WriteTokens(filepath.Join(dir, "tokens"), "alice", "bob")
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, tokens: tokens, log: &syncBuffer{}, config: deployserver.Config{
		Listen: "127.0.0.1:0", Audience: "https://deploy.example.com/mcp", Data: dir, Root: filepath.Join(dir, "releases"), Seed: true,
	}}
	s.config.Log = slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if edit != nil {
		edit(&s.config)
	}
	s.start()
	return s
}

// start also starts it again, on the same files.
func (s *site) start() {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	server, err := deployserver.Open(ctx, s.config)
	if err != nil {
		cancel()
		s.t.Fatal(err)
	}
	ready, ended := make(chan net.Addr, 1), make(chan error, 1)
	go func() {
		ended <- server.Serve(ctx, func(addr net.Addr) error { ready <- addr; return nil })
	}()
	s.url = "http://" + (<-ready).String()
	s.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			s.t.Errorf("Serve: %v", err)
		}
		if err := server.Close(); err != nil {
			s.t.Errorf("Close: %v", err)
		}
	})
	s.t.Cleanup(s.stop)
}

func (s *site) client(name string) *fleet.Client {
	return &fleet.Client{URL: s.url + "/mcp", Name: name, Token: s.tokens[name], Capabilities: map[string]any{"elicitation": map[string]any{"form": map[string]any{}}}}
}

func (s *site) call(client *fleet.Client, name string, a any, extra fleet.Extra) *fleet.Response {
	s.t.Helper()
	r, err := client.Call(s.t.Context(), name, a, extra)
	if err != nil {
		s.t.Fatalf("%s: %v", name, err)
	}
	return r
}

// asked makes a call that must be asked about, and returns its state and the question's text.
func (s *site) asked(client *fleet.Client, a args) (state, message string) {
	s.t.Helper()
	return s.question(s.call(client, tool, a, fleet.Extra{}))
}

func (s *site) question(r *fleet.Response) (state, message string) {
	s.t.Helper()
	if r.Result == nil || r.Result.ResultType != wire.ResultInputRequired || len(r.Result.InputRequests) != 1 || r.Result.RequestState == "" {
		s.t.Fatalf("it did not ask: status %d %s", r.Status, said(r))
	}
	var params struct {
		Mode    string `json:"mode"`
		Message string `json:"message"`
	}
	if err := json.Unmarshal(r.Result.InputRequests["confirm"].Params, &params); err != nil || params.Mode != "form" {
		s.t.Fatalf("the question has mode %q: %v", params.Mode, err)
	}
	return r.Result.RequestState, params.Message
}

func (s *site) retry(client *fleet.Client, a args, state string, answers any) *fleet.Response {
	s.t.Helper()
	return s.call(client, tool, a, fleet.Extra{RequestState: state, InputResponses: answers})
}

// recorded reports whether a result says that it is that of an earlier request.
func recorded(r *fleet.Response) bool {
	return r.Result != nil && bytes.Contains(r.Result.Raw, []byte(`"io.github.reprise-mcp/recorded":true`))
}

// said is what a response says to a person. A whole response may hold a state.
func said(r *fleet.Response) string {
	switch {
	case r.Error != nil:
		return fmt.Sprintf("error %d: %s", r.Error.Code, r.Error.Message)
	case r.Result != nil:
		return fmt.Sprintf("%s, isError %t: %s", r.Result.ResultType, r.Result.IsError, r.Result.Text())
	}
	return "no message"
}

// toolError checks for a tool execution error, whose text holds all of these.
func (s *site) toolError(r *fleet.Response, reasons ...string) {
	s.t.Helper()
	if r.Status != 200 || r.Result == nil || !r.Result.IsError || r.Result.ResultType != wire.ResultComplete || r.Result.InputRequests != nil || r.Result.RequestState != "" {
		s.t.Fatalf("no tool execution error: status %d, %s", r.Status, said(r))
	}
	for _, reason := range reasons {
		if !strings.Contains(r.Result.Text(), reason) {
			s.t.Errorf("it says %q, which lacks %q", r.Result.Text(), reason)
		}
	}
}

// runs checks which release is live on the disk.
func (s *site) runs(environment, service, want string) {
	s.t.Helper()
	link, err := os.Readlink(filepath.Join(s.config.Root, environment, service, "current"))
	if err != nil || filepath.Base(link) != want {
		s.t.Errorf("%s in %s runs %q, want %q (%v)", service, environment, filepath.Base(link), want, err)
	}
}

// tree is all that stands below the release root, and beside it.
func (s *site) tree() map[string]string {
	s.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(filepath.Dir(s.config.Root), func(path string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(filepath.Base(path), "ledger.db"):
			return nil // SQLite may move its files around by itself
		case entry.Type()&os.ModeSymlink != 0:
			all[path], err = os.Readlink(path)
			return err
		case entry.Type().IsRegular():
			text, err := os.ReadFile(path)
			all[path] = fmt.Sprintf("%x", sha256.Sum256(text))
			return err
		}
		all[path] = entry.Type().String()
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

func (s *site) untouched(before map[string]string) {
	s.t.Helper()
	if !maps.Equal(before, s.tree()) {
		s.t.Error("something changed on the disk")
	}
}

func (s *site) get(path string) (int, string) {
	s.t.Helper()
	response, err := http.Get(s.url + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// loseLedger takes the ledger's file away, and returns what puts it back.
func (s *site) loseLedger() (restore func()) {
	s.t.Helper()
	path := filepath.Join(s.config.Data, "ledger.db")
	if err := os.Rename(path, path+".away"); err != nil {
		s.t.Fatal(err)
	}
	return func() {
		s.t.Helper()
		if err := os.Rename(path+".away", path); err != nil {
			s.t.Fatal(err)
		}
	}
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

type listedTool struct {
	Name        string `json:"name"`
	Annotations struct {
		ReadOnlyHint    bool  `json:"readOnlyHint"`
		DestructiveHint *bool `json:"destructiveHint"`
		OpenWorldHint   *bool `json:"openWorldHint"`
	} `json:"annotations"`
	InputSchema  *jsonschema.Schema `json:"inputSchema"`
	OutputSchema *jsonschema.Schema `json:"outputSchema"`
}

func (s *site) tools() map[string]listedTool {
	s.t.Helper()
	r, err := s.client("alice").Do(s.t.Context(), "tools/list", fleet.Extra{})
	if err != nil {
		s.t.Fatal(err)
	}
	var list struct {
		Tools []listedTool `json:"tools"`
	}
	if err := json.Unmarshal(r.Result.Raw, &list); err != nil {
		s.t.Fatal(err)
	}
	tools := map[string]listedTool{}
	for _, tool := range list.Tools {
		tools[tool.Name] = tool
	}
	return tools
}

// valid checks a structured content against what the tool says about its output, and that the text content is the same.
func (s *site) valid(of listedTool, r *fleet.Response) {
	s.t.Helper()
	if of.OutputSchema == nil {
		s.t.Fatalf("%s has no output schema", of.Name)
	}
	schema, err := of.OutputSchema.Resolve(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	var structured, text any
	if err := json.Unmarshal(r.Result.StructuredContent, &structured); err != nil {
		s.t.Fatalf("structuredContent: %v", err)
	}
	if err := schema.Validate(structured); err != nil {
		s.t.Errorf("structuredContent %s: %v", r.Result.StructuredContent, err)
	}
	if err := json.Unmarshal([]byte(r.Result.Text()), &text); err != nil || fmt.Sprint(text) != fmt.Sprint(structured) {
		s.t.Errorf("the text content is %s, the structured %s", r.Result.Text(), r.Result.StructuredContent)
	}
}

func TestToolsAreDescribed(t *testing.T) {
	t.Parallel()
	tools := serve(t, nil).tools()
	if got, want := slices.Sorted(maps.Keys(tools)), []string{tool, "list_releases", "release_status"}; !slices.Equal(got, want) {
		t.Fatalf("tools are %q, want %q", got, want)
	}
	for name, l := range tools {
		destroys := l.Annotations.DestructiveHint != nil && *l.Annotations.DestructiveHint
		if readOnly := name != tool; l.Annotations.ReadOnlyHint != readOnly || destroys == readOnly {
			t.Errorf("%s: readOnlyHint %t, destructiveHint %t", name, l.Annotations.ReadOnlyHint, destroys)
		}
		if l.Annotations.OpenWorldHint == nil || *l.Annotations.OpenWorldHint {
			t.Errorf("%s does not say that it stays inside", name)
		}
		if l.OutputSchema == nil || len(l.OutputSchema.Properties) == 0 {
			t.Errorf("%s has no output schema", name)
		}
		if !slices.Contains(l.InputSchema.Required, "service") || !slices.Contains(l.InputSchema.Required, "environment") || slices.Contains(l.InputSchema.Required, "version") {
			t.Errorf("%s requires %q", name, l.InputSchema.Required)
		}
	}
}

type deployed struct {
	Deployed    bool   `json:"deployed"`
	Service     string `json:"service"`
	Environment string `json:"environment"`
	From        string `json:"from"`
	To          string `json:"to"`
	Outcome     string `json:"outcome"`
	Number      uint64 `json:"number"`
}

// Every answer is a normal end of the call. Only one of them deploys.
func TestDeployAsksAndObeys(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, outcome string
		answers       any
		runs          string
	}{
		{"approve", "approved", approve, "1.4.2"},
		{"reject", "rejected", reject, "1.4.1"},
		{"decline", "declined", decline, "1.4.1"},
		{"decline with the content of a yes", "declined", answer("decline", map[string]any{"decision": "approve"}), "1.4.1"},
		{"cancel", "cancelled", cancel, "1.4.1"},
		{"cancel with null content", "cancelled", map[string]any{"confirm": map[string]any{"action": "cancel", "content": nil}}, "1.4.1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, nil)
			alice := s.client("alice")
			state, message := s.asked(alice, billing("1.4.2"))
			if want := "Deploy billing 1.4.2 to staging, replacing 1.4.1?"; message != want {
				t.Errorf("the question is %q, want %q", message, want)
			}
			s.runs("staging", "billing", "1.4.1")
			r := s.retry(alice, billing("1.4.2"), state, test.answers)
			if r.Result == nil || r.Result.IsError || r.Result.ResultType != wire.ResultComplete {
				t.Fatalf("it did not complete: %s", said(r))
			}
			s.valid(s.tools()[tool], r)
			want := deployed{Deployed: test.runs == "1.4.2", Service: "billing", Environment: "staging", From: "1.4.1", To: "1.4.2", Outcome: test.outcome}
			if want.Deployed {
				want.Number = 2 // the seed was the first
			}
			var got deployed
			if err := json.Unmarshal(r.Result.StructuredContent, &got); err != nil || got != want {
				t.Errorf("got %+v, want %+v (%v)", got, want, err)
			}
			s.runs("staging", "billing", test.runs)
			s.runs("production", "billing", "1.4.1")

			// A no ends the flow just as a yes does.
			for name, other := range map[string]map[string]any{"approve": approve, "reject": reject, "decline": decline} {
				if name != test.name {
					s.toolError(s.retry(alice, billing("1.4.2"), state, other), "already redeemed")
				}
			}
			s.runs("staging", "billing", test.runs)
		})
	}
}

// An answer that says nothing is asked for again, and deploys nothing.
func TestNoAnswerIsNoYes(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	alice := s.client("alice")
	before := s.tree()
	for _, answers := range []any{
		map[string]any{},
		map[string]any{"other": map[string]any{"action": "accept", "content": map[string]any{"decision": "approve"}}},
		answer("accept", nil),
		answer("accept", map[string]any{}),
		answer("accept", map[string]any{"decision": true}),
		answer("accept", map[string]any{"decision": "Yes - go ahead"}), // the title is not the value
		answer("ACCEPT", map[string]any{"decision": "approve"}),
	} {
		state, _ := s.asked(alice, billing("1.4.2"))
		s.question(s.retry(alice, billing("1.4.2"), state, answers))
	}
	// And an answer to nothing is not believed.
	s.question(s.call(alice, tool, billing("1.4.2"), fleet.Extra{InputResponses: approve}))
	s.untouched(before)
}

func TestQuestionNamesWhatIsReplaced(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	alice := s.client("alice")
	newest := args{"service": "web", "environment": "production"}
	state, message := s.asked(alice, newest)
	if want := "Deploy web 1.4.3 to production, replacing 1.4.1?"; message != want { // no pre-release by itself
		t.Errorf("got %q, want %q", message, want)
	}
	s.retry(alice, newest, state, approve)
	s.runs("production", "web", "1.4.3")

	if err := os.Remove(filepath.Join(s.config.Root, "production", "billing", "current")); err != nil {
		t.Fatal(err)
	}
	first := args{"service": "billing", "environment": "production", "version": "1.5.0-rc.1"}
	state, message = s.asked(alice, first)
	if want := "Deploy billing 1.5.0-rc.1 to production, where nothing runs yet?"; message != want {
		t.Errorf("got %q, want %q", message, want)
	}
	r := s.retry(alice, first, state, approve)
	s.valid(s.tools()[tool], r)
	s.runs("production", "billing", "1.5.0-rc.1")
}

// A yes is about what the question said. When that is no longer so, it is asked anew, whichever side of it changed.
func TestYesToAnotherQuestion(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	alice := s.client("alice")
	newest := args{"service": "billing", "environment": "staging"}
	state, _ := s.asked(alice, newest)
	releases := filepath.Join(s.config.Root, "staging", "billing", "releases")
	if err := os.Rename(filepath.Join(releases, "1.4.3"), filepath.Join(releases, ".withdrawn")); err != nil {
		t.Fatal(err)
	}
	state, message := s.question(s.retry(alice, newest, state, approve))
	if want := "Deploy billing 1.4.2 to staging, replacing 1.4.1?"; message != want {
		t.Errorf("asked anew: %q, want %q", message, want)
	}
	s.runs("staging", "billing", "1.4.1")

	release := billing("1.5.0-rc.1")
	meanwhile, _ := s.asked(s.client("bob"), release)
	s.retry(s.client("bob"), release, meanwhile, approve)
	s.runs("staging", "billing", "1.5.0-rc.1")
	state, message = s.question(s.retry(alice, newest, state, approve))
	if want := "Deploy billing 1.4.2 to staging, replacing 1.5.0-rc.1?"; message != want {
		t.Errorf("asked anew: %q, want %q", message, want)
	}
	s.runs("staging", "billing", "1.5.0-rc.1")
	if r := s.retry(alice, newest, state, approve); r.Result == nil || r.Result.IsError {
		t.Errorf("a yes to the last question: %s", said(r))
	}
	s.runs("staging", "billing", "1.4.2")
}

func TestRunningReleaseIsNotAskedAbout(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	before := s.tree()
	r := s.call(s.client("alice"), tool, billing("1.4.1"), fleet.Extra{})
	var got deployed
	if err := json.Unmarshal(r.Result.StructuredContent, &got); err != nil || got.Deployed || got.Outcome != "unchanged" || r.Result.IsError || r.Result.RequestState != "" {
		t.Errorf("got %+v, %v", got, err)
	}
	s.valid(s.tools()[tool], r)
	s.untouched(before)
}

// Whoever cannot ask a human gets no question and no answer about what is there.
func TestClientThatCannotAsk(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	for _, capabilities := range []any{map[string]any{}, map[string]any{"elicitation": map[string]any{"url": map[string]any{}}}} {
		r := s.call(s.client("alice"), tool, billing("1.4.2"), fleet.Extra{Capabilities: capabilities})
		if r.Status != 400 || r.Error == nil || r.Error.Code != wire.CodeMissingCapability || string(r.Error.Data) != `{"requiredCapabilities":{"elicitation":{"form":{}}}}` {
			t.Errorf("status %d, %s", r.Status, said(r))
		}
	}
}

func TestReadOnlyTools(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	alice := s.client("alice")
	tools := s.tools()
	state, _ := s.asked(alice, billing("1.4.2"))
	s.retry(alice, billing("1.4.2"), state, approve)

	a := args{"service": "billing", "environment": "staging"}
	r := s.call(alice, "list_releases", a, fleet.Extra{})
	s.valid(tools["list_releases"], r)
	if got, want := string(r.Result.StructuredContent), `{"releases":["1.5.0-rc.1","1.4.3","1.4.2","1.4.1"],"running":"1.4.2"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	r = s.call(alice, "release_status", a, fleet.Extra{})
	s.valid(tools["release_status"], r)
	var status struct {
		Running string
		Last    struct {
			Number       uint64
			From, To, By string
			At           time.Time
		}
	}
	if err := json.Unmarshal(r.Result.StructuredContent, &status); err != nil {
		t.Fatal(err)
	}
	if l := status.Last; status.Running != "1.4.2" || l.Number != 2 || l.From != "1.4.1" || l.To != "1.4.2" || l.By != `user "urn:reprise:token-file" "alice"` || l.At.IsZero() {
		t.Errorf("got %+v", status)
	}
	// Nothing was ever deployed.
	if err := os.Remove(filepath.Join(s.config.Root, "staging", "billing", "current")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"list_releases", "release_status"} {
		s.valid(tools[name], s.call(alice, name, a, fleet.Extra{}))
		s.toolError(s.call(alice, name, args{"service": "../billing", "environment": "staging"}, fleet.Extra{}), "no name for a service")
		s.toolError(s.call(alice, name, args{"service": "payroll", "environment": "staging"}, fleet.Extra{}), "name one of billing, web")
	}
}

// Names are refused before there is a question, with what there is instead, and nothing is touched.
func TestNamesAreRefused(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	alice := s.client("alice")
	for _, name := range []string{"secret", "staging-secret"} { // what a name could lead to
		if err := os.MkdirAll(filepath.Join(s.config.Data, name, "billing", "releases"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	before := s.tree()
	long := strings.Repeat("a", 65)
	for _, bad := range []string{"../x", "../secret", "a/b", `a\b`, "", ".", "..", "/", "/etc", long, "a\x00b", "bílling", "bi\u0301lling", " billing", "billing ", ".lock", "-rf", "a\nb", "%2e%2e", strings.Repeat("../", 20000)} {
		for _, kind := range []string{"service", "environment", "version"} {
			a := billing("1.4.2")
			a[kind] = bad
			if kind == "version" && bad == "" {
				s.asked(alice, a) // the newest
				continue
			}
			r := s.call(alice, tool, a, fleet.Extra{})
			s.toolError(r, "is no name for a")
			if len(r.Result.Text()) > 400 {
				t.Errorf("%s: the error has %d characters", kind, len(r.Result.Text()))
			}
		}
	}
	for kind, reason := range map[string]string{
		"service":     `there is no service "payroll" in staging; name one of billing, web`,
		"environment": `there is no environment "payroll"; name one of production, staging`,
		"version":     `there is no release "payroll" of billing in staging; name one of 1.5.0-rc.1, 1.4.3, 1.4.2, 1.4.1`,
	} {
		a := billing("1.4.2")
		a[kind] = "payroll"
		s.toolError(s.call(alice, tool, a, fleet.Extra{}), reason)
	}
	s.untouched(before)
}

func TestBadArguments(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	alice := s.client("alice")
	before := s.tree()
	for _, test := range []struct{ name, arguments, reason string }{
		{"none", `{}`, "service"},
		{"one missing", `{"service":"billing"}`, "environment"},
		{"a number", `{"service":7,"environment":"staging"}`, "service"},
		{"null", `{"service":null,"environment":"staging"}`, "service"},
		{"a list", `{"service":["billing"],"environment":"staging"}`, "service"},
		{"a version that is no text", `{"service":"billing","environment":"staging","version":1.4}`, "version"},
		{"one too many", `{"service":"billing","environment":"staging","force":true}`, "force"},
		{"in other case", `{"service":"billing","environment":"staging","Version":"1.4.2"}`, "Version"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s.toolError(s.call(alice, tool, json.RawMessage(test.arguments), fleet.Extra{}), test.reason)
		})
	}
	s.toolError(s.call(alice, tool, nil, fleet.Extra{}), "service")
	for _, arguments := range []string{`[]`, `"billing"`, `null`} { // no arguments at all, so the message is malformed
		r := s.call(alice, tool, json.RawMessage(arguments), fleet.Extra{})
		if r.Status != 400 || r.Error == nil || r.Error.Code != wire.CodeInvalidParams {
			t.Errorf("arguments %s: status %d, %s", arguments, r.Status, said(r))
		}
	}
	r := s.call(alice, "deploy_everything", args{}, fleet.Extra{})
	if r.Error == nil || r.Error.Code != wire.CodeInvalidParams {
		t.Errorf("unknown tool: %s", said(r))
	}
	s.untouched(before)
}

func TestWithoutATokenNothingRuns(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	alice := s.client("alice")
	state, _ := s.asked(alice, billing("1.4.2"))
	before := s.tree()
	inFile := "sha256:" + fmt.Sprintf("%x", sha256.Sum256([]byte(alice.Token)))
	for name, header := range map[string]string{
		"none": "", "wrong": "Bearer " + strings.ToLower(alice.Token), "too short": "Bearer " + alice.Token[1:], "what stands in the file": "Bearer " + inFile,
		"other scheme": "Basic " + alice.Token, "empty": "Bearer ", "subject": "Bearer alice",
	} {
		r := s.call(alice, tool, billing("1.4.2"), fleet.Extra{RequestState: state, InputResponses: approve, Header: http.Header{"Authorization": {header}}})
		if r.Status != 401 || r.Result != nil || r.Error != nil || r.Header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s: status %d, WWW-Authenticate %q, %s", name, r.Status, r.Header.Get("WWW-Authenticate"), said(r))
		}
		if r := s.call(alice, "release_status", args{"service": "billing", "environment": "staging"}, fleet.Extra{Header: http.Header{"Authorization": {header}}}); r.Status != 401 {
			t.Errorf("%s: release_status has status %d", name, r.Status)
		}
	}
	s.untouched(before)
	// Bob has a token, and it is not alice's state.
	s.toolError(s.retry(s.client("bob"), billing("1.4.2"), state, approve), "somebody else")
	s.untouched(before)
	r := s.retry(alice, billing("1.4.2"), state, approve)
	if r.Status != 200 || r.Result == nil || r.Result.IsError || r.Header.Get("WWW-Authenticate") != "" {
		t.Errorf("nothing was burnt, and yet: status %d, %s", r.Status, said(r))
	}
	s.runs("staging", "billing", "1.4.2")
}

func TestReplaysAreRefused(t *testing.T) {
	t.Parallel()
	for _, sealer := range []string{"aes-256-gcm", "hmac-sha256"} {
		t.Run(sealer, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(c *deployserver.Config) { c.Algorithm = sealer })
			state, _ := s.asked(s.client("alice"), billing("1.4.2"))
			if r := s.retry(s.client("alice"), billing("1.4.2"), state, approve); r.Result == nil || r.Result.IsError {
				t.Fatalf("the first use: %s", said(r))
			}
			before := s.tree()
			for range 2 {
				// The same request, whose response may have been lost, gets that again. It redeems nothing.
				if r := s.retry(s.client("alice"), billing("1.4.2"), state, approve); !recorded(r) || !strings.Contains(string(r.Result.StructuredContent), `"number":2`) {
					t.Errorf("again: %s", said(r))
				}
				s.toolError(s.retry(s.client("alice"), billing("1.4.2"), state, decline), "already redeemed")
				s.stop()
				s.start()
			}
			s.toolError(s.retry(s.client("alice"), billing("1.4.3"), state, approve), "another request")
			s.untouched(before)
		})
	}
}

// A state that one server sealed is nothing to another one, even if they share the keyring.
func TestAudienceKeepsServersApart(t *testing.T) {
	t.Parallel()
	staging := serve(t, nil)
	production := serve(t, func(c *deployserver.Config) {
		c.Keyring, c.Tokens = filepath.Join(staging.config.Data, "keyring"), filepath.Join(staging.config.Data, "tokens")
		c.Audience = "https://deploy.example.org/mcp"
	})
	production.tokens = staging.tokens
	state, _ := staging.asked(staging.client("alice"), billing("1.4.2"))
	production.toolError(production.retry(production.client("alice"), billing("1.4.2"), state, approve), "another server")
	production.runs("staging", "billing", "1.4.1")
}

func TestMemoryLedgerOfASingleProcess(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *deployserver.Config) { c.Ledger, c.SingleProcess = "memory", true })
	alice := s.client("alice")
	state, _ := s.asked(alice, billing("1.4.2"))
	if r := s.retry(alice, billing("1.4.2"), state, approve); r.Result == nil || r.Result.IsError {
		t.Fatalf("the first use: %s", said(r))
	}
	s.toolError(s.retry(alice, billing("1.4.2"), state, reject), "already redeemed")
	s.runs("staging", "billing", "1.4.2")
	if status, _ := s.get("/readyz"); status != 200 {
		t.Errorf("readiness is %d", status)
	}
}

// With the ledger gone nothing is deployed, nothing is burnt, and what needs no ledger goes on.
func TestLedgerGone(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	alice := s.client("alice")
	state, _ := s.asked(alice, billing("1.4.2"))
	if status, body := s.get("/readyz"); status != 200 || !strings.Contains(body, `"ready":true,"keys":["`) || !strings.Contains(body, `"ledger":"ok"`) {
		t.Errorf("readiness is %d %q", status, body)
	}
	before := s.tree()

	restore := s.loseLedger()
	if status, body := s.get("/readyz"); status != 503 || !strings.Contains(body, `"ready":false`) || !strings.Contains(body, `"ledger":"unavailable"`) || strings.Contains(body, s.config.Data) {
		t.Errorf("readiness is %d %q", status, body)
	}
	if status, body := s.get("/healthz"); status != 200 || body != "ok\n" {
		t.Errorf("health is %d %q: starting it again would not bring the ledger back", status, body)
	}
	for _, name := range []string{"list_releases", "release_status"} {
		if r := s.call(alice, name, args{"service": "billing", "environment": "staging"}, fleet.Extra{}); r.Result == nil || r.Result.IsError {
			t.Errorf("%s: %s", name, said(r))
		}
	}
	s.asked(alice, billing("1.4.2")) // asking touches no ledger either
	s.toolError(s.retry(alice, billing("1.4.2"), state, approve), "cannot be reached", "still good")
	restore()
	s.untouched(before)

	if status, _ := s.get("/readyz"); status != 200 {
		t.Errorf("readiness is %d although the ledger is back", status)
	}
	if r := s.retry(alice, billing("1.4.2"), state, approve); r.Result == nil || r.Result.IsError {
		t.Errorf("it was still good: %s", said(r))
	}
	s.runs("staging", "billing", "1.4.2")
}

// A client of an older revision cannot be asked: it is told so by name, and what asks nothing still serves it.
func TestLegacyClient(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	alice := s.client("alice")
	before := s.tree()
	legacy := func(body string) *fleet.Response {
		t.Helper()
		r, err := alice.Do(t.Context(), "", fleet.Extra{Body: []byte(body), Header: http.Header{
			wire.HeaderVersion: {"2025-06-18"}, wire.HeaderMethod: nil, wire.HeaderName: nil,
		}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := legacy(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"old","version":"1"}}}`)
	if r.Result == nil || !strings.Contains(string(r.Result.Raw), `"protocolVersion":"2025-06-18"`) {
		t.Fatalf("initialize: status %d, %s", r.Status, said(r))
	}
	deploy := func(more string) *fleet.Response {
		t.Helper()
		return legacy(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"deploy_release","arguments":{"service":"billing","environment":"staging","version":"1.4.2"}` + more + `}}`)
	}
	const named = "deploy_release asks before it acts, which needs MCP 2026-07-28; this client speaks 2025-06-18"
	if r = deploy(""); r.Result == nil || !r.Result.IsError || !strings.Contains(r.Result.Text(), named) {
		t.Errorf("deploy_release: status %d, %s", r.Status, said(r))
	}
	state, _ := s.asked(alice, billing("1.4.2"))
	r = deploy(`,"inputResponses":{"confirm":{"action":"accept","content":{"decision":"approve"}}},"requestState":"` + state + `"`)
	if r.Error == nil && !(r.Result != nil && r.Result.IsError) {
		t.Errorf("an answer of a revision that knows none: status %d, %s", r.Status, said(r))
	}
	for _, name := range []string{"list_releases", "release_status"} {
		r = legacy(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"` + name + `","arguments":{"service":"billing","environment":"staging"}}}`)
		if r.Result == nil || r.Result.IsError || !strings.Contains(string(r.Result.StructuredContent), `"running":"1.4.1"`) {
			t.Errorf("%s: status %d, %s", name, r.Status, said(r))
		}
	}
	s.untouched(before)
}

// No stream stays open, or it would hold up every shutdown.
func TestNothingToSubscribeTo(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	body := `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r, err := s.client("alice").Do(ctx, "subscriptions/listen", fleet.Extra{Body: []byte(body)})
	if err != nil || r.Result == nil {
		t.Fatalf("the stream did not end with a result: %v", err)
	}
	r, err = s.client("alice").Do(ctx, "server/discover", fleet.Extra{})
	if err != nil || !strings.Contains(string(r.Result.Raw), `"capabilities":{"prompts":{},"resources":{},"tools":{}}`) {
		t.Errorf("the capabilities say more than that there are tools, prompts and resources (%v)", err)
	}
}

func TestOrigins(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *deployserver.Config) { c.Origins = []string{"https://app.example.com"} })
	for origin, want := range map[string]int{"https://app.example.com": 200, "https://evil.example.com": 403, "null": 403} {
		r := s.call(s.client("alice"), "list_releases", args{"service": "billing", "environment": "staging"}, fleet.Extra{Header: http.Header{"Origin": {origin}}})
		if r.Status != want {
			t.Errorf("Origin %s: status %d, want %d", origin, r.Status, want)
		}
	}
}

// A log is read by more people than may know what was asked and answered, and all of them would hold the token.
func TestLogsKeepSecrets(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	alice := s.client("alice")
	state, _ := s.asked(alice, billing("1.4.2"))
	s.retry(alice, billing("1.4.2"), state, approve)
	s.retry(alice, billing("1.4.2"), state, approve)
	s.retry(alice, billing("1.4.2"), state, reject)
	s.retry(alice, billing("1.4.2"), state+"A", answer("accept", map[string]any{"decision": "salary 91000"}))
	s.call(alice, tool, billing("1.4.2"), fleet.Extra{RequestState: 7, InputResponses: answer("accept", map[string]any{"decision": "salary 91000"})})
	log := s.log.String()
	if !strings.Contains(log, "already redeemed") || !strings.Contains(log, "alice") {
		t.Error("the log does not say what was refused to whom")
	}
	for name, secret := range map[string]string{"the state": state[20:60], "the answer": "91000", "the decision": "approve", "the token": alice.Token} {
		if strings.Contains(log, secret) {
			t.Errorf("the log holds %s", name)
		}
	}
}
