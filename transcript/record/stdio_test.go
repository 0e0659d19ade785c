// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package record_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test binary is also the server that a recorder starts.
const role = "RECORD_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "":
		os.Exit(m.Run())
	case "echo": // says back what it hears, on both outputs
		io.Copy(io.MultiWriter(os.Stdout, os.Stderr), os.Stdin)
	case "say":
		io.WriteString(os.Stdout, os.Getenv("SAY"))
		os.Exit(7)
	case "signal": // says which signal comes
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
		fmt.Println(`{"ready":true}`)
		for range 2 {
			fmt.Printf("{\"got\":\"%v\"}\n", <-signals)
		}
		signal.Reset()
		syscall.Kill(os.Getpid(), syscall.SIGTERM)
		select {}
	}
}

func command(t *testing.T, as string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), role+"="+as, "GORACE=atexit_sleep_ms=0")
	return cmd
}

func TestStdioIsByteExact(t *testing.T) {
	t.Parallel()
	r := tape(t, false)
	sent := random(t, 1<<20)
	var got, said bytes.Buffer
	cmd := command(t, "echo")
	cmd.Stderr = &said
	if err := r.Run(cmd, bytes.NewReader(sent), &got, nil); err != nil {
		t.Fatal(err)
	}
	for _, text := range [][]byte{got.Bytes(), said.Bytes()} {
		if sha256.Sum256(text) != sha256.Sum256(sent) {
			t.Errorf("%d bytes came back, want %d, or other ones", len(text), len(sent))
		}
	}
}

func TestWhatIsRecordedOfStdio(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 16<<20)
	for name, test := range map[string]struct {
		sent, want string
		warnings   []string
	}{
		"messages": {ping + "\n" + pong + "\r\n\n \r\n{ \"a\" :\t1 }\n",
			"> alice " + ping + "\n> alice " + pong + "\n> alice {\"a\":1}\n< alice " + ping + "\n< alice " + pong + "\n< alice {\"a\":1}\n", nil},
		"no JSON":             {"hello\n", ">  \"hello\"\n<  \"hello\"\n", nil},
		"a last line":         {notice, ">  " + notice + "\n<  " + notice + "\n", nil},
		"half a line":         {pong + "\n" + notice[:9], ">  " + pong + "\n<  " + pong + "\n", []string{"the last line broke off", "the last line broke off"}},
		"too long":            {`"` + long + "\"\n" + pong + "\n", ">  " + pong + "\n<  " + pong + "\n", []string{"more than 16 MiB", "more than 16 MiB"}},
		"nothing":             {"", "", nil},
		"the name comes late": {notice + "\n" + ping + "\n" + notice + "\n", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := tape(t, false)
			var got bytes.Buffer
			if err := r.Run(command(t, "echo"), strings.NewReader(test.sent), &got, nil); err != nil {
				t.Fatal(err)
			}
			if got.String() != test.sent {
				t.Errorf("%d bytes came back, want %d", got.Len(), len(test.sent))
			}
			var sides [2]strings.Builder // in which order they are is for the pipes
			for l := range strings.Lines(r.short()) {
				side := &sides[0]
				if strings.HasPrefix(l, "<") {
					side = &sides[1]
				}
				side.WriteString(l)
			}
			switch short := sides[0].String() + sides[1].String(); {
			case test.want != "" || test.sent == "":
				if short != test.want {
					t.Errorf("recorded\n%.400s\nwant\n%.400s", short, test.want)
				}
			case sides[0].String() != ">  "+notice+"\n> alice "+ping+"\n> alice "+notice+"\n":
				t.Errorf("recorded\n%s", short)
			}
			for _, l := range r.lines() {
				if l.HTTP != nil {
					t.Error("a line has http")
				}
			}
			r.warns(test.warnings...)
		})
	}
}

// A request is recorded before the server has it, and its response before the client has that.
func TestStdioPassesAtOnce(t *testing.T) {
	t.Parallel()
	r := tape(t, false)
	in, toIn := io.Pipe()
	fromOut, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- r.Run(command(t, "echo"), in, out, nil) }()
	answers := bufio.NewReader(fromOut)
	want := ""
	for i := range 5 {
		message := fmt.Sprintf(`{"n":%d}`, i)
		if _, err := io.WriteString(toIn, message+"\n"); err != nil {
			t.Fatal(err)
		}
		if got, err := answers.ReadString('\n'); err != nil || got != message+"\n" {
			t.Fatalf("got %q: %v", got, err)
		}
		want += ">  " + message + "\n<  " + message + "\n"
		r.wants(want)
	}
	toIn.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// The server may end although its client is still there.
func TestServerEnds(t *testing.T) {
	t.Parallel()
	r := tape(t, false)
	in, toIn := io.Pipe()
	defer toIn.Close()
	var got bytes.Buffer
	cmd := command(t, "say")
	cmd.Env = append(cmd.Env, "SAY="+pong+"\n{\"half")
	err := r.Run(cmd, in, &got, nil)
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Errorf("it ended with %v", err)
	}
	if got.String() != pong+"\n{\"half" {
		t.Errorf("got %q", got.String())
	}
	r.wants("<  " + pong + "\n")
	r.warns("the last line broke off")

	if err := r.Run(exec.Command("./no such server"), in, &got, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a server that is not there: %v", err)
	}
}

func TestSignalsPass(t *testing.T) {
	t.Parallel()
	r := tape(t, false)
	in, toIn := io.Pipe()
	defer toIn.Close()
	fromOut, out := io.Pipe()
	signals, ended := make(chan os.Signal), make(chan error, 1)
	go func() {
		ended <- r.Run(command(t, "signal"), in, out, signals)
	}()
	lines := bufio.NewReader(fromOut)
	for _, step := range []struct {
		before os.Signal
		want   string
	}{{nil, `{"ready":true}`}, {os.Interrupt, `{"got":"interrupt"}`}, {syscall.SIGTERM, `{"got":"terminated"}`}} {
		if step.before != nil {
			signals <- step.before
		}
		if got, err := lines.ReadString('\n'); err != nil || got != step.want+"\n" {
			t.Fatalf("got %q, want %q: %v", got, step.want, err)
		}
	}
	err := <-ended
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
		t.Errorf("it ended with %v", err)
	}
}
