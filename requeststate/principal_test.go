// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package requeststate_test

import (
	"strings"
	"testing"

	"github.com/reprise-mcp/reprise/requeststate"
)

func TestBlankPrincipalsAreNobody(t *testing.T) {
	for _, blank := range []string{"", " ", "\t\n", "\u00a0", "\u2003"} {
		if p, err := requeststate.User("https://id.example", blank, "", ""); err == nil || p != (requeststate.Principal{}) {
			t.Errorf("a user with the subject %q: %v", blank, p)
		}
		if p, err := requeststate.User(blank, "alice", "", ""); err == nil || p != (requeststate.Principal{}) {
			t.Errorf("a user with the issuer %q: %v", blank, p)
		}
		if p, err := requeststate.Local("stdio", blank); err == nil || p != (requeststate.Principal{}) {
			t.Errorf("a local subject %q: %v", blank, p)
		}
		if p, err := requeststate.Local(blank, "dana"); err == nil || p != (requeststate.Principal{}) {
			t.Errorf("a local issuer %q: %v", blank, p)
		}
	}
	if requeststate.Anonymous() == (requeststate.Principal{}) || !requeststate.Anonymous().IsAnonymous() || (requeststate.Principal{}).IsAnonymous() {
		t.Error("nobody is anonymous")
	}
}

// principals are pairwise different, some of them only just.
func principals(t *testing.T) []requeststate.Principal {
	t.Helper()
	local := func(issuer, subject string) requeststate.Principal {
		p, err := requeststate.Local(issuer, subject)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	return []requeststate.Principal{
		requeststate.Anonymous(),
		local("https://a.example", "7"), local("anonymous", "anonymous"),
		user(t, "https://a.example", "7", "", ""), user(t, "https://b.example", "7", "", ""), user(t, "https://a.example/", "7", "", ""),
		user(t, "https://a.example", "07", "", ""), user(t, "https://a.example", " 7", "", ""), user(t, "https://a.example", "7\x00", "", ""),
		user(t, "https://a.example", "7", "x", ""), user(t, "https://a.example", "7", "", "x"), user(t, "https://a.example", "7", "x", "x"),
		user(t, "https://a.example7", "7", "", ""), user(t, "https://a.exampl", "e7", "", ""),
		user(t, "https://a.example", "7\x01x", "", ""), user(t, "https://a.example", strings.Repeat("7", 200), "", ""),
		user(t, "https://a.example", "jos\u00e9", "", ""), user(t, "https://a.example", "jose\u0301", "", ""), user(t, "https://a.example", "JOS\u00c9", "", ""),
		user(t, "anonymous", "anonymous", "", ""),
	}
}

func TestAStateIsForItsPrincipalOnly(t *testing.T) {
	both(t, func(t *testing.T, a requeststate.Algorithm) {
		s := sealerOf(t, requeststate.Config{Algorithm: a})
		request := digestOf(t, "tools/call", "deploy", "")
		for i, asked := range principals(t) {
			token := seal(t, s, start, requeststate.Binding{Principal: asked, Request: request}, firstRound())
			for j, answers := range principals(t) {
				_, err := s.Open(start, requeststate.Binding{Principal: answers, Request: request}, token)
				if i == j && err != nil || i != j && err != requeststate.WrongPrincipal {
					t.Errorf("asked %v, answers %v: %v", asked, answers, err)
				}
				if (asked == answers) != (i == j) {
					t.Errorf("%v == %v is %v", asked, answers, asked == answers)
				}
			}
		}
	})
}

func TestPrincipalForLogs(t *testing.T) {
	local, err := requeststate.Local("stdio", "dana")
	if err != nil {
		t.Fatal(err)
	}
	for want, p := range map[string]requeststate.Principal{
		"nobody":                              {},
		"anonymous":                           requeststate.Anonymous(),
		`local "stdio" "dana"`:                local,
		`user "https://id.example" "al\nice"`: user(t, "https://id.example", "al\nice", "acme", "client-7"),
	} {
		if got := p.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestPartsOfPrincipal(t *testing.T) {
	alice, err := requeststate.User("https://issuer.example", "alice", "acme", "client-1")
	if err != nil {
		t.Fatal(err)
	}
	local, err := requeststate.Local("host:a", strings.Repeat("b", 200))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		principal                       requeststate.Principal
		issuer, subject, tenant, client string
	}{
		{alice, "https://issuer.example", "alice", "acme", "client-1"},
		{local, "host:a", strings.Repeat("b", 200), "", ""},
		{requeststate.Anonymous(), "", "", "", ""},
		{requeststate.Principal{}, "", "", "", ""},
	} {
		p := test.principal
		if p.Issuer() != test.issuer || p.Subject() != test.subject || p.Tenant() != test.tenant || p.Client() != test.client {
			t.Errorf("%v: parts %q %q %q %q", p, p.Issuer(), p.Subject(), p.Tenant(), p.Client())
		}
	}
}
