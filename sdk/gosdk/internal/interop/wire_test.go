// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package interop

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/reprise-mcp/reprise"
	"github.com/reprise-mcp/reprise/elicitation"
	"github.com/reprise-mcp/reprise/sdk/gosdk"
)

// What the official conformance suite cannot see: two replicas, a state that was altered anywhere, who asked and who
// answers, clocks, answers of every wrong kind, a flow redeemed twice, stdio. Written against raw messages.

type sizing struct {
	Size float64 `json:"size" minimum:"0.5" maximum:"99.5"`
}

type colouring struct {
	Colour string `json:"colour" enum:"red,green"`
}

var (
	sizeForm   = elicitation.MustForm[sizing]()
	colourForm = elicitation.MustForm[colouring]()
)

// addMore adds the tools whose question is more than a name.
func (f *fleet) addMore(server *mcp.Server, a *gosdk.Adapter, r replica) error {
	var failed error
	tool := func(name string, h func(context.Context, *reprise.Call) (string, error)) {
		failed = errors.Join(failed, gosdk.AddTool(a, &mcp.Tool{Name: name, Description: "Ask."}, reprise.Options{},
			func(ctx context.Context, call *reprise.Call, _ struct{}) (result, error) {
				f.runs.Add(1)
				said, err := h(ctx, call)
				return result{Outcome: said, Done: err == nil}, err
			}))
	}
	// Two rounds and an effect.
	tool("resize", func(ctx context.Context, call *reprise.Call) (string, error) {
		order, err := reprise.Once(ctx, call, "order", func(context.Context) (int64, error) { return f.orders.Add(1), nil })
		if err != nil {
			return "", err
		}
		answer, err := reprise.Ask(ctx, call, "size", sizeForm, "Which size?")
		if err != nil {
			return "", err
		}
		wanted, _ := answer.Accepted()
		decision, err := reprise.Confirm(ctx, call, "confirm", fmt.Sprintf("Resize to %g?", wanted.Size), wanted.Size)
		approval, yes := decision.Approved()
		if err != nil || !yes {
			return decision.String(), err
		}
		return reprise.Do(ctx, call, approval, func(context.Context) (string, error) {
			f.deeds.Add(1)
			return fmt.Sprintf("order %d: %g", order, wanted.Size), nil
		})
	})
	// Two questions in one round.
	tool("paint", func(ctx context.Context, call *reprise.Call) (string, error) {
		round := call.Round()
		size := reprise.Add(round, "size", sizeForm, "Which size?")
		colour := reprise.Add(round, "colour", colourForm, "Which colour?")
		err := round.Ask(ctx)
		s, _ := size.Accepted()
		c, _ := colour.Accepted()
		return fmt.Sprintf("%g %s", s.Size, c.Colour), err
	})
	// No question.
	tool("wait", func(ctx context.Context, call *reprise.Call) (string, error) {
		ready := true
		if _, err := reprise.Once(ctx, call, "first", func(context.Context) (bool, error) { ready = false; return true, nil }); err != nil {
			return "", err
		}
		if !ready {
			return "", call.Later()
		}
		return "ready", nil
	})
	// A question about a fact.
	tool("upgrade", func(ctx context.Context, call *reprise.Call) (string, error) {
		decision, err := reprise.Confirm(ctx, call, "confirm", r.wording+"?", r.release)
		return decision.String() + " " + r.release, err
	})
	// The name, the arguments and the question of the prompt.
	tool("notes", func(ctx context.Context, call *reprise.Call) (string, error) {
		decision, err := reprise.Confirm(ctx, call, "confirm", "Show it?")
		return decision.String(), err
	})
	// A handler of the SDK's own, which asks by hand.
	mcp.AddTool(server, &mcp.Tool{Name: "byhand", Description: "Ask."}, func(_ context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, result, error) {
		f.runs.Add(1)
		answer, ok := req.Params.InputResponses["confirm"].(*mcp.ElicitResult)
		if !ok {
			schema := json.RawMessage(`{"type":"object","properties":{"decision":{"type":"string","enum":["approve","reject"]}},"required":["decision"]}`)
			return &mcp.CallToolResult{RequestState: "asked", InputRequests: mcp.InputRequestMap{
				"confirm": &mcp.ElicitParams{Mode: "form", Message: "Do it?", RequestedSchema: schema}}}, result{}, nil
		}
		return nil, result{Outcome: req.Params.RequestState, Done: answer.Content["decision"] == "approve"}, nil
	})
	return errors.Join(failed, a.Protect(reprise.Options{}, "byhand"))
}

// did fails the test unless n effects happened.
func (f *fleet) did(t *testing.T, n int64) {
	t.Helper()
	if got := f.deeds.Load(); got != n {
		t.Errorf("%d deeds, want %d", got, n)
	}
}

const (
	approve  = `{"confirm":{"action":"accept","content":{"decision":"approve","pin":"` + secret + `"}}}`
	approved = `done {"done":true,"outcome":"approved"}`
)

// carriers are a request of each kind that may be asked about.
var carriers = []struct {
	request
	done string
}{
	{request{}, approved},
	{request{name: "byhand"}, `done {"done":true,"outcome":"asked"}`},
	{request{method: "prompts/get", name: "notes"}, `done [{"content":{"type":"text","text":"approved"},"role":"user"}]`},
	{request{method: "resources/read", name: "release://log"}, `done [{"uri":"release://log","text":"approved"}]`},
}

// Asked by one replica, answered at the other, under an id of its own each time. A result that asks has its own three members and
// says which server it is from: no content, and no hint that it may be cached.
func TestWireRoundTrip(t *testing.T) {
	everywhere(t, func(t *testing.T, p pair) {
		for i, c := range carriers {
			for j, id := range []string{`0`, `-7`, `9007199254740992`, `""`, `"é ☃"`} {
				asks, takes := p.doors[j%2], p.doors[(j+1)%2]
				q := c.request
				q.id = id
				asked := asks(t, q).want(t, "asks confirm")
				if members := slices.Sorted(maps.Keys(asked.result)); !slices.Equal(members, []string{"_meta", "inputRequests", "requestState", "resultType"}) {
					t.Errorf("%s: an input_required result has the members %q", q.method, members)
				}
				if asked.id != id {
					t.Errorf("id %s was answered as %s", id, asked.id)
				}
				if !regexp.MustCompile(`^[A-Za-z0-9_-]+$`).MatchString(asked.state(t)) {
					t.Error("the state is not base64url, so JSON encoders may spell it in several ways")
				}
				var question struct {
					Method string
					Params map[string]json.RawMessage
				}
				if err := json.Unmarshal(asked.questions()["confirm"], &question); err != nil || question.Method != "elicitation/create" ||
					string(question.Params["mode"]) != `"form"` || len(question.Params) != 3 {
					t.Errorf("asked %s", asked.questions()["confirm"])
				}
				retry := q.with(asked.state(t), approve)
				retry.id = fmt.Sprintf(`"retry %d"`, j)
				done := takes(t, retry).want(t, c.done)
				if done.id != retry.id {
					t.Errorf("id %s was answered as %s", retry.id, done.id)
				}
				for _, member := range []string{"inputRequests", "requestState"} {
					if done.result[member] != nil {
						t.Errorf("a complete result has %s", member)
					}
				}
				if q.method == "resources/read" && (string(done.result["ttlMs"]) != `0` || string(done.result["cacheScope"]) != `"private"`) {
					t.Errorf("the result of a retry has ttlMs %s, cacheScope %s", done.result["ttlMs"], done.result["cacheScope"])
				}
				for _, a := range []answer{asked, done} {
					if p.http && (a.status != 200 || strings.Contains(a.header.Get("Cache-Control"), "public")) {
						t.Errorf("HTTP %d, Cache-Control %q", a.status, a.header.Get("Cache-Control"))
					}
				}
			}
			if i == 0 {
				p.did(t, 5)
			}
		}
		p.did(t, 5)
	})
}

// Whatever was done to the state, it is refused, nothing is done, and the state as it was still works elsewhere.
func TestWireStateIsByteExact(t *testing.T) {
	everywhere(t, func(t *testing.T, p pair) {
		for _, c := range carriers {
			p.deeds.Store(0)
			p.runs.Store(0)
			state := p.doors[0](t, c.request).state(t)
			var altered []string
			step := 1
			if c.name != "" {
				step = 7 // every place once is enough
			}
			for i := 0; i < len(state); i += step {
				other := byte('A')
				if state[i] == other {
					other = 'B'
				}
				altered = append(altered, state[:i]+string(other)+state[i+1:])
			}
			half := len(state) / 2
			altered = append(altered, "", "x", "null", state[:half], state[half:], state[1:], state[:len(state)-1], state+"A", "A"+state, state+state,
				state+"=", state+"==", state+"-TAMPERED", " "+state, state+" ", state+"\n", state[:half]+"\r\n"+state[half:], state[:half]+"\x00"+state[half:],
				strings.ToUpper(state), strings.ToLower(state), `"`+state+`"`, strings.Repeat("A", 1<<17))
			for i, s := range altered {
				q := c.with("", approve)
				text, err := json.Marshal(s)
				if err != nil {
					t.Fatal(err)
				}
				q.more = strings.Replace(q.more, `""`, string(text), 1)
				want := "error "
				if c.method != "" {
					want = "-32602 "
				}
				if a := p.doors[i%2](t, q).want(t, want); a.result["requestState"] != nil || a.result["inputRequests"] != nil {
					t.Error("a refusal asks")
				}
			}
			p.did(t, 0)
			if p.runs.Load() != 1 {
				t.Errorf("the handler ran %d times, and not only to ask", p.runs.Load())
			}
			// The same string, spelt with an escape for each character.
			q := c.with("", approve)
			spelt := ""
			for _, b := range []byte(state) {
				spelt += fmt.Sprintf(`\u%04x`, b)
			}
			q.more = strings.Replace(q.more, `""`, `"`+spelt+`"`, 1)
			p.doors[1](t, q).want(t, c.done)
		}
	})
}

// What is no valid answer to the question is asked for again; what is no answer at all is an invalid request. Neither does
// anything, and neither spends the state.
func TestWireAnswersOfTheWrongKind(t *testing.T) {
	accept := func(content string) string { return `{"confirm":{"action":"accept","content":` + content + `}}` }
	tests := []struct{ name, answers, want string }{
		{"none", ``, "asks confirm"},
		{"no key", `{}`, "asks confirm"},
		{"another key", `{"other":{"action":"accept","content":{"decision":"approve"}}}`, "asks confirm"},
		{"the key in other case", `{"Confirm":{"action":"accept","content":{"decision":"approve"}}}`, "asks confirm"},
		{"an empty key", `{"":{"action":"accept","content":{"decision":"approve"}}}`, "asks confirm"},
		{"no such choice", accept(`{"decision":"` + secret + `"}`), "asks confirm"},
		{"a choice in other case", accept(`{"decision":"Approve"}`), "asks confirm"},
		{"the title of a choice", accept(`{"decision":"Yes - go ahead"}`), "asks confirm"},
		{"a choice with a space", accept(`{"decision":"approve "}`), "asks confirm"},
		{"true", accept(`{"decision":true}`), "asks confirm"},
		{"a number", accept(`{"decision":1}`), "asks confirm"},
		{"a list", accept(`{"decision":["approve"]}`), "asks confirm"},
		{"an empty content", accept(`{}`), "asks confirm"},
		{"a property in other case", accept(`{"Decision":"approve"}`), "asks confirm"},
		{"content null", accept(`null`), "asks confirm"},
		{"no content", `{"confirm":{"action":"accept"}}`, "asks confirm"},
		{"another action", `{"confirm":{"action":"approve","content":{"decision":"approve"}}}`, "asks confirm"},
		{"the action in other case", `{"confirm":{"action":"ACCEPT","content":{"decision":"approve"}}}`, "asks confirm"},
		{"no action but the empty", `{"confirm":{"action":"","content":{"decision":"approve"}}}`, "asks confirm"},
		{"two actions that fold to one", `{"confirm":{"action":"decline","Action":"accept","content":{"decision":"approve"}}}`, "asks confirm"},
		{"roots", `{"confirm":{"roots":[{"uri":"file:///approve"}]}}`, "asks confirm"},
		{"a completion", `{"confirm":{"role":"assistant","model":"m","content":{"type":"text","text":"approve"}}}`, "asks confirm"},
		{"a choice null", accept(`{"decision":null}`), "asks confirm"},
		{"a choice that is an object", accept(`{"decision":{"a":"approve"}}`), "asks confirm"},

		{"an answer that is a number", `{"confirm":12345}`, "-32602 "},
		{"an answer that is a string", `{"confirm":"` + secret + `"}`, "-32602 "},
		{"an answer that is null", `{"confirm":null}`, "-32602 "},
		{"an answer that is true", `{"confirm":true}`, "-32602 "},
		{"an answer that is a list", `{"confirm":[{"action":"accept","content":{"decision":"approve"}}]}`, "-32602 "},
		{"an answer of no kind", `{"confirm":{"decision":"` + secret + `"}}`, "-32602 "},
		{"a request beside the result", `{"confirm":{"method":"elicitation/create","result":{"action":"accept","content":{"decision":"approve"}}}}`, "-32602 "},
		{"answers that are null", `null`, "-32602 "},
		{"answers that are a list", `[{"action":"accept"}]`, "-32602 "},
		{"answers that are a string", `"` + secret + `"`, "-32602 "},
		{"two answers under one key", `{"confirm":{"action":"decline"},"confirm":{"action":"accept","content":{"decision":"approve"}}}`, "-32600 "},
		{"two actions", `{"confirm":{"action":"decline","action":"accept","content":{"decision":"approve"}}}`, "-32600 "},
	}
	everywhere(t, func(t *testing.T, p pair) {
		for _, c := range carriers {
			for _, test := range tests {
				t.Run(strings.TrimPrefix(c.method+"/", "/")+test.name, func(t *testing.T) {
					before := p.deeds.Load()
					state := p.doors[0](t, c.request).state(t)
					a := p.doors[1](t, c.with(state, test.answers)).want(t, test.want)
					if p.http && (a.err != nil) != (a.status == 400) {
						t.Errorf("HTTP %d for %s", a.status, a.outcome())
					}
					p.did(t, before)
					p.doors[0](t, c.with(state, approve)).want(t, c.done)
				})
			}
		}
		// What stands beside a good answer is ignored.
		state := p.doors[0](t, request{}).state(t)
		p.doors[1](t, request{}.with(state, approve[:len(approve)-1]+`,"other":{"action":"decline"},"roots":{"roots":[]}}`)).want(t, approved)
	})
}

// An answer that was not asked for, or not by this server, is ignored, and the question asked.
func TestWireUnsolicitedAnswers(t *testing.T) {
	everywhere(t, func(t *testing.T, p pair) {
		for _, c := range carriers {
			q := c.request
			q.more = `,"inputResponses":` + approve
			p.doors[0](t, q).want(t, "asks confirm")
		}
		p.did(t, 0)
	})
}

// A question goes only to a client that declared its mode, on this very request.
func TestWireCapabilities(t *testing.T) {
	everywhere(t, func(t *testing.T, p pair) {
		for capabilities, want := range map[string]string{
			`{"elicitation":{}}`:                   "asks confirm", // means form
			`{"elicitation":{"form":{}}}`:          "asks confirm",
			`{"elicitation":{"url":{},"form":{}}}`: "asks confirm",
			`{}`:                                   "-32021 ",
			`{"elicitation":{"url":{}}}`:           "-32021 ",
			`{"sampling":{},"roots":{}}`:           "-32021 ",
			`{"experimental":{"elicitation":{}},"extensions":{}}`: "-32021 ",
		} {
			for _, c := range carriers {
				q := c.request
				q.capabilities = capabilities
				a := p.doors[0](t, q).want(t, want)
				if a.err == nil {
					continue
				}
				if p.http && a.status != 400 {
					t.Errorf("HTTP %d", a.status)
				}
				if string(a.err.Data) != `{"requiredCapabilities":{"elicitation":{"form":{}}}}` {
					t.Errorf("data %s", a.err.Data)
				}
			}
		}
		p.did(t, 0)
	})
}

// A state is good for one request, by one principal, at one server, for a while.
func TestWireStateOfSomethingElse(t *testing.T) {
	everywhere(t, func(t *testing.T, p pair) {
		other := func(edit func(*request)) func(*testing.T, string) answer {
			return func(t *testing.T, state string) answer {
				q := request{}.filled()
				edit(&q)
				return p.doors[1](t, q.with(state, approve))
			}
		}
		at := func(r replica) func(*testing.T, string) answer {
			open := p.open(t, r)
			return func(t *testing.T, state string) answer { return open(t, request{}.with(state, approve)) }
		}
		const minute = time.Minute
		type test struct {
			name string
			try  func(t *testing.T, state string) answer
			want string
		}
		tests := []test{
			{"other arguments", other(func(q *request) { q.arguments = `{"service":"Billing"}` }), "another request"},
			{"one argument more", other(func(q *request) { q.arguments = `{"service":"billing","weight":0}` }), "another request"},
			{"another tool", other(func(q *request) { q.name = "stop" }), "another request"},
			{"a prompt", other(func(q *request) { q.method, q.name, q.arguments = "prompts/get", "notes", `{}` }), "another request"},
			{"a resource", other(func(q *request) { q.method, q.name = "resources/read", "release://log" }), "another request"},
			{"another server", at(replica{audience: "urn:reprise:staging"}), "another server"},
			{"expired", at(replica{ahead: 10 * minute}), "expired"},
			{"long expired", at(replica{ahead: 1000 * time.Hour}), "expired"},
			{"not yet issued", at(replica{ahead: -minute}), "clock is wrong"},
			{"almost expired", at(replica{ahead: 9 * minute}), "approved"},
			{"a clock behind within the leeway", at(replica{ahead: -20 * time.Second}), "approved"},
			{"arguments spelt otherwise", other(func(q *request) { q.arguments = ` { "service" : "\u0062illing" } ` }), "approved"},
		}
		if p.http {
			as := func(who string) func(*testing.T, string) answer { return other(func(q *request) { q.who = who }) }
			tests = append(tests, []test{
				{"another user", as("mallory"), "somebody else"},
				{"the user in other case", as("Alice"), "somebody else"},
				{"another issuer", at(replica{identity: gosdk.Authenticated(issuer + "/")}), "somebody else"},
			}...)
		} else {
			tests = append(tests, []test{
				{"another user", at(replica{identity: gosdk.Local("host:test", "mallory")}), "somebody else"},
				{"another host", at(replica{identity: gosdk.Local("host:other", "alice")}), "somebody else"},
				{"nobody", at(replica{identity: gosdk.Anonymous()}), "somebody else"},
			}...)
		}
		// The tool and the prompt of this name are asked for alike, and ask the same.
		tool, prompt := request{name: "notes"}, request{method: "prompts/get", name: "notes"}
		p.doors[1](t, prompt.with(p.doors[0](t, tool).state(t), approve)).want(t, "-32602 This confirmation is for another request")
		p.doors[1](t, tool.with(p.doors[0](t, prompt).state(t), approve)).want(t, "error This confirmation is for another request")
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				before := p.deeds.Load()
				state := p.doors[0](t, request{}).state(t)
				a := test.try(t, state)
				if !strings.Contains(a.outcome(), test.want) {
					t.Errorf("got %s, want %s", a.outcome(), test.want)
				}
				if test.want == "approved" {
					p.did(t, before+1)
					return
				}
				p.did(t, before)
				p.doors[1](t, request{}.with(state, approve)).want(t, approved)
			})
		}
	})
}

// The spelling of a number does not matter, its value does, to the last digit.
func TestWireNumbersInArguments(t *testing.T) {
	everywhere(t, func(t *testing.T, p pair) {
		weighing := func(weight string) request {
			return request{arguments: `{"weight":` + weight + `,"service":"billing"}`}
		}
		for _, test := range []struct {
			asked, retried string
			same           bool
		}{
			{"1", "1.0", true}, {"1", "10e-1", true}, {"0.5", "5E-1", true},
			{"1", "1.00000000000000001", false}, {"9007199254740992", "9007199254740993", false}, {"0", "1e-400", false},
		} {
			state := p.doors[0](t, weighing(test.asked)).state(t)
			a := p.doors[1](t, weighing(test.retried).with(state, approve))
			if strings.HasPrefix(a.outcome(), approved) != test.same {
				t.Errorf("%s and %s: %s", test.asked, test.retried, a.outcome())
			}
		}
	})
}

// However many retries there are at once, and whatever they answer, one of them counts.
func TestWireOneRetryCounts(t *testing.T) {
	everywhere(t, func(t *testing.T, p pair) {
		retries := 32
		if !p.http {
			retries = 2 // one at each replica: this door carries one request at a time
		}
		for _, c := range carriers[:2] {
			state := p.doors[0](t, c.request).state(t)
			// Nobody goes on before all have found the flow unspent.
			var found, all sync.WaitGroup
			found.Add(retries)
			p.ledger.looked = func() { found.Done(); found.Wait() }
			outcomes := make([]string, retries)
			for i := range retries {
				all.Go(func() { outcomes[i] = p.doors[i%2](t, c.with(state, approve)).outcome() })
			}
			all.Wait()
			p.ledger.looked = nil
			won := 0
			for _, got := range outcomes {
				switch {
				case strings.HasPrefix(got, c.done):
					won++
				case !strings.Contains(got, "already redeemed"):
					t.Errorf("a retry got %s", got)
				}
			}
			if won != 1 {
				t.Errorf("%d of %d retries were told that it is done", won, retries)
			}
			p.did(t, 1)
		}

		for _, answers := range []string{`{"confirm":{"action":"decline"}}`, `{"confirm":{"action":"cancel"}}`, `{"confirm":{"action":"accept","content":{"decision":"reject"}}}`} {
			state := p.doors[0](t, request{}).state(t)
			p.doors[0](t, request{}.with(state, answers)).want(t, `done {"done":false`)
			p.doors[1](t, request{}.with(state, approve)).want(t, "error This confirmation was already redeemed")
		}
		p.did(t, 1)
	})
}

// While replicas of two versions serve side by side, a question may be worded in two ways and is the same question, as long as
// the facts are the same. About other facts it is another one, and an old yes is no yes to it.
func TestWireFactsAndProse(t *testing.T) {
	upgrade := request{name: "upgrade"}
	everywhere(t, func(t *testing.T, p pair) {
		old := p.open(t, replica{release: "2", wording: "Upgrade to 2"})
		reworded := p.open(t, replica{release: "2", wording: "Let release 2 go live"})
		moved := p.open(t, replica{release: "3", wording: "Upgrade to 2"})

		state := old(t, upgrade).want(t, "asks confirm").state(t)
		again := moved(t, upgrade.with(state, approve)).want(t, "asks confirm").state(t)
		reworded(t, upgrade.with(state, approve)).want(t, `done {"done":true,"outcome":"approved 2"}`)
		moved(t, upgrade.with(again, approve)).want(t, "error This confirmation was already redeemed") // a branch of the same flow
		state = reworded(t, upgrade).state(t)
		state = moved(t, upgrade.with(state, approve)).want(t, "asks confirm").state(t)
		moved(t, upgrade.with(state, approve)).want(t, `done {"done":true,"outcome":"approved 3"}`)
	})
}

// Several rounds, each at another replica: earlier answers and Once values come back from the state, whatever the client sends
// beside it, and the branches of a flow are one flow.
func TestWireRounds(t *testing.T) {
	const size = `{"size":{"action":"accept","content":{"size":95.5}}}`
	resize := request{name: "resize"}
	everywhere(t, func(t *testing.T, p pair) {
		first := p.doors[0](t, resize).want(t, "asks size").state(t)
		second := p.doors[1](t, resize.with(first, size)).want(t, "asks confirm").state(t)
		if first == second {
			t.Error("the state did not change")
		}
		// Both answers at once: the second question was not asked yet.
		both := p.doors[1](t, resize.with(first, size[:len(size)-1]+","+approve[1:])).want(t, "asks confirm").state(t)
		// An answer of the first round, changed in the second.
		changed := `{"size":{"action":"accept","content":{"size":1}},` + approve[1:]
		p.did(t, 0)
		p.doors[0](t, resize.with(second, changed)).want(t, `done {"done":true,"outcome":"order 1: 95.5"}`)
		p.did(t, 1)
		for _, state := range []string{first, second, both} {
			for _, open := range p.doors {
				open(t, resize.with(state, size)).want(t, "error This confirmation was already redeemed")
				open(t, resize.with(state, approve)).want(t, "error This confirmation was already redeemed")
			}
		}
		p.did(t, 1)

		for _, bad := range []string{"0.4999", "99.50001", "1e400", `"95.5"`, "true"} {
			state := p.doors[0](t, resize).state(t)
			a := p.doors[1](t, resize.with(state, strings.Replace(size, "95.5", bad, 1)))
			if got := a.outcome(); got != "asks size" && a.err == nil {
				t.Errorf("a size of %s: %s", bad, got)
			}
		}
	})
}

// Of several questions only those without an answer are asked again.
func TestWireSeveralQuestions(t *testing.T) {
	const size, colour = `"size":{"action":"accept","content":{"size":7}}`, `"colour":{"action":"accept","content":{"colour":"red"}}`
	paint := request{name: "paint"}
	everywhere(t, func(t *testing.T, p pair) {
		for _, test := range []struct{ first, left, then string }{
			{`{` + size + `}`, "asks colour", `{` + colour + `}`},
			{`{` + colour + `}`, "asks size", `{` + size + `}`},
			{`{` + colour + `,"size":{"action":"accept","content":{"size":100}}}`, "asks size", `{` + size + `}`},
			{`{}`, "asks colour size", `{` + size + `,` + colour + `}`},
		} {
			state := p.doors[0](t, paint).want(t, "asks colour size").state(t)
			state = p.doors[1](t, paint.with(state, test.first)).want(t, test.left).state(t)
			p.doors[0](t, paint.with(state, test.then)).want(t, `done {"done":true,"outcome":"7 red"}`)
		}
	})
}

// A state without questions is asked for by nobody who has not been told to retry: it has no inputRequests.
func TestWireStateAlone(t *testing.T) {
	wait := request{name: "wait", capabilities: `{}`}
	everywhere(t, func(t *testing.T, p pair) {
		a := p.doors[0](t, wait)
		if len(a.result) != 3 || a.result["inputRequests"] != nil || string(a.result["resultType"]) != `"input_required"` {
			t.Errorf("got %s", a.outcome())
		}
		p.doors[1](t, wait.with(a.state(t), "")).want(t, `done {"done":true,"outcome":"ready"}`)
	})
}

// A state means nothing to the methods that may not ask.
func TestWireOtherMethods(t *testing.T) {
	everywhere(t, func(t *testing.T, p pair) {
		state := p.doors[0](t, request{}).state(t)
		q := request{method: "tools/list", name: "-"}.with(state, approve)
		a := p.doors[1](t, q)
		if a.result["tools"] == nil || !bytes.Equal(a.result["resultType"], []byte(`"complete"`)) {
			t.Errorf("got %s", a.outcome())
		}
		p.did(t, 0)
		p.doors[1](t, request{}.with(state, approve)).want(t, approved)
	})
}
