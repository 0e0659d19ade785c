// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package gosdk

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/reprise-mcp/reprise/wire"
)

// StdioTransport is what [Filter] is to HTTP: a transport for one message a line that answers bad input itself and hands the
// SDK what it read. The SDK's own ends the whole connection at the first line that is no message, and repeats answers in
// its error texts; and it cancels what is under way as soon as its input ends, so that a client which closes its end behind the last
// request hears nothing. Here the end is held back until the tools, prompts and resources that were called have answered, for up to
// five seconds. The zero value talks over os.Stdin and os.Stdout. Use it in place of mcp.StdioTransport and
// mcp.IOTransport; one value serves one connection.
type StdioTransport struct {
	Reader io.ReadCloser  // default (nil): os.Stdin
	Writer io.WriteCloser // default (nil): os.Stdout, which Close leaves open

	// MaxLine is the size of the longest line in bytes. A longer one is skipped and answered with -32600.
	// Default (0 or less): [DefaultMaxBody].
	MaxLine int

	// Versions are the protocol versions that the server supports; see [FilterOptions].
	Versions []string
}

// Connect implements mcp.Transport.
func (t *StdioTransport) Connect(context.Context) (mcp.Connection, error) {
	c := &stdioConn{
		in: t.Reader, out: t.Writer, max: t.MaxLine, versions: slices.Clone(t.Versions),
		lines: make(chan line), closed: make(chan struct{}), open: make(map[jsonrpc.ID]bool), answered: make(chan struct{}, 1),
	}
	if c.in == nil {
		c.in = os.Stdin
	}
	if c.out == nil {
		c.out = keepOpen{os.Stdout}
	}
	if c.max <= 0 {
		c.max = DefaultMaxBody
	}
	if t.Versions == nil {
		c.versions = mcp.SupportedProtocolVersions()
	}
	go c.readLines()
	return c, nil
}

type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }

type line struct {
	data    []byte
	tooLong bool
	err     error
}

// stdioConn implements mcp.Connection.
type stdioConn struct {
	in       io.ReadCloser
	max      int
	versions []string
	lines    chan line
	legacy   bool // an initialize request came, which chooses that era for the process; only Read uses it

	write sync.Mutex
	out   io.WriteCloser

	mu       sync.Mutex
	open     map[jsonrpc.ID]bool // requests that may act, and have not been answered
	answered chan struct{}       // receives when one was

	close  sync.Once
	closed chan struct{}
}

// readLines runs by itself because a read of stdin cannot be interrupted, and Close must not wait for it.
func (c *stdioConn) readLines() {
	r := bufio.NewReader(c.in)
	for {
		next := readLine(r, c.max)
		if len(next.data) == 0 && !next.tooLong && next.err == nil {
			continue // an empty line is no message
		}
		select {
		case c.lines <- next:
		case <-c.closed:
			return
		}
		if next.err != nil {
			return
		}
	}
}

// readLine reads up to the next line feed or the end. It does not keep more than limit.
func readLine(r *bufio.Reader, limit int) line {
	var next line
	for {
		chunk, err := r.ReadSlice('\n')
		if next.tooLong = next.tooLong || len(next.data)+len(chunk) > limit+len("\r\n"); next.tooLong {
			next.data = nil
		} else {
			next.data = append(next.data, chunk...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && (next.tooLong || len(next.data) > 0): // a last line without its end; the next read says EOF
		default:
			next.err = err
		}
		next.data = bytes.TrimSpace(next.data)
		return next
	}
}

// Read returns the next message that is fit for the SDK.
func (c *stdioConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		var next line
		select {
		case next = <-c.lines:
		case <-c.closed:
			return nil, io.EOF
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if next.err != nil {
			c.finish(ctx)
			return nil, next.err
		}
		msg, id, err := c.accept(next)
		if err == nil {
			return msg, nil
		}
		var e *wire.Error
		if !errors.As(err, &e) {
			e = &wire.Error{Code: wire.CodeInternalError, Message: "internal error"}
		}
		b, err := (&wire.Message{ID: id, Error: e}).MarshalJSON()
		if err != nil {
			return nil, err
		}
		if err := c.writeLine(b); err != nil {
			return nil, err
		}
	}
}

// grace is how long the end of the input is held back. A server should exit promptly then (basic/transports/stdio, Shutdown).
const grace = 5 * time.Second

// finish waits until every request that may act is answered: at the end of the input, the SDK would cancel it.
func (c *stdioConn) finish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	for {
		c.mu.Lock()
		left := len(c.open)
		c.mu.Unlock()
		if left == 0 {
			return
		}
		select {
		case <-c.answered:
		case <-c.closed:
			return
		case <-ctx.Done():
			return
		}
	}
}

// settle takes a request off the list of [stdioConn.finish].
func (c *stdioConn) settle(id jsonrpc.ID) {
	c.mu.Lock()
	delete(c.open, id)
	c.mu.Unlock()
	select {
	case c.answered <- struct{}{}:
	default:
	}
}

// cancelled is the id that a notifications/cancelled names; the SDK need not answer that request.
func cancelled(r *jsonrpc.Request) (jsonrpc.ID, bool) {
	var params struct {
		RequestID any `json:"requestId"`
	}
	if r.Method != "notifications/cancelled" || json.Unmarshal(r.Params, &params) != nil {
		return jsonrpc.ID{}, false
	}
	id, err := jsonrpc.MakeID(params.RequestID)
	return id, err == nil
}

// accept checks a line. Beside an error it returns the id to answer to.
func (c *stdioConn) accept(next line) (jsonrpc.Message, wire.ID, error) {
	if next.tooLong {
		return nil, wire.ID{}, &wire.Error{Code: wire.CodeInvalidRequest, Message: fmt.Sprintf("the message is longer than %d bytes", c.max)}
	}
	msg, err := wire.Parse(next.data)
	if err != nil {
		return nil, msg.ID, err
	}
	if err := checkID(msg.ID); err != nil {
		return nil, msg.ID, err
	}
	var extra *mcp.RequestExtra
	switch {
	case msg.Method == "initialize":
		c.legacy = true
	case msg.IsRequest() && wire.MayAsk(msg.Method):
		params, err := msg.ParseParams()
		if err == nil && !slices.Contains(c.versions, params.Version) {
			return nil, msg.ID, &wire.Error{Code: wire.CodeUnsupportedVersion, Message: "unsupported protocol version",
				Data: wire.UnsupportedVersion(params.Version, c.versions...)}
		}
		if err == nil {
			err = readable(msg, params)
		}
		switch {
		case err == nil:
			extra = &mcp.RequestExtra{Header: http.Header{rawParams: {string(msg.Params)}}}
		case !c.legacy:
			return nil, msg.ID, err
		default:
			if err := unasked(msg); err != nil {
				return nil, msg.ID, err
			}
		}
	}
	decoded, err := jsonrpc.DecodeMessage(next.data)
	if err != nil {
		return nil, msg.ID, &wire.Error{Code: wire.CodeInvalidRequest, Message: "invalid request"}
	}
	if request, ok := decoded.(*jsonrpc.Request); ok {
		if extra != nil {
			request.Extra = extra
		}
		if id, ok := cancelled(request); ok {
			c.settle(id)
		} else if request.IsCall() && wire.MayAsk(request.Method) {
			c.mu.Lock()
			c.open[request.ID] = true
			c.mu.Unlock()
		}
	}
	return decoded, msg.ID, nil
}

// Write implements mcp.Connection.
func (c *stdioConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if response, ok := msg.(*jsonrpc.Response); ok {
		defer c.settle(response.ID)
	}
	b, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	return c.writeLine(b)
}

func (c *stdioConn) writeLine(b []byte) error {
	c.write.Lock()
	defer c.write.Unlock()
	select {
	case <-c.closed:
		return io.ErrClosedPipe
	default:
	}
	_, err := c.out.Write(append(b, '\n'))
	return err
}

// Close implements mcp.Connection.
func (c *stdioConn) Close() error {
	var err error
	c.close.Do(func() {
		close(c.closed)
		err = errors.Join(c.in.Close(), c.out.Close())
	})
	return err
}

// SessionID implements mcp.Connection. There are no sessions.
func (c *stdioConn) SessionID() string { return "" }
