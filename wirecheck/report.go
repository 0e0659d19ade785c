// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"

	"github.com/reprise-mcp/reprise/transcript"
)

// A Report is what was found in one recording.
type Report struct {
	File     string            `json:"file"`
	Messages int               `json:"messages"`
	Findings []Finding         `json:"findings"`
	Rules    map[string]Counts `json:"rules"` // that were applied
}

// Count counts the findings of each level.
func (r Report) Count() map[Level]int {
	n := make(map[Level]int)
	for _, f := range r.Findings {
		n[f.Level]++
	}
	return n
}

// CheckAll checks a recording that is named file in the report. The error is that of the recording.
func CheckAll(file string, entries iter.Seq2[*transcript.Entry, error]) (*Report, error) {
	c := New()
	r := &Report{File: file, Findings: []Finding{}}
	for e, err := range entries {
		if err != nil {
			return nil, err
		}
		r.Findings = append(r.Findings, c.Check(e)...)
	}
	r.Messages, r.Rules = c.Messages(), c.Counts()
	return r, nil
}

// Writers write reports, by the name of the form.
var Writers = map[string]func(io.Writer, []Report) error{"text": WriteText, "json": WriteJSON, "sarif": WriteSARIF, "junit": WriteJUnit}

// WriteText writes reports for people: the findings of a rule together, the worst first.
func WriteText(w io.Writer, reports []Report) error {
	p := &printer{w: w}
	for _, r := range reports {
		n := r.Count()
		p.printf("%s: %d messages, %d errors, %d warnings, %d cannot be told; %d of %d rules applied\n",
			r.File, r.Messages, n[Error], n[Warning], n[CannotTell], len(r.Rules), len(rules))
		for _, level := range []Level{Error, Warning, CannotTell} {
			for i := range rules {
				rule := &rules[i]
				first := true
				for _, f := range r.Findings {
					if f.Rule != rule.ID || f.Level != level {
						continue
					}
					if first {
						p.printf("\n%s: %s. %s (%s)\n", level, rule.Title, rule.ID, rule.Section)
						first = false
					}
					p.printf("  %s\n", f.where())
				}
			}
		}
	}
	return p.err
}

// where is a finding without its rule and level.
func (f Finding) where() string {
	who := string(f.Who)
	if f.Client != "" {
		who += " (" + f.Client + ")"
	}
	at := fmt.Sprintf("line %d", f.Line)
	if f.Method != "" {
		at += ", " + f.Method
	}
	if f.ID != "" {
		at += " " + f.ID
	}
	if f.Path != "" {
		at += ", " + f.Path
	}
	return fmt.Sprintf("%s: %s: %s", at, who, f.Detail)
}

type printer struct {
	w   io.Writer
	err error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// WriteJSON writes reports as one JSON array.
func WriteJSON(w io.Writer, reports []Report) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(reports)
}

// WriteSARIF writes reports as one run of SARIF 2.1.0. What cannot be told is a note.
func WriteSARIF(w io.Writer, reports []Report) error {
	type text struct {
		Text string `json:"text"`
	}
	type descriptor struct {
		ID               string            `json:"id"`
		ShortDescription text              `json:"shortDescription"`
		FullDescription  text              `json:"fullDescription"`
		HelpURI          string            `json:"helpUri"`
		Default          map[string]string `json:"defaultConfiguration"`
	}
	type region struct {
		StartLine int `json:"startLine"`
	}
	type location struct {
		Physical struct {
			Artifact struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
			Region region `json:"region"`
		} `json:"physicalLocation"`
	}
	type sarifResult struct {
		RuleID    string     `json:"ruleId"`
		Level     string     `json:"level"`
		Message   text       `json:"message"`
		Locations []location `json:"locations"`
	}
	levels := map[Level]string{Error: "error", Warning: "warning", CannotTell: "note"}
	var descriptors []descriptor
	for _, rule := range rules {
		descriptors = append(descriptors, descriptor{rule.ID, text{rule.Title}, text{rule.Text},
			"https://modelcontextprotocol.io/specification/" + rule.Since + "/" + rule.Section, map[string]string{"level": levels[rule.Level]}})
	}
	results := []sarifResult{}
	for _, r := range reports {
		for _, f := range r.Findings {
			var at location
			at.Physical.Artifact.URI, at.Physical.Region.StartLine = r.File, max(1, f.Line)
			results = append(results, sarifResult{f.Rule, levels[f.Level], text{f.where()}, []location{at}})
		}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(map[string]any{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json",
		"version": "2.1.0",
		"runs": []any{map[string]any{
			"tool":    map[string]any{"driver": map[string]any{"name": "reprise check", "rules": descriptors}},
			"results": results,
		}},
	})
}

// WriteJUnit writes reports as JUnit XML: a suite a recording, a case a rule that was applied. What only cannot be told is
// skipped.
func WriteJUnit(w io.Writer, reports []Report) error {
	type failure struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
	}
	type testcase struct {
		Name     string    `xml:"name,attr"`
		Class    string    `xml:"classname,attr"`
		Failures []failure `xml:"failure"`
		Skipped  *struct{} `xml:"skipped"`
	}
	type suite struct {
		XMLName  xml.Name   `xml:"testsuite"`
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Skipped  int        `xml:"skipped,attr"`
		Cases    []testcase `xml:"testcase"`
	}
	type suites struct {
		XMLName xml.Name `xml:"testsuites"`
		Suites  []suite
	}
	var all suites
	for _, r := range reports {
		s := suite{Name: r.File}
		for _, id := range slices.Sorted(maps.Keys(r.Rules)) {
			c := testcase{Name: id, Class: "wirecheck"}
			for _, f := range r.Findings {
				if f.Rule == id && f.Level != CannotTell {
					c.Failures = append(c.Failures, failure{string(f.Level), f.where()})
				}
			}
			if n := r.Rules[id]; n.Passed == 0 && n.Failed == 0 {
				c.Skipped = &struct{}{}
				s.Skipped++
			}
			if c.Failures != nil {
				s.Failures++
			}
			s.Tests++
			s.Cases = append(s.Cases, c)
		}
		all.Suites = append(all.Suites, s)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
