// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

// Package wirecheck reads a recording of MCP messages and says which rule of revision 2026-07-28 was broken, by whom, on
// which message.
//
// # Most needs
//
//	c := wirecheck.New()
//	for entry, err := range transcript.Read(file, "") {
//		if err != nil {
//			return err
//		}
//		for _, finding := range c.Check(entry) {
//			fmt.Println(finding)
//		}
//	}
//
// A rule whose source is a MUST is an error, one whose source is a SHOULD is a warning. There is a third result: what a
// recording cannot tell, such as the answer to a question that was asked before it began, is said and counted, and is never a
// failure. A rule that does not apply to a message says nothing, and has not passed.
//
// # Memory
//
// A [Checker] keeps the requests that wait for an answer and the questions that wait for a retry, the newest 10,000 of each and
// client. What it had to forget it cannot tell.
package wirecheck

import (
	"fmt"

	"github.com/reprise-mcp/reprise/elicitation"
	"github.com/reprise-mcp/reprise/transcript"
)

// Level is how bad a finding is.
type Level string

// The levels. Error: a MUST is broken. Warning: a SHOULD is, or something that is legal and surely not meant. CannotTell: the
// recording does not show whether it is.
const (
	Error      Level = "error"
	Warning    Level = "warning"
	CannotTell Level = "cannot tell"
)

// A Rule is something that a recording can break.
type Rule struct {
	ID      string // stable, such as "retry-state"
	Level   Level  // Error or Warning
	Section string // of the specification: page#heading
	Since   string // first revision that has it
	Until   string // last revision that has it; empty: it still holds
	Title   string // what is demanded, in one line
	Text    string // why, and what to do
	check   func(*view, *result)
}

// A Finding is a rule that does not hold on one message.
type Finding struct {
	Rule   string               `json:"rule"`
	Level  Level                `json:"level"`
	Who    transcript.Direction `json:"who"` // who broke it; empty: the recording does not say
	Client string               `json:"client,omitempty"`
	Line   int                  `json:"line"`
	Method string               `json:"method,omitempty"`
	ID     string               `json:"id,omitempty"`   // of the message, as JSON
	Path   string               `json:"path,omitempty"` // of the offending part, as a JSON Pointer
	Detail string               `json:"detail"`
}

// String is the finding in one line.
func (f Finding) String() string {
	who := string(f.Who)
	if who == "" {
		who = "somebody"
	}
	at := fmt.Sprintf("line %d", f.Line)
	if f.Method != "" {
		at += ", " + f.Method
	}
	if f.ID != "" {
		at += " " + f.ID
	}
	if f.Path != "" {
		at += ", at " + f.Path
	}
	return fmt.Sprintf("%s: %s: %s: %s (%s)", at, f.Level, who, f.Detail, f.Rule)
}

// Counts says how often a rule was applied, and what came of it.
type Counts struct {
	Passed     int `json:"passed"`
	Failed     int `json:"failed"`
	CannotTell int `json:"cannotTell"`
}

// A Checker checks one recording, message by message. Make it with [New].
type Checker struct {
	clients  map[string]*conversation
	counts   []Counts // by rule
	messages int
	schemas  schemas
}

// schemas keeps the forms that were read last: a recording has few, and asks them often.
type schemas map[string]schema

type schema struct {
	*elicitation.Schema
	err error
}

func (s schemas) parse(raw value) (*elicitation.Schema, error) {
	if known, ok := s[string(raw)]; ok {
		return known.Schema, known.err
	}
	if len(s) > 1000 {
		clear(s)
	}
	parsed, err := elicitation.ParseSchema(raw)
	s[string(raw)] = schema{parsed, err}
	return parsed, err
}

// New returns a checker for one recording.
func New() *Checker {
	return &Checker{clients: make(map[string]*conversation), counts: make([]Counts, len(rules)), schemas: make(schemas)}
}

// Check takes the next message and returns what is wrong with it. Findings on a message that is marked as a violation are
// left out, but for a server that accepts what it should have refused.
func (c *Checker) Check(e *transcript.Entry) []Finding {
	talk := c.clients[e.Client]
	if talk == nil {
		talk = newConversation()
		c.clients[e.Client] = talk
	}
	v := talk.look(e)
	v.schemas = c.schemas
	c.messages++
	var findings []Finding
	r := &result{}
	for i := range rules {
		rule := &rules[i]
		*r = result{}
		rule.check(v, r)
		if !r.applied {
			continue
		}
		counts := &c.counts[i]
		deliberate := e.Violation != "" && v.from == transcript.Client
		switch {
		case deliberate && (r.unsure != "" || len(r.faults) > 0):
			// wrong on purpose
		case r.unsure != "":
			counts.CannotTell++
			findings = append(findings, v.finding(rule, CannotTell, "", r.unsure))
		case len(r.faults) == 0:
			counts.Passed++
		default:
			counts.Failed++
			for _, f := range r.faults {
				level := rule.Level
				if f.mild {
					level = Warning
				}
				findings = append(findings, v.finding(rule, level, f.path, f.detail))
			}
		}
	}
	talk.remember(v)
	return findings
}

// Messages is how many messages were checked.
func (c *Checker) Messages() int { return c.messages }

// Counts says for each rule that was applied how often it held. Rules that are not there did not apply to anything.
func (c *Checker) Counts() map[string]Counts {
	counts := make(map[string]Counts, len(c.counts))
	for i, n := range c.counts {
		if n != (Counts{}) {
			counts[rules[i].ID] = n
		}
	}
	return counts
}

func (v *view) finding(rule *Rule, level Level, path, detail string) Finding {
	return Finding{
		Rule: rule.ID, Level: level, Who: v.from, Client: v.entry.Client, Line: v.entry.Line,
		Method: v.method, ID: string(v.id), Path: path, Detail: detail,
	}
}

// result is what a rule says of one message. Nothing said means that the rule does not apply.
type result struct {
	applied bool
	unsure  string
	faults  []fault
}

type fault struct {
	path, detail string
	mild         bool
}

// holds says that the rule applies, and holds unless fail is called.
func (r *result) holds() { r.applied = true }

// fail says what is wrong. The detail never quotes a state or an answer.
func (r *result) fail(path, format string, args ...any) {
	r.applied = true
	r.faults = append(r.faults, fault{path: path, detail: fmt.Sprintf(format, args...)})
}

// warn is fail for what may be meant.
func (r *result) warn(path, format string, args ...any) {
	r.applied = true
	r.faults = append(r.faults, fault{path, fmt.Sprintf(format, args...), true})
}

// cannotTell says why the recording does not show it.
func (r *result) cannotTell(format string, args ...any) {
	r.applied = true
	r.unsure = fmt.Sprintf(format, args...)
}
