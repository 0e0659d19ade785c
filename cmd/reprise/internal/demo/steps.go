// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reprise-mcp/reprise/cmd/reprise/internal/deploy"
	"github.com/reprise-mcp/reprise/cmd/reprise/internal/deployserver"
	"github.com/reprise-mcp/reprise/cmd/reprise/internal/fleet"
	"github.com/reprise-mcp/reprise/cmd/reprise/internal/keyfile"
	"github.com/reprise-mcp/reprise/requeststate"
	"github.com/reprise-mcp/reprise/sdk/gosdk"
	"github.com/reprise-mcp/reprise/wire"
)

// steps are taken in this order; each leaves its release where the later ones expect it.
var steps = []struct {
	title, why string
	run        func(context.Context, *demo) error
}{
	{
		"A client that cannot ask its human is refused",
		"The guest declared no elicitation, so nobody could be asked. Deploying without a question is not an option: the request is refused before any question exists, and the error lists the capability that is missing.",
		refuseGuest,
	}, {
		"alice confirms a deployment: one replica asks, another deploys",
		"The first call ends with a question and a sealed receipt, the requestState. Nothing stays open and no replica remembers anything. The retry is a new request with a new id; it carries the answer and the receipt, byte for byte, and any replica can take it.",
		confirm,
	}, {
		"alice declines, and then cancels",
		"A no is a normal outcome and not an error: the call completes, and says that nothing was deployed.",
		declineAndCancel,
	}, {
		"One character of the requestState is changed",
		"The receipt passes through hands that the server does not trust. A change anywhere breaks its seal. The refusal says no more than that, and burns nothing: the receipt as it was still works.",
		flip,
	}, {
		"The answer comes after the question has expired",
		"A yes is about the world as it was when the question was asked. A receipt is good for a short time only; here one second, elsewhere ten minutes unless the operator says otherwise.",
		expire,
	}, {
		"mallory presents what alice was asked",
		"The receipt is bound to the principal that the server itself authenticated. What the client says about itself does not count.",
		steal,
	}, {
		"The same requestState on another environment",
		"The receipt is bound to the method, the tool and its arguments. A yes to one deployment is no yes to another.",
		redirect,
	}, {
		"A requestState is redeemed twice, on two replicas",
		"A seal and an expiry do not stop a replay. The flow is claimed in the ledger, which all replicas share, before anything is done. Whoever makes the same request again, as a client does that lost the response, gets what was recorded; another answer is refused. Nothing runs again.",
		replay,
	}, {
		"An argument is missing",
		"A model can mend its own mistake if it hears of it, so this is a tool execution error and no protocol error.",
		omit,
	}, {
		"The replica that asked is killed before the answer comes",
		"Everything that the flow needs is in the request. The process that asked may be gone.",
		kill,
	}, {
		"The running release changes between question and answer",
		"alice agreed to replace one release, and another one runs by now. Her yes is pinned to what she was shown, so it is not used, and she is asked again about what is true now.",
		drift,
	}, {
		"The key is replaced while questions are open",
		"A new key is first given to all, so that each opens what it seals, and seals only then. The replicas take their changed keyring while they run, and no question is lost. A key that somebody else may know is taken out at once; what it sealed is refused, and the refusal says that the key is gone and not that anybody cheated.",
		rotate,
	},
}

const (
	tool = "deploy_release"
	key  = "confirm" // of the question
)

type deployment struct {
	Service     string `json:"service"`
	Environment string `json:"environment,omitempty"`
	Version     string `json:"version,omitempty"`
}

func (a deployment) String() string {
	return fmt.Sprintf("%s{service: %s, environment: %s, version: %s}", tool, a.Service, a.Environment, a.Version)
}

// Answers to the question, as a client sends them (client/elicitation, Response Actions).
var (
	yes     = map[string]any{"action": "accept", "content": map[string]string{"decision": "approve"}}
	no      = map[string]any{"action": "accept", "content": map[string]string{"decision": "reject"}}
	decline = map[string]any{"action": "decline"}
	cancel  = map[string]any{"action": "cancel"}
)

// question is what a client keeps between the rounds.
type question struct {
	args    deployment
	state   string
	message string
	id      wire.ID
	replica string
}

// ask makes a first call, which must end with the question.
func (d *demo) ask(ctx context.Context, args deployment) (*question, error) {
	d.say("alice calls %s", args)
	r, err := d.alice.Call(ctx, tool, args, fleet.Extra{})
	if err != nil {
		return nil, err
	}
	return d.asked(args, r)
}

// asked takes the question out of a response.
func (d *demo) asked(args deployment, r *fleet.Response) (*question, error) {
	if r.Result == nil || r.Result.ResultType != wire.ResultInputRequired {
		return nil, fmt.Errorf("%s did not ask: %s", r.Replica, r.Raw)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(r.Result.Raw, &members); err != nil {
		return nil, err
	}
	var params struct {
		Message string `json:"message"`
	}
	if err := json.Unmarshal(r.Result.InputRequests[key].Params, &params); err != nil {
		return nil, fmt.Errorf("%s asked without a question %q: %w", r.Replica, key, err)
	}
	d.say("%s asks: %s", r.Replica, params.Message)
	d.check(slices.Equal(slices.Sorted(maps.Keys(members)), []string{"_meta", "inputRequests", "requestState", "resultType"}) && len(r.Result.InputRequests) == 1,
		"the call ended with one question and a requestState of %d characters", len(r.Result.RequestState))
	return &question{args, r.Result.RequestState, params.Message, r.ID, r.Replica}, nil
}

// answer makes the retry: the same call, a new id, the state as it came, and the answer.
func (d *demo) answer(ctx context.Context, q *question, answer any) (*fleet.Response, error) {
	return d.present(ctx, d.alice, q, answer, fleet.Extra{})
}

// present makes a retry that extra may get wrong.
func (d *demo) present(ctx context.Context, client *fleet.Client, q *question, answer any, extra fleet.Extra) (*fleet.Response, error) {
	if extra.RequestState == nil {
		extra.RequestState = q.state
	}
	extra.InputResponses = map[string]any{key: answer}
	r, err := client.Call(ctx, tool, q.args, extra)
	if err == nil && r.ID == q.id && client == d.alice {
		err = errors.New("the retry went out with the id of the first call")
	}
	return r, err
}

// outcome is the structured content of deploy_release.
type outcome struct {
	Deployed bool   `json:"deployed"`
	Outcome  string `json:"outcome"`
	Number   uint64 `json:"number"`
}

// completed checks a result that says what came of the call.
func (d *demo) completed(r *fleet.Response, deployed bool, want string) {
	var got outcome
	complete := r.Result != nil && r.Result.ResultType == wire.ResultComplete && !r.Result.IsError && json.Unmarshal(r.Result.StructuredContent, &got) == nil
	d.check(complete && got.Deployed == deployed && got.Outcome == want, "%s completed the call: deployed %t, outcome %q", r.Replica, got.Deployed, got.Outcome)
}

// refused checks a tool execution error that gives this reason.
func (d *demo) refused(r *fleet.Response, reason string) {
	if r.Result != nil {
		d.say("%s refuses: %s", r.Replica, r.Result.Text())
	}
	d.check(r.Status == 200 && r.Result != nil && r.Result.ResultType == wire.ResultComplete && r.Result.IsError && strings.Contains(r.Result.Text(), reason),
		"a tool execution error that says %q", reason)
}

// runs checks what runs, on the disk.
func (d *demo) runs(service, environment, version string) {
	link, err := os.Readlink(filepath.Join(d.root, environment, service, "current"))
	if errors.Is(err, fs.ErrNotExist) {
		link = "nothing"
	}
	d.check(filepath.Base(link) == version, "on the disk %s runs %s in %s", service, filepath.Base(link), environment)
}

func refuseGuest(ctx context.Context, d *demo) error {
	args := deployment{"billing", "staging", "1.4.2"}
	d.say("guest calls %s and declares no elicitation", args)
	r, err := d.guest.Call(ctx, tool, args, fleet.Extra{Violation: "no elicitation capability declared"})
	if err != nil {
		return err
	}
	if r.Error != nil {
		d.say("%s refuses: %s", r.Replica, r.Error.Message)
	}
	d.check(r.Status == 400 && r.Error != nil && r.Error.Code == wire.CodeMissingCapability, "HTTP status 400, JSON-RPC error %d", wire.CodeMissingCapability)
	d.check(r.Error != nil && bytes.Equal(r.Error.Data, []byte(`{"requiredCapabilities":{"elicitation":{"form":{}}}}`)), "its data lists elicitation.form as required")
	d.runs("billing", "staging", "1.4.1")
	return nil
}

func confirm(ctx context.Context, d *demo) error {
	q, err := d.ask(ctx, deployment{"billing", "staging", "1.4.2"})
	if err != nil {
		return err
	}
	answer, want, version := yes, "approved", "1.4.2"
	if d.person != nil {
		if answer, want, err = d.choose(q.message); err != nil {
			return err
		}
		if want != "approved" {
			version = "1.4.1"
		}
	} else {
		d.say("alice says yes")
	}
	r, err := d.answer(ctx, q, answer)
	if err != nil {
		return err
	}
	d.check(r.Replica != q.replica, "%s asked with request %s, %s answers request %s", q.replica, q.id, r.Replica, r.ID)
	d.completed(r, want == "approved", want)
	d.runs("billing", "staging", version)
	return nil
}

// choose has the person at the terminal answer.
func (d *demo) choose(message string) (answer map[string]any, outcome string, err error) {
	for {
		d.printf("\n    %s\n    [y] yes  [n] no  [d] decline to answer  [c] cancel > ", message)
		if !d.person.Scan() {
			d.printf("\n")
			return nil, "", cmp.Or(d.person.Err(), errors.New("the input ended without an answer"))
		}
		switch strings.ToLower(strings.TrimSpace(d.person.Text())) {
		case "y", "yes":
			return yes, "approved", nil
		case "n", "no":
			return no, "rejected", nil
		case "d", "decline":
			return decline, "declined", nil
		case "c", "cancel":
			return cancel, "cancelled", nil
		}
	}
}

func declineAndCancel(ctx context.Context, d *demo) error {
	for _, way := range []struct {
		answer  any
		outcome string
	}{{decline, "declined"}, {cancel, "cancelled"}} {
		q, err := d.ask(ctx, deployment{"web", "staging", "1.4.2"})
		if err != nil {
			return err
		}
		r, err := d.answer(ctx, q, way.answer)
		if err != nil {
			return err
		}
		d.completed(r, false, way.outcome)
	}
	d.runs("web", "staging", "1.4.1")
	return nil
}

func flip(ctx context.Context, d *demo) error {
	q, err := d.ask(ctx, deployment{"web", "staging", "1.4.2"})
	if err != nil {
		return err
	}
	changed := []byte(q.state)
	at := len(changed) / 2
	if changed[at]++; q.state[at] == 'z' || q.state[at] == 'Z' || q.state[at] == '9' || q.state[at] == '-' || q.state[at] == '_' {
		changed[at] = 'A' // stay in the alphabet, so that it is the seal that breaks
	}
	d.say("the answer is yes, and character %d of the requestState becomes %q instead of %q", at, changed[at], q.state[at])
	r, err := d.present(ctx, d.alice, q, yes, fleet.Extra{RequestState: string(changed), Violation: "one character of requestState changed"})
	if err != nil {
		return err
	}
	d.refused(r, "could not be verified")
	d.runs("web", "staging", "1.4.1")
	d.say("alice retries with the requestState as it came")
	if r, err = d.answer(ctx, q, yes); err != nil {
		return err
	}
	d.completed(r, true, "approved")
	d.runs("web", "staging", "1.4.2")
	return nil
}

func expire(ctx context.Context, d *demo) error {
	d.say("the replicas are started anew with --ttl %s", shortTTL)
	if err := d.restart(ctx, shortTTL); err != nil {
		return err
	}
	q, err := d.ask(ctx, deployment{"billing", "production", "1.4.2"})
	if err != nil {
		return err
	}
	d.say("alice thinks about it for too long")
	select {
	case <-time.After(shortTTL + 100*time.Millisecond):
	case <-ctx.Done():
		return ctx.Err()
	}
	r, err := d.present(ctx, d.alice, q, yes, fleet.Extra{Violation: "requestState presented after its expiry"})
	if err != nil {
		return err
	}
	d.refused(r, "expired")
	d.runs("billing", "production", "1.4.1")
	d.say("the replicas are started anew with --ttl %s", ttl)
	return d.restart(ctx, ttl)
}

func steal(ctx context.Context, d *demo) error {
	q, err := d.ask(ctx, deployment{"billing", "production", "1.4.2"})
	if err != nil {
		return err
	}
	d.say("mallory got hold of the requestState and sends it with a yes, under a token of mallory's own")
	r, err := d.present(ctx, d.mallory, q, yes, fleet.Extra{Violation: "requestState of another principal"})
	if err != nil {
		return err
	}
	d.refused(r, "somebody else")
	d.runs("billing", "production", "1.4.1")
	return nil
}

func redirect(ctx context.Context, d *demo) error {
	q, err := d.ask(ctx, deployment{"web", "staging", "1.4.3"})
	if err != nil {
		return err
	}
	elsewhere := *q
	elsewhere.args.Environment = "production"
	d.say("the answer is yes, and the retry says environment: production")
	r, err := d.present(ctx, d.alice, &elsewhere, yes, fleet.Extra{Violation: "requestState of a call with other arguments"})
	if err != nil {
		return err
	}
	d.refused(r, "another request")
	d.runs("web", "staging", "1.4.2")
	d.runs("web", "production", "1.4.1")
	return nil
}

func replay(ctx context.Context, d *demo) error {
	q, err := d.ask(ctx, deployment{"billing", "production", "1.4.2"})
	if err != nil {
		return err
	}
	first, err := d.answer(ctx, q, yes)
	if err != nil {
		return err
	}
	d.completed(first, true, "approved")
	d.runs("billing", "production", "1.4.2")
	before, err := d.releases.History(ctx, "billing", "production")
	if err != nil {
		return err
	}
	d.say("the response is lost, and the same retry comes again, under a new id")
	second, err := d.answer(ctx, q, yes)
	if err != nil {
		return err
	}
	d.check(second.Result != nil && bytes.Equal(first.Result.StructuredContent, second.Result.StructuredContent) && bytes.Contains(second.Result.Raw, []byte(gosdk.MetaRecorded)),
		"%s deployed, %s gives the same result, and says in _meta that it was recorded", first.Replica, second.Replica)
	d.check(first.Replica != second.Replica, "they are two replicas")
	d.say("the same requestState comes with another answer")
	third, err := d.present(ctx, d.alice, q, decline, fleet.Extra{Violation: "requestState redeemed before"})
	if err != nil {
		return err
	}
	d.refused(third, "already redeemed")
	after, err := d.releases.History(ctx, "billing", "production")
	if err != nil {
		return err
	}
	d.check(len(before) == len(after), "the history of the service has one deployment of it, and no more")
	return nil
}

func omit(ctx context.Context, d *demo) error {
	d.say("alice calls %s{service: billing}", tool)
	r, err := d.alice.Call(ctx, tool, deployment{Service: "billing"}, fleet.Extra{Violation: "a required argument is missing"})
	if err != nil {
		return err
	}
	d.refused(r, "environment")
	return nil
}

func kill(ctx context.Context, d *demo) error {
	q, err := d.ask(ctx, deployment{"web", "production", "1.4.2"})
	if err != nil {
		return err
	}
	for _, replica := range d.fleet.Replicas() {
		if replica.Name() != q.replica {
			continue
		}
		d.say("%s, process %d, gets SIGKILL", replica.Name(), replica.PID())
		if err := replica.Kill(); err != nil {
			return err
		}
	}
	r, err := d.answer(ctx, q, yes)
	if err != nil {
		return err
	}
	d.check(r.Replica != q.replica, "%s is gone, %s answers", q.replica, r.Replica)
	d.completed(r, true, "approved")
	d.runs("web", "production", "1.4.2")
	return nil
}

func drift(ctx context.Context, d *demo) error {
	q, err := d.ask(ctx, deployment{"billing", "production", "1.4.3"})
	if err != nil {
		return err
	}
	d.say("meanwhile an operator puts 1.5.0-rc.1 in place of 1.4.2, without MCP")
	if _, err := d.releases.Swap(ctx, deploy.Change{Service: "billing", Environment: "production", From: "1.4.2", To: "1.5.0-rc.1", By: "operator"}); err != nil {
		return err
	}
	d.say("alice says yes to the question that she saw")
	r, err := d.answer(ctx, q, yes)
	if err != nil {
		return err
	}
	fresh, err := d.asked(q.args, r)
	if err != nil {
		return err
	}
	d.check(fresh.message != q.message && strings.Contains(fresh.message, "1.5.0-rc.1"), "the question is another one now")
	d.runs("billing", "production", "1.5.0-rc.1")
	d.say("alice says yes to that one")
	if r, err = d.answer(ctx, fresh, yes); err != nil {
		return err
	}
	d.completed(r, true, "approved")
	d.runs("billing", "production", "1.4.3")
	return nil
}

func rotate(ctx context.Context, d *demo) error {
	before, err := d.ask(ctx, deployment{"web", "staging", "1.4.3"})
	if err != nil {
		return err
	}
	added, err := keyfile.Add(d.keyring)
	if err != nil {
		return err
	}
	if err := d.reloaded(ctx, "a new key, %[2]s, opens on all replicas, and %[1]s still seals", d.sealing, added); err != nil {
		return err
	}
	between, err := d.ask(ctx, deployment{"billing", "staging", "1.4.3"})
	if err != nil {
		return err
	}
	lost, err := d.ask(ctx, deployment{"billing", "production", "1.5.0-rc.1"})
	if err != nil {
		return err
	}
	if _, err := keyfile.Promote(d.keyring, time.Now(), added); err != nil {
		return err
	}
	if err := d.reloaded(ctx, "now %[1]s seals on all replicas, and %[2]s opens", added, d.sealing); err != nil {
		return err
	}
	d.say("alice says yes to a question from before the rotation, and to one from the middle of it")
	for _, q := range []*question{before, between} {
		r, err := d.answer(ctx, q, yes)
		if err != nil {
			return err
		}
		d.completed(r, true, "approved")
	}
	if err := keyfile.Retire(d.keyring, time.Now(), d.sealing, time.Hour); d.check(err != nil, "keys retire refuses to take %s out: it sealed within the lifetime of a flow", d.sealing) {
		d.say("but somebody may know it, so it is taken out at once with --now")
	}
	if _, err := keyfile.RetireNow(d.keyring, d.sealing); err != nil {
		return err
	}
	if err := d.reloaded(ctx, "all replicas have %[1]s only", added); err != nil {
		return err
	}
	r, err := d.present(ctx, d.alice, lost, yes, fleet.Extra{Violation: "requestState of a key that was taken out"})
	if err != nil {
		return err
	}
	d.refused(r, "sealed with a key that this server does not hold")
	d.runs("billing", "production", "1.4.3")
	return nil
}

// reloaded waits until every replica says that it has these keys, in this order, and then says what that means.
func (d *demo) reloaded(ctx context.Context, format string, keys ...requeststate.KeyID) error {
	want, args := make([]string, len(keys)), make([]any, len(keys))
	for i, key := range keys {
		want[i], args[i] = key.String(), key
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for _, replica := range d.fleet.Replicas() {
		if replica.URL() == "" {
			continue // it was killed
		}
		for {
			ready, err := deployserver.AskReady(ctx, replica.URL())
			if err != nil {
				return fmt.Errorf("%s with the keys %v: %w", replica.Name(), want, err)
			}
			if slices.Equal(ready.Keys, want) {
				break
			}
			select {
			case <-time.After(20 * time.Millisecond):
			case <-ctx.Done():
				return fmt.Errorf("%s has the keys %v and not %v", replica.Name(), ready.Keys, want)
			}
		}
	}
	d.check(true, format, args...) // else it had returned
	return nil
}
