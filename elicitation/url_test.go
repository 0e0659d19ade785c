// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package elicitation_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/reprise-mcp/reprise/elicitation"
)

func TestURL(t *testing.T) {
	tests := []struct {
		link  string
		query []string
		want  string // of the error; empty: accepted
	}{
		{"https://deploy.example.com/connect/3f2a", nil, ""},
		{"https://deploy.example.com:8443/connect?id=3f2a", []string{"id"}, ""},
		{"http://127.0.0.1:8931/connect/3f2a", nil, ""},
		{"http://[::1]:8931/connect/3f2a", nil, ""},
		{"http://localhost:8931/connect/3f2a", nil, ""},
		{"https://xn--bcher-kva.example/connect", nil, ""},
		{"https://deploy.example.com/connect?id=3f2a", nil, `query parameter "id"`},
		{"https://deploy.example.com/connect?id=3f2a&mail=a%40example.com", []string{"id"}, `query parameter "mail"`},
		{"https://deploy.example.com/connect?id=1;mail=2", []string{"id"}, "query cannot be read"},
		{"http://deploy.example.com/connect", nil, "must be https"},
		{"http://127.0.0.1.example.com/connect", nil, "must be https"},
		{"http://localhost.example.com/connect", nil, "must be https"},
		{"http://10.0.0.1/connect", nil, "must be https"},
		{"javascript:alert(1)", nil, "no host"},
		{"javascript://localhost/%0aalert(1)", nil, "must be https"},
		{"data:text/html,x", nil, "no host"},
		{"https:deploy.example.com", nil, "no host"},
		{"https:///connect", nil, "no host"},
		{"/connect/3f2a", nil, "no host"},
		{"//deploy.example.com/connect", nil, "must be https"},
		{"https://alice@deploy.example.com/connect", nil, "user information"},
		{"https://alice:hunter2@deploy.example.com/connect", nil, "user information"},
		{"https://@deploy.example.com/connect", nil, "user information"},
		{"https://deploy.example.com/connect#token", nil, "fragment"},
		{"https://deploy.example.com/connect#", nil, "fragment"},
		{"HTTPS://deploy.example.com/connect", nil, "normal spelling"},
		{"https://bücher.example/connect", nil, "normal spelling"},
		{"https://deploy.example.com/\u202egnp", nil, "normal spelling"},
		{"https://deploy.example.com/a b", nil, "normal spelling"},
		{"https://deploy.example.com/\n", nil, "no URL"},
		{"", nil, "no host"},
	}
	for _, test := range tests {
		u, err := elicitation.NewURL(test.link, test.query...)
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%q: %v", test.link, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%q: error %v, want %q in it", test.link, err, test.want)
		case err != nil && strings.Contains(err.Error(), "hunter2"):
			t.Error("the error quotes the password")
		case err == nil:
			params, err := u.Params("Sign in to the registry?")
			if err != nil {
				t.Fatal(err)
			}
			var got map[string]string
			if err := json.Unmarshal(params, &got); err != nil {
				t.Fatal(err)
			}
			if len(got) != 3 || got["mode"] != "url" || got["url"] != test.link || got["message"] != "Sign in to the registry?" {
				t.Errorf("params %s", params)
			}
		}
	}
}

func TestURLAnswers(t *testing.T) {
	u, err := elicitation.NewURL("https://deploy.example.com/connect/3f2a")
	if err != nil {
		t.Fatal(err)
	}
	for response, want := range map[string]elicitation.Action{
		`{"action":"accept"}`:                       elicitation.Accept,
		`{"action":"accept","content":{"key":"x"}}`: elicitation.Accept, // and nobody sees it
		`{"action":"accept","content":7}`:           elicitation.Accept,
		`{"action":"decline"}`:                      elicitation.Decline,
		`{"action":"cancel"}`:                       elicitation.Cancel,
		`{"action":"yes"}`:                          "",
		`{}`:                                        "",
		`true`:                                      "",
	} {
		reply, err := u.Decode([]byte(response))
		if reply.Action != want || (err == nil) != (want != "") {
			t.Errorf("%s: %v, %v", response, reply, err)
		}
	}
	other, _ := elicitation.NewURL("https://deploy.example.com/connect/3f2b")
	if string(u.Identity()) == string(other.Identity()) {
		t.Error("two links are one question")
	}
	if _, err := (&elicitation.URL{}).Params("Sign in?"); err == nil {
		t.Error("the zero URL asks")
	}
	if _, err := u.Params(" "); err == nil {
		t.Error("a blank message is shown")
	}
}
