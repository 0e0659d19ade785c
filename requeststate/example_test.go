// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package requeststate_test

import (
	"fmt"
	"time"

	"github.com/reprise-mcp/reprise/requeststate"
)

// A question is asked on one replica and answered on another. They share the key ring.
func Example() {
	ring, err := requeststate.NewKeyring(requeststate.NewKey()) // in production: ReadKeyring or KeyringFromEnv
	if err != nil {
		panic(err)
	}
	config := requeststate.Config{Keyring: ring, Audience: "https://deploy.example/mcp"}
	asks, err := requeststate.New(config)
	if err != nil {
		panic(err)
	}
	answers, err := requeststate.New(config)
	if err != nil {
		panic(err)
	}

	alice, err := requeststate.User("https://id.example", "alice", "", "")
	if err != nil {
		panic(err)
	}
	digest, err := requeststate.RequestDigest("tools/call", "deploy_release", []byte(`{"service":"billing"}`))
	if err != nil {
		panic(err)
	}
	binding := requeststate.Binding{Principal: alice, Request: digest}
	now := time.Now()
	token, err := asks.Seal(now, binding, &requeststate.State{
		Flow:      requeststate.NewFlowID(),
		Round:     1,
		Questions: []requeststate.Question{{Key: "confirm"}},
	})
	if err != nil {
		panic(err)
	}

	state, err := answers.Open(now.Add(time.Minute), binding, token)
	fmt.Println(state.Questions[0].Key, err)

	binding.Principal, err = requeststate.User("https://id.example", "mallory", "", "")
	if err != nil {
		panic(err)
	}
	_, err = answers.Open(now.Add(time.Minute), binding, token)
	fmt.Println(err)
	// Output:
	// confirm <nil>
	// requeststate: the state was sealed for another principal
}
