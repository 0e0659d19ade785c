// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package reprise_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-mcp/reprise"
	"github.com/reprise-mcp/reprise/elicitation"
)

type place struct {
	Region string `json:"region" enum:"eu,us,ap"`
}

type plan struct {
	Size string `json:"size" enum:"small,large"`
}

type review struct {
	Next string `json:"next" enum:"go on,choose another region"`
}

var (
	placeForm  = elicitation.MustForm[place]()
	planForm   = elicitation.MustForm[plan]()
	reviewForm = elicitation.MustForm[review]()
)

// provision asks in up to five rounds. What a region costs is known only when the size is, so a user may go back to the region:
// that is the question under another key, and the answer that it replaces stays behind.
func provision(ctx context.Context, call *reprise.Call) (any, error) {
	round := call.Round()
	where := reprise.Add(round, "region", placeForm, "Which region?")
	when := reprise.Add(round, "window", windowForm, "When?")
	if err := round.Ask(ctx); err != nil {
		return nil, err
	}
	at, ok := where.Accepted()
	hour, ok2 := when.Accepted()
	if !ok || !ok2 {
		return "nothing", nil
	}
	size, err := reprise.Ask(ctx, call, "size", planForm, "Which size?")
	if err != nil {
		return nil, err
	}
	chosen, ok := size.Accepted()
	if !ok {
		return "nothing", nil
	}
	if at.Region == "ap" { // costs more, so it is looked at once more
		looked, err := reprise.Ask(ctx, call, "review", reviewForm, fmt.Sprintf("%s in %s costs twice as much.", chosen.Size, at.Region), at.Region, chosen.Size)
		if err != nil {
			return nil, err
		}
		if next, _ := looked.Accepted(); next.Next == "choose another region" {
			again, err := reprise.Ask(ctx, call, "region again", placeForm, "Which region then?")
			if err != nil {
				return nil, err
			}
			if at, ok = again.Accepted(); !ok {
				return "nothing", nil
			}
		}
	}
	decision, err := reprise.Confirm(ctx, call, "confirm", fmt.Sprintf("Provision %s in %s?", chosen.Size, at.Region), at.Region, chosen.Size, hour.Hour)
	if err != nil {
		return nil, err
	}
	approval, yes := decision.Approved()
	if !yes {
		return "nothing", nil
	}
	return reprise.Do(ctx, call, approval, func(context.Context) (string, error) {
		return fmt.Sprintf("%s in %s at %d", chosen.Size, at.Region, hour.Hour), nil
	})
}

func chooses(member, value string) string {
	return fmt.Sprintf(`{"action":"accept","content":{%q:%q}}`, member, value)
}

// Each round goes to another replica, and the client sends only its newest answers.
func TestWizardOfFiveRounds(t *testing.T) {
	type step struct{ key, answer string }
	first := func(region string) map[string]string {
		return map[string]string{"region": chooses("region", region), "window": atThree}
	}
	tests := map[string]struct {
		region string
		steps  []step
		want   string
	}{
		"straight":      {"eu", []step{{"size", chooses("size", "small")}, {"confirm", yes}}, "small in eu at 3"},
		"reviewed":      {"ap", []step{{"size", chooses("size", "large")}, {"review", chooses("next", "go on")}, {"confirm", yes}}, "large in ap at 3"},
		"back":          {"ap", []step{{"size", chooses("size", "large")}, {"review", chooses("next", "choose another region")}, {"region again", chooses("region", "us")}, {"confirm", yes}}, "large in us at 3"},
		"no at the end": {"ap", []step{{"size", chooses("size", "large")}, {"review", chooses("next", "choose another region")}, {"region again", chooses("region", "us")}, {"confirm", no}}, "nothing"},
		"declined":      {"ap", []step{{"size", decline}}, "nothing"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, r *rig) {
				req := r.first()
				out := r.engine.Run(t.Context(), req, strict, provision)
				asks(t, out, "region", "window")
				answers := first(test.region)
				for i, s := range test.steps {
					req = r.retry(req, out, answers)
					out = r.replica().Run(t.Context(), req, strict, provision)
					asks(t, out, s.key)
					answers = map[string]string{s.key: s.answer}
					if n := len(out.Ask.State); n > 1000 {
						t.Errorf("after %d answers the state has %d characters", i+2, n)
					}
				}
				last := r.retry(req, out, answers)
				completes(t, r.replica().Run(t.Context(), last, strict, provision), test.want)
				refuses(t, r.replica().Run(t.Context(), last, strict, provision), reprise.ErrRedeemed)
			})
		})
	}
}

type essay struct {
	Text string `json:"text"`
}

var essayForm = elicitation.MustForm[essay]()

// What does not fit into a state is refused in words that say what to do, and the state before it still holds.
func TestWizardOutgrowsItsState(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		h := func(ctx context.Context, call *reprise.Call) (any, error) {
			if _, err := reprise.Ask(ctx, call, "essay", essayForm, "Why?"); err != nil {
				return nil, err
			}
			decision, err := reprise.Confirm(ctx, call, "confirm", "Sure?")
			return decision.String(), err
		}
		req := r.first()
		out := r.engine.Run(t.Context(), req, strict, h)
		got := r.engine.Run(t.Context(), r.retry(req, out, map[string]string{"essay": chooses("text", strings.Repeat("x", 100_000))}), strict, h)
		if got.Err == nil || !strings.Contains(got.Err.Error(), "too large to carry") || !strings.Contains(got.Err.Error(), "shorter answers") {
			t.Fatalf("error %v", got.Err)
		}
		out = r.engine.Run(t.Context(), r.retry(req, out, map[string]string{"essay": chooses("text", "short")}), strict, h)
		asks(t, out, "confirm")
	})
}
