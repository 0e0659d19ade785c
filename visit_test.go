// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package reprise_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-mcp/reprise"
	"github.com/reprise-mcp/reprise/elicitation"
	"github.com/reprise-mcp/reprise/requeststate"
	"github.com/reprise-mcp/reprise/wire"
)

// A page is what a user does outside of the conversation.
type page struct {
	ended chan struct{} // closed when the user has finished
	said  verdict
	err   error
	deeds int
	links []string
}

type verdict string

func (v verdict) String() string { return string(v) + " (page verified)" }

func newPage(said verdict) *page { return &page{ended: make(chan struct{}), said: said} }

func (p *page) outcome(ctx context.Context) (verdict, error) {
	select {
	case <-p.ended:
		return p.said, p.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (p *page) handle(ctx context.Context, call *reprise.Call) (any, error) {
	p.links = append(p.links, call.Link("approval"))
	link, err := elicitation.NewURL("https://deploy.example/connect/" + call.Link("approval"))
	if err != nil {
		return nil, err
	}
	answer, err := reprise.Visit(ctx, call, "approval", link, "Approve the deployment?", p.outcome)
	if err != nil {
		return nil, err
	}
	approval, yes := answer.Approve(func(v verdict) bool { return v == "approved" })
	if !yes {
		said, _ := answer.Accepted()
		return string(answer.Action()) + ":" + string(said), nil
	}
	return reprise.Do(ctx, call, approval, func(context.Context) (string, error) {
		p.deeds++
		return "deployed", nil
	})
}

func (r *rig) browser() *reprise.Request {
	req := r.first()
	req.Capabilities = wire.Declare("elicitation.url")
	return req
}

const consent = `{"action":"accept"}`

var visits = map[string]string{"approval": consent}

// linkOf is the link that out asks to open.
func linkOf(t testing.TB, out reprise.Outcome) string {
	t.Helper()
	asks(t, out, "approval")
	var params struct{ Mode, URL string }
	if err := json.Unmarshal(out.Ask.Requests["approval"].Params, &params); err != nil || params.Mode != "url" {
		t.Fatal(params, err)
	}
	return params.URL
}

func TestVisit(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		p := newPage("approved")
		req := r.browser()
		out := r.engine.Run(t.Context(), req, strict, p.handle)
		linkOf(t, out)
		close(p.ended)
		completes(t, r.replica().Run(t.Context(), r.retry(req, out, visits), strict, p.handle), "deployed")
		refuses(t, r.replica().Run(t.Context(), r.retry(req, out, visits), strict, p.handle), reprise.ErrRedeemed)
		if p.deeds != 1 {
			t.Errorf("deployed %d times", p.deeds)
		}
	})
}

// An accept is consent to open the page, not the end of what happens there.
func TestVisitWaitsAndAsksAgain(t *testing.T) {
	for _, wait := range []time.Duration{0, 20 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, requeststate.AES256GCM)
			p := newPage("approved")
			req := r.browser()
			o := reprise.Options{Wait: wait}
			out := r.engine.Run(t.Context(), req, o, p.handle)
			link := linkOf(t, out)
			for range 3 {
				begin := time.Now()
				out = r.replica().Run(t.Context(), r.retry(req, out, visits), o, p.handle)
				if waited := time.Since(begin); wait == 0 && waited != 5*time.Second || wait != 0 && waited != wait {
					t.Errorf("waited %v", waited)
				}
				if again := linkOf(t, out); again != link {
					t.Errorf("asked again with %s in place of %s", again, link)
				}
			}
			time.AfterFunc(3*time.Second, func() { close(p.ended) })
			begin := time.Now()
			completes(t, r.replica().Run(t.Context(), r.retry(req, out, visits), o, p.handle), "deployed")
			if waited := time.Since(begin); waited != 3*time.Second {
				t.Errorf("went on after %v, and not when the user had finished", waited)
			}
		})
	}
}

func TestVisitEndsAfterSomeRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, requeststate.AES256GCM)
		p := newPage("approved")
		req := r.browser()
		o := reprise.Options{Rounds: 2}
		out := r.engine.Run(t.Context(), req, o, p.handle)
		out = r.engine.Run(t.Context(), r.retry(req, out, visits), o, p.handle)
		linkOf(t, out)
		refuses(t, r.engine.Run(t.Context(), r.retry(req, out, visits), o, p.handle), reprise.ErrRounds)
	})
}

func TestVisitOutcomes(t *testing.T) {
	denied, broken := newPage("denied"), newPage("")
	broken.err = errors.New("store is down")
	for name, test := range map[string]struct {
		page     *page
		response string
		want     any
		err      string
	}{
		"denied on the page":             {denied, consent, "accept:denied", ""},
		"declined in the client":         {newPage("approved"), decline, "decline:", ""},
		"cancelled in the client":        {newPage("approved"), cancel, "cancel:", ""},
		"the page cannot tell":           {broken, consent, nil, "store is down"},
		"content of an accept is no yes": {denied, `{"action":"accept","content":{"decision":"approved"}}`, "accept:denied", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, requeststate.AES256GCM)
			test.page.ended = closed
			req := r.browser()
			out := r.engine.Run(t.Context(), req, strict, test.page.handle)
			out = r.engine.Run(t.Context(), r.retry(req, out, map[string]string{"approval": test.response}), strict, test.page.handle)
			if test.err != "" {
				if out.Err == nil || !strings.Contains(out.Err.Error(), test.err) {
					t.Errorf("error %v", out.Err)
				}
			} else {
				completes(t, out, test.want)
			}
			if test.page.deeds != 0 {
				t.Error("deployed")
			}
		})
	}
}

var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// A client that is gone does not make the user be asked again.
func TestVisitEndsWithTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, requeststate.AES256GCM)
		p := newPage("approved")
		req := r.browser()
		out := r.engine.Run(t.Context(), req, strict, p.handle)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		out = r.engine.Run(ctx, r.retry(req, out, visits), strict, p.handle)
		if !errors.Is(out.Err, context.Canceled) {
			t.Errorf("error %v, asked %v", out.Err, out.Ask)
		}
	})
}

func TestVisitNeedsItsCapability(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	p := newPage("approved")
	for _, declared := range []wire.Capabilities{{}, wire.Declare("elicitation"), wire.Declare("elicitation.form")} {
		req := r.first()
		req.Capabilities = declared
		e := protocol(t, r.engine.Run(t.Context(), req, strict, p.handle), wire.CodeMissingCapability)
		if !strings.Contains(string(e.Data), `"url"`) {
			t.Errorf("data %s", e.Data)
		}
	}
	// It is declared in each request: one that waits for the user and does not have it any more cannot be asked again.
	synctest.Test(t, func(t *testing.T) {
		r, p := newRig(t, requeststate.AES256GCM), newPage("approved")
		req := r.browser()
		out := r.engine.Run(t.Context(), req, strict, p.handle)
		again := r.retry(req, out, visits)
		again.Capabilities = wire.Declare("elicitation.form")
		protocol(t, r.engine.Run(t.Context(), again, strict, p.handle), wire.CodeMissingCapability)
	})
}

func TestLinks(t *testing.T) {
	r := newRig(t, requeststate.AES256GCM)
	var links []string
	h := func(ctx context.Context, call *reprise.Call) (any, error) {
		links = append(links, call.Link("a"), call.Link("b"))
		_, err := reprise.Confirm(ctx, call, "confirm", "Go on?")
		return nil, err
	}
	req := r.first()
	out := r.engine.Run(t.Context(), req, strict, h)
	r.replica().Run(t.Context(), r.retry(req, out, nil), strict, h)
	r.engine.Run(t.Context(), r.first(), strict, h)
	if len(links) != 6 || links[0] != links[2] || links[1] != links[3] {
		t.Fatalf("the links of a flow change: %q", links)
	}
	for i, link := range links {
		if len(link) != 32 || i != 2 && i != 0 && link == links[0] {
			t.Errorf("link %d of %q", i, links)
		}
	}
}

// audited is a rig whose engines write audit records, and the records.
func audited(t *testing.T) (*rig, func() []map[string]any) {
	r := newRig(t, requeststate.AES256GCM)
	sealer, err := requeststate.New(r.config)
	if err != nil {
		t.Fatal(err)
	}
	log := &safeBuffer{}
	e, err := reprise.New(reprise.Config{Sealer: sealer, Ledger: r.ledger, Logger: slog.New(slog.DiscardHandler),
		Audit: slog.New(slog.NewJSONHandler(log, nil)).With("replica", "r1")})
	if err != nil {
		t.Fatal(err)
	}
	r.engine = &replica{e, t}
	return r, func() []map[string]any {
		var records []map[string]any
		for line := range bytes.Lines([]byte(log.String())) {
			var record map[string]any
			if err := json.Unmarshal(line, &record); err != nil {
				t.Fatal(err)
			}
			records = append(records, record)
		}
		return records
	}
}

func TestAudit(t *testing.T) {
	r, records := audited(t)
	p := newPage("approved")
	close(p.ended)
	h := func(ctx context.Context, call *reprise.Call) (any, error) {
		when, err := reprise.Ask(ctx, call, "window", windowForm, "When?")
		if err != nil {
			return nil, err
		}
		hour, _ := when.Accepted()
		call.Audit(slog.Int("hour", hour.Hour))
		return p.handle(ctx, call)
	}
	req := r.browser()
	req.Capabilities = wire.Declare("elicitation.form", "elicitation.url")
	out := r.engine.Run(t.Context(), req, strict, h)
	out = r.engine.Run(t.Context(), r.retry(req, out, map[string]string{"window": atThree}), strict, h)
	if got := records(); len(got) != 0 {
		t.Fatalf("a flow that goes on has a record: %v", got)
	}
	last := r.retry(req, out, visits)
	last.Received = start.Add(90 * time.Second)
	completes(t, r.engine.Run(t.Context(), last, strict, h), "deployed")
	refuses(t, r.engine.Run(t.Context(), last, strict, h), reprise.ErrRedeemed)
	got := records()
	if len(got) != 1 {
		t.Fatalf("%d records of one flow: %v", len(got), got)
	}
	flow, _ := got[0]["flow"].(string)
	if len(flow) != 32 || strings.Trim(flow, "0") == "" {
		t.Errorf("flow %q", flow)
	}
	delete(got[0], "flow")
	delete(got[0], "time")
	want := `{"executed":"done","hour":3,"level":"INFO","method":"tools/call","msg":"flow",` +
		`"principal":"user \"https://issuer.example\" \"alice\"",` +
		`"questions":{"approval":{"client_reported":"accept","kind":"elicitation.url","message":"Approve the deployment?","page":"approved (page verified)"},` +
		`"window":{"client_reported":"accept","kind":"elicitation.form","message":"When?"}},` +
		`"replica":"r1","rounds":2,"started":"2026-12-01T12:00:00Z","target":"deploy","took":90000000000}`
	if text := compact(t, got[0]); text != want {
		t.Errorf("record %s\nwant   %s", text, want)
	}
}

func TestAuditOfOtherEnds(t *testing.T) {
	fails := func(ctx context.Context, call *reprise.Call) (any, error) {
		decision, err := reprise.Confirm(ctx, call, "confirm", "Go on?")
		if err != nil {
			return nil, err
		}
		approval, _ := decision.Approved()
		return reprise.Do(ctx, call, approval, func(context.Context) (string, error) { return "", errors.New("disk is full") })
	}
	panics := func(ctx context.Context, call *reprise.Call) (any, error) {
		decision, err := reprise.Confirm(ctx, call, "confirm", "Go on?")
		if err != nil {
			return nil, err
		}
		approval, _ := decision.Approved()
		return reprise.Do(ctx, call, approval, func(context.Context) (string, error) { panic("at the disco") })
	}
	for name, test := range map[string]struct {
		handler          handler
		response         string
		reported, record string
	}{
		"declined":           {(&world{}).deploy, decline, "decline", "nothing"},
		"an explicit no":     {(&world{}).deploy, no, "accept", "nothing"},
		"the effect failed":  {fails, yes, "accept", "failed"},
		"the effect panics":  {panics, yes, "accept", "failed"},
		"done without pages": {(&world{}).deploy, yes, "accept", "done"},
	} {
		t.Run(name, func(t *testing.T) {
			r, records := audited(t)
			req := r.first()
			out := r.engine.Run(t.Context(), req, strict, test.handler)
			func() {
				defer func() { recover() }()
				r.engine.Run(t.Context(), r.retry(req, out, answered(test.response)), strict, test.handler)
			}()
			got := records()
			if len(got) != 1 {
				t.Fatalf("%d records", len(got))
			}
			question := got[0]["questions"].(map[string]any)["confirm"].(map[string]any)
			if got[0]["executed"] != test.record || question["client_reported"] != test.reported {
				t.Errorf("record %v", got[0])
			}
		})
	}
}
