// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package elicitation

import (
	"net/url"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A Root is a directory or file that the client considers relevant
// (client/roots, Root). It is guidance and gives no right to anything.
type Root struct {
	URI  string // a file:// URI
	Name string // for display; may be empty
}

// NewRoots returns the question for the client's roots (client/roots). Its
// params hold no message.
//
// Roots are deprecated in revision 2026-07-28: new servers take directories as
// tool arguments, as resource URIs or from their configuration.
func NewRoots() Question[[]Root] { return roots{} }

type roots struct{}

func (roots) Kind() Kind                    { return Roots }
func (roots) Method() string                { return "roots/list" }
func (roots) Params(string) ([]byte, error) { return []byte("{}"), nil }
func (roots) Identity() []byte              { return []byte(Roots) }

func (roots) Decode(response []byte) (Reply[[]Root], error) {
	none := Reply[[]Root]{}
	members, err := readMembers(response, "roots")
	if err != nil {
		return none, malformed(err)
	}
	list, ok := readArray(members["roots"])
	if !ok {
		return none, answerError(RuleType, `"roots" to be a list`)
	}
	all := make([]Root, 0, len(list))
	for _, e := range list {
		m, err := readMembers(e, "uri", "name")
		if err != nil {
			return none, malformed(err)
		}
		var r Root
		uri, okURI := readString(m["uri"])
		r.URI = uri
		okName := true
		if m["name"] != nil {
			r.Name, okName = readString(m["name"])
		}
		if !okURI || !okName {
			return none, answerError(RuleType, `roots with a "uri" and at most a "name", both strings`)
		}
		if u, err := url.Parse(uri); err != nil || u.Scheme != "file" || !strings.HasPrefix(uri[len("file"):], "://") {
			return none, answerError(RuleFormat, "every root to have a file:// URI")
		}
		all = append(all, r)
	}
	return Reply[[]Root]{Action: Accept, Content: all}, nil
}

// readMembers returns the named members of a JSON object and ignores others,
// but not one that differs from a name by letter case only.
func readMembers(src []byte, names ...string) (map[string]jsontext.Value, error) {
	members := make(map[string]jsontext.Value, len(names))
	err := readObject(src, func(name []byte, value jsontext.Value) error {
		for _, n := range names {
			if string(name) == n {
				members[n] = value
				return nil
			}
		}
		if foldsTo(name, names...) {
			return errMisspelt
		}
		return nil
	})
	return members, err
}
