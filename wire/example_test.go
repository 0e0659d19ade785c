// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wire_test

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/reprise-mcp/reprise/wire"
)

// A server that cannot ask this client refuses it; otherwise it ends the call with a question.
func Example() {
	body := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"deploy",
		"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
		         "io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`)
	msg, err := wire.Parse(body)
	if err != nil {
		panic(err)
	}
	params, err := msg.ParseParams()
	if err != nil {
		panic(err)
	}
	answer := wire.Message{ID: msg.ID}
	if params.Capabilities.Has("elicitation.form") {
		question := jsontext.Value(`{"mode":"form","message":"Deploy?","requestedSchema":{"type":"object","properties":{"go":{"type":"boolean"}},"required":["go"]}}`)
		answer.Result, err = (&wire.InputRequired{
			Requests: map[string]wire.InputRequest{"confirm": {Method: wire.MethodElicit, Params: question}},
			State:    "sealed",
		}).MarshalJSON()
		if err != nil {
			panic(err)
		}
	} else {
		answer.Error = &wire.Error{Code: wire.CodeMissingCapability, Message: "this client cannot be asked",
			Data: wire.RequiredCapabilities("elicitation.form")}
	}
	out, _ := answer.MarshalJSON()
	fmt.Println(string(out))
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"confirm":{"method":"elicitation/create","params":{"mode":"form","message":"Deploy?","requestedSchema":{"type":"object","properties":{"go":{"type":"boolean"}},"required":["go"]}}}},"requestState":"sealed"}}
}
