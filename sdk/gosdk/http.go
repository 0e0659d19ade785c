// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package gosdk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/reprise-mcp/reprise/wire"
)

// DefaultMaxBody is the size of the largest request body that [Filter] lets through unless told otherwise: 1 MiB.
const DefaultMaxBody = 1 << 20

// FilterOptions are the options of [Filter]. The zero value is right for a server without browser clients.
type FilterOptions struct {
	// MaxBody is the size of the largest body in bytes. A larger one gets HTTP status 413. Default (0 or less): [DefaultMaxBody].
	// It should not exceed mcp.StreamableHTTPOptions.MaxRequestBodyBytes, whose answer is no JSON.
	MaxBody int64

	// Origins are the values of the Origin header that are accepted, such as "https://app.example.com". A request without
	// that header always is: no browser sent it. Beside these, a page that this server itself serves from a loopback
	// address is accepted. Everything else gets HTTP status 403. Default: no others.
	Origins []string

	// Versions are the protocol versions that the server supports, as given to
	// mcp.ServerOptions.SupportedProtocolVersions. Default (nil): all that the SDK supports.
	Versions []string
}

// Filter answers the requests that the SDK's streamable HTTP handler would answer wrongly before any middleware could help,
// and passes all others on, body and headers untouched. It belongs directly around mcp.NewStreamableHTTPHandler, inside
// the handler that authenticates. A nil o is the zero value.
//
// It refuses, each with a JSON-RPC error as the body:
//   - an Origin that is not accepted: 403 (basic/transports/streamable-http, Security & Endpoint);
//   - a body that is not application/json: 415; one that is too large: 413;
//   - what is not one JSON-RPC message: 400 with -32700 or -32600. Here belong duplicate members at any depth, invalid
//     UTF-8, batches, and ids beyond 2^53, which the SDK would answer under another id;
//   - a protocol version that is not supported: 400 with -32022;
//   - an MCP header that is sent twice: 400 with -32020;
//   - in tools/call, prompts/get and resources/read, params of the wrong type, with the answers and the state: 400 with
//     -32602.
//
// One refusal is stricter than the specification, which would have an answer to a question that nobody asked ignored whatever
// it looks like: the SDK cannot read a request whose inputResponses hold a value that is no result of an elicitation, of
// sampling or of roots. It gets -32602 here, where the SDK would blame a header.
func Filter(next http.Handler, o *FilterOptions) http.Handler {
	f := &filter{next: next}
	if o != nil {
		f.o = *o
	}
	if f.o.MaxBody <= 0 {
		f.o.MaxBody = DefaultMaxBody
	}
	if f.o.Versions == nil {
		f.o.Versions = mcp.SupportedProtocolVersions()
	}
	f.o.Origins, f.o.Versions = slices.Clone(f.o.Origins), slices.Clone(f.o.Versions)
	return f
}

type filter struct {
	next http.Handler
	o    FilterOptions
}

// received is a request as the filter read it. The SDK's own structs have lost what the engine needs: whether a member was
// there, the exact bytes of an answer, and which of two members that differ in case was meant.
type received struct {
	params *wire.Params
	header uintptr // identity of the header map that came with it
}

type receivedKey struct{}

// rawParams is the header under which [StdioTransport] hands on the raw params of a request: the extras are all that
// travels with a single message there. It is no valid header name, so it cannot come from an HTTP client.
const rawParams = "\x00reprise params"

// receivedFrom returns the params that [Filter] or [StdioTransport] read for the request with these extras. The context
// alone would not do: in a stateful session the SDK runs every request under the context of the first.
func receivedFrom(ctx context.Context, method string, extra *mcp.RequestExtra) (*wire.Params, bool) {
	if extra == nil {
		return nil, false
	}
	if raw := extra.Header[rawParams]; len(raw) == 1 {
		params, err := wire.ParseParams(method, []byte(raw[0]))
		return params, err == nil
	}
	r, ok := ctx.Value(receivedKey{}).(*received)
	if !ok || extra.Header == nil || reflect.ValueOf(extra.Header).Pointer() != r.header {
		return nil, false
	}
	return r.params, true
}

func (f *filter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !f.originAllowed(r) {
		refuse(w, http.StatusForbidden, wire.ID{}, &wire.Error{Code: wire.CodeInvalidRequest, Message: "this Origin is not allowed"})
		return
	}
	if r.Method != http.MethodPost {
		f.next.ServeHTTP(w, r)
		return
	}
	if !isJSON(r.Header["Content-Type"]) {
		refuse(w, http.StatusUnsupportedMediaType, wire.ID{}, &wire.Error{Code: wire.CodeInvalidRequest, Message: "Content-Type must be application/json"})
		return
	}
	body, err := f.read(w, r)
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			refuse(w, http.StatusRequestEntityTooLarge, wire.ID{}, &wire.Error{Code: wire.CodeInvalidRequest,
				Message: fmt.Sprintf("the request body is larger than %d bytes", f.o.MaxBody)})
			return
		}
		refuse(w, http.StatusBadRequest, wire.ID{}, &wire.Error{Code: wire.CodeParseError, Message: "the request body could not be read"})
		return
	}
	msg, err := wire.Parse(body)
	var params *wire.Params
	if err == nil {
		params, err = f.check(r, msg)
	}
	if err != nil {
		var e *wire.Error
		if !errors.As(err, &e) {
			e = &wire.Error{Code: wire.CodeInternalError, Message: "internal error"}
		}
		refuse(w, http.StatusBadRequest, msg.ID, e)
		return
	}
	if params != nil {
		r = r.WithContext(context.WithValue(r.Context(), receivedKey{},
			&received{params: params, header: reflect.ValueOf(r.Header).Pointer()}))
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	f.next.ServeHTTP(w, r)
}

func isJSON(contentType []string) bool {
	if len(contentType) != 1 {
		return false
	}
	if contentType[0] == "application/json" {
		return true
	}
	media, _, err := mime.ParseMediaType(contentType[0])
	return err == nil && media == "application/json"
}

// read reads the body whole.
func (f *filter) read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	limited := http.MaxBytesReader(w, r.Body, f.o.MaxBody)
	defer limited.Close()
	var b bytes.Buffer
	if 0 < r.ContentLength && r.ContentLength <= f.o.MaxBody {
		b.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	_, err := b.ReadFrom(limited)
	return b.Bytes(), err
}

// check looks at what is not syntax. It returns params for the requests that may be asked about.
func (f *filter) check(r *http.Request, msg *wire.Message) (*wire.Params, error) {
	for name, values := range r.Header {
		if len(values) > 1 && strings.HasPrefix(name, "Mcp-") {
			return nil, &wire.Error{Code: wire.CodeHeaderMismatch, Message: "header mismatch: an MCP header may be sent once only"}
		}
	}
	version := r.Header.Get(wire.HeaderVersion)
	if version != "" && !slices.Contains(f.o.Versions, version) {
		return nil, &wire.Error{Code: wire.CodeUnsupportedVersion, Message: "unsupported protocol version",
			Data: wire.UnsupportedVersion(version, f.o.Versions...)}
	}
	if err := checkID(msg.ID); err != nil {
		return nil, err
	}
	if version < wire.Version {
		return nil, unasked(msg) // a legacy client, which the engine refuses by name where it would have to ask
	}
	if msg.Method == "" {
		return nil, &wire.Error{Code: wire.CodeInvalidRequest, Message: "invalid request: a client sends no responses"}
	}
	if !msg.IsRequest() || !wire.MayAsk(msg.Method) {
		return nil, nil
	}
	params, err := msg.ParseParams()
	if err != nil {
		return nil, err
	}
	return params, readable(msg, params)
}

// unasked refuses answers from a client of an older revision, which nobody can have asked: where the SDK cannot read the
// params, its error would quote them.
func unasked(msg *wire.Message) error {
	if !msg.IsRequest() || !wire.MayAsk(msg.Method) {
		return nil
	}
	var params map[string]json.RawMessage
	if json.Unmarshal(msg.Params, &params) != nil {
		return nil // no params, and so no answers
	}
	for name := range params {
		if strings.EqualFold(name, "inputResponses") || strings.EqualFold(name, "requestState") {
			return &wire.Error{Code: wire.CodeInvalidParams, Message: "invalid params: inputResponses and requestState need MCP " + wire.Version}
		}
	}
	return nil
}

// checkID refuses an integer that the SDK, which reads a float, would answer as another one.
func checkID(id wire.ID) error {
	if n, err := strconv.ParseInt(id.String(), 10, 64); err == nil && (n > 1<<53 || n < -1<<53) || errors.Is(err, strconv.ErrRange) {
		return &wire.Error{Code: wire.CodeInvalidRequest, Message: `invalid request: "id" must not exceed 2^53; use a string`}
	}
	return nil
}

// readable makes sure that the SDK can decode the params: it decodes them while it compares headers, and would report a
// failure as a header that does not match.
func readable(msg *wire.Message, params *wire.Params) error {
	for _, answer := range params.InputResponses {
		if plain(answer) {
			continue // the common answer, at a tenth of the cost
		}
		raw, err := params.InputResponses.MarshalJSON()
		if err != nil {
			return err
		}
		var responses mcp.InputResponseMap
		if responses.UnmarshalJSON(raw) != nil {
			return &wire.Error{Code: wire.CodeInvalidParams,
				Message: "invalid params: every value in inputResponses must be an ElicitResult, CreateMessageResult or ListRootsResult"}
		}
		break
	}
	if msg.Method == wire.MethodPromptsGet {
		return stringsOnly(params.Arguments)
	}
	return nil
}

// plain reports whether answer is surely an ElicitResult to the SDK: an action, and a flat content of strings, booleans and
// short numbers.
func plain(answer jsontext.Value) bool {
	dec := jsontext.NewDecoder(bytes.NewBuffer(answer), jsontext.AllowDuplicateNames(true)) // they were looked for before
	if dec.PeekKind() != '{' {
		return false
	}
	dec.ReadToken()
	action := false
	for dec.PeekKind() == '"' {
		name, _ := dec.ReadValue()
		switch string(name) {
		case `"action"`:
			if action = dec.PeekKind() == '"'; !action {
				return false
			}
			dec.SkipValue()
		case `"content"`:
			if dec.PeekKind() != '{' {
				return false
			}
			dec.ReadToken()
			for dec.PeekKind() == '"' {
				dec.SkipValue()
				value, _ := dec.ReadValue()
				switch value.Kind() {
				case '"', 't', 'f':
				case '0':
					if len(value) > 15 || bytes.ContainsAny(value, "eE") {
						return false // may not fit a float64
					}
				default:
					return false
				}
			}
			dec.ReadToken()
		default:
			return false
		}
	}
	return action
}

// originAllowed reports whether no browser sent r, or a page that may.
func (f *filter) originAllowed(r *http.Request) bool {
	origins := r.Header["Origin"]
	switch len(origins) {
	case 0:
		return true
	case 1:
		return slices.Contains(f.o.Origins, origins[0]) || fromLoopback(origins[0], r.Host)
	}
	return false
}

// fromLoopback reports whether origin is this very host, named by a loopback address: a name under which a page of somebody
// else cannot reach it.
func fromLoopback(origin, host string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Host != host || (u.Scheme != "http" && u.Scheme != "https") {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && addr.IsLoopback()
}

// refuse writes a JSON-RPC error.
func refuse(w http.ResponseWriter, status int, id wire.ID, e *wire.Error) {
	b, err := (&wire.Message{ID: id, Error: e}).MarshalJSON()
	if err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write(b)
}

// stringsOnly refuses prompt arguments that are not strings: the schema knows no others.
func stringsOnly(arguments []byte) error {
	if arguments == nil {
		return nil
	}
	var m map[string]*string
	if err := json.Unmarshal(arguments, &m); err != nil {
		return &wire.Error{Code: wire.CodeInvalidParams, Message: "invalid params: the arguments of a prompt must be strings"}
	}
	for _, value := range m {
		if value == nil {
			return &wire.Error{Code: wire.CodeInvalidParams, Message: "invalid params: the arguments of a prompt must be strings"}
		}
	}
	return nil
}
