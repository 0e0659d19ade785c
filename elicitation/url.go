// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package elicitation

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// A URL is a question in URL mode: it asks the user to open a page, whose content the client neither sees nor fills in
// (client/elicitation, URL Mode Elicitation Requests). Make it with [NewURL]; the zero value asks nothing.
//
// An accept has no content. It says that the user agreed to open the page, and not that they did, or finished there: only
// the page knows, and the server behind it. Whoever got the link can open it, so the page has to find out who that is.
type URL struct{ text string }

// NewURL returns the question that asks to open link. It refuses what the specification forbids in a link, or what would
// make one a credential (client/elicitation, Safe URL Handling):
//
//   - a scheme other than https, but for http to a loopback address or localhost;
//   - user information and a fragment, which the page would not see;
//   - query parameters other than those named in query, so that nothing gets into a link that its author did not think of;
//   - characters outside ASCII and other spellings that a client would change before it shows the link.
//
// A link holds nothing about the user and grants nothing by itself. Derive it from the flow, as Call.Link does.
func NewURL(link string, query ...string) (*URL, error) {
	u, err := url.Parse(link)
	if err != nil {
		return nil, errors.New("elicitation: the link is no URL") // the cause would quote it
	}
	host := u.Hostname()
	ip, err := netip.ParseAddr(host)
	loopback := host == "localhost" || err == nil && ip.IsLoopback()
	switch {
	case u.User != nil:
		return nil, errors.New("elicitation: the link has user information, and every holder of a link would be that user")
	case host == "" || u.Opaque != "":
		return nil, errors.New("elicitation: the link has no host")
	case u.Scheme != "https" && (u.Scheme != "http" || !loopback):
		return nil, errors.New("elicitation: the link must be https; http is for loopback addresses only")
	case strings.Contains(link, "#"):
		return nil, errors.New("elicitation: the link has a fragment, which browsers keep from the server")
	case u.String() != link || strings.ContainsFunc(link, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, errors.New("elicitation: the link is not in its normal spelling: ASCII, escaped, scheme in lower case")
	}
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, errors.New("elicitation: the link's query cannot be read")
	}
	for name := range values {
		if !slices.Contains(query, name) {
			return nil, fmt.Errorf("elicitation: the link has the query parameter %q: name it in NewURL if it is meant to be there", name)
		}
	}
	return &URL{link}, nil
}

// Kind returns [URLMode].
func (u *URL) Kind() Kind { return URLMode }

// Method returns "elicitation/create".
func (u *URL) Method() string { return "elicitation/create" }

// Params returns the params of the request that shows message beside the link. The message is treated as that of a [Form].
func (u *URL) Params(message string) ([]byte, error) {
	if u.text == "" {
		return nil, errors.New("elicitation: the zero URL asks nothing: make it with NewURL")
	}
	message, err := safeMessage(message)
	if err != nil {
		return nil, err
	}
	b := appendQuote([]byte(`{"mode":"url","message":`), message)
	b = appendQuote(append(b, `,"url":`...), u.text)
	return append(b, '}'), nil
}

// Identity returns the mode and the link.
func (u *URL) Identity() []byte { return []byte("url " + u.text) }

// Decode reads the client's answer. Content is not looked at: in URL mode there is none (client/elicitation, Response
// Actions).
func (u *URL) Decode(response []byte) (Reply[struct{}], error) {
	action, _, err := parseResult(response)
	return Reply[struct{}]{Action: action}, err
}
