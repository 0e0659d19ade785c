// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

const walkthroughIntro = `# Walkthrough

One deployment from the question to the release on disk, and then every refusal and why it exists. This page is made from the messages of
` + "`reprise demo`" + `; a test keeps it true. Three replicas stand behind a balancer that spreads requests over them in turn. Each requestState is replaced by its number
here, so that one can see which is which; ` + "`reprise demo --wire`" + ` shows them.
`

// full is the step that the walkthrough shows in full.
const full = 2

// Walkthrough writes docs/walkthrough.md from the steps of a run.
func Walkthrough(w io.Writer, steps []Step) error {
	var b bytes.Buffer
	b.WriteString(walkthroughIntro)
	states := map[string]string{}
	for i, s := range steps {
		fmt.Fprintf(&b, "\n## %d. %s\n\n%s\n", i+1, s.Title, s.Why)
		var request Exchange
		for _, e := range s.Exchanges {
			m, err := parse(e, states)
			switch {
			case err != nil:
				return err
			case e.Direction == "client":
				request = e
				if i+1 == full {
					fmt.Fprintf(&b, "\n%s, request %s:\n\n```http\nPOST /mcp HTTP/1.1\n%s```\n\n%s", e.Client, m.ID, headers(e, "Content-Type", "Accept", "Authorization", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name"), m.block())
				}
			case i+1 == full:
				fmt.Fprintf(&b, "\n%s, status %d:\n\n%s", e.HTTP.Headers["X-Reprise-Replica"], e.HTTP.Status, m.block())
			case request.Violation != "":
				fmt.Fprintf(&b, "\n%s, after a request with: %s. Status %d:\n\n%s", e.HTTP.Headers["X-Reprise-Replica"], request.Violation, e.HTTP.Status, m.block())
			default:
				fmt.Fprintf(&b, "\n- %s answers %s: %s\n", e.HTTP.Headers["X-Reprise-Replica"], e.Client, m.summary())
			}
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// message is what the walkthrough looks at.
type message struct {
	ID     json.RawMessage `json:"id"`
	Params struct {
		RequestState string `json:"requestState"`
	} `json:"params"`
	Result struct {
		RequestState  string `json:"requestState"`
		InputRequests map[string]struct {
			Params struct {
				Message string `json:"message"`
			} `json:"params"`
		} `json:"inputRequests"`
		StructuredContent struct {
			Deployed bool   `json:"deployed"`
			Outcome  string `json:"outcome"`
		} `json:"structuredContent"`
	} `json:"result"`

	text []byte // the message, with its state replaced
}

func parse(e Exchange, states map[string]string) (*message, error) {
	m := &message{text: e.Message}
	if err := json.Unmarshal(e.Message, m); err != nil {
		return nil, err
	}
	for _, state := range []string{m.Params.RequestState, m.Result.RequestState} {
		if state == "" {
			continue
		}
		if states[state] == "" {
			states[state] = fmt.Sprintf("(requestState %d)", len(states)+1)
		}
		m.text = bytes.ReplaceAll(m.text, []byte(state), []byte(states[state]))
	}
	return m, nil
}

func (m *message) block() string {
	var b bytes.Buffer
	if err := json.Indent(&b, m.text, "", "  "); err != nil {
		return ""
	}
	return "```json\n" + b.String() + "\n```\n"
}

func (m *message) summary() string {
	if q, asks := m.Result.InputRequests[key]; asks {
		return fmt.Sprintf("a question, \"%s\"", q.Params.Message)
	}
	return fmt.Sprintf("deployed %t, outcome \"%s\"", m.Result.StructuredContent.Deployed, m.Result.StructuredContent.Outcome)
}

func headers(e Exchange, names ...string) string {
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "%s: %s\n", name, e.HTTP.Headers[name])
	}
	return b.String()
}
