// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"bytes"
	"strings"
	"testing"
	"testing/iotest"
)

func FuzzEvents(f *testing.F) {
	f.Add([]byte("data: a\n\n"))
	f.Add([]byte(": c\r\n\r\ndata: a\rdata:b\r\n\r\nevent: x\ndata\n\n"))
	f.Add([]byte("data: a\r"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		read := func(oneByOne bool) (all []string) {
			r := iotest.DataErrReader(bytes.NewReader(stream))
			if oneByOne {
				r = iotest.OneByteReader(r)
			}
			for data, err := range events(r) {
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, string(data))
			}
			return all
		}
		whole, pieces := read(false), read(true)
		if strings.Join(whole, "\x00") != strings.Join(pieces, "\x00") || len(whole) != len(pieces) {
			t.Errorf("%q is %q at once and %q byte by byte", stream, whole, pieces)
		}
		for _, data := range whole {
			if strings.Contains(data, "\r") {
				t.Errorf("%q holds a line end of the stream", data)
			}
		}
	})
}
