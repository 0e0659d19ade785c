// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"aidanwoods.dev/go-paseto"
	"github.com/go-jose/go-jose/v4"
	"github.com/golang-jwt/jwt/v5"
	"github.com/gorilla/securecookie"

	"github.com/reprise-mcp/reprise/requeststate"
)

// contender is one way to make a token. What is drawn and set up once per process stays outside the two functions.
type contender struct {
	name string
	seal func() (string, error)
	open func(token string) error
}

const (
	ours    = "reprise-AES-256-GCM"
	minimal = "minimal-AES-GCM"
	jwtName = "golang-jwt-HS256"
)

var (
	errToken   = errors.New("bench: token refused")
	errExpired = errors.New("bench: token expired")
)

// claims are the facts that every contender carries: one pinned question asked, nothing carried.
type claims struct {
	principal, audience [16]byte
	request             [32]byte
	flow                [16]byte
	issued, expires     int64 // milliseconds
	started             int64
	round, drift        uint64
	key                 string
	pin                 [32]byte
}

var now = time.UnixMilli(1_780_000_000_000)

func newClaims() claims {
	c := claims{issued: now.UnixMilli(), expires: now.Add(10 * time.Minute).UnixMilli(), started: now.UnixMilli(), round: 1, key: "confirm"}
	for _, b := range [][]byte{c.principal[:], c.audience[:], c.request[:], c.flow[:], c.pin[:]} {
		rand.Read(b)
	}
	return c
}

func secret(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

func contenders() ([]contender, error) {
	var all []contender
	for _, a := range []requeststate.Algorithm{requeststate.AES256GCM, requeststate.HMACSHA256} {
		c, err := repriseContender(a)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	for _, make := range []func() (contender, error){
		minimalContender, rawGCM, rawHMAC, jwtContender, secureCookie, jwe, pasetoLocal, jsonHex,
	} {
		c, err := make()
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// repriseContender is the library as a server uses it, with every check of Open.
func repriseContender(a requeststate.Algorithm) (contender, error) {
	ring, err := requeststate.NewKeyring(requeststate.NewKey())
	if err != nil {
		return contender{}, err
	}
	s, err := requeststate.New(requeststate.Config{Keyring: ring, Audience: "https://deploy.example/mcp", Algorithm: a})
	if err != nil {
		return contender{}, err
	}
	alice, err := requeststate.User("https://id.example", "alice", "acme", "client-7")
	if err != nil {
		return contender{}, err
	}
	c := newClaims()
	binding := requeststate.Binding{Principal: alice, Request: c.request}
	state := &requeststate.State{
		Flow: c.flow, Started: now, Round: int(c.round),
		Questions: []requeststate.Question{{Key: c.key, Pin: c.pin}},
	}
	return contender{
		name: "reprise-" + a.String(),
		seal: func() (string, error) { return s.Seal(now, binding, state) },
		open: func(token string) error {
			_, err := s.Open(now, binding, token)
			return err
		},
	}, nil
}

// minimalContender is about the least that is a token at all: the same facts, AES-GCM, base64url; opened, taken
// apart and its expiry checked, and nothing else.
func minimalContender() (contender, error) {
	aead, err := newGCM(secret(32))
	if err != nil {
		return contender{}, err
	}
	c := newClaims()
	return contender{
		name: minimal,
		seal: func() (string, error) { return sealGCM(aead, c.append(make([]byte, 0, 256))), nil },
		open: func(token string) error {
			plain, err := openGCM(aead, token)
			if err != nil {
				return err
			}
			got, ok := parseClaims(plain)
			if !ok {
				return errToken
			}
			if now.UnixMilli() >= got.expires {
				return errExpired
			}
			return nil
		},
	}, nil
}

func newGCM(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

func sealGCM(aead cipher.AEAD, plain []byte) string {
	out := make([]byte, 12, 12+len(plain)+16)
	rand.Read(out)
	return base64.RawURLEncoding.EncodeToString(aead.Seal(out, out, plain, nil))
}

func openGCM(aead cipher.AEAD, token string) ([]byte, error) {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(raw) < 12 {
		return nil, errToken
	}
	return aead.Open(raw[12:12], raw[:12], raw[12:], nil)
}

func (c *claims) append(b []byte) []byte {
	b = append(b, c.principal[:]...)
	b = append(b, c.audience[:]...)
	b = append(b, c.request[:]...)
	b = append(b, c.flow[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(c.issued))
	b = binary.AppendUvarint(b, uint64(c.expires-c.issued))
	b = binary.AppendUvarint(b, uint64(c.issued-c.started))
	b = binary.AppendUvarint(b, c.round)
	b = binary.AppendUvarint(b, c.drift)
	b = binary.AppendUvarint(b, uint64(len(c.key)))
	b = append(b, c.key...)
	return append(b, c.pin[:]...)
}

func parseClaims(b []byte) (*claims, bool) {
	c := new(claims)
	const fixed = 16 + 16 + 32 + 16 + 8
	if len(b) < fixed {
		return nil, false
	}
	copy(c.principal[:], b)
	copy(c.audience[:], b[16:])
	copy(c.request[:], b[32:])
	copy(c.flow[:], b[64:])
	c.issued = int64(binary.BigEndian.Uint64(b[80:]))
	b = b[fixed:]
	var numbers [5]uint64
	for i := range numbers {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, false
		}
		numbers[i], b = v, b[n:]
	}
	c.expires, c.started = c.issued+int64(numbers[0]), c.issued-int64(numbers[1])
	c.round, c.drift = numbers[2], numbers[3]
	if uint64(len(b)) != numbers[4]+32 {
		return nil, false
	}
	c.key = string(b[:numbers[4]])
	copy(c.pin[:], b[numbers[4]:])
	return c, true
}

// rawGCM seals and opens the same number of bytes and looks at none of them.
func rawGCM() (contender, error) {
	aead, err := newGCM(secret(32))
	if err != nil {
		return contender{}, err
	}
	c := newClaims()
	plain := c.append(nil)
	return contender{
		name: "raw-AES-GCM",
		seal: func() (string, error) { return sealGCM(aead, plain), nil },
		open: func(token string) error {
			_, err := openGCM(aead, token)
			return err
		},
	}, nil
}

func rawHMAC() (contender, error) {
	key := secret(32)
	c := newClaims()
	plain := c.append(nil)
	return contender{
		name: "raw-HMAC-SHA256",
		seal: func() (string, error) {
			mac := hmac.New(sha256.New, key)
			mac.Write(plain)
			return base64.RawURLEncoding.EncodeToString(mac.Sum(plain[:len(plain):len(plain)])), nil
		},
		open: func(token string) error {
			raw, err := base64.RawURLEncoding.DecodeString(token)
			if err != nil || len(raw) < 32 {
				return errToken
			}
			mac := hmac.New(sha256.New, key)
			mac.Write(raw[:len(raw)-32])
			if !hmac.Equal(mac.Sum(nil), raw[len(raw)-32:]) {
				return errToken
			}
			return nil
		},
	}, nil
}

// jsonClaims are the same facts for formats whose payload is JSON.
type jsonClaims struct {
	Subject  string         `json:"sub"`
	Audience string         `json:"aud"`
	Request  string         `json:"req"`
	Flow     string         `json:"jti"`
	Issued   int64          `json:"iat"`
	Expires  int64          `json:"exp"`
	Started  int64          `json:"start"`
	Round    uint64         `json:"round"`
	Drift    uint64         `json:"drift"`
	Asked    []jsonQuestion `json:"asked"`
}

type jsonQuestion struct {
	Key string `json:"key"`
	Pin string `json:"pin"`
}

func newJSONClaims() jsonClaims {
	c := newClaims()
	b64 := base64.RawURLEncoding.EncodeToString
	return jsonClaims{
		Subject: b64(c.principal[:]), Audience: b64(c.audience[:]), Request: b64(c.request[:]), Flow: b64(c.flow[:]),
		Issued: c.issued / 1000, Expires: c.expires / 1000, Started: c.started / 1000, Round: c.round,
		Asked: []jsonQuestion{{Key: c.key, Pin: b64(c.pin[:])}},
	}
}

func (c *jsonClaims) expired() error {
	if now.Unix() >= c.Expires {
		return errExpired
	}
	return nil
}

type jwtClaims struct {
	jwt.RegisteredClaims
	Request string         `json:"req"`
	Started int64          `json:"start"`
	Round   uint64         `json:"round"`
	Drift   uint64         `json:"drift"`
	Asked   []jsonQuestion `json:"asked"`
}

func jwtContender() (contender, error) {
	key := secret(32)
	j := newJSONClaims()
	c := jwtClaims{
		RegisteredClaims: jwt.RegisteredClaims{
			Subject: j.Subject, Audience: jwt.ClaimStrings{j.Audience}, ID: j.Flow,
			IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(10 * time.Minute)),
		},
		Request: j.Request, Started: j.Started, Round: j.Round, Asked: j.Asked,
	}
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"HS256"}), jwt.WithTimeFunc(func() time.Time { return now }),
		jwt.WithExpirationRequired(), jwt.WithAudience(j.Audience), jwt.WithSubject(j.Subject))
	return contender{
		name: jwtName,
		seal: func() (string, error) { return jwt.NewWithClaims(jwt.SigningMethodHS256, &c).SignedString(key) },
		open: func(token string) error {
			var got jwtClaims
			_, err := parser.ParseWithClaims(token, &got, func(*jwt.Token) (any, error) { return key, nil })
			return err
		},
	}, nil
}

func secureCookie() (contender, error) {
	sc := securecookie.New(secret(32), secret(32)).SetSerializer(securecookie.JSONEncoder{})
	c := newJSONClaims()
	return contender{
		name: "gorilla-securecookie",
		seal: func() (string, error) { return sc.Encode("state", &c) },
		open: func(token string) error {
			var got jsonClaims
			if err := sc.Decode("state", token, &got); err != nil {
				return err
			}
			return got.expired()
		},
	}, nil
}

func jwe() (contender, error) {
	key := secret(32)
	enc, err := jose.NewEncrypter(jose.A256GCM, jose.Recipient{Algorithm: jose.DIRECT, Key: key}, nil)
	if err != nil {
		return contender{}, err
	}
	c := newJSONClaims()
	return contender{
		name: "go-jose-JWE",
		seal: func() (string, error) {
			plain, err := json.Marshal(&c)
			if err != nil {
				return "", err
			}
			o, err := enc.Encrypt(plain)
			if err != nil {
				return "", err
			}
			return o.CompactSerialize()
		},
		open: func(token string) error {
			o, err := jose.ParseEncryptedCompact(token, []jose.KeyAlgorithm{jose.DIRECT}, []jose.ContentEncryption{jose.A256GCM})
			if err != nil {
				return err
			}
			plain, err := o.Decrypt(key)
			if err != nil {
				return err
			}
			var got jsonClaims
			if err := json.Unmarshal(plain, &got); err != nil {
				return err
			}
			return got.expired()
		},
	}, nil
}

func pasetoLocal() (contender, error) {
	key := paseto.NewV4SymmetricKey()
	c := newJSONClaims()
	parser := paseto.MakeParser([]paseto.Rule{paseto.ValidAt(now)})
	return contender{
		name: "go-paseto-v4-local",
		seal: func() (string, error) {
			t := paseto.NewToken()
			t.SetSubject(c.Subject)
			t.SetAudience(c.Audience)
			t.SetJti(c.Flow)
			t.SetIssuedAt(now)
			t.SetNotBefore(now)
			t.SetExpiration(now.Add(10 * time.Minute))
			t.SetString("req", c.Request)
			for name, v := range map[string]any{"start": c.Started, "round": c.Round, "drift": c.Drift, "asked": c.Asked} {
				if err := t.Set(name, v); err != nil {
					return "", err
				}
			}
			return t.V4Encrypt(key, nil), nil
		},
		open: func(token string) error {
			_, err := parser.ParseV4Local(key, token, nil)
			return err
		},
	}, nil
}

// jsonHex is the token that most people write: JSON in base64, a dot, and the HMAC in hexadecimal.
func jsonHex() (contender, error) {
	key := secret(32)
	c := newJSONClaims()
	sign := func(text string) string {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(text))
		return hex.EncodeToString(mac.Sum(nil))
	}
	return contender{
		name: "JSON-hex-HMAC",
		seal: func() (string, error) {
			plain, err := json.Marshal(&c)
			if err != nil {
				return "", err
			}
			text := base64.RawURLEncoding.EncodeToString(plain)
			return text + "." + sign(text), nil
		},
		open: func(token string) error {
			text, mac, ok := strings.Cut(token, ".")
			if !ok || !hmac.Equal([]byte(sign(text)), []byte(mac)) {
				return errToken
			}
			plain, err := base64.RawURLEncoding.DecodeString(text)
			if err != nil {
				return err
			}
			var got jsonClaims
			if err := json.Unmarshal(plain, &got); err != nil {
				return err
			}
			return got.expired()
		},
	}, nil
}
