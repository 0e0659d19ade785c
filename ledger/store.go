// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Limits of what a [Store] takes.
const (
	MaxKey    = 200      // length in bytes of the longest key
	MaxRecord = 64 << 10 // length in bytes of the longest record
)

// A Store keeps records that change, beside the flows that only end: a page that waits for somebody, a credential. It is as
// shared, as durable and as safe for concurrent use as the [Ledger] of the same store. What is in a record is opaque to it;
// the caller seals what is secret.
//
// Keys are 1 to MaxKey bytes of printable ASCII. Records are 1 to MaxRecord bytes; an empty record is the same as none.
//
// Errors are those of a Ledger: an [*UnavailableError] with Op "load" or "swap", whose Unknown says whether the record may
// have been replaced; ErrFull; [ErrRecord] for a key or record outside those limits. Calls return within the same bounds.
type Store interface {
	// Load returns the record under key, which is the caller's own copy, or nil where there is none or it has expired.
	Load(ctx context.Context, now time.Time, key string) ([]byte, error)

	// Swap puts next where old stands, byte for byte, and reports whether it did. Without old, nothing may stand there;
	// without next, nothing will. Of several that replace the same record, one wins. The record goes at expires, and
	// never by itself if that is zero; one that expires before now is not kept.
	Swap(ctx context.Context, now time.Time, key string, old, next []byte, expires time.Time) (bool, error)
}

// ErrRecord says that a key or a record is not one that a [Store] takes. Nothing was changed.
var ErrRecord = errors.New("ledger: key or record outside the limits of a store")

// CheckRecord returns an error that wraps [ErrRecord] unless key and record are within the limits. It is for those who
// implement [Store].
func CheckRecord(key string, record []byte) error {
	if len(key) < 1 || len(key) > MaxKey {
		return fmt.Errorf("%w: the key has %d bytes, not 1 to %d", ErrRecord, len(key), MaxKey)
	}
	for i := range len(key) {
		if key[i] < 0x20 || key[i] > 0x7e {
			return fmt.Errorf("%w: the key has bytes that are not printable ASCII", ErrRecord)
		}
	}
	if len(record) > MaxRecord {
		return fmt.Errorf("%w: the record has %d bytes, more than %d", ErrRecord, len(record), MaxRecord)
	}
	return nil
}
