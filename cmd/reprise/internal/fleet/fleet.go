// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

// Package fleet runs a server as several processes behind a balancer, and talks to it as a client that may cheat. The
// demonstration and the tests of the reference server are made of it.
//
// [Start] starts one process for each [Spec] and waits until each says where it listens; [Fleet.Handler] spreads requests
// over them, one after the other, and says in [HeaderReplica] who answered. [Client] sends one request of MCP revision
// 2026-07-28 for each call, decides nothing by itself, and writes what went over the wire into a [Transcript].
//
// # What a replica does
//
// A program that is to run as a replica listens on a free loopback port, calls [Ready] with its address, and serves until
// the context of [WithParent] ends:
//
//	ctx, cancel := fleet.WithParent(ctx)
//	defer cancel()
//	listener, err := net.Listen("tcp", "127.0.0.1:0")
//	...
//	fleet.Ready(os.Stdout, listener.Addr())
//	go server.Serve(listener)
//	<-ctx.Done()
//	server.Shutdown(...)
//
// The pipe on its standard input is what tells it to stop: it closes when the fleet is stopped, and also when the process
// that started the fleet dies, however it dies. On Linux the kernel kills a replica that does not listen to that.
package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// childEnv tells a replica that the pipe on its standard input means something.
const childEnv = "REPRISE_REPLICA"

const readyText = "listening on http://"

// Ready prints the line by which [Start] learns where a replica listens: "listening on http://127.0.0.1:PORT".
func Ready(w io.Writer, addr net.Addr) error {
	_, err := fmt.Fprintf(w, "%s%s\n", readyText, addr)
	return err
}

// WithParent returns a context that also ends when the program that started this one with [Start] stops it or is gone. In a
// program that was started otherwise, it leaves standard input alone and the context ends only as ctx does.
func WithParent(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if os.Getenv(childEnv) != "" {
		go func() {
			io.Copy(io.Discard, os.Stdin)
			cancel()
		}()
	}
	return ctx, cancel
}

// A Spec says how a replica is started.
type Spec struct {
	Path string   // the program; empty means the one that is running now
	Args []string // its arguments, without the program's name
	Env  []string // "NAME=value", added to the environment of this process
}

// A Fleet is a set of replicas. Its zero value has none; [Start] makes one that has.
type Fleet struct {
	replicas []*Replica
	balancer balancer
}

// Start starts a replica for each spec, all at once, and returns when each of them is ready. Their names are replica-1,
// replica-2, and so on. If one does not get ready before ctx ends, or ends itself, all are killed, and the error says what
// it wrote to its standard error. Once Start has returned, ctx means nothing to the replicas.
func Start(ctx context.Context, specs ...Spec) (*Fleet, error) {
	f := &Fleet{}
	for i, spec := range specs {
		f.replicas = append(f.replicas, &Replica{name: fmt.Sprintf("replica-%d", i+1), spec: spec})
	}
	f.balancer.replicas = f.replicas
	if err := f.each(func(r *Replica) error { return r.Restart(ctx, r.spec) }); err != nil {
		f.each((*Replica).Kill)
		return nil, err
	}
	return f, nil
}

// Replicas returns the replicas in the order of their specs.
func (f *Fleet) Replicas() []*Replica { return f.replicas }

// Stop stops all replicas as [Replica.Stop] does.
func (f *Fleet) Stop(ctx context.Context) error {
	return f.each(func(r *Replica) error { return r.Stop(ctx) })
}

func (f *Fleet) each(do func(*Replica) error) error {
	errs := make([]error, len(f.replicas))
	var all sync.WaitGroup
	for i, r := range f.replicas {
		all.Go(func() { errs[i] = do(r) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// A Replica is a slot for one process of a [Fleet]. Its process can be killed and started anew. It is safe for concurrent
// use.
type Replica struct {
	name   string
	stderr tail

	turn sync.Mutex // held by what starts and stops processes
	spec Spec

	mu      sync.Mutex
	running *process // nil before the first start and once the process was stopped or killed
}

// Name is the name that [HeaderReplica] gives.
func (r *Replica) Name() string { return r.name }

// URL is where the process listens, as it said: http:// and a loopback address with its port. It is empty while no process
// runs.
func (r *Replica) URL() string {
	if p := r.alive(); p != nil {
		return p.url
	}
	return ""
}

// PID is the process id; 0 while no process runs.
func (r *Replica) PID() int {
	if p := r.alive(); p != nil {
		return p.cmd.Process.Pid
	}
	return 0
}

// Stderr is what the processes of this slot wrote to their standard error, of which the last 256 KiB are kept.
func (r *Replica) Stderr() string { return r.stderr.String() }

// Kill kills the process with SIGKILL and returns when it is gone. Killing none is no error.
func (r *Replica) Kill() error {
	r.turn.Lock()
	defer r.turn.Unlock()
	return r.kill()
}

func (r *Replica) kill() error {
	p := r.take()
	if p == nil {
		return nil
	}
	err := p.cmd.Process.Kill()
	<-p.done
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// Stop closes the standard input of the process, by which a replica knows that it should end, and waits. When ctx ends
// first, the process is killed and the error is that of ctx; else the error says if it did not exit with status 0. Stopping
// none is no error.
func (r *Replica) Stop(ctx context.Context) error {
	r.turn.Lock()
	defer r.turn.Unlock()
	p := r.take()
	if p == nil {
		return nil
	}
	p.stdin.Close()
	select {
	case <-p.done:
	case <-ctx.Done():
		p.cmd.Process.Kill()
		<-p.done
		return fmt.Errorf("fleet: %s had to be killed: %w", r.name, ctx.Err())
	}
	if p.err != nil {
		return fmt.Errorf("fleet: %s stopped badly: %w%s", r.name, p.err, r.stderr.quote())
	}
	return nil
}

// Restart starts a process in the slot, from this spec, and returns when it is ready, under a new URL. A process that still
// runs there is killed. The error is that of [Start].
func (r *Replica) Restart(ctx context.Context, spec Spec) error {
	r.turn.Lock()
	defer r.turn.Unlock()
	if err := r.kill(); err != nil {
		return err
	}
	p, err := start(ctx, spec, &r.stderr)
	if err != nil {
		return fmt.Errorf("fleet: %s did not get ready: %w%s", r.name, err, r.stderr.quote())
	}
	r.mu.Lock()
	r.running = p
	r.mu.Unlock()
	return nil
}

// Spec is what the replica was first started from.
func (r *Replica) Spec() Spec { return r.spec }

func (r *Replica) alive() *process {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running == nil {
		return nil
	}
	select {
	case <-r.running.done:
		return nil
	default:
		return r.running
	}
}

// take empties the slot, so that the balancer sends nothing more there.
func (r *Replica) take() *process {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.running
	r.running = nil
	return p
}

type process struct {
	cmd   *exec.Cmd
	stdin io.Closer
	url   string
	done  chan struct{} // closed when the process is gone
	err   error         // how it ended; read it after done
}

func start(ctx context.Context, spec Spec, stderr io.Writer) (*process, error) {
	path := spec.Path
	if path == "" {
		var err error
		if path, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	ready := make(chan string, 1)
	cmd := exec.Command(path, spec.Args...)
	cmd.Env = append(append(os.Environ(), spec.Env...), childEnv+"=1")
	cmd.Stdout = &readyLine{found: ready}
	cmd.Stderr = stderr
	cmd.SysProcAttr = dieWithParent()
	cmd.WaitDelay = time.Second // for what else may have inherited its output
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, stdin: stdin, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		// For Linux the parent that a process dies with is the thread that started it: it must not end before.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	select {
	case p.url = <-ready:
		if err := checkURL(p.url); err != nil {
			cmd.Process.Kill()
			<-p.done
			return nil, err
		}
		return p, nil
	case <-p.done:
		if p.err == nil {
			return nil, errors.New("it ended at once")
		}
		return nil, p.err
	case <-ctx.Done():
		cmd.Process.Kill()
		<-p.done
		return nil, ctx.Err()
	}
}

func checkURL(text string) error {
	u, err := url.Parse(text)
	if err == nil && u.Scheme == "http" && u.User == nil {
		if addr, err := netip.ParseAddrPort(u.Host); err == nil && addr.Addr().IsLoopback() && addr.Port() != 0 {
			return nil
		}
	}
	return fmt.Errorf("it listens on %q, which is no http:// URL of a loopback address and port", text)
}

// readyLine looks for the line that [Ready] prints, and lets everything else go by.
type readyLine struct {
	found chan<- string // nil once the line was seen
	line  []byte
}

func (r *readyLine) Write(text []byte) (int, error) {
	const longest = 4 << 10
	for line := range bytes.Lines(text) {
		if r.found == nil {
			break
		}
		if r.line = append(r.line, line...); len(r.line) > longest {
			r.line = r.line[:longest] // no such line is that long
		}
		if line[len(line)-1] != '\n' {
			break
		}
		if _, at, ok := strings.Cut(string(r.line), readyText); ok {
			host, _, _ := strings.Cut(strings.TrimSpace(at), " ")
			r.found <- "http://" + host
			r.found = nil
		}
		r.line = r.line[:0]
	}
	return len(text), nil
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const maxTail = 256 << 10

func (t *tail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, text...)
	if len(t.text) > 2*maxTail { // not at every write, as it copies all that is kept
		t.text = append(t.text[:0], t.text[len(t.text)-maxTail:]...)
	}
	return len(text), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text[max(0, len(t.text)-maxTail):])
}

// quote is what an error says of it.
func (t *tail) quote() string {
	text := strings.TrimSpace(t.String())
	if text == "" {
		return ""
	}
	return "\n" + text[max(0, len(text)-2000):]
}
