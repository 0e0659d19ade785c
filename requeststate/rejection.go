// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package requeststate

// Rejection is why a token was not opened. Its values are errors: compare with errors.Is(err, requeststate.Expired).
// Their texts are for logs; they say nothing of the token or of what it holds. A rejected token changes nothing: whoever
// holds the right one can still use it.
type Rejection uint8

// The rejections, in the order of the checks.
const (
	// TooLarge: longer than [Config].MaxSize. Nothing was decoded.
	TooLarge Rejection = iota + 1
	// Malformed: not a token, or one that was cut or respelled.
	Malformed
	// Unsupported: of a version or an algorithm that this sealer does not accept.
	Unsupported
	// UnknownKey: sealed with a key that is not in the ring; with honest replicas a rotation that went too fast, or a ring that differs.
	UnknownKey
	// Forged: the seal does not hold: the token was altered, or made without the key.
	Forged
	// WrongPrincipal: sealed for somebody else.
	WrongPrincipal
	// WrongAudience: sealed by another server.
	WrongAudience
	// FromFuture: issued later than now by more than the leeway; a clock is wrong.
	FromFuture
	// Expired: its life is over; a token is expired at exactly the instant of its expiry.
	Expired
	// Outlived: the flow is older than its absolute lifetime, however fresh the token.
	Outlived
	// WrongRequest: sealed for another method, target or arguments.
	WrongRequest
)

var rejections = [...]string{
	0:              "no rejection",
	TooLarge:       "the state is larger than the configured maximum",
	Malformed:      "the state is malformed: it must be echoed exactly as it was received",
	Unsupported:    "the state is of a version or an algorithm that is not accepted here: let all replicas use one Config.Algorithm",
	UnknownKey:     "the state was sealed with a key that is not in the ring: compare \"reprise keys list\" of all replicas",
	Forged:         "the state's seal does not hold: it was altered or made without the key",
	WrongPrincipal: "the state was sealed for another principal",
	WrongAudience:  "the state was sealed by a server of another audience",
	FromFuture:     "the state was issued in the future: compare the clocks of all replicas",
	Expired:        "the state has expired: ask again",
	Outlived:       "the flow has reached its absolute lifetime: begin a new one",
	WrongRequest:   "the state was sealed for another request",
}

// Error implements error.
func (r Rejection) Error() string {
	if int(r) >= len(rejections) {
		r = 0
	}
	return "requeststate: " + rejections[r]
}
