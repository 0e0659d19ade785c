// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package requeststate_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-mcp/reprise/requeststate"
)

// secretOf is a secret whose bytes are easy to find in whatever prints it.
func secretOf(first byte) []byte {
	secret := make([]byte, 32)
	for i := range secret {
		secret[i] = first + byte(i)
	}
	return secret
}

func keyOf(t testing.TB, first byte) requeststate.Key {
	t.Helper()
	key, err := requeststate.KeyFromSecret(secretOf(first))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func keyText(first byte) string {
	return "reprise1_" + base64.RawURLEncoding.EncodeToString(secretOf(first))
}

func TestSecretsThatAreNone(t *testing.T) {
	for name, secret := range map[string][]byte{
		"nothing":      nil,
		"a passphrase": []byte("correct horse battery staple"),
		"31 bytes":     secretOf(1)[:31],
		"16 bytes":     secretOf(1)[:16],
		"zeros":        make([]byte, 32),
		"one byte":     bytes.Repeat([]byte{7}, 64),
		"a whole file": bytes.Repeat([]byte("0123456789"), 200),
	} {
		_, err := requeststate.KeyFromSecret(secret)
		var ke *requeststate.KeyError
		if !errors.As(err, &ke) || !strings.Contains(err.Error(), "reprise keys new") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAKeysIDComesFromItsSecret(t *testing.T) {
	secret := secretOf(1)
	key, err := requeststate.KeyFromSecret(secret)
	if err != nil {
		t.Fatal(err)
	}
	secret[0] ^= 0xff // the key has a copy
	if again := keyOf(t, 1); again.ID() != key.ID() {
		t.Errorf("one secret has two ids, %v and %v", key.ID(), again.ID())
	}
	if other := keyOf(t, 2); other.ID() == key.ID() {
		t.Error("two secrets have one id")
	}
	if a, b := requeststate.NewKey(), requeststate.NewKey(); a.ID() == b.ID() {
		t.Error("two new keys have one id")
	}
	if id := key.ID().String(); len(id) != 8 || strings.Trim(id, "0123456789abcdef") != "" {
		t.Errorf("the id prints as %q", id)
	}
	if (requeststate.Key{}).ID() != (requeststate.KeyID{}) {
		t.Error("the zero key has an id")
	}
}

func TestKeysNeverPrintTheirSecret(t *testing.T) {
	key := keyOf(t, 'A')
	ring := ringOf(t, key)
	sealer := sealerOf(t, requeststate.Config{Keyring: ring})
	type holder struct {
		key    requeststate.Key // fmt calls no method of what is unexported
		Key    requeststate.Key
		Ring   *requeststate.Keyring
		sealer *requeststate.Sealer
	}
	values := map[string]any{
		"key": key, "pointer": &key, "keys": []requeststate.Key{key}, "map": map[string]requeststate.Key{"k": key},
		"holder": holder{key, key, ring, sealer}, "pointer to holder": &holder{key, key, ring, sealer},
		"ring": ring, "ring by value": *ring, "config": requeststate.Config{Keyring: ring}, "sealer": sealer,
		"error": fmt.Errorf("with %v", key),
	}
	secret := string(secretOf('A'))
	spellings := []string{
		secret, secret[4:12], hex.EncodeToString([]byte(secret))[8:24], strings.ToUpper(hex.EncodeToString([]byte(secret)))[8:24],
		base64.RawURLEncoding.EncodeToString([]byte(secret))[4:16], strings.Trim(fmt.Sprint([]byte(secret[4:12])), "[]"),
		strings.Trim(fmt.Sprintf("%#v", []byte(secret[4:8])), "[]byte{}"),
	}
	for name, v := range values {
		outputs := map[string]string{}
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T"} {
			outputs[verb] = fmt.Sprintf(verb, v)
		}
		if text, err := json.Marshal(v); err == nil {
			outputs["json"] = string(text)
		}
		var log bytes.Buffer
		slog.New(slog.NewTextHandler(&log, nil)).Info("m", "v", v)
		slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "v", v)
		outputs["slog"] = log.String()
		for how, text := range outputs {
			for _, s := range spellings {
				if strings.Contains(text, s) {
					t.Errorf("%s, %s: the secret is in %q", name, how, text)
				}
			}
		}
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
		if got := fmt.Sprintf(verb, key); got != "key "+key.ID().String() {
			t.Errorf("%s prints %q", verb, got)
		}
	}
}

func TestRingsThatAreNone(t *testing.T) {
	a, b := keyOf(t, 1), keyOf(t, 2)
	for name, keys := range map[string][]requeststate.Key{
		"empty":     nil,
		"twice":     {a, b, a},
		"zero key":  {a, {}},
		"same text": {a, keyOf(t, 1)},
	} {
		ring, err := requeststate.NewKeyring(keys...)
		var ke *requeststate.KeyError
		if !errors.As(err, &ke) || ring != nil {
			t.Errorf("%s: %v, %v", name, ring, err)
		}
	}
	keys := []requeststate.Key{a, b}
	ring := ringOf(t, keys...)
	keys[0] = b
	if ids := ring.IDs(); !slices.Equal(ids, []requeststate.KeyID{a.ID(), b.ID()}) {
		t.Errorf("the ring changed to %v", ids)
	}
}

func TestKeyringText(t *testing.T) {
	a, b := keyOf(t, 1), keyOf(t, 2)
	both := []requeststate.KeyID{a.ID(), b.ID()}
	for name, text := range map[string]string{
		"lines":              keyText(1) + "\n" + keyText(2) + "\n",
		"one line":           keyText(1) + " " + keyText(2),
		"no end of line":     keyText(1) + "\n" + keyText(2),
		"comments and space": "# keys of staging\n\n  " + keyText(1) + "\t\n  # the new one\n" + keyText(2) + "\n\n#",
		"Windows":            "# keys\r\n" + keyText(1) + "\r\n" + keyText(2) + "\r\n",
		"a key in a comment": "# " + keyText(3) + "\n" + keyText(1) + " " + keyText(2),
	} {
		ring, err := requeststate.ParseKeyring([]byte(text))
		if err != nil || !slices.Equal(ring.IDs(), both) {
			t.Errorf("%s: %v, %v", name, ring, err)
		}
	}
	text, err := ringOf(t, a, b).AppendText([]byte("# mine\n"))
	if want := "# mine\n" + keyText(1) + "\n" + keyText(2) + "\n"; err != nil || string(text) != want {
		t.Errorf("AppendText writes another text, %v", err)
	}

	for name, c := range map[string]struct {
		text string
		line int
	}{
		"empty":              {"", 0},
		"comments only":      {"# nothing\n\n", 0},
		"no prefix":          {keyText(1)[len("reprise1_"):], 1},
		"another prefix":     {"\n\nreprise2_" + keyText(1)[len("reprise1_"):], 3},
		"prefix only":        {"reprise1_", 1},
		"padded":             {"# x\n" + keyText(1) + "=", 2},
		"cut":                {keyText(1)[:len(keyText(1))-1], 1},
		"unused bits":        {keyText(1)[:len(keyText(1))-1] + "9", 1},
		"plain base64":       {"reprise1_" + strings.Repeat("+/", 22), 1},
		"short":              {"reprise1_" + base64.RawURLEncoding.EncodeToString(secretOf(1)[:16]), 1},
		"zeros":              {"reprise1_" + base64.RawURLEncoding.EncodeToString(make([]byte, 32)), 1},
		"twice":              {keyText(1) + "\n" + keyText(1), 0},
		"comment behind":     {keyText(1) + " # mine", 1},
		"second key damaged": {keyText(1) + "\n" + keyText(2) + "!", 2},
	} {
		ring, err := requeststate.ParseKeyring([]byte(c.text))
		var ke *requeststate.KeyError
		if !errors.As(err, &ke) || ring != nil || ke.Line != c.line {
			t.Errorf("%s: %v, %v", name, ring, err)
			continue
		}
		for _, field := range strings.Fields(c.text) {
			if len(field) > 12 && strings.Contains(err.Error(), field[9:]) {
				t.Errorf("%s: the error holds a part of the file", name)
			}
		}
	}
}

func TestKeyringFile(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "keys")
	if err := os.WriteFile(path, []byte(keyText(1)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ring, err := requeststate.ReadKeyring(path)
	if err != nil || ring.IDs()[0] != keyOf(t, 1).ID() {
		t.Fatalf("%v, %v", ring, err)
	}

	refused := func(name, path, says string) {
		t.Helper()
		ring, err := requeststate.ReadKeyring(path)
		var ke *requeststate.KeyError
		if !errors.As(err, &ke) || ring != nil || ke.Source != path || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, %v", name, ring, err)
		}
	}
	refused("missing", filepath.Join(folder, "none"), "cannot be read")
	if _, err := requeststate.ReadKeyring(filepath.Join(folder, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file cannot be told from others: %v", err)
	}
	refused("folder", folder, "not a regular file")
	broken := filepath.Join(folder, "broken")
	if err := os.WriteFile(broken, []byte("# one\n"+keyText(1)+"!\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused("damaged key", broken, "line 2")
	large := filepath.Join(folder, "large")
	if err := os.WriteFile(large, bytes.Repeat([]byte("#\n"), 1<<19+1), 0o600); err != nil {
		t.Fatal(err)
	}
	refused("large file", large, "1 MiB")

	if runtime.GOOS == "windows" {
		return // permissions are not of this kind there
	}
	link := filepath.Join(folder, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := requeststate.ReadKeyring(link); err != nil {
		t.Errorf("a link to a good file: %v", err)
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620, 0o602, 0o644, 0o666, 0o610} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		refused(mode.String(), path, "chmod 600")
		refused("link to "+mode.String(), link, "chmod 600")
	}
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	if _, err := requeststate.ReadKeyring(path); err != nil {
		t.Errorf("read-only: %v", err)
	}
}

func TestKeyringFromEnv(t *testing.T) {
	const name = "REPRISE_TEST_KEYS"
	t.Setenv(name, keyText(1)+" "+keyText(2))
	ring, err := requeststate.KeyringFromEnv(name)
	if err != nil || len(ring.IDs()) != 2 {
		t.Fatalf("%v, %v", ring, err)
	}
	for _, text := range []string{"", "reprise1_short", keyText(1) + "," + keyText(2)} {
		t.Setenv(name, text)
		ring, err := requeststate.KeyringFromEnv(name)
		var ke *requeststate.KeyError
		if !errors.As(err, &ke) || ring != nil || ke.Source != "$"+name {
			t.Errorf("%v, %v", ring, err)
		}
	}
}

func FuzzKeyring(f *testing.F) {
	f.Add([]byte(keyText(1) + "\n# x\n" + keyText(2)))
	f.Add([]byte("reprise1_"))
	f.Add([]byte("\r\n \v\f\u0085" + keyText(3)))
	f.Fuzz(func(t *testing.T, text []byte) {
		ring, err := requeststate.ParseKeyring(text)
		if err != nil {
			var ke *requeststate.KeyError
			if !errors.As(err, &ke) || ring != nil {
				t.Fatalf("%v, %v", ring, err)
			}
			return
		}
		written, err := ring.AppendText(nil)
		if err != nil {
			t.Fatal(err)
		}
		again, err := requeststate.ParseKeyring(written)
		if err != nil || !slices.Equal(again.IDs(), ring.IDs()) {
			t.Fatalf("%v became %v, %v", ring, again, err)
		}
		for line := range strings.Lines(string(written)) {
			if !bytes.Contains(text, []byte(strings.TrimSpace(line))) {
				t.Fatal("a key was accepted in another spelling")
			}
		}
	})
}

// A sealer that is in use takes each phase of a rotation, and no state that was sealed before is lost.
func TestRotationInUse(t *testing.T) {
	old, fresh := requeststate.NewKey(), requeststate.NewKey()
	ring := func(keys ...requeststate.Key) *requeststate.Keyring {
		r, err := requeststate.NewKeyring(keys...)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	var sealers [2]*requeststate.Sealer
	for i := range sealers {
		var err error
		if sealers[i], err = requeststate.New(requeststate.Config{Keyring: ring(old), Audience: "https://a.example"}); err != nil {
			t.Fatal(err)
		}
	}
	binding := requeststate.Binding{Principal: requeststate.Anonymous(), Request: requeststate.Digest{1}}
	var tokens []string
	seal := func() {
		for _, s := range sealers {
			token, err := s.Seal(now, binding, &requeststate.State{Flow: requeststate.NewFlowID()})
			if err != nil {
				t.Fatal(err)
			}
			tokens = append(tokens, token)
		}
	}
	open := func(when string) {
		for i, s := range sealers {
			for j, token := range tokens {
				if _, err := s.Open(now, binding, token); err != nil {
					t.Errorf("%s replica %d does not open token %d: %v", when, i, j, err)
				}
			}
		}
	}
	seal()
	for _, phase := range []*requeststate.Keyring{ring(old, fresh), ring(fresh, old)} {
		for i, s := range sealers { // one replica after the other
			if err := s.SetKeyring(phase); err != nil {
				t.Fatal(err)
			}
			if s.Keyring() != phase {
				t.Error("the ring in use is not the one that was set")
			}
			seal()
			open(fmt.Sprintf("in phase %v after %d replicas", phase.IDs(), i+1))
		}
	}
	if err := sealers[0].SetKeyring(ring(fresh)); err != nil {
		t.Fatal(err)
	}
	if _, err := sealers[0].Open(now, binding, tokens[0]); !errors.Is(err, requeststate.UnknownKey) {
		t.Errorf("a token of a key that was taken out: %v", err)
	}
	if err := sealers[0].SetKeyring(nil); err == nil || len(sealers[0].Keyring().IDs()) != 1 {
		t.Error("no ring is taken for one")
	}
}
