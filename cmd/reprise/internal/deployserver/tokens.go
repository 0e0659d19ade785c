// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package deployserver

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

// minToken is the fewest characters of a bearer token that is written out in a token file.
const minToken = 20

// tokens maps the SHA-256 of a bearer token to whom it stands for. Looking up the digest takes the same time whatever
// the guess has in common with a token.
type tokens map[[sha256.Size]byte]string

// readTokens reads a token file: a line for each token, with the subject, white space, and the token, or "sha256:" and
// the hexadecimal digest of the token. Lines that are empty or begin with # do not count.
func readTokens(path string) (tokens, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("token file %s is no regular file", path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("token file %s may be read or written by others (mode %04o): chmod 600 it", path, info.Mode().Perm())
	}
	known, err := parseTokens(f)
	if err != nil {
		return nil, fmt.Errorf("token file %s: %w", path, err)
	}
	return known, nil
}

func parseTokens(r io.Reader) (tokens, error) {
	known := tokens{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) != 2 {
			return nil, fmt.Errorf("line %d: want a subject and a token", n)
		}
		var digest [sha256.Size]byte
		if text, hashed := strings.CutPrefix(fields[1], "sha256:"); hashed {
			if k, err := hex.Decode(digest[:], []byte(text)); err != nil || k != len(digest) || len(text) != 2*len(digest) {
				return nil, fmt.Errorf("line %d: sha256: is followed by 64 hexadecimal digits", n)
			}
		} else if len(fields[1]) < minToken {
			return nil, fmt.Errorf("line %d: the token is shorter than %d characters", n, minToken)
		} else {
			digest = sha256.Sum256([]byte(fields[1]))
		}
		if _, twice := known[digest]; twice {
			return nil, fmt.Errorf("line %d: the token stands there twice", n)
		}
		known[digest] = fields[0]
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(known) == 0 {
		return nil, errors.New("it holds no token")
	}
	return known, nil
}

// WriteTokens makes a token file with mode 0600 and a new token for each subject, which it returns. The file holds digests
// only. It is an error if the file is there already.
func WriteTokens(path string, subjects ...string) (map[string]string, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	made := make(map[string]string, len(subjects))
	text := []byte("# a line for each token: the subject, and the token or its digest as sha256:HEX\n")
	for _, subject := range subjects {
		made[subject] = rand.Text()
		text = fmt.Appendf(text, "%s sha256:%x\n", subject, sha256.Sum256([]byte(made[subject])))
	}
	_, err = f.Write(text)
	return made, errors.Join(err, f.Close())
}

// verify implements auth.TokenVerifier.
func (t tokens) verify(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
	subject, ok := t[sha256.Sum256([]byte(token))]
	if !ok {
		return nil, auth.ErrInvalidToken
	}
	return &auth.TokenInfo{UserID: subject}, nil
}
