// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package elicitation

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

var errNotObject = errors.New("want a JSON object")

// A reader is a decoder with the buffer it reads from. Answers are small, so
// making the pair anew would cost more than reading one.
type reader struct {
	buf bytes.Buffer
	dec jsontext.Decoder
}

var readers = sync.Pool{New: func() any { return new(reader) }}

// readObject calls member for each member of the JSON object src. The name is
// only valid during the call; the value is a part of src. Invalid UTF-8, a
// lone surrogate, a name that occurs twice at any depth and anything behind
// the object are errors: two parsers must not be able to read src differently.
func readObject(src []byte, member func(name []byte, value jsontext.Value) error) error {
	r := readers.Get().(*reader)
	r.buf = *bytes.NewBuffer(src)
	r.dec.Reset(&r.buf)
	defer func() {
		r.buf = bytes.Buffer{} // no answer outlives its use in the pool
		r.dec.Reset(&r.buf)
		readers.Put(r)
	}()
	if r.dec.PeekKind() != jsontext.KindBeginObject {
		if err := r.dec.SkipValue(); err != nil {
			return err
		}
		return errNotObject
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return err
	}
	for r.dec.PeekKind() != jsontext.KindEndObject {
		raw, err := r.dec.ReadValue()
		if err != nil {
			return err
		}
		name := unquote(lent(src, &r.dec, raw))
		raw, err = r.dec.ReadValue()
		if err != nil {
			return err
		}
		if err := member(name, lent(src, &r.dec, raw)); err != nil {
			return err
		}
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return err
	}
	if _, err := r.dec.ReadToken(); err != io.EOF {
		return errors.New("something follows the JSON object")
	}
	return nil
}

// lent returns the bytes of src that the decoder just returned as v. The
// decoder takes v back at its next read; src is the caller's.
func lent(src []byte, dec *jsontext.Decoder, v jsontext.Value) jsontext.Value {
	end := int(dec.InputOffset())
	return src[end-len(v) : end : end]
}

// unquote returns the text of a valid JSON string, as a part of v where it
// holds no escapes.
func unquote(v jsontext.Value) []byte {
	if bytes.IndexByte(v, '\\') < 0 {
		return v[1 : len(v)-1]
	}
	text, _ := jsontext.AppendUnquote(nil, v)
	return text
}

// readArray returns the elements of a valid JSON array.
func readArray(v jsontext.Value) ([]jsontext.Value, bool) {
	if v.Kind() != jsontext.KindBeginArray {
		return nil, false
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(v))
	if _, err := dec.ReadToken(); err != nil {
		return nil, false
	}
	var all []jsontext.Value
	for dec.PeekKind() != jsontext.KindEndArray {
		e, err := dec.ReadValue()
		if err != nil {
			return nil, false
		}
		all = append(all, lent(v, dec, e))
	}
	return all, true
}

// readString returns the text of v if it is a JSON string.
func readString(v jsontext.Value) (string, bool) {
	if v.Kind() != jsontext.KindString {
		return "", false
	}
	return string(unquote(v)), true
}

// foldsTo reports whether name is a misspelling of one of names by letter case
// only. Such a member is refused: the standard library's decoder, for one,
// takes it for the real one, and a second parser must not see another answer.
func foldsTo(name []byte, names ...string) bool {
	for _, n := range names {
		if string(name) != n && len(name) >= len(n) && strings.EqualFold(string(name), n) {
			return true
		}
	}
	return false
}

// appendQuote appends text, which is known to be valid UTF-8, as a JSON string.
func appendQuote(dst []byte, text string) []byte {
	dst, _ = jsontext.AppendQuote(dst, text)
	return dst
}
