// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package reprise

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/reprise-mcp/reprise/elicitation"
)

// defaultWait is how long [Visit] waits unless [Options.Wait] says otherwise.
const defaultWait = 5 * time.Second

// Link returns 32 hexadecimal digits for the link of a page that the user is sent to. They derive from the flow and the
// name, so every replica and every round of this flow gives the same, and no other flow does. Nobody can guess them, and
// still they prove nothing about who opens the link: whoever got it can.
func (c *Call) Link(name string) string {
	b := appendPart(nil, "reprise link v1")
	b = appendPart(b, c.state.Flow[:])
	b = appendPart(b, name)
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// Visit asks the user to open a page, in URL mode, and returns what came of it there; package connect has such pages. The
// key, message and facts are those of [Ask].
//
// An accept says only that the user agreed to open the page. So outcome, which runs after it, waits until the user has
// finished there, and returns with what they did. Its context ends after [Options.Wait]; when outcome then returns an
// error, the round ends and the client is asked again, with the same link. Each time is one of [Options.Rounds]. A later round
// runs outcome again, which must find the same. Any other error of outcome is returned.
//
// The answer is an accept with what outcome returned, or the decline or cancel that the client reported.
func Visit[T any](ctx context.Context, call *Call, key string, page *elicitation.URL, message string, outcome func(context.Context) (T, error), facts ...any) (Answer[T], error) {
	consent, err := Ask(ctx, call, key, page, message, facts...)
	if err != nil {
		return Answer[T]{}, err
	}
	answer := Answer[T]{call: call, key: key, trusted: consent.trusted, reply: elicitation.Reply[T]{Action: consent.Action()}}
	if consent.Action() != elicitation.Accept {
		return answer, nil
	}
	waiting, cancel := context.WithTimeout(ctx, call.options.wait())
	defer cancel()
	answer.reply.Content, err = outcome(waiting)
	switch {
	case err == nil:
		call.found(key, answer.reply.Content)
		return answer, nil
	case waiting.Err() == nil || ctx.Err() != nil:
		return Answer[T]{}, err
	}
	// The consent is used up: what the user is asked now is whether to go on.
	for i := range call.used {
		if call.used[i].Key == key {
			call.used = slices.Delete(call.used, i, i+1)
			break
		}
	}
	call.busy = append(call.busy, key)
	_, err = Ask(ctx, call, key, page, message, facts...)
	return Answer[T]{}, err
}
