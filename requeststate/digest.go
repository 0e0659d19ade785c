// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package requeststate

import "crypto/sha256"

// Digest is a SHA-256 digest, never shortened: of a request (see [RequestDigest]), or of a question as it was asked.
type Digest [sha256.Size]byte

// RequestDigest returns the digest of what a request asks for: its JSON-RPC method, its target (the name of the tool or prompt,
// the URI of the resource) and its arguments. Requests share a digest exactly if all three are equal, arguments as
// [AppendCanonical] compares them. No or empty arguments equal {}; anything but an object is refused. _meta is not part of it.
func RequestDigest(method, target string, arguments []byte) (Digest, error) {
	buf := buffers.Get().(*buffer)
	defer buf.free()
	b := append(buf.raw[:0], "reprise requestState v1 request\x00"...)
	b = appendBytes(b, method)
	b = appendBytes(b, target)
	start := len(b)
	if len(arguments) == 0 {
		b = append(b, "{}"...)
	} else {
		var err error
		if b, err = AppendCanonical(b, arguments); err != nil {
			return Digest{}, err
		}
	}
	buf.raw = b
	if b[start] != '{' {
		return Digest{}, errNotObject
	}
	return sha256.Sum256(b), nil
}
