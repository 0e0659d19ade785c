// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package gosdk

import (
	"errors"
	"os"
	"os/user"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/reprise-mcp/reprise/requeststate"
)

// An Identity says who sent a request, from what the transport verified and never from what the client says about itself. Its
// error refuses the request.
type Identity func(*mcp.RequestExtra) (requeststate.Principal, error)

// Keys of auth.TokenInfo.Extra that [Authenticated] reads, where the token verifier sets them: strings.
const (
	ExtraIssuer = "iss"       // must equal the configured issuer
	ExtraTenant = "tenant"    // part of the principal
	ExtraClient = "client_id" // part of the principal: the authenticated OAuth client
)

// Authenticated takes the principal from the token that the SDK's auth.RequireBearerToken verified: its UserID is the
// subject. A request without a token, or with a token without a UserID, is refused. The issuer is the authorization server's
// issuer identifier, byte for byte; it is required, because a subject means nothing without one.
func Authenticated(issuer string) Identity {
	return func(extra *mcp.RequestExtra) (requeststate.Principal, error) {
		if extra == nil || extra.TokenInfo == nil {
			return requeststate.Principal{}, errors.New("this request is not authenticated")
		}
		info := extra.TokenInfo
		text := func(key string) string { s, _ := info.Extra[key].(string); return s }
		if iss := text(ExtraIssuer); iss != "" && iss != issuer {
			return requeststate.Principal{}, errors.New("this request was authenticated by another issuer")
		}
		return requeststate.User(issuer, info.UserID, text(ExtraTenant), text(ExtraClient))
	}
}

// Local is for stdio, where the operator knows whose process it is. With an empty issuer and subject it is the user of the
// operating system on this host.
func Local(issuer, subject string) Identity {
	principal, err := local(issuer, subject)
	return func(*mcp.RequestExtra) (requeststate.Principal, error) { return principal, err }
}

func local(issuer, subject string) (requeststate.Principal, error) {
	if issuer == "" && subject == "" {
		host, err := os.Hostname()
		if err != nil {
			return requeststate.Principal{}, err
		}
		u, err := user.Current()
		if err != nil {
			return requeststate.Principal{}, err
		}
		issuer, subject = "host:"+host, u.Username
	}
	return requeststate.Local(issuer, subject)
}

// Anonymous is for servers that do not know their callers. Whoever holds a state can then answer it; single use and the short
// life of a state still hold. An anonymous principal never equals an authenticated one. A request that does carry a verified
// token is refused: it belongs to somebody.
func Anonymous() Identity {
	return func(extra *mcp.RequestExtra) (requeststate.Principal, error) {
		if extra != nil && extra.TokenInfo != nil {
			return requeststate.Principal{}, errors.New("this server takes anonymous callers only, and the request is authenticated")
		}
		return requeststate.Anonymous(), nil
	}
}
