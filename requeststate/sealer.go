// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package requeststate

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Algorithm is how a sealer protects its tokens. A token never chooses it: a sealer opens those of its own algorithm only.
type Algorithm byte

// The algorithms.
const (
	// AES256GCM hides what the token carries. It is the default.
	AES256GCM Algorithm = 1
	// HMACSHA256 leaves it readable by anybody who holds the token; see [Config].Readable.
	HMACSHA256 Algorithm = 2
)

// String returns the algorithm's usual name.
func (a Algorithm) String() string {
	switch a {
	case AES256GCM:
		return "AES-256-GCM"
	case HMACSHA256:
		return "HMAC-SHA256"
	}
	return fmt.Sprintf("algorithm %d", byte(a))
}

// Config is what a [Sealer] is made of. All replicas of a server need the same, above all the same Keyring, Audience and Algorithm.
type Config struct {
	// Keyring is required. The first key seals, all open.
	Keyring *Keyring
	// Audience is required: the server's resource URI, compared byte for byte. Servers and environments that share a ring
	// are kept apart by it.
	Audience string
	// Algorithm is AES256GCM where it is 0.
	Algorithm Algorithm
	// TTL is the life of a token: how long the human has for one round. 0 means 10 minutes; 1 second to 24 hours, in whole milliseconds.
	TTL time.Duration
	// Lifetime is the life of a flow, over all its rounds: no token of it outlives that. 0 means 1 hour or the TTL, whichever is
	// longer; from the TTL to 7 days, in whole milliseconds.
	Lifetime time.Duration
	// Leeway is how far the clocks of two replicas may be apart: a token issued further in the future is refused. It never lengthens
	// the life of anything. 0 means 30 seconds; at most 5 minutes.
	Leeway time.Duration
	// MaxSize is the most characters of a token, sealed or opened. 0 means 16384; 512 to 1048576.
	MaxSize int
	// Readable says that whoever holds a token may read the answers and values that it carries. Without it a sealer of
	// HMACSHA256 refuses to carry them. Keys of questions, their schemas and the handler's own state are readable there in any case.
	Readable bool
}

const (
	defaultTTL      = 10 * time.Minute
	defaultLifetime = time.Hour
	defaultLeeway   = 30 * time.Second
	defaultMaxSize  = 16384

	maxTTL      = 24 * time.Hour
	maxLifetime = 7 * 24 * time.Hour
	maxLeeway   = 5 * time.Minute

	maxMilli  = 1<<48 - 1 // issued-at is 48 bits
	maxRounds = 1<<16 - 1
)

// ConfigError names the field of a [Config] that cannot be used, and what it may be.
type ConfigError struct {
	Field  string
	Reason string
}

// Error implements error.
func (e *ConfigError) Error() string { return "requeststate: Config." + e.Field + " " + e.Reason }

// SizeError says that a state is too large to be sealed. Carry less, or raise [Config].MaxSize on all replicas.
type SizeError struct {
	Size, Max int // characters
}

// Error implements error.
func (e *SizeError) Error() string {
	return fmt.Sprintf("requeststate: the sealed state would have %d characters, the maximum is %d: carry less, or raise Config.MaxSize on all replicas", e.Size, e.Max)
}

// ErrReadable is returned by [Sealer.Seal] where an HMACSHA256 sealer would have to carry answers or values in the open.
var ErrReadable = errors.New("requeststate: HMAC-SHA256 leaves carried answers and values readable: use AES256GCM, or set Config.Readable if anyone who holds the state may read them")

// Binding is what a state is bound to besides the server's audience. Both fields are required.
type Binding struct {
	Principal Principal
	Request   Digest
}

// Sealer seals and opens tokens. It is safe for concurrent use.
type Sealer struct {
	ring      atomic.Pointer[ring]
	audience  string
	algorithm Algorithm
	ttl       int64 // milliseconds, like all times inside
	lifetime  int64
	leeway    time.Duration
	maxSize   int
	readable  bool
	maxSeals  uint64
}

// ring is a keyring with what the sealer derives from it.
type ring struct {
	*Keyring
	keys     []*ringKey
	current  atomic.Pointer[sealing]
	rotating sync.Mutex
}

// sealing is the sub-key that a sealer seals with, and how often it did.
type sealing struct {
	*subKey
	seals atomic.Uint64
}

// maxSeals is how many random nonces of 96 bits one AES-GCM key may see (NIST SP 800-38D, 8.3).
const maxSeals = 1 << 32

// New returns a sealer. An error is a [*ConfigError].
func New(c Config) (*Sealer, error) {
	c, err := c.checked()
	if err != nil {
		return nil, err
	}
	s := &Sealer{
		algorithm: c.Algorithm,
		ttl:       c.TTL.Milliseconds(),
		lifetime:  c.Lifetime.Milliseconds(),
		leeway:    c.Leeway,
		maxSize:   c.MaxSize,
		readable:  c.Readable,
		audience:  c.Audience,
		maxSeals:  maxSeals,
	}
	return s, s.SetKeyring(c.Keyring)
}

// Keyring returns the ring in use.
func (s *Sealer) Keyring() *Keyring { return s.ring.Load().Keyring }

// SetKeyring puts another ring in the place of the one in use, for what is sealed and opened from now on. Rotate in two phases,
// as [Keyring] tells. The error is a [*ConfigError] for a ring without keys, and then the old one stays.
func (s *Sealer) SetKeyring(k *Keyring) error {
	if k == nil || len(k.keys) == 0 {
		return &ConfigError{"Keyring", "is missing: use NewKeyring, ReadKeyring or KeyringFromEnv"}
	}
	r := &ring{Keyring: k}
	for _, key := range k.keys {
		r.keys = append(r.keys, newRingKey(key, s.audience))
	}
	r.current.Store(r.newSealing(s.algorithm))
	s.ring.Store(r)
	return nil
}

func (c Config) checked() (Config, error) {
	if c.Algorithm == 0 {
		c.Algorithm = AES256GCM
	}
	if c.TTL == 0 {
		c.TTL = defaultTTL
	}
	if c.Lifetime == 0 {
		c.Lifetime = max(defaultLifetime, c.TTL)
	}
	if c.Leeway == 0 {
		c.Leeway = defaultLeeway
	}
	if c.MaxSize == 0 {
		c.MaxSize = defaultMaxSize
	}
	switch {
	case c.Keyring == nil || len(c.Keyring.keys) == 0:
		return c, &ConfigError{"Keyring", "is missing: use NewKeyring, ReadKeyring or KeyringFromEnv"}
	case strings.TrimSpace(c.Audience) == "":
		return c, &ConfigError{"Audience", "is missing: set it to the server's resource URI, the same on all replicas and on no other server"}
	case c.Algorithm != AES256GCM && c.Algorithm != HMACSHA256:
		return c, &ConfigError{"Algorithm", "is unknown: use AES256GCM or HMACSHA256"}
	case c.TTL < time.Second || c.TTL > maxTTL || c.TTL%time.Millisecond != 0:
		return c, &ConfigError{"TTL", fmt.Sprintf("is %v: from 1s to 24h in whole milliseconds, or 0 for 10m", c.TTL)}
	case c.Lifetime < c.TTL || c.Lifetime > maxLifetime || c.Lifetime%time.Millisecond != 0:
		return c, &ConfigError{"Lifetime", fmt.Sprintf("is %v: from the TTL (%v) to 168h in whole milliseconds, or 0 for 1h", c.Lifetime, c.TTL)}
	case c.Leeway < 0 || c.Leeway > maxLeeway:
		return c, &ConfigError{"Leeway", fmt.Sprintf("is %v: up to 5m, or 0 for 30s", c.Leeway)}
	case c.MaxSize < 512 || c.MaxSize > 1<<20:
		return c, &ConfigError{"MaxSize", fmt.Sprintf("is %d: from 512 to 1048576 characters, or 0 for 16384", c.MaxSize)}
	}
	return c, nil
}

// TTL returns the life of a token.
func (s *Sealer) TTL() time.Duration { return time.Duration(s.ttl) * time.Millisecond }

// Retain returns until when a ledger must remember the flow of st: its absolute end and twice the leeway, since another
// state of the same flow may outlive this one and another replica's clock may be behind.
func (s *Sealer) Retain(st *State) time.Time {
	return st.Started.Add(time.Duration(s.lifetime)*time.Millisecond + 2*s.leeway)
}

// PrincipalTag returns a keyed digest of p, which tells nobody without the key ring who p is. It depends on the first key of
// the ring, so it changes when keys rotate. The zero Principal gives [ErrUnbound].
func (s *Sealer) PrincipalTag(p Principal) ([16]byte, error) {
	if p.encoding == "" {
		return [16]byte{}, ErrUnbound
	}
	return s.ring.Load().keys[0].principalTag(p), nil
}

// Seal returns the token of st, issued at now. It lives for the TTL, or until the flow's lifetime ends if that comes first.
//
// The errors: [ErrUnbound], [ErrReadable], a [*SizeError]; [Outlived] where the lifetime of the flow is over; [FromFuture]
// where the flow started later than now by more than the leeway; others are mistakes of the program (no flow id, negative counts).
func (s *Sealer) Seal(now time.Time, b Binding, st *State) (string, error) {
	switch {
	case b.Principal.encoding == "" || b.Request == Digest{}:
		return "", ErrUnbound
	case st.Flow == FlowID{}:
		return "", errors.New("requeststate: the state has no flow id: set Flow to NewFlowID() in a flow's first round")
	case st.Round < 0 || st.Round > maxRounds || st.Drift < 0 || st.Drift > maxRounds:
		return "", errors.New("requeststate: Round and Drift are from 0 to 65535")
	case s.algorithm == HMACSHA256 && !s.readable && len(st.Answers)+len(st.Values) > 0:
		return "", ErrReadable
	}
	issued := now.UnixMilli()
	started := issued
	if !st.Started.IsZero() {
		started = st.Started.UnixMilli()
	}
	expires := min(issued+s.ttl, started+s.lifetime)
	switch {
	case issued < 0 || expires > maxMilli || started < 0:
		return "", errors.New("requeststate: the time is before 1970 or after 10889: set the clock")
	case expires <= issued:
		return "", Outlived
	case started > issued:
		if st.Started.Sub(now) > s.leeway {
			return "", FromFuture
		}
		// A replica whose clock is ahead began the flow. Counting from here shortens its life, never the reverse.
		started = issued
	}

	ring := s.ring.Load()
	key := ring.keys[0]
	bound := bound{principal: key.principalTag(b.Principal), audience: key.audience, request: b.Request}
	sub := ring.subKey(s)
	buf := buffers.Get().(*buffer)
	defer buf.free()
	raw := append(buf.raw[:0], formatVersion, byte(s.algorithm))
	raw = append(raw, key.id[:]...)
	raw = append(raw, sub.sealer[:]...)
	raw = appendPayload(raw, &bound, st, started, issued, expires)
	if size := strict.EncodedLen(len(raw) + s.algorithm.overhead()); size > s.maxSize {
		return "", &SizeError{Size: size, Max: s.maxSize}
	}
	buf.raw = sub.seal(raw)
	buf.text = strict.AppendEncode(buf.text[:0], buf.raw)
	return string(buf.text), nil
}

// Open returns what the token carries if it was sealed with a key of the ring, for this binding and audience, and is in its life at now.
// Otherwise the error is a [Rejection] (or [ErrUnbound]), the first that applies in the order of the checks.
func (s *Sealer) Open(now time.Time, b Binding, token string) (*State, error) {
	if b.Principal.encoding == "" || b.Request == (Digest{}) {
		return nil, ErrUnbound
	}
	if len(token) > s.maxSize {
		return nil, TooLarge
	}
	buf := buffers.Get().(*buffer)
	defer buf.free()
	raw, ok := decodeStrict(buf.raw[:0], token)
	buf.raw = raw
	if !ok {
		return nil, Malformed
	}
	h, err := parseHeader(raw)
	if err != nil {
		return nil, err
	}
	if h.algorithm != s.algorithm {
		return nil, Unsupported
	}
	var key *ringKey
	for _, k := range s.ring.Load().keys {
		if k.id == h.key {
			key = k
		}
	}
	if key == nil {
		return nil, UnknownKey
	}
	buf.text = slices.Grow(buf.text[:0], len(raw)) // room for the payload
	payload, ok := key.open(h, raw, buf.text)
	if !ok {
		return nil, Forged
	}
	st, sealed, ok := parsePayload(payload)
	if !ok {
		return nil, Malformed // by a holder of the key, who writes another payload than this version
	}
	principal := key.principalTag(b.Principal)
	switch {
	case subtle.ConstantTimeCompare(sealed.principal[:], principal[:]) != 1:
		return nil, WrongPrincipal
	case subtle.ConstantTimeCompare(sealed.audience[:], key.audience[:]) != 1:
		return nil, WrongAudience
	case st.Issued.Sub(now) > s.leeway:
		return nil, FromFuture
	case !now.Before(st.Expires):
		return nil, Expired
	case now.Sub(st.Started) >= time.Duration(s.lifetime)*time.Millisecond:
		return nil, Outlived
	case sealed.request != b.Request:
		return nil, WrongRequest
	}
	return st, nil
}

// subKey returns the sub-key to seal with once, a new one before the old one has sealed too often.
func (r *ring) subKey(s *Sealer) *subKey {
	for {
		current := r.current.Load()
		if current.seals.Add(1) <= s.maxSeals {
			return current.subKey
		}
		r.rotating.Lock()
		if r.current.Load() == current {
			r.current.Store(r.newSealing(s.algorithm))
		}
		r.rotating.Unlock()
	}
}

func (r *ring) newSealing(a Algorithm) *sealing {
	var id sealerID
	rand.Read(id[:])
	return &sealing{subKey: newSubKey(r.keys[0].key, a, id)}
}

const formatVersion = 1

// sealerID is drawn by each sealer; its sub-key is derived from it, so that no two replicas count nonces under one key.
type sealerID [8]byte

// header is the part of a token that is in the clear and authenticated.
type header struct {
	algorithm Algorithm
	key       KeyID
	sealer    sealerID
}

const headerSize = 1 + 1 + len(KeyID{}) + len(sealerID{})

func parseHeader(raw []byte) (h header, err error) {
	if len(raw) < 2 {
		return h, Malformed
	}
	h.algorithm = Algorithm(raw[1])
	if raw[0] != formatVersion || h.algorithm != AES256GCM && h.algorithm != HMACSHA256 {
		return h, Unsupported
	}
	if len(raw) < headerSize+minPayload+h.algorithm.overhead() {
		return h, Malformed
	}
	copy(h.key[:], raw[2:])
	copy(h.sealer[:], raw[2+len(h.key):])
	return h, nil
}

// overhead is how many bytes sealing adds.
func (a Algorithm) overhead() int {
	if a == HMACSHA256 {
		return sha256.Size
	}
	return 12 + 16 // nonce and tag
}

// ringKey is a key of the ring with what one sealer derives from it.
type ringKey struct {
	key      Key
	id       KeyID
	audience [tagSize]byte

	// Servers see the same principals and the same replicas again. Both caches have a fixed size, an entry's place comes from a hash
	// or from a random id, and a collision only costs the derivation. A sub-key gets in only after it opened a token,
	// so invented sealer ids push nothing out.
	principalKey []byte
	principals   [1024]atomic.Pointer[principalTag]
	subKeys      [256]atomic.Pointer[subKey]
}

type principalTag struct {
	principal Principal
	tag       [tagSize]byte
}

func newRingKey(k Key, audience string) *ringKey {
	return &ringKey{
		key:          k,
		id:           k.id,
		audience:     keyedTag(k.derive("audience", nil, 32), audience),
		principalKey: k.derive("principal", nil, 32),
	}
}

func keyedTag(key []byte, text string) (tag [tagSize]byte) {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	copy(tag[:], mac.Sum(nil))
	return tag
}

var principalSeed = maphash.MakeSeed()

func (k *ringKey) principalTag(p Principal) [tagSize]byte {
	place := &k.principals[maphash.String(principalSeed, p.encoding)%uint64(len(k.principals))]
	if cached := place.Load(); cached != nil && cached.principal == p {
		return cached.tag
	}
	tag := keyedTag(k.principalKey, p.encoding)
	place.Store(&principalTag{p, tag})
	return tag
}

// open checks the seal of a token and returns its payload, which is in raw or in room.
func (k *ringKey) open(h header, raw, room []byte) ([]byte, bool) {
	place := &k.subKeys[binary.LittleEndian.Uint64(h.sealer[:])%uint64(len(k.subKeys))]
	sub := place.Load()
	if sub != nil && sub.sealer == h.sealer && sub.algorithm() == h.algorithm {
		return sub.open(raw, room)
	}
	sub = newSubKey(k.key, h.algorithm, h.sealer)
	payload, ok := sub.open(raw, room)
	if ok {
		place.Store(sub)
	}
	return payload, ok
}

// subKey seals and opens the tokens of one sealer id.
type subKey struct {
	sealer sealerID
	aead   cipher.AEAD // AES256GCM
	macs   *sync.Pool  // HMACSHA256: of hash.Hash
}

func newSubKey(k Key, a Algorithm, id sealerID) *subKey {
	s := &subKey{sealer: id}
	secret := k.derive(a.String(), id[:], 32)
	if a == HMACSHA256 {
		s.macs = &sync.Pool{New: func() any { return hmac.New(sha256.New, secret) }}
	} else {
		s.aead = newAEAD(secret)
	}
	return s
}

func newAEAD(secret []byte) cipher.AEAD {
	block, err := aes.NewCipher(secret)
	if err != nil {
		panic(err) // only for a size that AES does not have
	}
	// It draws the nonces itself, which is what FIPS 140 asks for.
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err)
	}
	return aead
}

func (s *subKey) algorithm() Algorithm {
	if s.aead != nil {
		return AES256GCM
	}
	return HMACSHA256
}

// seal turns header and payload into a token's bytes, in place where there is room.
func (s *subKey) seal(raw []byte) []byte {
	if s.aead != nil {
		return s.aead.Seal(raw[:headerSize], nil, raw[headerSize:], raw[:headerSize])
	}
	mac := s.macs.Get().(hash.Hash)
	defer s.macs.Put(mac)
	mac.Reset()
	mac.Write(raw)
	return mac.Sum(raw)
}

func (s *subKey) open(raw, room []byte) ([]byte, bool) {
	if s.aead != nil {
		// In place would be one allocation more inside.
		payload, err := s.aead.Open(room, nil, raw[headerSize:], raw[:headerSize])
		return payload, err == nil
	}
	end := len(raw) - sha256.Size
	mac := s.macs.Get().(hash.Hash)
	defer s.macs.Put(mac)
	mac.Reset()
	mac.Write(raw[:end])
	if !hmac.Equal(mac.Sum(room), raw[end:]) {
		return nil, false
	}
	return raw[headerSize:end], true
}

// buffer is room for the bytes and the text of one token.
type buffer struct{ raw, text []byte }

var buffers = sync.Pool{New: func() any { return new(buffer) }}

func (b *buffer) free() {
	if cap(b.raw)+cap(b.text) <= 1<<16 {
		buffers.Put(b)
	}
}
