// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package requeststate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// Kinds of a principal, the first byte of its encoding.
const (
	kindAnonymous = 1
	kindUser      = 2
	kindLocal     = 3
)

// ErrUnbound is returned by [Sealer.Seal] and [Sealer.Open] for a [Binding] without a principal or without a request
// digest. It is a mistake of the program: a state that is bound to nothing would open for everybody.
var ErrUnbound = errors.New("requeststate: the binding lacks a principal or a request digest: set both, for a caller without authentication Anonymous()")

// Principal is who a state is bound to. Make one with [User], [Local] or [Anonymous]; the zero value is nobody and is
// refused. Principals are comparable with ==, and equal only if every part is equal byte for byte: neither
// Unicode normalisation nor a trailing slash is ignored.
type Principal struct {
	encoding string // kind, then each part with its length before it, so that no part can run into the next
}

// User returns the principal of an authenticated request, as the transport verified it: never what a client says of itself
// (clientInfo, _meta). The same subject of another issuer is somebody else. Issuer and subject may not be blank; tenant and
// client (the authenticated OAuth client id) are empty where the deployment has none.
func User(issuer, subject, tenant, client string) (Principal, error) {
	return newPrincipal(kindUser, issuer, subject, tenant, client)
}

// Local returns the principal of a local connection (stdio), as the operator configured it. Issuer and subject may not be blank.
func Local(issuer, subject string) (Principal, error) {
	return newPrincipal(kindLocal, issuer, subject)
}

// Anonymous returns the principal of all callers without authentication. It never equals a [User] or [Local]. All
// anonymous callers are one: whoever holds the state can answer.
func Anonymous() Principal { return Principal{string([]byte{kindAnonymous})} }

func newPrincipal(kind byte, parts ...string) (Principal, error) {
	if strings.TrimSpace(parts[0]) == "" {
		return Principal{}, errors.New("requeststate: the principal's issuer is blank: configure the issuer of your access tokens")
	}
	if strings.TrimSpace(parts[1]) == "" {
		return Principal{}, errors.New("requeststate: the principal's subject is blank: refuse the request; a caller without authentication is Anonymous()")
	}
	b := []byte{kind}
	for _, p := range parts {
		b = binary.AppendUvarint(b, uint64(len(p)))
		b = append(b, p...)
	}
	return Principal{string(b)}, nil
}

// IsAnonymous reports whether p is [Anonymous].
func (p Principal) IsAnonymous() bool { return p == Anonymous() }

// String returns kind, issuer and subject, for logs. Compare principals with ==, never by this text.
func (p Principal) String() string {
	if p.encoding == "" {
		return "nobody"
	}
	kind := "user"
	switch p.encoding[0] {
	case kindAnonymous:
		return "anonymous"
	case kindLocal:
		kind = "local"
	}
	return fmt.Sprintf("%s %q %q", kind, p.part(0), p.part(1))
}

// Issuer is who vouches for the subject; empty for [Anonymous].
func (p Principal) Issuer() string { return p.part(0) }

// Subject is who it is, to the issuer; empty for [Anonymous].
func (p Principal) Subject() string { return p.part(1) }

// Tenant is that of a [User], or empty.
func (p Principal) Tenant() string { return p.part(2) }

// Client is the authenticated OAuth client id of a [User], or empty.
func (p Principal) Client() string { return p.part(3) }

// part is the part at that place, or empty.
func (p Principal) part(place int) string {
	for rest := p.encoding[min(1, len(p.encoding)):]; rest != ""; place-- {
		n, w := binary.Uvarint([]byte(rest))
		if place == 0 {
			return rest[w : w+int(n)]
		}
		rest = rest[w+int(n):]
	}
	return ""
}
