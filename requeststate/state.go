// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package requeststate

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"time"
)

// FlowID names one flow, from its first question to its redemption, through all its rounds.
type FlowID [16]byte

// NewFlowID returns a random id.
func NewFlowID() FlowID {
	var id FlowID
	rand.Read(id[:])
	return id
}

// String returns the id as 32 hexadecimal digits.
func (id FlowID) String() string { return hex.EncodeToString(id[:]) }

// State is what a token carries. All times have a precision of a millisecond.
type State struct {
	Flow    FlowID    // required: one for all rounds of a flow
	Started time.Time // start of the flow; zero when sealing means now

	// Issued and Expires are the life of this token. Seal sets them in the token and ignores these; Open returns them.
	Issued, Expires time.Time

	Round int // rounds asked so far
	Drift int // times a question was asked again because it had become another one

	Questions []Question // asked in the newest round
	Answers   []Answer   // given in earlier rounds
	Values    []Value    // computed once for the whole flow
	Inner     string     // the handler's own state, where the handler is not ours
}

// Question is a question that was asked.
type Question struct {
	Key    string
	Pin    Digest // of the question as it was asked: an answer holds for no other
	Schema []byte // the schema to check the answer against, where the handler that asked cannot tell it again
}

// Answer is an answer of an earlier round.
type Answer struct {
	Key      string
	Pin      Digest // of the question that it answers
	Response []byte // JSON of one member of inputResponses
}

// Value is a named value that stays the same through all rounds.
type Value struct {
	Name string
	JSON []byte
}

// The payload begins with what Open compares.
const (
	tagSize   = 16
	fixedSize = 2*tagSize + len(Digest{}) + len(FlowID{}) + 6

	minPayload  = fixedSize + 8 // eight varints of one byte
	minQuestion = 1 + len(Digest{}) + 1
	minAnswer   = minQuestion
	minValue    = 1 + 1
)

// bound is what a token is bound to, as it stands in the payload.
type bound struct {
	principal, audience [tagSize]byte
	request             Digest
}

// appendPayload appends the sealed part of a token. The times are milliseconds since 1970, started <= issued < expires.
func appendPayload(dst []byte, b *bound, st *State, started, issued, expires int64) []byte {
	dst = append(dst, b.principal[:]...)
	dst = append(dst, b.audience[:]...)
	dst = append(dst, b.request[:]...)
	dst = append(dst, st.Flow[:]...)
	dst = append(dst, byte(issued>>40), byte(issued>>32), byte(issued>>24), byte(issued>>16), byte(issued>>8), byte(issued))
	dst = binary.AppendUvarint(dst, uint64(expires-issued))
	dst = binary.AppendUvarint(dst, uint64(issued-started))
	dst = binary.AppendUvarint(dst, uint64(st.Round))
	dst = binary.AppendUvarint(dst, uint64(st.Drift))
	dst = binary.AppendUvarint(dst, uint64(len(st.Questions)))
	for i := range st.Questions {
		q := &st.Questions[i]
		dst = appendBytes(dst, q.Key)
		dst = append(dst, q.Pin[:]...)
		dst = appendBytes(dst, q.Schema)
	}
	dst = binary.AppendUvarint(dst, uint64(len(st.Answers)))
	for i := range st.Answers {
		a := &st.Answers[i]
		dst = appendBytes(dst, a.Key)
		dst = append(dst, a.Pin[:]...)
		dst = appendBytes(dst, a.Response)
	}
	dst = binary.AppendUvarint(dst, uint64(len(st.Values)))
	for i := range st.Values {
		v := &st.Values[i]
		dst = appendBytes(dst, v.Name)
		dst = appendBytes(dst, v.JSON)
	}
	return appendBytes(dst, st.Inner)
}

func appendBytes[T string | []byte](dst []byte, s T) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

// opened is a State with room for what most states hold, so that both are one allocation.
type opened struct {
	State
	question [1]Question
}

// parsePayload reads what appendPayload wrote and nothing else: what it accepts encodes to the same bytes again. The state
// keeps nothing of p.
func parsePayload(p []byte) (_ *State, b bound, ok bool) {
	if len(p) < minPayload {
		return nil, b, false
	}
	o := new(opened)
	st := &o.State
	p = p[copy(b.principal[:], p):]
	p = p[copy(b.audience[:], p):]
	p = p[copy(b.request[:], p):]
	p = p[copy(st.Flow[:], p):]
	t := p[:6]
	r := reader{rest: string(p[6:])}
	issued := int64(t[0])<<40 | int64(t[1])<<32 | int64(t[2])<<24 | int64(t[3])<<16 | int64(t[4])<<8 | int64(t[5])
	life := r.uvarint(maxMilli)
	if life == 0 {
		r.bad = true
	}
	st.Issued = time.UnixMilli(issued)
	st.Expires = time.UnixMilli(issued + life)
	st.Started = time.UnixMilli(issued - r.uvarint(uint64(issued)))
	st.Round = int(r.uvarint(maxRounds))
	st.Drift = int(r.uvarint(maxRounds))
	if n := r.count(minQuestion); n > 0 {
		st.Questions = o.question[:]
		if n > len(o.question) {
			st.Questions = make([]Question, n)
		}
		for i := range st.Questions {
			q := &st.Questions[i]
			q.Key = r.text()
			copy(q.Pin[:], r.take(len(q.Pin)))
			q.Schema = r.bytes()
		}
	}
	if n := r.count(minAnswer); n > 0 {
		st.Answers = make([]Answer, n)
		for i := range st.Answers {
			a := &st.Answers[i]
			a.Key = r.text()
			copy(a.Pin[:], r.take(len(a.Pin)))
			a.Response = r.bytes()
		}
	}
	if n := r.count(minValue); n > 0 {
		st.Values = make([]Value, n)
		for i := range st.Values {
			v := &st.Values[i]
			v.Name = r.text()
			v.JSON = r.bytes()
		}
	}
	st.Inner = r.text()
	return st, b, !r.bad && len(r.rest) == 0
}

// reader takes the rest of a payload apart. It is a string so that all keys are parts of one allocation. After the first
// thing that is wrong the reader is bad for good and returns nothing more.
type reader struct {
	rest string
	bad  bool
}

func (r *reader) take(n int) string {
	if n > len(r.rest) {
		r.bad, r.rest = true, ""
		return ""
	}
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

// uvarint reads a number of at most limit, in its shortest form.
func (r *reader) uvarint(limit uint64) int64 {
	var v uint64
	for i := 0; i < len(r.rest) && i < 9; i++ {
		b := r.rest[i]
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			if b == 0 && i > 0 || v > limit {
				break
			}
			r.rest = r.rest[i+1:]
			return int64(v)
		}
	}
	r.bad, r.rest = true, ""
	return 0
}

// count reads how many items of at least size bytes follow. What cannot be there is never allocated.
func (r *reader) count(size int) int { return int(r.uvarint(uint64(len(r.rest) / size))) }

// text reads a length and as many bytes.
func (r *reader) text() string { return r.take(int(r.uvarint(uint64(len(r.rest))))) }

// bytes reads the same; nil where the length is 0.
func (r *reader) bytes() []byte {
	if s := r.text(); s != "" {
		return []byte(s)
	}
	return nil
}
