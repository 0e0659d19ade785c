// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reprise-mcp/reprise/cmd/reprise/internal/fleet"
)

// The test binary is also the replica: its first argument says of which sort.
func TestMain(m *testing.M) {
	if kind := os.Getenv("REPRISE_TEST_REPLICA"); kind != "" {
		replica(kind)
		return
	}
	os.Exit(m.Run())
}

func replica(kind string) {
	ctx := context.Background()
	switch kind {
	case "fails":
		fmt.Fprintln(os.Stderr, "the key file is missing")
		os.Exit(3)
	case "ends":
		return
	case "abroad":
		fmt.Println("listening on http://192.0.2.1:80")
		select {}
	case "parent":
		f, err := fleet.Start(ctx, spec("serves"), spec("deaf"))
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		for _, r := range f.Replicas() {
			fmt.Println(r.URL())
		}
		io.Copy(io.Discard, os.Stdin) // until killed
		return
	}
	fmt.Fprintln(os.Stderr, "starting as", kind, strings.Join(os.Args[1:], " "))
	withParent, cancel := fleet.WithParent(ctx)
	defer cancel()
	if kind == "silent" {
		fmt.Println("not listening on anything")
		<-withParent.Done()
		return
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%d %s", os.Getpid(), body)
	})
	mux.HandleFunc("/hang", func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	server := &http.Server{Handler: mux}
	fmt.Print("some other output\nand the line: ")
	fleet.Ready(os.Stdout, listener.Addr())
	if kind == "deaf" {
		server.Serve(listener)
	}
	go server.Serve(listener)
	<-withParent.Done()
	server.Shutdown(ctx)
	fmt.Fprintln(os.Stderr, "stopped in order")
}

func spec(kind string, args ...string) fleet.Spec {
	return fleet.Spec{Args: args, Env: []string{"REPRISE_TEST_REPLICA=" + kind}}
}

// serving starts n replicas and a balancer, and returns its URL.
func serving(t *testing.T, n int) (*fleet.Fleet, string) {
	t.Helper()
	f, err := fleet.Start(t.Context(), slices.Repeat([]fleet.Spec{spec("serves")}, n)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { killAll(f) })
	balancer := httptest.NewServer(f.Handler())
	t.Cleanup(balancer.Close)
	return f, balancer.URL
}

func killAll(f *fleet.Fleet) {
	for _, r := range f.Replicas() {
		r.Kill()
	}
}

// post sends one request through the balancer, and returns who answered, by its own word and by the balancer's.
func post(t *testing.T, url, body string) (status int, pid int, replica, text string) {
	t.Helper()
	response, err := http.Post(url, "text/plain", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	all, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	first, text, _ := strings.Cut(string(all), " ")
	pid, _ = strconv.Atoi(first)
	return response.StatusCode, pid, response.Header.Get(fleet.HeaderReplica), text
}

func TestRequestsGoRoundTheReplicas(t *testing.T) {
	f, url := serving(t, 3)
	pids := map[int]bool{}
	for i := range 6 {
		want := f.Replicas()[i%3]
		status, pid, replica, text := post(t, url, "hello")
		if status != 200 || pid != want.PID() || replica != want.Name() || text != "hello" {
			t.Errorf("request %d: status %d, %q from %s (pid %d), want %s (pid %d)", i, status, text, replica, pid, want.Name(), want.PID())
		}
		pids[pid] = true
	}
	if len(pids) != 3 {
		t.Errorf("%d processes answered, want 3", len(pids))
	}
}

func TestKilledReplicaIsSkippedAndRestarted(t *testing.T) {
	f, url := serving(t, 3)
	dead := f.Replicas()[1]
	oldURL, oldPID := dead.URL(), dead.PID()
	if err := dead.Kill(); err != nil {
		t.Fatal(err)
	}
	if dead.URL() != "" || dead.PID() != 0 {
		t.Errorf("the killed replica claims to run at %q as %d", dead.URL(), dead.PID())
	}
	if conn, err := net.Dial("tcp", strings.TrimPrefix(oldURL, "http://")); err == nil {
		conn.Close()
		t.Error("the killed replica still listens")
	}
	if err := dead.Kill(); err != nil {
		t.Errorf("killing it again: %v", err)
	}
	var seen []string
	for range 4 {
		status, _, replica, _ := post(t, url, "")
		if status != 200 {
			t.Errorf("status %d", status)
		}
		seen = append(seen, replica)
	}
	if want := []string{"replica-1", "replica-3", "replica-1", "replica-3"}; !slices.Equal(seen, want) {
		t.Errorf("%v answered, want %v", seen, want)
	}

	if err := dead.Restart(t.Context(), dead.Spec()); err != nil {
		t.Fatal(err)
	}
	post(t, url, "") // replica-1
	_, pid, replica, _ := post(t, url, "")
	if replica != "replica-2" || pid != dead.PID() || pid == oldPID {
		t.Errorf("%s (pid %d) answered, want replica-2 in a new process", replica, pid)
	}
	if n := strings.Count(dead.Stderr(), "starting as serves"); n != 2 {
		t.Errorf("standard error tells of %d starts, want 2:\n%s", n, dead.Stderr())
	}
}

// A process that somebody else kills is skipped too, from the moment on that it is gone.
func TestReplicaThatDiedByItself(t *testing.T) {
	f, url := serving(t, 2)
	victim := f.Replicas()[0]
	process, err := os.FindProcess(victim.PID())
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
	for victim.PID() != 0 { // until the fleet has noticed
		runtime.Gosched()
	}
	for range 4 {
		if status, _, replica, _ := post(t, url, ""); status != 200 || replica != "replica-2" {
			t.Errorf("status %d from %q, want replica-2", status, replica)
		}
	}
}

func TestNoReplicaLeft(t *testing.T) {
	f, url := serving(t, 2)
	killAll(f)
	if status, _, replica, _ := post(t, url, ""); status != http.StatusBadGateway || replica != "" {
		t.Errorf("status %d from %q, want 502 from nobody", status, replica)
	}
}

func TestStopIsGraceful(t *testing.T) {
	f, _ := serving(t, 2)
	if err := f.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	for _, r := range f.Replicas() {
		if !strings.Contains(r.Stderr(), "stopped in order") || r.PID() != 0 {
			t.Errorf("%s: pid %d, standard error %q", r.Name(), r.PID(), r.Stderr())
		}
	}
	if err := f.Stop(t.Context()); err != nil {
		t.Errorf("stopping it again: %v", err)
	}
}

func TestStopKillsInTheEnd(t *testing.T) {
	f, err := fleet.Start(t.Context(), spec("deaf"))
	if err != nil {
		t.Fatal(err)
	}
	defer killAll(f)
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error)
	go func() { stopped <- f.Stop(ctx) }()
	for f.Replicas()[0].URL() != "" { // nothing new is sent to one that is to stop, although it still runs
		runtime.Gosched()
	}
	cancel()
	if err := <-stopped; !errors.Is(err, context.Canceled) {
		t.Errorf("Stop: %v, want context.Canceled", err)
	}
	if pid := f.Replicas()[0].PID(); pid != 0 {
		t.Errorf("process %d still runs", pid)
	}
}

func TestReplicasThatDoNotGetReady(t *testing.T) {
	cancelled := func(t *testing.T) context.Context {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		t.Cleanup(cancel)
		return ctx
	}
	tests := []struct {
		spec fleet.Spec
		ctx  func(*testing.T) context.Context
		want string
	}{
		{spec("fails"), (*testing.T).Context, "exit status 3\nthe key file is missing"},
		{spec("ends"), (*testing.T).Context, "replica-2 did not get ready: it ended at once"},
		{spec("abroad"), (*testing.T).Context, "loopback"},
		{spec("silent"), cancelled, "context deadline exceeded"},
		{fleet.Spec{Path: "/no/such/program"}, (*testing.T).Context, "no such file"},
	}
	for _, test := range tests {
		_, err := fleet.Start(test.ctx(t), spec("serves"), test.spec)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Start: %v, want an error with %q", err, test.want)
		}
	}
}

// A replica must end with the process that started it, even if that is killed and can do nothing about it.
func TestNoOrphans(t *testing.T) {
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), "REPRISE_TEST_REPLICA=parent")
	stdin, err := parent.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	defer parent.Wait()
	defer parent.Process.Kill()
	lines := bufio.NewScanner(stdout)
	var hanging []io.ReadCloser
	for i := 0; i < 2 && lines.Scan(); i++ {
		if i == 1 && runtime.GOOS != "linux" {
			break // only there does one that ignores its parent end too
		}
		response, err := http.Get(lines.Text() + "/hang")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		hanging = append(hanging, response.Body)
	}
	if len(hanging) == 0 {
		t.Fatal("no replica came up")
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for _, body := range hanging {
		io.Copy(io.Discard, body) // returns when the replica is gone: it would hang for ever
	}
}

func TestWithParentLeavesOtherProgramsAlone(t *testing.T) {
	ctx, cancel := fleet.WithParent(t.Context()) // standard input of a test is at its end
	if ctx.Err() != nil {
		t.Error("the context ended")
	}
	cancel()
	if ctx.Err() == nil {
		t.Error("the context did not end with cancel")
	}
}
