// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/reprise-mcp/reprise/wire"
)

// A Client sends requests of MCP revision 2026-07-28 over Streamable HTTP, one POST for each call, over a connection of
// its own. It never retries, follows no redirect and answers no question: ids, states and answers are the caller's, so
// that the caller can also get them wrong. Headers and _meta are as the specification wants them
// (basic/transports/streamable-http, Request Metadata), unless an [Extra] says otherwise.
//
// URL is required. Set the fields before the first call; calls may then be made at once from several goroutines.
type Client struct {
	URL          string
	Token        string      // bearer token; empty means none. It goes into no transcript and no error.
	Name         string      // name in clientInfo, and in the transcript
	Capabilities any         // clientCapabilities, as JSON; nil means {}
	Transcript   *Transcript // nil means that nothing is recorded

	lastID atomic.Int64
}

// Extra is what a request has beyond the ordinary. The zero value is an ordinary first request. Values of type any are
// sent as encoding/json writes them; nil leaves the member out. Use [json.RawMessage] for what has no Go value.
type Extra struct {
	ID             wire.ID // zero means the next number of this client, from 1
	RequestState   any     // a string, unless it is meant to be wrong
	InputResponses any     // answers by the key of their question
	Capabilities   any     // in place of the client's

	// Header is set over the headers of the request; a nil or empty value removes one.
	Header http.Header
	// Body is sent in place of the whole message, if it is not nil. The headers are those of the message.
	Body []byte
	// Violation says, for the transcript, what is wrong with this request on purpose. Empty means nothing.
	Violation string
}

// A Response is what came back.
type Response struct {
	Status  int
	Header  http.Header
	Replica string         // who answered, by the balancer's word; empty when it did not say
	ID      wire.ID        // of the response message; zero when it has none
	Result  *Result        // nil when there is none
	Error   *wire.Error    // nil when there is none. Result is nil too when the body is no message, such as text of a proxy.
	Notices []wire.Message // notifications that came before, on an event stream
	Raw     []byte         // the body as it came: of an event stream, up to the response
}

// Result holds the members of a result that a client of multi round-trip requests looks at.
type Result struct {
	ResultType        string                  `json:"resultType"`
	InputRequests     map[string]InputRequest `json:"inputRequests"`
	RequestState      string                  `json:"requestState"`
	Content           []Content               `json:"content"`
	StructuredContent json.RawMessage         `json:"structuredContent"`
	IsError           bool                    `json:"isError"`

	Raw json.RawMessage `json:"-"` // all of it
}

// InputRequest is one question of an input_required result.
type InputRequest struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// Content is one block of a tool's content; only text is looked into.
type Content struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// Text returns the text blocks of the content, one below the other.
func (r *Result) Text() string {
	var lines []string
	for _, c := range r.Content {
		if c.Type == "text" {
			lines = append(lines, c.Text)
		}
	}
	return strings.Join(lines, "\n")
}

// maxResponse bounds what is read of an answer.
const maxResponse = 16 << 20

// Call calls a tool with these arguments (nil leaves them out). The errors are those of [Client.Do].
func (c *Client) Call(ctx context.Context, tool string, arguments any, extra Extra) (*Response, error) {
	params := params{{"name", tool}}
	if arguments != nil {
		params = append(params, member{"arguments", arguments})
	}
	return c.send(ctx, wire.MethodToolsCall, tool, params, extra)
}

// Prompt gets a prompt with these arguments. The errors are those of [Client.Do].
func (c *Client) Prompt(ctx context.Context, prompt string, arguments map[string]string, extra Extra) (*Response, error) {
	return c.send(ctx, wire.MethodPromptsGet, prompt, params{{"name", prompt}, {"arguments", arguments}}, extra)
}

// Read reads a resource. The errors are those of [Client.Do].
func (c *Client) Read(ctx context.Context, uri string, extra Extra) (*Response, error) {
	return c.send(ctx, wire.MethodResourcesRead, uri, params{{"uri", uri}}, extra)
}

// Do sends a request of any method that needs no name, such as tools/list, without params of its own; with extra it sends
// states and answers even there.
//
// What the server refuses is no error: the response tells. The error is for a request that could not be sent, for an answer
// that did not come or broke off, and for one that claims to be JSON and is not one JSON-RPC response to this request. In
// the last case the response is there too, as far as it was understood.
func (c *Client) Do(ctx context.Context, method string, extra Extra) (*Response, error) {
	return c.send(ctx, method, "", nil, extra)
}

func (c *Client) send(ctx context.Context, method, target string, params params, extra Extra) (*Response, error) {
	id := extra.ID
	if id.IsZero() {
		id = wire.IntID(c.lastID.Add(1))
	}
	body := extra.Body
	if body == nil {
		var err error
		if body, err = c.message(id, method, params, extra); err != nil {
			return nil, fmt.Errorf("fleet: cannot build the request: %w", err)
		}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.GetBody = nil // without it nothing can be sent a second time
	h := request.Header
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
	h.Set(wire.HeaderVersion, wire.Version)
	h.Set(wire.HeaderMethod, headerValue(method))
	if target != "" {
		h.Set(wire.HeaderName, headerValue(target))
	}
	if c.Token != "" {
		h.Set("Authorization", "Bearer "+c.Token)
	}
	for name, values := range extra.Header {
		h.Del(name)
		for _, value := range values {
			if value != "" {
				h.Add(name, value)
			}
		}
	}
	if err := c.Transcript.record(entry{body, "client", h, 0, c.Name, extra.Violation}); err != nil {
		return nil, err
	}
	response, err := direct.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return c.receive(response, id, extra.Body != nil)
}

// direct sends to where it is told, once.
var direct = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true, DisableCompression: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func (c *Client) receive(response *http.Response, id wire.ID, anyID bool) (*Response, error) {
	r := &Response{Status: response.StatusCode, Header: response.Header, Replica: response.Header.Get(HeaderReplica)}
	raw := &bytes.Buffer{}
	limited := &io.LimitedReader{R: response.Body, N: maxResponse}
	body := io.TeeReader(limited, raw)
	recorded := false
	record := func(message []byte) error {
		recorded = true
		return c.Transcript.record(entry{message, "server", response.Header, response.StatusCode, c.Name, ""})
	}
	var err error
	mediaType, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	switch mediaType {
	case "text/event-stream":
		for data, readErr := range events(body) {
			if err = readErr; err != nil {
				break
			}
			if err = record(data); err != nil {
				break
			}
			if err = r.take(data, id, anyID); err != nil || r.Result != nil || r.Error != nil {
				break
			}
		}
		if err == nil && r.Result == nil && r.Error == nil {
			err = errors.New("the event stream ended without a response")
		}
	case "application/json":
		var data []byte
		if data, err = io.ReadAll(body); err != nil || limited.N == 0 {
			break
		}
		if err = record(data); err != nil {
			break
		}
		if err = r.take(data, id, anyID); err == nil && r.Result == nil && r.Error == nil {
			err = errors.New("it is a notification")
		}
	default:
		_, err = io.Copy(io.Discard, body)
	}
	r.Raw = raw.Bytes()
	if limited.N == 0 {
		err = fmt.Errorf("it is longer than %d bytes", maxResponse-1)
	}
	if !recorded {
		err = errors.Join(err, record(nil)) // the exchange stands in the transcript even without a message
	}
	if err != nil {
		return r, fmt.Errorf("fleet: the answer (status %d) cannot be used: %w", r.Status, err)
	}
	return r, nil
}

// take takes in one message of the server.
func (r *Response) take(data []byte, id wire.ID, anyID bool) error {
	m, err := wire.Parse(data)
	if err != nil {
		return err
	}
	if m.Method != "" {
		if m.IsRequest() {
			return fmt.Errorf("the server sent a request, %q, which it may not", m.Method)
		}
		r.Notices = append(r.Notices, *m)
		return nil
	}
	r.ID = m.ID
	// An error needs no id where the server could not read that of the request.
	if m.ID != id && !anyID && (m.Error == nil || !m.ID.IsZero()) {
		return fmt.Errorf("it answers request %s, not %s", m.ID, id)
	}
	if m.Error != nil {
		r.Error = m.Error
		return nil
	}
	result := &Result{Raw: json.RawMessage(m.Result)}
	if err := json.Unmarshal(m.Result, result); err != nil {
		return fmt.Errorf("the result: %w", err)
	}
	r.Result = result
	return nil
}

// params are members in the order in which they are sent.
type params []member

type member struct {
	name  string
	value any
}

func (p params) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i, m := range p {
		if i > 0 {
			text = append(text, ',')
		}
		name, err := marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := marshal(m.value)
		if err != nil {
			return nil, err
		}
		text = append(append(append(text, name...), ':'), value...)
	}
	return append(text, '}'), nil
}

// marshal writes <, > and & as they are: a state is to be echoed as it came.
func marshal(value any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func (c *Client) message(id wire.ID, method string, p params, extra Extra) ([]byte, error) {
	if extra.InputResponses != nil {
		p = append(p, member{"inputResponses", extra.InputResponses})
	}
	if extra.RequestState != nil {
		p = append(p, member{"requestState", extra.RequestState})
	}
	capabilities := c.Capabilities
	if extra.Capabilities != nil {
		capabilities = extra.Capabilities
	}
	if capabilities == nil {
		capabilities = struct{}{}
	}
	p = append(p, member{"_meta", params{
		{wire.MetaVersion, wire.Version},
		{wire.MetaClientInfo, params{{"name", c.Name}, {"version", "1"}}},
		{wire.MetaCapabilities, capabilities},
	}})
	return marshal(params{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", p}})
}

// headerValue writes a value so that it arrives as it is (basic/transports/streamable-http, Value Encoding).
func headerValue(value string) string {
	const prefix, suffix = "=?base64?", "?="
	plain := value == strings.Trim(value, " ") && !(strings.HasPrefix(value, prefix) && strings.HasSuffix(value, suffix))
	for i := range len(value) {
		plain = plain && ' ' <= value[i] && value[i] <= '~'
	}
	if plain {
		return value
	}
	return prefix + base64.StdEncoding.EncodeToString([]byte(value)) + suffix
}
