// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package reprise_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-mcp/reprise"
	"github.com/reprise-mcp/reprise/elicitation"
	"github.com/reprise-mcp/reprise/requeststate"
)

var strict = reprise.Options{}

func TestAskedByOneReplicaRedeemedByAnother(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		w := &world{current: "1"}
		req := r.first()
		out := r.engine.Run(t.Context(), req, strict, w.deploy)
		asks(t, out, "confirm")
		if got, want := compact(t, out.Ask.Requests["confirm"].Params), `{"mode":"form","message":"Deploy 2, replacing 1?","requestedSchema":{"type":"object","properties":{"decision":{"type":"string","title":"Decision","oneOf":[{"const":"approve","title":"Yes - go ahead"},{"const":"reject","title":"No - do nothing"}]}},"required":["decision"]}}`; got != want {
			t.Errorf("asked %s\nwant  %s", got, want)
		}
		if n := len(out.Ask.State); n == 0 || n > 256 {
			t.Errorf("the state has %d characters", n)
		}
		w.did(t, 0)
		again := r.retry(req, out, answered(yes))
		again.Arguments = []byte("{ \"version\": 2.0, \"service\":\"\\u0062illing\" }") // another spelling of the same call
		completes(t, r.replica().Run(t.Context(), again, strict, w.deploy), "deployed")
		w.did(t, 1)
	})
}

type window struct {
	Hour int `json:"hour" minimum:"0" maximum:"23"`
}

var windowForm = elicitation.MustForm[window]()

// two asks two questions at once.
func two(ctx context.Context, call *reprise.Call) (any, error) {
	round := call.Round()
	when := reprise.Add(round, "window", windowForm, "When?")
	sure := reprise.Add(round, "sure", yesForm, "Sure?")
	if err := round.Ask(ctx); err != nil {
		return nil, err
	}
	hour, _ := when.Accepted()
	said, ok := sure.Accepted()
	return fmt.Sprintf("%d %t %t %s %s", hour.Hour, said.Sure, ok, when.Action(), sure.Action()), nil
}

type sure struct {
	Sure bool `json:"sure"`
}

var yesForm = elicitation.MustForm[sure]()

const (
	atThree = `{"action":"accept","content":{"hour":3.0}}`
	isSure  = `{"action":"accept","content":{"sure":true}}`
)

func TestSeveralQuestionsInOneRound(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		req := r.first()
		out := r.engine.Run(t.Context(), req, strict, two)
		asks(t, out, "window", "sure")
		completes(t, r.replica().Run(t.Context(), r.retry(req, out, map[string]string{"window": atThree, "sure": isSure}), strict, two), "3 true true accept accept")
	})
}

// wizard asks three questions in turn and branches.
func wizard(ctx context.Context, call *reprise.Call) (any, error) {
	id, err := reprise.Once(ctx, call, "order", func(context.Context) (int64, error) { return orders.Add(1), nil })
	if err != nil {
		return nil, err
	}
	when, err := reprise.Ask(ctx, call, "window", windowForm, "When?")
	if err != nil {
		return nil, err
	}
	hour, ok := when.Accepted()
	if !ok {
		return "no window", nil
	}
	if hour.Hour >= 8 && hour.Hour < 18 {
		day, err := reprise.Confirm(ctx, call, "daytime", "Really during the day?")
		if err != nil {
			return nil, err
		}
		if _, yes := day.Approved(); !yes {
			return "not during the day", nil
		}
	}
	decision, err := reprise.Confirm(ctx, call, "confirm", "Deploy?", hour.Hour)
	if err != nil {
		return nil, err
	}
	approval, yes := decision.Approved()
	if !yes {
		return "no", nil
	}
	return reprise.Do(ctx, call, approval, func(context.Context) (string, error) { return fmt.Sprintf("%d at %d", id, hour.Hour), nil })
}

var orders atomic.Int64

func TestManyRoundsWithoutAStore(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		req := r.first()
		out := r.engine.Run(t.Context(), req, strict, wizard)
		asks(t, out, "window")
		order := orders.Load()
		req = r.retry(req, out, map[string]string{"window": `{"action":"accept","content":{"hour":9}}`})
		out = r.replica().Run(t.Context(), req, strict, wizard)
		asks(t, out, "daytime")
		req = r.retry(req, out, map[string]string{"daytime": yes})
		out = r.replica().Run(t.Context(), req, strict, wizard)
		asks(t, out, "confirm")
		// The client sends the newest answers only.
		req = r.retry(req, out, answered(yes))
		completes(t, r.replica().Run(t.Context(), req, strict, wizard), fmt.Sprintf("%d at 9", order))
		if orders.Load() != order {
			t.Error("a value that is computed once was computed again")
		}
	})
}

// With a sealer whose states can be read, nothing private is carried unless the operator allowed it.
func TestHMACCarriesNothingPrivate(t *testing.T) {
	r := newRig(t, requeststate.HMACSHA256)
	r.config.Readable = false
	e := r.replica()
	out := e.Run(t.Context(), r.first(), strict, wizard)
	if !errors.Is(out.Err, requeststate.ErrReadable) || out.Ask != nil {
		t.Errorf("a value was carried: %v", out.Err)
	}
	req := r.first()
	out = e.Run(t.Context(), req, strict, two)
	asks(t, out, "window", "sure")
	out = e.Run(t.Context(), r.retry(req, out, map[string]string{"sure": isSure}), strict, two)
	if !errors.Is(out.Err, requeststate.ErrReadable) || out.Ask != nil {
		t.Errorf("an answer was carried: %v", out.Err)
	}
}

// A run that takes another way keeps the answers that it did not look at.
func TestAnswersOutliveARunThatDoesNotLook(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		first := ""
		h := func(ctx context.Context, call *reprise.Call) (any, error) {
			for _, key := range []string{first, "a", "b"} {
				if key == "" {
					continue
				}
				if _, err := reprise.Confirm(ctx, call, key, "Well?"); err != nil {
					return nil, err
				}
			}
			return "done", nil
		}
		req := r.first()
		out := r.engine.Run(t.Context(), req, strict, h)
		asks(t, out, "a")
		req = r.retry(req, out, map[string]string{"a": yes})
		out = r.engine.Run(t.Context(), req, strict, h)
		asks(t, out, "b")
		first = "urgent" // comes before the others now, which this run does not reach
		req = r.retry(req, out, map[string]string{"b": yes})
		out = r.engine.Run(t.Context(), req, strict, h)
		asks(t, out, "urgent")
		completes(t, r.engine.Run(t.Context(), r.retry(req, out, map[string]string{"urgent": yes}), strict, h), "done")
	})
}

func TestRoundsAreBounded(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		endless := func(ctx context.Context, call *reprise.Call) (any, error) {
			for i := 0; ; i++ {
				if _, err := reprise.Confirm(ctx, call, fmt.Sprint("q", i), "More?"); err != nil {
					return nil, err
				}
			}
		}
		for _, test := range []struct{ option, want int }{{0, 8}, {1, 1}, {3, 3}} {
			o := reprise.Options{Rounds: test.option}
			req := r.first()
			out := r.engine.Run(t.Context(), req, o, endless)
			asked := 0
			for out.Ask != nil {
				asked++
				req = r.retry(req, out, map[string]string{fmt.Sprint("q", asked-1): yes})
				out = r.engine.Run(t.Context(), req, o, endless)
			}
			refuses(t, out, reprise.ErrRounds)
			if asked != test.want {
				t.Errorf("asked %d rounds, not %d", asked, test.want)
			}
		}
	})
}

func TestStateOnly(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		ready := false
		later := func(_ context.Context, call *reprise.Call) (any, error) {
			if !ready {
				return nil, call.Later()
			}
			return "ready", nil
		}
		req := r.first()
		out := r.engine.Run(t.Context(), req, strict, later)
		asks(t, out)
		if out.Ask.Requests != nil || out.Ask.State == "" {
			t.Errorf("want a state alone, got %s", compact(t, out.Ask))
		}
		req = r.retry(req, out, nil)
		out = r.engine.Run(t.Context(), req, strict, later)
		asks(t, out)
		ready = true
		completes(t, r.engine.Run(t.Context(), r.retry(req, out, nil), strict, later), "ready")

		out = r.engine.Run(t.Context(), r.first(), reprise.Options{QuestionsOnly: true}, func(_ context.Context, call *reprise.Call) (any, error) {
			return nil, call.Later()
		})
		if out.Ask != nil || out.Err == nil {
			t.Errorf("neither questions nor state went out: %+v", out)
		}
	})
}

// What a handler does with the error changes nothing.
func TestSuspensionIsRecordedInTheCall(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	for name, h := range map[string]handler{
		"swallowed": func(ctx context.Context, call *reprise.Call) (any, error) {
			reprise.Confirm(ctx, call, "confirm", "Well?")
			return "done", nil
		},
		"wrapped": func(ctx context.Context, call *reprise.Call) (any, error) {
			_, err := reprise.Confirm(ctx, call, "confirm", "Well?")
			return nil, fmt.Errorf("deploy: %w", err)
		},
		"replaced": func(ctx context.Context, call *reprise.Call) (any, error) {
			reprise.Confirm(ctx, call, "confirm", "Well?")
			return nil, errors.New("something else")
		},
	} {
		t.Run(name, func(t *testing.T) {
			asks(t, r.engine.Run(t.Context(), r.first(), strict, h), "confirm")
		})
	}
	out := r.engine.Run(t.Context(), r.first(), strict, func(context.Context, *reprise.Call) (any, error) { return nil, reprise.ErrSuspended })
	if out.Err == nil || out.Ask != nil {
		t.Errorf("a suspension without a question: %+v", out)
	}
}

func TestKeysAndNames(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	long := strings.Repeat("k", 65)
	for name, h := range map[string]handler{
		"empty key":   confirmUnder(""),
		"long key":    confirmUnder(long),
		"invalid key": confirmUnder("\xff"),
		"two questions under one key": func(ctx context.Context, call *reprise.Call) (any, error) {
			round := call.Round()
			reprise.Add(round, "q", yesForm, "Sure?")
			reprise.Add(round, "q", windowForm, "When?")
			return nil, round.Ask(ctx)
		},
		"two questions in turn under one key": func(ctx context.Context, call *reprise.Call) (any, error) {
			if _, err := reprise.Confirm(ctx, call, "q", "Sure?"); err != nil {
				return nil, err
			}
			_, err := reprise.Confirm(ctx, call, "q", "Really sure?")
			return "two questions, one answer", err
		},
		"facts that are no JSON": func(ctx context.Context, call *reprise.Call) (any, error) {
			_, err := reprise.Confirm(ctx, call, "q", "Sure?", func() {})
			return nil, err
		},
		// encoding/json makes one text of all that is not UTF-8, so two files could pass for one.
		"facts that are no UTF-8": func(ctx context.Context, call *reprise.Call) (any, error) {
			_, err := reprise.Confirm(ctx, call, "q", "Sure?", map[string]string{"\\ file": "caf\xe9"})
			return nil, err
		},
		"a value that is no UTF-8": func(ctx context.Context, call *reprise.Call) (any, error) {
			reprise.Once(ctx, call, "v", func(context.Context) (string, error) { return "caf\xe9", nil })
			return reprise.Once(ctx, call, "v", func(context.Context) (string, error) { return "caf\xe9", nil })
		},
		"a blank message": func(ctx context.Context, call *reprise.Call) (any, error) {
			_, err := reprise.Confirm(ctx, call, "q", " ")
			return nil, err
		},
		"empty name": onceAs(""),
		"long name":  onceAs(long),
		"a value that is no JSON": func(ctx context.Context, call *reprise.Call) (any, error) {
			return reprise.Once(ctx, call, "v", func(context.Context) (func(), error) { return nil, nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			req := r.first()
			out := r.engine.Run(t.Context(), req, strict, h)
			if out.Ask != nil && name == "two questions in turn under one key" {
				out = r.engine.Run(t.Context(), r.retry(req, out, map[string]string{"q": yes}), strict, h)
			}
			if out.Err == nil || out.Ask != nil {
				t.Errorf("%+v", out)
			}
		})
	}
}

func TestOnceFails(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	broken := errors.New("no quote today")
	out := r.engine.Run(t.Context(), r.first(), strict, func(ctx context.Context, call *reprise.Call) (any, error) {
		return reprise.Once(ctx, call, "v", func(context.Context) (int, error) { return 0, broken })
	})
	if !errors.Is(out.Err, broken) {
		t.Errorf("%+v", out)
	}
	// Another release of the server wants another type: an error, not the zero value.
	req := r.first()
	out = r.engine.Run(t.Context(), req, strict, onceAs("v"))
	again := r.retry(req, out, nil)
	out = r.engine.Run(t.Context(), again, strict, func(ctx context.Context, call *reprise.Call) (any, error) {
		return reprise.Once(ctx, call, "v", func(context.Context) (string, error) { t.Error("computed again"); return "", nil })
	})
	if out.Err == nil {
		t.Errorf("%+v", out)
	}
	completes(t, r.engine.Run(t.Context(), again, strict, func(ctx context.Context, call *reprise.Call) (any, error) {
		return reprise.Once(ctx, call, "v", func(context.Context) (int, error) { return 2, nil })
	}), 1)
}

func TestTheHandlerSeesWhoCalls(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	req := r.first()
	completes(t, r.engine.Run(t.Context(), req, strict, func(_ context.Context, call *reprise.Call) (any, error) {
		return call.Principal(), nil
	}), req.Principal)
}

// The same question may be looked at any number of times, and its answer is carried once.
func TestAnAnswerIsCarriedOnce(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		looks := 1
		h := func(ctx context.Context, call *reprise.Call) (any, error) {
			for range looks {
				if _, err := reprise.Confirm(ctx, call, "confirm", "Well?"); err != nil {
					return nil, err
				}
			}
			_, err := reprise.Confirm(ctx, call, "second", "Really?")
			return nil, err
		}
		req := r.first()
		out := r.engine.Run(t.Context(), req, strict, h)
		again := r.retry(req, out, answered(yes))
		once := r.engine.Run(t.Context(), again, strict, h)
		looks = 9
		often := r.engine.Run(t.Context(), again, strict, h)
		if a, b := len(once.Ask.State), len(often.Ask.State); a != b {
			t.Errorf("the state has %d characters after one look and %d after nine", a, b)
		}
	})
}

// A handler runs again from the top in every round, so what it writes before its last answer it writes every time, and
// before anybody agreed. Two unanswered rounds show that; see "How a handler runs".
func TestAnEarlyWriteShows(t *testing.T) {
	for name, early := range map[string]bool{"in Do": false, "before the question": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, requeststate.AES256GCM)
			writes := 0
			h := func(ctx context.Context, call *reprise.Call) (any, error) {
				if early {
					writes++
				}
				decision, err := reprise.Confirm(ctx, call, "confirm", "Well?")
				if err != nil {
					return nil, err
				}
				approval, _ := decision.Approved()
				return reprise.Do(ctx, call, approval, func(context.Context) (any, error) { writes++; return "done", nil })
			}
			req := r.first()
			out := r.engine.Run(t.Context(), req, strict, h)
			out = r.engine.Run(t.Context(), r.retry(req, out, nil), strict, h)
			asks(t, out, "confirm")
			if want := map[bool]int{true: 2}[early]; writes != want {
				t.Errorf("%d writes in two unanswered rounds, not %d", writes, want)
			}
		})
	}
}

// Without Request.Received it is now.
func TestNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, test := range []struct {
			after   time.Duration
			expired bool
		}{{0, false}, {ttl - time.Millisecond, false}, {ttl, true}} {
			r := newRig(t, requeststate.AES256GCM)
			w := &world{current: "1"}
			req := r.first()
			req.Received = time.Time{}
			again := r.retry(req, r.engine.Run(t.Context(), req, strict, w.deploy), answered(yes))
			again.Received = time.Time{}
			<-time.After(test.after)
			out := r.engine.Run(t.Context(), again, strict, w.deploy)
			if test.expired {
				refuses(t, out, requeststate.Expired)
				w.did(t, 0)
			} else {
				completes(t, out, "deployed")
			}
		}
	})
}

func confirmUnder(key string) handler {
	return func(ctx context.Context, call *reprise.Call) (any, error) {
		_, err := reprise.Confirm(ctx, call, key, "Sure?")
		return nil, err
	}
}

func onceAs(name string) handler {
	return func(ctx context.Context, call *reprise.Call) (any, error) {
		if _, err := reprise.Once(ctx, call, name, func(context.Context) (int, error) { return 1, nil }); err != nil {
			return nil, err
		}
		return nil, call.Later()
	}
}

func TestAnErrorOfTheHandlerIsItsOwn(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	broken := errors.New("broken")
	out := r.engine.Run(t.Context(), r.first(), strict, func(context.Context, *reprise.Call) (any, error) { return nil, broken })
	if !errors.Is(out.Err, broken) {
		t.Errorf("%+v", out)
	}
}

func TestAStateThatGetsTooLarge(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	r.config.MaxSize = 512
	out := r.replica().Run(t.Context(), r.first(), strict, func(ctx context.Context, call *reprise.Call) (any, error) {
		if _, err := reprise.Once(ctx, call, "v", func(context.Context) (string, error) { return strings.Repeat("x", 1000), nil }); err != nil {
			return nil, err
		}
		_, err := reprise.Confirm(ctx, call, "confirm", "Well?")
		return nil, err
	})
	var size *requeststate.SizeError
	if !errors.As(out.Err, &size) || out.Ask != nil {
		t.Errorf("%+v", out)
	}
}

func TestAnEndedContextAsksAndDoesNothing(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	w := &world{current: "1"}
	req := r.first()
	ctx, end := context.WithCancel(t.Context())
	end()
	if got := r.engine.Run(ctx, req, strict, w.deploy); !errors.Is(got.Err, context.Canceled) {
		t.Errorf("%+v", got)
	}
	out := r.engine.Run(t.Context(), req, strict, w.deploy)
	again := r.retry(req, out, answered(yes))
	ctx, end = context.WithCancel(t.Context())
	got := r.engine.Run(ctx, again, strict, func(_ context.Context, call *reprise.Call) (any, error) {
		decision, err := reprise.Confirm(ctx, call, "confirm", "Deploy 2, replacing 1?")
		if err != nil {
			return nil, err
		}
		end() // the client leaves
		approval, _ := decision.Approved()
		return reprise.Do(ctx, call, approval, func(context.Context) (string, error) { w.deeds++; return "", nil })
	})
	if !errors.Is(got.Err, context.Canceled) {
		t.Errorf("%+v", got)
	}
	w.did(t, 0)
	ctx, end = context.WithCancel(t.Context())
	got = r.engine.Run(ctx, again, reprise.Options{Reusable: true}, func(_ context.Context, call *reprise.Call) (any, error) {
		decision, err := reprise.Confirm(ctx, call, "confirm", "Deploy 2, replacing 1?")
		if err != nil {
			return nil, err
		}
		end()
		approval, _ := decision.Approved()
		return reprise.Do(ctx, call, approval, func(context.Context) (string, error) { w.deeds++; return "", nil })
	})
	if !errors.Is(got.Err, context.Canceled) {
		t.Errorf("%+v", got)
	}
	w.did(t, 0)
	completes(t, r.engine.Run(t.Context(), again, strict, w.deploy), "deployed")
	w.did(t, 1)
}

// A client that leaves does not stop an effect half way.
func TestAnEffectOutlivesItsClient(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	h := func(ctx context.Context, call *reprise.Call) (any, error) {
		decision, err := reprise.Confirm(ctx, call, "confirm", "Well?")
		if err != nil {
			return nil, err
		}
		approval, _ := decision.Approved()
		return reprise.Do(ctx, call, approval, func(ctx context.Context) (string, error) {
			leave()
			return "done", ctx.Err()
		})
	}
	req := r.first()
	out := r.engine.Run(t.Context(), req, strict, h)
	ctx, end := context.WithCancel(t.Context())
	leave = end
	completes(t, r.engine.Run(ctx, r.retry(req, out, answered(yes)), strict, h), "done")
	refuses(t, r.engine.Run(t.Context(), r.retry(req, out, answered(yes)), strict, h), reprise.ErrRedeemed)
}

var leave func()

func TestALongDeadlineIsNotALongerLife(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		r.config.Lifetime = 15 * time.Minute
		e := r.replica()
		w := &world{current: "1"}
		req := r.first()
		out := e.Run(t.Context(), req, strict, w.deploy)
		// Each round renews the question's life, and the flow's end stays where it is.
		again := r.retry(req, out, nil)
		again.Received = start.Add(9 * time.Minute)
		out = e.Run(t.Context(), again, strict, w.deploy)
		asks(t, out, "confirm")
		last := r.retry(again, out, answered(yes))
		for _, test := range []struct {
			after   time.Duration
			refused bool
		}{{15*time.Minute - time.Millisecond, false}, {15 * time.Minute, true}, {16 * time.Minute, true}} {
			last.Received = start.Add(test.after)
			got := e.Run(t.Context(), last, reprise.Options{Reusable: true}, w.deploy)
			if test.refused {
				if got.Err == nil {
					t.Errorf("it was accepted after %v", test.after)
				}
			} else {
				completes(t, got, "deployed")
			}
		}
	})
}

func TestManyFlowsAtOnce(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	engines := []*replica{r.engine, r.replica(), r.replica()}
	w := &world{current: "1"}
	const flows, tries = 16, 8
	var wg sync.WaitGroup
	for i := range flows {
		req := r.first()
		out := engines[i%3].Run(t.Context(), req, strict, w.deploy)
		again := r.retry(req, out, answered(yes))
		var won atomic.Int64
		for try := range tries {
			wg.Go(func() {
				got := engines[try%3].Run(t.Context(), again, strict, w.deploy)
				switch {
				case got.Result == "deployed":
					won.Add(1)
				case !errors.Is(got.Err, reprise.ErrRedeemed):
					t.Errorf("%+v", got)
				}
			})
		}
		t.Cleanup(func() {
			if won.Load() != 1 {
				t.Errorf("%d wins for one flow", won.Load())
			}
		})
	}
	wg.Wait()
	w.did(t, flows)
}
