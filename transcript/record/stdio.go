// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"time"
)

// Run starts a server that speaks over standard input and output, and passes on what comes from in and what goes to out,
// byte for byte and as it comes. It returns when the server has ended, with the error of [exec.Cmd.Wait]; it does not wait for
// the end of in. The standard error is that of cmd. Signals are passed on to the server's process; nil means that there are
// none.
func (r *Recorder) Run(cmd *exec.Cmd, in io.Reader, out io.Writer, signals <-chan os.Signal) error {
	var client atomic.Value // the name that the client gave last
	client.Store("")
	toServer := &lines{ends: "\n", each: func(line []byte) {
		if name := clientName(line); name != "" {
			client.Store(name)
		}
		r.recordLine(line, fromClient, client.Load().(string))
	}}
	toClient := &lines{ends: "\n", each: func(line []byte) { r.recordLine(line, fromServer, client.Load().(string)) }}

	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	cmd.Stdout = io.MultiWriter(toClient, out)
	cmd.WaitDelay = 5 * time.Second // for what else has its output
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		for {
			select {
			case s := <-signals:
				cmd.Process.Signal(s)
			case <-ended:
				return
			}
		}
	}()
	go func() {
		if _, err := io.Copy(stdin, io.TeeReader(in, toServer)); err == nil {
			r.last(toServer)
		}
		stdin.Close()
	}()
	err = cmd.Wait()
	r.last(toClient)
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	return err
}

func (r *Recorder) recordLine(line []byte, direction, client string) {
	if len(bytes.TrimSpace(line)) > 0 {
		r.record(entry{message: line, direction: direction, client: client})
	}
}

// last takes what came after the last end of a line: a message if it is whole.
func (r *Recorder) last(l *lines) {
	switch rest := bytes.TrimSpace(l.line); {
	case json.Valid(rest):
		l.each(rest)
	case len(rest) > 0:
		r.warn("the last line broke off, and is not recorded")
	}
}
