// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wire

// Version is the protocol revision that this package speaks.
const Version = "2026-07-28"

// Error codes of JSON-RPC 2.0 and of MCP (basic, Error Codes).
const (
	CodeParseError     = -32700 // not one JSON value
	CodeInvalidRequest = -32600 // JSON, but no JSON-RPC message
	CodeMethodNotFound = -32601 // HTTP status 404
	CodeInvalidParams  = -32602
	CodeInternalError  = -32603

	CodeHeaderMismatch     = -32020 // a header is missing, malformed, or says something else than the body
	CodeMissingCapability  = -32021 // data is [RequiredCapabilities]; HTTP status 400
	CodeUnsupportedVersion = -32022 // data is [UnsupportedVersion]; HTTP status 400
)

// The requests that may end with an [InputRequired] (basic/patterns/mrtr, Supported Requests). No other may.
const (
	MethodToolsCall     = "tools/call"
	MethodPromptsGet    = "prompts/get"
	MethodResourcesRead = "resources/read"
)

// The requests that an [InputRequired] may carry. No other may be embedded.
const (
	MethodElicit = "elicitation/create"
	MethodSample = "sampling/createMessage"
	MethodRoots  = "roots/list"
)

// Members of a request's _meta (basic, Per-request protocol fields).
const (
	MetaVersion      = "io.modelcontextprotocol/protocolVersion"    // required
	MetaCapabilities = "io.modelcontextprotocol/clientCapabilities" // required
	MetaClientInfo   = "io.modelcontextprotocol/clientInfo"         // never to be relied on
)

// HTTP headers that repeat what the body says (basic/transports/streamable-http, Standard Request Headers), in the
// spelling of [net/http.CanonicalHeaderKey].
const (
	HeaderVersion = "Mcp-Protocol-Version"
	HeaderMethod  = "Mcp-Method"
	HeaderName    = "Mcp-Name"
)

// Values of a result's resultType (basic, ResultType).
const (
	ResultComplete      = "complete"
	ResultInputRequired = "input_required"
)

// MayAsk reports whether a request of this method may end with an [InputRequired].
func MayAsk(method string) bool {
	return method == MethodToolsCall || method == MethodPromptsGet || method == MethodResourcesRead
}
