// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package reprise_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/reprise-mcp/reprise"
	"github.com/reprise-mcp/reprise/elicitation"
	"github.com/reprise-mcp/reprise/ledger"
	"github.com/reprise-mcp/reprise/requeststate"
	"github.com/reprise-mcp/reprise/wire"
)

// newEngine is what a server makes once. An adapter, such as module sdk/gosdk, hands requests to the engine.
func newEngine() *reprise.Engine {
	ring, err := requeststate.NewKeyring(requeststate.NewKey())
	if err != nil {
		panic(err)
	}
	sealer, err := requeststate.New(requeststate.Config{Keyring: ring, Audience: "https://deploy.example/mcp"})
	if err != nil {
		panic(err)
	}
	engine, err := reprise.New(reprise.Config{Sealer: sealer, Ledger: &ledger.Memory{}, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		panic(err)
	}
	return engine
}

// client plays the client of the examples: it answers what is asked and sends the request again.
type client struct {
	request reprise.Request
	engine  *reprise.Engine
}

func newClient(engine *reprise.Engine, tool string) *client {
	alice, err := requeststate.User("https://issuer.example", "alice", "", "")
	if err != nil {
		panic(err)
	}
	return &client{engine: engine, request: reprise.Request{
		Method: wire.MethodToolsCall, Target: tool, Principal: alice,
		Version: wire.Version, Capabilities: wire.Declare("elicitation.form"),
	}}
}

// call makes one round and prints what came of it.
func (c *client) call(handler func(context.Context, *reprise.Call) (any, error), answers wire.InputResponses) {
	c.request.Responses = answers
	out := c.engine.Run(context.Background(), &c.request, reprise.Options{}, handler)
	switch {
	case out.Ask != nil:
		for _, key := range []string{"confirm", "replicas", "when"} {
			if question, ok := out.Ask.Requests[key]; ok {
				fmt.Printf("asked %s: %s\n", key, question.Method)
			}
		}
		c.request.State = &out.Ask.State
	case out.Err != nil:
		fmt.Println("error:", out.Err)
	default:
		fmt.Println("result:", out.Result)
	}
}

// A tool that confirms before it acts: straight-line code, run again from the top on each round.
func Example() {
	releases := map[string]string{"billing": "1.4.1"}
	deploy := func(ctx context.Context, call *reprise.Call) (any, error) {
		current, target := releases["billing"], "1.4.2"
		decision, err := reprise.Confirm(ctx, call, "confirm",
			fmt.Sprintf("Deploy billing %s, replacing %s?", target, current),
			current, target) // the material facts, pinned
		if err != nil {
			return nil, err // suspended: the call ends with the question
		}
		approval, yes := decision.Approved()
		if !yes {
			return "not deployed: " + decision.String(), nil // a no is a normal outcome
		}
		return reprise.Do(ctx, call, approval, func(context.Context) (string, error) {
			releases["billing"] = target
			return "deployed " + target, nil
		})
	}

	c := newClient(newEngine(), "deploy")
	c.call(deploy, nil)
	yes := wire.InputResponses{"confirm": []byte(`{"action":"accept","content":{"decision":"approve"}}`)}
	c.call(deploy, yes)
	c.call(deploy, yes) // a replay
	// Output:
	// asked confirm: elicitation/create
	// result: deployed 1.4.2
	// error: This confirmation was already redeemed, and its call completed. Nothing was done this time. To act again, make a new call and be asked anew.
}

// A form is made from a struct, once. Its content can be reached only through an accept.
func ExampleAsk() {
	type scale struct {
		Replicas int `json:"replicas" title:"How many replicas?" minimum:"1" maximum:"20"`
	}
	form := elicitation.MustForm[scale]()
	ask := func(ctx context.Context, call *reprise.Call) (any, error) {
		answer, err := reprise.Ask(ctx, call, "replicas", form, "Scale billing")
		if err != nil {
			return nil, err
		}
		wanted, ok := answer.Accepted()
		if !ok {
			return "left as it is", nil
		}
		return fmt.Sprintf("%d replicas", wanted.Replicas), nil
	}

	c := newClient(newEngine(), "scale")
	c.call(ask, nil)
	c.call(ask, wire.InputResponses{"replicas": []byte(`{"action":"accept","content":{"replicas":500}}`)}) // breaks the form
	c.call(ask, wire.InputResponses{"replicas": []byte(`{"action":"accept","content":{"replicas":5}}`)})
	// Output:
	// asked replicas: elicitation/create
	// asked replicas: elicitation/create
	// result: 5 replicas
}

// Questions that belong together are asked together, and read by type.
func ExampleRound() {
	type when struct {
		Hour int `json:"hour" minimum:"0" maximum:"23"`
	}
	type replicas struct {
		Count int `json:"count" minimum:"1"`
	}
	whenForm, replicasForm := elicitation.MustForm[when](), elicitation.MustForm[replicas]()
	ask := func(ctx context.Context, call *reprise.Call) (any, error) {
		round := call.Round()
		at := reprise.Add(round, "when", whenForm, "At which hour?")
		many := reprise.Add(round, "replicas", replicasForm, "How many?")
		if err := round.Ask(ctx); err != nil {
			return nil, err
		}
		hour, _ := at.Accepted()
		count, _ := many.Accepted()
		return fmt.Sprintf("%d replicas at %d", count.Count, hour.Hour), nil
	}

	c := newClient(newEngine(), "scale")
	c.call(ask, nil)
	c.call(ask, wire.InputResponses{"replicas": []byte(`{"action":"accept","content":{"count":3}}`)}) // the other is missing
	c.call(ask, wire.InputResponses{"when": []byte(`{"action":"accept","content":{"hour":4}}`)})
	// Output:
	// asked replicas: elicitation/create
	// asked when: elicitation/create
	// asked when: elicitation/create
	// result: 3 replicas at 4
}

// A value that may not change while the human thinks rides in the sealed state.
func ExampleOnce() {
	price := 41
	buy := func(ctx context.Context, call *reprise.Call) (any, error) {
		quote, err := reprise.Once(ctx, call, "quote", func(context.Context) (int, error) {
			price++ // the market moves; reading it is no effect of ours
			return price, nil
		})
		if err != nil {
			return nil, err
		}
		decision, err := reprise.Confirm(ctx, call, "confirm", fmt.Sprintf("Buy for %d?", quote))
		if err != nil {
			return nil, err
		}
		approval, yes := decision.Approved()
		if !yes {
			return "not bought", nil
		}
		return reprise.Do(ctx, call, approval, func(context.Context) (string, error) { return fmt.Sprint("bought for ", quote), nil })
	}

	c := newClient(newEngine(), "buy")
	c.call(buy, nil)
	price = 1000
	c.call(buy, wire.InputResponses{"confirm": []byte(`{"action":"accept","content":{"decision":"approve"}}`)})
	// Output:
	// asked confirm: elicitation/create
	// result: bought for 42
}

// What an adapter does with one request: it reads what the transport received, adds who is calling, and sends what the
// outcome says.
func ExampleEngine_Run() {
	engine := newEngine()
	alice, err := requeststate.User("https://issuer.example", "alice", "", "") // from the verified access token
	if err != nil {
		panic(err)
	}
	restart := func(ctx context.Context, call *reprise.Call) (any, error) {
		decision, err := reprise.Confirm(ctx, call, "confirm", "Restart billing?")
		if err != nil {
			return nil, err
		}
		approval, yes := decision.Approved()
		if !yes {
			return "left running", nil
		}
		return reprise.Do(ctx, call, approval, func(context.Context) (string, error) { return "restarted", nil })
	}
	serve := func(body string) (*wire.Message, reprise.Outcome) {
		msg, err := wire.Parse([]byte(body))
		if err != nil {
			panic(err) // send it: wire.Parse returns JSON-RPC errors
		}
		params, err := msg.ParseParams()
		if err != nil {
			panic(err) // likewise
		}
		out := engine.Run(context.Background(), &reprise.Request{
			Method: msg.Method, Target: params.Target, Arguments: params.Arguments,
			Principal: alice, Version: params.Version, Capabilities: params.Capabilities,
			State: params.RequestState, Responses: params.InputResponses,
		}, reprise.Options{Asks: []elicitation.Kind{elicitation.FormMode}}, restart)

		answer := &wire.Message{ID: msg.ID}
		var protocol *wire.Error
		switch {
		case out.Ask != nil:
			answer.Result, err = out.Ask.MarshalJSON()
		case errors.As(out.Err, &protocol):
			answer.Error = protocol // over HTTP, the code decides about the status
		case out.Err != nil: // of tools/call: the model reads it and can recover
			answer.Result, err = json.Marshal(map[string]any{"resultType": "complete", "isError": true,
				"content": []any{map[string]string{"type": "text", "text": out.Err.Error()}}})
		default:
			answer.Result, err = json.Marshal(map[string]any{"resultType": "complete",
				"content": []any{map[string]any{"type": "text", "text": out.Result}}})
		}
		if err != nil {
			panic(err)
		}
		return answer, out
	}

	request := `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"restart"%s,"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{%s}}}}`

	answer, _ := serve(fmt.Sprintf(request, 1, "", ""))
	fmt.Println(answer.Error.Code, string(answer.Error.Data))

	_, asked := serve(fmt.Sprintf(request, 2, "", `"elicitation":{}`))
	fmt.Println("asked:", len(asked.Ask.Requests))

	retry := fmt.Sprintf(`,"requestState":%q,"inputResponses":{"confirm":{"action":"accept","content":{"decision":"approve"}}}`, asked.Ask.State)
	answer, _ = serve(fmt.Sprintf(request, 3, retry, `"elicitation":{}`))
	fmt.Println(string(answer.Result))
	// Output:
	// -32021 {"requiredCapabilities":{"elicitation":{"form":{}}}}
	// asked: 1
	// {"content":[{"text":"restarted","type":"text"}],"resultType":"complete"}
}

// A handler that ends its rounds by itself gets back what it asked for, validated, once.
func ExampleEngine_Protect() {
	engine := newEngine()
	next := func(_ context.Context, state string, answers wire.InputResponses) reprise.Outcome {
		if answers == nil {
			return reprise.Outcome{Ask: &wire.InputRequired{
				State: "row 7",
				Requests: map[string]wire.InputRequest{"confirm": {Method: wire.MethodElicit, Params: []byte(
					`{"message":"Delete it?","requestedSchema":{"type":"object","properties":{"sure":{"type":"boolean"}},"required":["sure"]}}`)}},
			}}
		}
		return reprise.Outcome{Result: fmt.Sprintf("%s: %s", state, answers["confirm"])}
	}

	c := newClient(engine, "delete")
	out := engine.Protect(context.Background(), &c.request, reprise.Options{}, next)
	fmt.Println("the state can be read:", out.Ask.State == "row 7")
	c.request.State = &out.Ask.State
	c.request.Responses = wire.InputResponses{"confirm": []byte(`{"action":"accept","content":{"sure":true}}`)}
	fmt.Println(engine.Protect(context.Background(), &c.request, reprise.Options{}, next).Result)
	// Output:
	// the state can be read: false
	// row 7: {"action":"accept","content":{"sure":true}}
}
