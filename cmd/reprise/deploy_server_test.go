// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reprise-mcp/reprise/cmd/reprise/internal/fleet"
	"github.com/reprise-mcp/reprise/wire"
)

const audience = "https://deploy.example.com/mcp"

// serving is deploy-server as another process.
type serving struct {
	t      *testing.T
	cmd    *exec.Cmd
	url    string // where it listens
	stderr string // a file, so that all that was written before a line of standard output is there
}

func serve(t *testing.T, dir string, env []string, args ...string) *serving {
	t.Helper()
	return listening(t, dir, env, append([]string{"deploy-server"}, args...)...)
}

// listening is a command that says where it listens.
func listening(t *testing.T, dir string, env []string, args ...string) *serving {
	t.Helper()
	s := &serving{t: t, cmd: process(t, args...), stderr: filepath.Join(t.TempDir(), "stderr")}
	s.cmd.Dir, s.cmd.Env = dir, append(os.Environ(), env...)
	stderr, err := os.Create(s.stderr)
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	s.cmd.Stderr = stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	at, ready := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !ready {
		s.cmd.Wait()
		t.Fatalf("it is not ready: %q, %v\n%s", line, err, s.said())
	}
	s.url = at
	return s
}

// said is what stands on standard error by now.
func (s *serving) said() string {
	s.t.Helper()
	text, err := os.ReadFile(s.stderr)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// stop ends it as an operator would.
func (s *serving) stop() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("on SIGTERM: %v\n%s", err, s.said())
	}
}

// client reads the client configuration that the server printed.
func (s *serving) client() *fleet.Client {
	s.t.Helper()
	_, text, _ := strings.Cut(s.said(), "in this client configuration:\n")
	var config struct {
		MCPServers map[string]struct {
			Type, URL string
			Headers   map[string]string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal([]byte(text), &config); err != nil {
		s.t.Fatalf("the client configuration: %v", err)
	}
	c, ok := config.MCPServers["reprise-deploy"]
	token, bearer := strings.CutPrefix(c.Headers["Authorization"], "Bearer ")
	if !ok || c.Type != "http" || c.URL != s.url+"/mcp" || !bearer || len(c.Headers) != 1 {
		s.t.Fatalf("the client configuration is for %s at %q, want %q", c.Type, c.URL, s.url+"/mcp")
	}
	return &fleet.Client{URL: c.URL, Name: "local", Token: token, Capabilities: json.RawMessage(`{"elicitation":{}}`)}
}

var (
	upgrade = json.RawMessage(`{"service":"billing","environment":"staging","version":"1.4.2"}`)
	yes     = json.RawMessage(`{"confirm":{"action":"accept","content":{"decision":"approve"}}}`)
)

func ask(t *testing.T, client *fleet.Client) (state string) {
	t.Helper()
	r, err := client.Call(t.Context(), "deploy_release", upgrade, fleet.Extra{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Result == nil || r.Result.RequestState == "" {
		t.Fatalf("it did not ask: status %d", r.Status)
	}
	return r.Result.RequestState
}

func runs(t *testing.T, root, want string) {
	t.Helper()
	link, err := os.Readlink(filepath.Join(root, "staging", "billing", "current"))
	if err != nil || filepath.Base(link) != want {
		t.Errorf("billing in staging runs %q, want %q (%v)", filepath.Base(link), want, err)
	}
}

// The first command of the help is all that it takes, and a question outlives the process that asked.
func TestFirstRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serve(t, dir, nil, "--seed", "--listen", "127.0.0.1:0", "--audience", audience)
	for _, loud := range []string{"reprise: made a NEW key in reprise-data/keyring", "for this machine only", `made a NEW token for "local" in reprise-data/tokens`} {
		if !strings.Contains(s.said(), loud) {
			t.Errorf("it did not say %q", loud)
		}
	}
	client := s.client()
	state := ask(t, client)
	for _, name := range []string{"keyring", "tokens", "ledger.db"} {
		info, err := os.Stat(filepath.Join(dir, "reprise-data", name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "reprise-data", "tokens")); err != nil || bytes.Contains(text, []byte(client.Token)) {
		t.Errorf("the token itself stands in its file (%v)", err)
	}
	s.stop()

	s = serve(t, dir, nil, "--listen", "127.0.0.1:0", "--audience", audience)
	if s.said() != "" {
		t.Error("the second run made something, or said the token again")
	}
	client.URL = s.url + "/mcp"
	r, err := client.Call(t.Context(), "deploy_release", upgrade, fleet.Extra{RequestState: state, InputResponses: yes})
	if err != nil {
		t.Fatal(err)
	}
	if r.Result == nil || r.Result.IsError || !bytes.Contains(r.Result.StructuredContent, []byte(`"deployed":true`)) {
		t.Errorf("the question of the first run was not redeemed: status %d", r.Status)
	}
	runs(t, filepath.Join(dir, "reprise-data", "releases"), "1.4.2")
	s.stop()
}

// Whatever the flags can say, the environment can, and the flags win.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	key, err := process(t, "keys", "new").Output()
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, dir, []string{
		"REPRISE_LISTEN=127.0.0.1", "REPRISE_AUDIENCE=" + audience, "REPRISE_SEED=true", "REPRISE_ROOT=" + filepath.Join(dir, "root"),
		"REPRISE_LEDGER=memory", "REPRISE_SINGLE_PROCESS=1", "REPRISE_TOKENS=secrets/tokens", "REPRISE_AUDIT=audit/flows.jsonl", "REPRISE_KEYRING=env:RING", "RING=" + string(key),
		"REPRISE_SEALER=hmac-sha256", "REPRISE_TTL=90s", "REPRISE_ORIGINS=https://a.example,https://b.example",
	}, "--listen", "127.0.0.1:0")
	client := s.client()
	state := ask(t, client)
	if _, err := os.Stat(filepath.Join(dir, "reprise-data")); err == nil {
		t.Error("the default folder was made, although nothing is kept there")
	}
	inspect := process(t, "state", "inspect")
	inspect.Env = append(os.Environ(), "REPRISE_KEYRING=env:RING", "RING="+string(key))
	inspect.Stdin = strings.NewReader(state)
	out, err := inspect.Output()
	if err != nil || !bytes.Contains(out, []byte("HMAC-SHA256")) || !bytes.Contains(out, []byte("holds for another 1m")) {
		t.Errorf("the state is not what the environment asked for: %v\n%s", err, out)
	}
	for origin, want := range map[string]int{"https://b.example": 200, "https://c.example": 403} {
		r, err := client.Do(t.Context(), "tools/list", fleet.Extra{Header: http.Header{"Origin": {origin}}})
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != want {
			t.Errorf("Origin %s: status %d, want %d", origin, r.Status, want)
		}
	}
	s.stop()
}

func TestAddressInUse(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	cmd := process(t, "deploy-server", "--seed", "--listen", taken.Addr().String())
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 1 || !bytes.Contains(out, []byte("in use")) {
		t.Errorf("%v: %s", err, out)
	}
	// A token is shown once only, so one that was made here would be lost.
	if left, err := os.ReadDir(cmd.Dir); err != nil || len(left) != 0 {
		t.Errorf("it left %v behind (%v)", left, err)
	}
}

// A request that is under way when the server is told to stop is finished, to the deployment; new ones are refused.
func TestShutdown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serve(t, dir, nil, "--seed", "--listen", "127.0.0.1:0", "--audience", audience)
	client := s.client()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"deploy_release","arguments":%s,"inputResponses":%s,"requestState":%q,"_meta":{`+
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"local","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`,
		upgrade, yes, ask(t, client))
	address := strings.TrimPrefix(s.url, "http://")
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(30 * time.Second))
	fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+
		"%s: %s\r\n%s: tools/call\r\n%s: deploy_release\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n",
		address, client.Token, wire.HeaderVersion, wire.Version, wire.HeaderMethod, wire.HeaderName, len(body))
	r := bufio.NewReader(conn)
	if line, err := r.ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 100 ") { // the server waits for the body
		t.Fatalf("got %q, %v", line, err)
	}
	if _, err := r.ReadString('\n'); err != nil {
		t.Fatal(err)
	}

	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	refused := func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
		}
		return err != nil
	}
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(20 * time.Second); !refused(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal("it still takes connections")
		}
	}
	root := filepath.Join(dir, "reprise-data", "releases")
	runs(t, root, "1.4.1")
	if _, err := io.WriteString(conn, body); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if text, err := io.ReadAll(response.Body); err != nil || response.StatusCode != 200 || !bytes.Contains(text, []byte(`"deployed":true`)) {
		t.Errorf("the request under way got status %d (%v)", response.StatusCode, err)
	}
	runs(t, root, "1.4.2")
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("it ended with %v\n%s", err, s.said())
	}
}

// piped is deploy-server on stdio.
type piped struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr bytes.Buffer // read it after the end
	lastID int
}

func pipe(t *testing.T, dir string, args ...string) *piped {
	t.Helper()
	p := &piped{t: t, cmd: process(t, append([]string{"deploy-server", "--stdio", "--seed"}, args...)...)}
	p.cmd.Dir, p.cmd.Stderr = dir, &p.stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.cmd.Process.Kill() })
	return p
}

// call sends a line and reads one: standard output must carry nothing but the answer.
func (p *piped) call(tool string, arguments json.RawMessage, more string) (r fleet.Result) {
	p.t.Helper()
	p.lastID++
	_, err := fmt.Fprintf(p.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`+"\n", p.lastID, tool, arguments, more)
	if err != nil {
		p.t.Fatal(err)
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		p.t.Fatal(err)
	}
	m, err := wire.Parse(line)
	if err != nil || m.ID != wire.IntID(int64(p.lastID)) || m.Result == nil {
		p.t.Fatalf("no answer to request %d: %v", p.lastID, err)
	}
	if err := json.Unmarshal(m.Result, &r); err != nil {
		p.t.Fatal(err)
	}
	r.Raw = json.RawMessage(m.Result)
	return r
}

func (p *piped) retry(state string) fleet.Result {
	p.t.Helper()
	return p.call("deploy_release", upgrade, fmt.Sprintf(`,"inputResponses":%s,"requestState":%q`, yes, state))
}

// end closes standard input, by which a client says goodbye, or sends SIGTERM.
func (p *piped) end(signal bool) {
	p.t.Helper()
	if signal {
		p.cmd.Process.Signal(syscall.SIGTERM)
	} else {
		p.in.Close()
	}
	rest, err := io.ReadAll(p.out)
	if err != nil || len(rest) != 0 {
		p.t.Errorf("%d more bytes came (%v)", len(rest), err)
	}
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("it ended with %v\n%s", err, &p.stderr)
	}
	if strings.Contains(p.stderr.String(), "ERROR") {
		p.t.Errorf("an ordinary end is logged as an error:\n%s", &p.stderr)
	}
}

func TestStdio(t *testing.T) {
	t.Parallel()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		args []string
		by   string
	}{
		{"default", nil, fmt.Sprintf("local %q %q", "host:"+host, u.Username)},
		{"subject", []string{"--subject", "alice"}, fmt.Sprintf("local %q %q", "host:"+host, "alice")},
		{"issuer and subject", []string{"--issuer", "https://id.example.com", "--subject", "alice"}, `local "https://id.example.com" "alice"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			root := filepath.Join(dir, "reprise-data", "releases")
			p := pipe(t, dir, test.args...)
			asked := p.call("deploy_release", upgrade, "")
			if asked.ResultType != wire.ResultInputRequired || asked.RequestState == "" || len(asked.InputRequests) != 1 {
				t.Fatalf("it did not ask: %s, %s", asked.ResultType, asked.Text())
			}
			runs(t, root, "1.4.1")

			// Another person at another process with the same files is another principal.
			other := pipe(t, dir, "--subject", "mallory")
			if r := other.retry(asked.RequestState); !r.IsError || !strings.Contains(r.Text(), "somebody else") {
				t.Errorf("mallory got %q", r.Text())
			}
			other.end(true)
			runs(t, root, "1.4.1")

			if r := p.retry(asked.RequestState); r.IsError || !bytes.Contains(r.StructuredContent, []byte(`"deployed":true`)) {
				t.Errorf("it was not deployed: %s", r.Text())
			}
			runs(t, root, "1.4.2")
			if r := p.retry(asked.RequestState); r.IsError || !bytes.Contains(r.Raw, []byte(`"io.github.reprise-mcp/recorded":true`)) {
				t.Errorf("the replay got %q", r.Text())
			}
			var status struct{ Last struct{ By string } }
			r := p.call("release_status", json.RawMessage(`{"service":"billing","environment":"staging"}`), "")
			if err := json.Unmarshal(r.StructuredContent, &status); err != nil || status.Last.By != test.by {
				t.Errorf("deployed by %s, want %s (%v)", status.Last.By, test.by, err)
			}
			p.end(false)
			if _, err := os.Stat(filepath.Join(dir, "reprise-data", "tokens")); err == nil {
				t.Error("it made a token, which nobody needs on stdio")
			}
		})
	}
}
