// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// Events of the history. Every deployment has a begin, and afterwards a done or an abandoned of the same number.
const (
	eventBegin     = "begin"
	eventDone      = "done"
	eventAbandoned = "abandoned"
)

// record is one line of the history. From, To and By stand in the begin only.
type record struct {
	Number uint64    `json:"number"`
	Event  string    `json:"event"`
	At     time.Time `json:"at"`
	From   string    `json:"from,omitempty"`
	To     string    `json:"to,omitempty"`
	By     string    `json:"by,omitempty"`
}

func (r record) deployment(s *service) Deployment {
	return Deployment{Number: r.Number, Service: s.name, Environment: s.environment, From: r.From, To: r.To, By: r.By, At: r.At}
}

// maxRecord is more than a record can take: By is at most 512 bytes, of which JSON may make six times as many.
const maxRecord = 4 << 10

// tail is the end of the history, which is all that a deployment needs of it.
type tail struct {
	records []record
	end     int64 // length of the history up to the end of its last whole line
	torn    bool  // bytes follow end: a line that was being written when the process or the host died
}

func (s *service) tail() (tail, error) {
	file, err := s.root.Open("history")
	if errors.Is(err, fs.ErrNotExist) {
		return tail{}, nil
	}
	if err != nil {
		return tail{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return tail{}, err
	}
	start := max(0, info.Size()-4*maxRecord)
	text, err := io.ReadAll(io.NewSectionReader(file, start, info.Size()-start))
	if err != nil {
		return tail{}, err
	}
	end := bytes.LastIndexByte(text, '\n') + 1
	t := tail{end: start + int64(end), torn: end < len(text)}
	if start > 0 { // begin with the first whole line
		first := bytes.IndexByte(text, '\n') + 1
		if first == 0 {
			return tail{}, s.damaged("it ends in a line longer than any that is written")
		}
		text, end = text[first:], end-first
	}
	t.records, err = s.parse(text[:end])
	return t, err
}

// history reads all of it. The caller holds the lock and has recovered, so that each begin has its end.
func (s *service) history() ([]Deployment, error) {
	file, err := s.root.Open("history")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(file)
	file.Close()
	if err != nil {
		return nil, err
	}
	records, err := s.parse(text)
	if err != nil {
		return nil, err
	}
	var deployments []Deployment
	for i, r := range records {
		if r.Event == eventDone {
			if i == 0 || records[i-1].Event != eventBegin || records[i-1].Number != r.Number {
				return nil, s.damaged(fmt.Sprintf("deployment %d ends without having begun", r.Number))
			}
			deployments = append(deployments, records[i-1].deployment(s))
		}
	}
	return deployments, nil
}

func (s *service) parse(text []byte) ([]record, error) {
	var records []record
	for line := range bytes.Lines(text) {
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, s.damaged("it has a line that is no record")
		}
		switch {
		case r.Event == eventBegin && nameFault(r.To) == "" && (r.From == "" || nameFault(r.From) == ""):
		case r.Event == eventDone || r.Event == eventAbandoned:
		default:
			return nil, s.damaged("it has a line that is no record")
		}
		records = append(records, r)
	}
	return records, nil
}

func (s *service) damaged(reason string) error {
	return &StateError{Service: s.name, Environment: s.environment, File: "history", Reason: reason}
}

// recover ends what a process that died has left, and returns what runs and the number of the last attempt. The caller
// holds the lock.
func (s *service) recover() (running string, number uint64, err error) {
	running, err = s.current()
	if err != nil {
		return "", 0, err
	}
	t, err := s.tail()
	if err != nil {
		return "", 0, err
	}
	if t.torn {
		if err := s.truncate(t.end); err != nil {
			return "", 0, err
		}
	}
	if len(t.records) == 0 {
		return running, 0, nil
	}
	last := t.records[len(t.records)-1]
	if last.Event == eventBegin {
		// Swap begins only while another release runs than the one it wants. So current tells whether it got there.
		end := record{Number: last.Number, Event: eventAbandoned, At: time.Now().UTC()}
		if running == last.To {
			end.Event = eventDone
			if err := syncDir(s.root); err != nil {
				return "", 0, err
			}
		}
		if err := s.append(end, true); err != nil {
			return "", 0, err
		}
	}
	return running, last.Number, nil
}

func (s *service) truncate(size int64) error {
	file, err := s.root.OpenFile("history", os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := file.Truncate(size); err != nil {
		return err
	}
	return file.Sync()
}

// append adds one line, and makes it durable if told to. A line that was written in part is cut off again by recover.
func (s *service) append(r record, durable bool) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = s.root.Lstat("history")
	isNew := errors.Is(err, fs.ErrNotExist)
	file, err := s.root.OpenFile("history", os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Write(append(line, '\n')); err != nil {
		return err
	}
	if !durable {
		return nil
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if isNew {
		return syncDir(s.root)
	}
	return nil
}
