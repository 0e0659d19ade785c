// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"encoding/json"
)

// A Step is one step that was taken, with the messages of it.
type Step struct {
	Title     string
	Why       string
	Exchanges []Exchange
}

// An Exchange is a line of the transcript.
type Exchange struct {
	Message   json.RawMessage `json:"message"`
	Direction string          `json:"direction"`
	HTTP      struct {
		Headers map[string]string `json:"headers"`
		Status  int               `json:"status"`
	} `json:"http"`
	Client    string `json:"client"`
	Violation string `json:"violation"`
}

// recorder receives the transcript, a line with each write.
type recorder struct{ d *demo }

func (r *recorder) Write(line []byte) (int, error) {
	var e Exchange
	if err := json.Unmarshal(line, &e); err != nil {
		return 0, err
	}
	step := &r.d.steps[len(r.d.steps)-1]
	step.Exchanges = append(step.Exchanges, e)
	if r.d.config.Wire {
		mark := ">"
		if e.Direction == "server" {
			mark = "<"
		}
		r.d.printf("      %s %s\n", mark, e.Message)
	}
	if r.d.config.Transcript != nil {
		return r.d.config.Transcript.Write(line)
	}
	return len(line), nil
}
