// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA1019 Sampling and roots are deprecated in this revision, and what is deprecated still has to work.

package interop

import (
	"context"
	"encoding/json"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/reprise-mcp/reprise"
	"github.com/reprise-mcp/reprise/elicitation"
	"github.com/reprise-mcp/reprise/sdk/gosdk"
)

// addSurvey adds a tool that asks everything there is, in three rounds, and then does something.
func (f *fleet) addSurvey(a *gosdk.Adapter) error {
	capital, err := elicitation.NewSampling(elicitation.SamplingRequest{MaxTokens: 10,
		Tools: []jsontext.Value{jsontext.Value(`{"name":"look","inputSchema":{"type":"object"}}`)}})
	if err != nil {
		return err
	}
	return gosdk.AddTool(a, &mcp.Tool{Name: "survey", Description: "Ask everything."}, reprise.Options{},
		func(ctx context.Context, call *reprise.Call, _ struct{}) (result, error) {
			f.runs.Add(1)
			round := call.Round()
			colour := reprise.Add(round, "colour", colourForm, "Which colour?")
			city := reprise.Add(round, "city", capital, "Capital of France?")
			dirs := reprise.Add(round, "dirs", elicitation.NewRoots(), "")
			if err := round.Ask(ctx); err != nil {
				return result{}, err
			}
			link, err := elicitation.NewURL("https://survey.example/connect/" + call.Link("page"))
			if err != nil {
				return result{}, err
			}
			page, err := reprise.Visit(ctx, call, "page", link, "Open the page?", func(context.Context) (string, error) { return "visited", nil })
			if err != nil {
				return result{}, err
			}
			decision, err := reprise.Confirm(ctx, call, "confirm", "Sure?")
			approval, yes := decision.Approved()
			if err != nil || !yes {
				return result{Outcome: decision.String()}, err
			}
			return reprise.Do(ctx, call, approval, func(context.Context) (result, error) {
				f.deeds.Add(1)
				c, _ := colour.Accepted()
				m, _ := city.Accepted()
				d, _ := dirs.Accepted()
				p, _ := page.Accepted()
				return result{Done: true, Outcome: strings.Join([]string{c.Colour, m.Text(), d[0].URI, p}, " ")}, nil
			})
		})
}

const surveyed = `"done":true,"outcome":"red Paris file:///srv visited"`

// checkSurvey looks for the questions, of which those of the first round come in any order, and the result.
func checkSurvey(t *testing.T, asked []string, result any) {
	t.Helper()
	text, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), surveyed) && !strings.Contains(string(text), strings.ReplaceAll(surveyed, `"`, `\"`)) {
		t.Errorf("the result is %s", text)
	}
	if len(asked) != 6 {
		t.Fatalf("asked %q", asked)
	}
	first := slices.Sorted(slices.Values(asked[:3]))
	if !slices.Equal(first, []string{"Capital of France?", "Which colour?", "roots"}) || asked[3] != "Open the page?" ||
		!regexp.MustCompile(`^https://survey\.example/connect/[0-9a-f]{32}$`).MatchString(asked[4]) || asked[5] != "Sure?" {
		t.Errorf("asked %q", asked)
	}
}

func TestSurveyByTypeScriptClient(t *testing.T) {
	f, err := newFleet()
	if err != nil {
		t.Fatal(err)
	}
	url, served := f.serve(t)
	self, env := program(t)
	for _, p := range []plan{{URL: url}, {Command: []string{self}, env: env}} {
		p.Method, p.Name, p.Everything = "tool", "survey", true
		r := run(t, p)
		if r.Error != nil {
			t.Fatalf("%d %s", r.Error.Code, r.Error.Message)
		}
		checkSurvey(t, r.Asked, r.Result)
	}
	if f.deeds.Load() != 1 || f.runs.Load() != 4 || served[0].Load() == 0 || served[1].Load() == 0 {
		t.Errorf("%d deeds in %d runs", f.deeds.Load(), f.runs.Load())
	}
}

func TestSurveyByGoClient(t *testing.T) {
	f, err := newFleet()
	if err != nil {
		t.Fatal(err)
	}
	url, _ := f.serve(t)
	self, env := program(t)
	cmd := exec.Command(self)
	cmd.Env = env
	for _, to := range []mcp.Transport{
		&mcp.StreamableClientTransport{Endpoint: url, MaxRetries: -1, DisableStandaloneSSE: true},
		&mcp.CommandTransport{Command: cmd},
	} {
		var (
			mu    sync.Mutex // questions of one round are asked at once
			asked []string
		)
		hear := func(question string) {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, question)
		}
		client := mcp.NewClient(&mcp.Implementation{Name: "go", Version: "1.0.0"}, &mcp.ClientOptions{
			Capabilities: &mcp.ClientCapabilities{
				RootsV2:     &mcp.RootCapabilities{},
				Sampling:    &mcp.SamplingCapabilities{Tools: &mcp.SamplingToolsCapabilities{}},
				Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}},
			},
			ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				hear(req.Params.Message)
				answer := &mcp.ElicitResult{Action: "accept"}
				switch req.Params.Message {
				case "Open the page?":
					hear(req.Params.URL)
				case "Sure?":
					answer.Content = map[string]any{"decision": "approve"}
				default:
					answer.Content = map[string]any{"colour": "red"}
				}
				return answer, nil
			},
			CreateMessageWithToolsHandler: func(_ context.Context, req *mcp.CreateMessageWithToolsRequest) (*mcp.CreateMessageWithToolsResult, error) {
				last := req.Params.Messages[len(req.Params.Messages)-1].Content[0].(*mcp.TextContent)
				hear(last.Text)
				return &mcp.CreateMessageWithToolsResult{Role: "assistant", Model: "a model", StopReason: "endTurn", Content: []mcp.Content{&mcp.TextContent{Text: "Paris"}}}, nil
			},
		})
		client.AddRoots(&mcp.Root{URI: "file:///srv", Name: "srv"})
		session, err := client.Connect(t.Context(), to, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "survey"})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(asked, "roots") {
			asked = slices.Insert(asked, 0, "roots") // the client answers that one by itself
		}
		checkSurvey(t, asked, res)
	}
	if f.deeds.Load() != 1 {
		t.Errorf("%d deeds", f.deeds.Load())
	}
}
