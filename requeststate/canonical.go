// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package requeststate

import (
	"bytes"
	"slices"
	"strconv"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	maxDepth    = 128
	maxExponent = 100_000
)

// ArgumentsError says why JSON was refused by [RequestDigest] or [AppendCanonical]. It holds nothing of the JSON itself.
// For a request it is a bad request (JSON-RPC -32602).
type ArgumentsError struct {
	Reason string
}

// Error implements error.
func (e *ArgumentsError) Error() string { return "requeststate: JSON refused: " + e.Reason }

var (
	errSyntax    = &ArgumentsError{"not valid JSON"}
	errTrailing  = &ArgumentsError{"something follows the JSON value"}
	errDuplicate = &ArgumentsError{"an object names a member twice"}
	errUTF8      = &ArgumentsError{"invalid UTF-8 in a string"}
	errSurrogate = &ArgumentsError{"an escaped surrogate without its other half"}
	errDepth     = &ArgumentsError{"nested deeper than 128 levels"}
	errExponent  = &ArgumentsError{"a number's exponent is beyond ±100000"}
	errNotObject = &ArgumentsError{"the arguments are not a JSON object"}
)

// AppendCanonical appends the canonical form of one JSON value to dst. Two values have the same canonical form exactly if they are
// equal: the order of members, white space, the escapes of a string and the spelling of a number do not matter, every digit of a number
// does. The form is itself JSON, and its own canonical form.
//
// It is stricter than most parsers, so that no two parsers can disagree on what was digested: member names given twice, invalid
// UTF-8, lone surrogates, more than 128 levels, exponents beyond ±100000 (in the form without a fraction and without
// trailing zeros) and anything behind the value are refused with an [*ArgumentsError].
func AppendCanonical(dst, value []byte) ([]byte, error) {
	// No option of a JSON library gives this form (canonical JSON rounds numbers to binary floating point), and a second
	// pass over a library's output costs several times what this does. The tests compare it with such a library.
	c := canonicalizers.Get().(*canonicalizer)
	defer c.free()
	c.src, c.out = value, dst
	if err := c.value(0); err != nil {
		return dst, err
	}
	if c.space(); c.pos < len(c.src) {
		return dst, errTrailing
	}
	return c.out, nil
}

var canonicalizers = sync.Pool{New: func() any { return new(canonicalizer) }}

func (c *canonicalizer) free() {
	*c = canonicalizer{members: c.members[:0]}
	if cap(c.members) <= 1024 {
		canonicalizers.Put(c)
	}
}

type canonicalizer struct {
	src     []byte
	pos     int
	out     []byte
	members []member // of all objects that are open, innermost last
}

// member is where one member of an object stands in the output.
type member struct{ start, name, end int }

// next returns the byte at the position, and 0, which is nowhere legal, at the end.
func (c *canonicalizer) next() byte {
	if c.pos < len(c.src) {
		return c.src[c.pos]
	}
	return 0
}

func (c *canonicalizer) space() {
	for c.pos < len(c.src) {
		switch c.src[c.pos] {
		case ' ', '\t', '\n', '\r':
			c.pos++
		default:
			return
		}
	}
}

func (c *canonicalizer) value(depth int) error {
	c.space()
	switch b := c.next(); {
	case b == '"':
		return c.string()
	case b == '{':
		return c.object(depth + 1)
	case b == '[':
		return c.array(depth + 1)
	case b == '-' || isDigit(b):
		return c.number()
	}
	for _, literal := range [...]string{"true", "false", "null"} {
		if bytes.HasPrefix(c.src[c.pos:], []byte(literal)) {
			c.pos += len(literal)
			c.out = append(c.out, literal...)
			return nil
		}
	}
	return errSyntax
}

func (c *canonicalizer) array(depth int) error {
	if depth > maxDepth {
		return errDepth
	}
	c.pos++
	c.out = append(c.out, '[')
	if c.space(); c.next() == ']' {
		c.pos++
		c.out = append(c.out, ']')
		return nil
	}
	for {
		if err := c.value(depth); err != nil {
			return err
		}
		c.space()
		b := c.next()
		if b != ',' && b != ']' {
			return errSyntax
		}
		c.pos++
		c.out = append(c.out, b)
		if b == ']' {
			return nil
		}
	}
}

func (c *canonicalizer) object(depth int) error {
	if depth > maxDepth {
		return errDepth
	}
	c.pos++
	c.out = append(c.out, '{')
	if c.space(); c.next() == '}' {
		c.pos++
		c.out = append(c.out, '}')
		return nil
	}
	first, start := len(c.members), len(c.out)
	for {
		var m member
		m.start = len(c.out)
		if c.space(); c.next() != '"' {
			return errSyntax
		}
		if err := c.string(); err != nil {
			return err
		}
		m.name = len(c.out)
		if c.space(); c.next() != ':' {
			return errSyntax
		}
		c.pos++
		c.out = append(c.out, ':')
		if err := c.value(depth); err != nil {
			return err
		}
		m.end = len(c.out)
		c.members = append(c.members, m)
		c.space()
		b := c.next()
		if b != ',' && b != '}' {
			return errSyntax
		}
		c.pos++
		if b == '}' {
			break
		}
		c.out = append(c.out, b)
	}
	err := c.sort(start, c.members[first:])
	c.members = c.members[:first]
	c.out = append(c.out, '}')
	return err
}

// sort puts the members of one object, which stand in the output from start to its end, into the order of their names,
// compared byte by byte in their canonical spelling.
func (c *canonicalizer) sort(start int, members []member) error {
	compare := func(a, b member) int { return bytes.Compare(c.out[a.start:a.name], c.out[b.start:b.name]) }
	sorted := slices.IsSortedFunc(members, compare)
	if !sorted {
		slices.SortFunc(members, compare)
	}
	for i := 1; i < len(members); i++ {
		if compare(members[i-1], members[i]) == 0 {
			return errDuplicate
		}
	}
	if sorted {
		return nil
	}
	end := len(c.out)
	for i, m := range members {
		if i > 0 {
			c.out = append(c.out, ',')
		}
		c.out = append(c.out, c.out[m.start:m.end]...)
	}
	c.out = c.out[:start+copy(c.out[start:], c.out[end:])]
	return nil
}

func (c *canonicalizer) string() error {
	c.pos++
	c.out = append(c.out, '"')
	for {
		run := c.pos
		for c.pos < len(c.src) && plain[c.src[c.pos]] {
			c.pos++
		}
		c.out = append(c.out, c.src[run:c.pos]...)
		switch b := c.next(); {
		case b == '"':
			c.pos++
			c.out = append(c.out, '"')
			return nil
		case b == '\\':
			if err := c.escape(); err != nil {
				return err
			}
		case b < 0x20: // also the end
			return errSyntax
		default:
			r, size := utf8.DecodeRune(c.src[c.pos:])
			if r == utf8.RuneError && size == 1 {
				return errUTF8
			}
			c.out = append(c.out, c.src[c.pos:c.pos+size]...)
			c.pos += size
		}
	}
}

// plain marks the bytes that stand for themselves in a string.
var plain = func() (t [256]bool) {
	for b := byte(0x20); b < utf8.RuneSelf; b++ {
		t[b] = b != '"' && b != '\\'
	}
	return t
}()

func (c *canonicalizer) escape() error {
	c.pos++
	var r rune
	switch b := c.next(); b {
	case '"', '\\', '/':
		r = rune(b)
	case 'b':
		r = '\b'
	case 'f':
		r = '\f'
	case 'n':
		r = '\n'
	case 'r':
		r = '\r'
	case 't':
		r = '\t'
	case 'u':
		return c.unicode()
	default:
		return errSyntax
	}
	c.pos++
	c.rune(r)
	return nil
}

func (c *canonicalizer) unicode() error {
	r, ok := c.hex4()
	if !ok {
		return errSyntax
	}
	if utf16.IsSurrogate(r) {
		if !bytes.HasPrefix(c.src[c.pos:], []byte(`\u`)) {
			return errSurrogate
		}
		c.pos++
		low, ok := c.hex4()
		if !ok {
			return errSyntax
		}
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			return errSurrogate
		}
	}
	c.rune(r)
	return nil
}

// hex4 reads the four digits behind the u at the position.
func (c *canonicalizer) hex4() (r rune, ok bool) {
	c.pos++
	if len(c.src)-c.pos < 4 {
		return 0, false
	}
	for _, b := range c.src[c.pos : c.pos+4] {
		switch {
		case isDigit(b):
			b -= '0'
		case 'a' <= b && b <= 'f':
			b -= 'a' - 10
		case 'A' <= b && b <= 'F':
			b -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(b)
	}
	c.pos += 4
	return r, true
}

// rune writes a character that was escaped in the input in its only canonical spelling.
func (c *canonicalizer) rune(r rune) {
	const hexDigits = "0123456789abcdef"
	switch {
	case r == '"' || r == '\\':
		c.out = append(c.out, '\\', byte(r))
	case r >= 0x20:
		c.out = utf8.AppendRune(c.out, r)
	case r == '\b':
		c.out = append(c.out, `\b`...)
	case r == '\f':
		c.out = append(c.out, `\f`...)
	case r == '\n':
		c.out = append(c.out, `\n`...)
	case r == '\r':
		c.out = append(c.out, `\r`...)
	case r == '\t':
		c.out = append(c.out, `\t`...)
	default:
		c.out = append(c.out, '\\', 'u', '0', '0', hexDigits[r>>4], hexDigits[r&15])
	}
}

// number writes the exact decimal value as an integer without trailing zeros, and the power of ten to multiply it
// with unless that is 1: 100 is 1e2, 0.10 is 1e-1, 42.0 is 42. Nothing is expanded, so 1e400 costs what 1 costs.
func (c *canonicalizer) number() error {
	negative := c.accept('-')
	whole := c.digits()
	if len(whole) == 0 || len(whole) > 1 && whole[0] == '0' {
		return errSyntax
	}
	var fraction []byte
	if c.accept('.') {
		if fraction = c.digits(); len(fraction) == 0 {
			return errSyntax
		}
	}
	exponent := -int64(len(fraction))
	if c.accept('e') || c.accept('E') {
		down := c.accept('-')
		if !down {
			c.accept('+')
		}
		written := c.digits()
		if len(written) == 0 {
			return errSyntax
		}
		var n int64
		for _, b := range written {
			n = min(n*10+int64(b-'0'), 1<<40) // saturated far above what the digits of any input could bring back
		}
		if down {
			n = -n
		}
		exponent += n
	}

	if whole[0] == '0' {
		whole, fraction = nil, bytes.TrimLeft(fraction, "0")
	}
	significant := bytes.TrimRight(fraction, "0")
	exponent += int64(len(fraction) - len(significant))
	fraction = significant
	if len(fraction) == 0 {
		significant = bytes.TrimRight(whole, "0")
		exponent += int64(len(whole) - len(significant))
		whole = significant
	}
	if len(whole)+len(fraction) == 0 {
		c.out = append(c.out, '0') // zero has one spelling, without a sign and whatever the exponent
		return nil
	}
	if exponent < -maxExponent || exponent > maxExponent {
		return errExponent
	}
	if negative {
		c.out = append(c.out, '-')
	}
	c.out = append(c.out, whole...)
	c.out = append(c.out, fraction...)
	if exponent != 0 {
		c.out = append(c.out, 'e')
		c.out = strconv.AppendInt(c.out, exponent, 10)
	}
	return nil
}

func (c *canonicalizer) accept(b byte) bool {
	if c.pos < len(c.src) && c.src[c.pos] == b {
		c.pos++
		return true
	}
	return false
}

func (c *canonicalizer) digits() []byte {
	start := c.pos
	for c.pos < len(c.src) && isDigit(c.src[c.pos]) {
		c.pos++
	}
	return c.src[start:c.pos]
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }
