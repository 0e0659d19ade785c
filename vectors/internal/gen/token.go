// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
)

const (
	gcm = 1
	mac = 2
)

var algorithmNames = map[byte]string{gcm: "AES-256-GCM", mac: "HMAC-SHA256"}

// seed returns bytes that take the place of random ones.
func seed(name string, n int) []byte {
	sum := sha256.Sum256([]byte("reprise vectors: " + name))
	return sum[:n]
}

func derive(secret []byte, purpose string, context []byte, n int) []byte {
	key, err := hkdf.Key(sha256.New, secret, nil, "reprise requestState v1 "+purpose+"\x00"+string(context), n)
	if err != nil {
		panic(err) // only for lengths above 255 hashes
	}
	return key
}

func hmacSum(key []byte, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, key)
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}

func keyID(secret []byte) []byte { return derive(secret, "key id", nil, 4) }

func uvarint(v uint64) []byte { return binary.AppendUvarint(nil, v) }

func counted(s string) []byte { return append(uvarint(uint64(len(s))), s...) }

func join(parts ...[]byte) []byte {
	var all []byte
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// principal is who asks or answers, in the form of the vectors.
type principal struct {
	Kind    string `json:"kind"`
	Issuer  string `json:"issuer,omitempty"`
	Subject string `json:"subject,omitempty"`
	Tenant  string `json:"tenant,omitempty"`
	Client  string `json:"client,omitempty"`
}

func (p principal) encode() []byte {
	switch p.Kind {
	case "anonymous":
		return []byte{1}
	case "user":
		return join([]byte{2}, counted(p.Issuer), counted(p.Subject), counted(p.Tenant), counted(p.Client))
	}
	return join([]byte{3}, counted(p.Issuer), counted(p.Subject))
}

// request is what is asked, in the form of the vectors. Arguments is JSON text; nil means absent.
type request struct {
	Method    string  `json:"method"`
	Target    string  `json:"target"`
	Arguments *string `json:"arguments,omitempty"`
}

func text(s string) *string { return &s }

// digest is of arguments whose canonical form is known.
func (r request) digest(canonical string) []byte {
	sum := sha256.Sum256(join([]byte("reprise requestState v1 request\x00"), counted(r.Method), counted(r.Target), []byte(canonical)))
	return sum[:]
}

// hexBytes are hexadecimal in JSON.
type hexBytes []byte

func (b hexBytes) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(b)), nil }

// state is what a token carries, in the form of the vectors.
type state struct {
	Flow      hexBytes   `json:"flow"`
	Started   int64      `json:"started"`
	Issued    int64      `json:"issued"`
	Expires   int64      `json:"expires"`
	Round     uint64     `json:"round"`
	Drift     uint64     `json:"drift"`
	Questions []question `json:"questions"`
	Answers   []answer   `json:"answers"`
	Values    []value    `json:"values"`
	Inner     string     `json:"inner"`
}

type question struct {
	Key    string   `json:"key"`
	Pin    hexBytes `json:"pin"`
	Schema string   `json:"schema"`
}

type answer struct {
	Key      string   `json:"key"`
	Pin      hexBytes `json:"pin"`
	Response string   `json:"response"`
}

type value struct {
	Name string `json:"name"`
	JSON string `json:"json"`
}

// sealed is everything that goes into one token.
type sealed struct {
	algorithm byte
	secret    []byte
	sealer    []byte
	nonce     []byte
	principal principal
	audience  string
	digest    []byte
	state     state
}

func (s sealed) header() []byte {
	return join([]byte{1, s.algorithm}, keyID(s.secret), s.sealer)
}

func (s sealed) payload() []byte {
	st := s.state
	var issued [8]byte
	binary.BigEndian.PutUint64(issued[:], uint64(st.Issued))
	p := join(
		hmacSum(derive(s.secret, "principal", nil, 32), s.principal.encode())[:16],
		hmacSum(derive(s.secret, "audience", nil, 32), []byte(s.audience))[:16],
		s.digest,
		st.Flow,
		issued[2:],
		uvarint(uint64(st.Expires-st.Issued)),
		uvarint(uint64(st.Issued-st.Started)),
		uvarint(st.Round),
		uvarint(st.Drift),
		uvarint(uint64(len(st.Questions))),
	)
	for _, q := range st.Questions {
		p = join(p, counted(q.Key), q.Pin, counted(q.Schema))
	}
	p = join(p, uvarint(uint64(len(st.Answers))))
	for _, a := range st.Answers {
		p = join(p, counted(a.Key), a.Pin, counted(a.Response))
	}
	p = join(p, uvarint(uint64(len(st.Values))))
	for _, v := range st.Values {
		p = join(p, counted(v.Name), counted(v.JSON))
	}
	return join(p, counted(st.Inner))
}

// seal returns the raw token of a header and a payload, protected with a sub-key for what it authenticates.
func seal(algorithm byte, subKey, nonce, header, authenticated, payload []byte) []byte {
	if algorithm == mac {
		return join(header, payload, hmacSum(subKey, authenticated, payload))
	}
	block, err := aes.NewCipher(subKey)
	if err != nil {
		panic(err) // only for lengths that AES does not have
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	return join(header, nonce, aead.Seal(nil, nonce, payload, authenticated))
}

func (s sealed) subKey() []byte {
	return derive(s.secret, algorithmNames[s.algorithm], s.sealer, 32)
}

func (s sealed) raw() []byte { return s.with(s.payload()) }

// with seals another payload than the one that belongs there.
func (s sealed) with(payload []byte) []byte {
	return seal(s.algorithm, s.subKey(), s.nonce, s.header(), s.header(), payload)
}

func b64(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }
