// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

// Command benchcall measures what the adapter costs: the CPU time of a server process for a confirmed call over HTTP, both
// requests of the round trip counted, beside the same call on the bare SDK. All servers live in one child process and take
// turns in short blocks of one run.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/reprise-mcp/reprise"
	"github.com/reprise-mcp/reprise/elicitation"
	"github.com/reprise-mcp/reprise/requeststate"
	"github.com/reprise-mcp/reprise/sdk/gosdk"
)

const child = "BENCHCALL_CHILD"

// sides are the servers by path. The first is what the others are compared with.
var sides = []struct{ path, name string }{
	{"/bare", "bare go-sdk: a handler that asks by itself"},
	{"/again", "the same again, to see the noise"},
	{"/long", "the same with a state as long as a sealed one"},
	{"/protect", "that handler under Adapter.Protect"},
	{"/addtool", "AddTool with Confirm and Do"},
}

func main() {
	blocks := flag.Int("blocks", 200, "`number` of turns of each side")
	calls := flag.Int("calls", 100, "round trips in a turn")
	flag.Parse()
	var err error
	if os.Getenv(child) != "" {
		err = serve()
	} else {
		err = measure(*blocks, *calls)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchcall:", err)
		os.Exit(1)
	}
}

// serve is the server process. It ends with its standard input.
func serve() error {
	mux := http.NewServeMux()
	mux.HandleFunc("/cpu", func(w http.ResponseWriter, _ *http.Request) {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprint(w, u.Utime.Nano()+u.Stime.Nano())
	})
	for _, side := range sides {
		handler, err := handlerOf(side.path)
		if err != nil {
			return err
		}
		mux.Handle(side.path, handler)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	go http.Serve(listener, mux)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

type args struct {
	Service     string `json:"service"`
	Environment string `json:"environment"`
}

type result struct {
	Done bool `json:"done"`
}

func handlerOf(path string) (http.Handler, error) {
	server := mcp.NewServer(&mcp.Implementation{Name: "bench", Version: "1.0.0"}, nil)
	if path == "/addtool" || path == "/protect" {
		ring, err := requeststate.NewKeyring(requeststate.NewKey())
		if err != nil {
			return nil, err
		}
		sealer, err := requeststate.New(requeststate.Config{Keyring: ring, Audience: "urn:reprise:bench"})
		if err != nil {
			return nil, err
		}
		engine, err := reprise.New(reprise.Config{Sealer: sealer, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			return nil, err
		}
		adapter, err := gosdk.New(server, gosdk.Config{Engine: engine, Identity: gosdk.Anonymous()})
		if err != nil {
			return nil, err
		}
		o := reprise.Options{Reusable: true} // the ledger is off
		if path == "/addtool" {
			return gosdk.NewHTTPHandler(server, nil), gosdk.AddTool(adapter, tool(), o, confirmed)
		}
		mcp.AddTool(server, tool(), byHand("asked"))
		return gosdk.NewHTTPHandler(server, nil), adapter.Protect(o)
	}
	state := "asked"
	if path == "/long" {
		state = strings.Repeat("0123456789abcdef", 15)
	}
	mcp.AddTool(server, tool(), byHand(state))
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true}), nil
}

func tool() *mcp.Tool { return &mcp.Tool{Name: "restart", Description: "Restart a service."} }

func confirmed(ctx context.Context, call *reprise.Call, in args) (result, error) {
	decision, err := reprise.Confirm(ctx, call, "confirm", "Restart "+in.Service+" in "+in.Environment+"?")
	approval, yes := decision.Approved()
	if err != nil || !yes {
		return result{}, err
	}
	return reprise.Do(ctx, call, approval, func(context.Context) (result, error) { return result{Done: true}, nil })
}

type choice struct {
	Decision string `json:"decision" title:"Decision" enum:"approve=Yes - go ahead,reject=No - do nothing"`
}

// schema is made once, as the other side does.
var schema = json.RawMessage(elicitation.MustForm[choice]().Schema().JSON())

// byHand is the same tool as it is written against the SDK, with a state that anybody could make.
func byHand(state string) mcp.ToolHandlerFor[args, result] {
	return func(_ context.Context, req *mcp.CallToolRequest, in args) (*mcp.CallToolResult, result, error) {
		answer, ok := req.Params.InputResponses["confirm"].(*mcp.ElicitResult)
		if !ok || req.Params.RequestState != state {
			return &mcp.CallToolResult{RequestState: state, InputRequests: mcp.InputRequestMap{"confirm": &mcp.ElicitParams{
				Mode: "form", Message: "Restart " + in.Service + " in " + in.Environment + "?", RequestedSchema: schema,
			}}}, result{}, nil
		}
		return nil, result{Done: answer.Action == "accept" && answer.Content["decision"] == "approve"}, nil
	}
}

// server is the child process as the parent sees it.
type server struct {
	base   string
	client *http.Client
}

func (s *server) cpu() (float64, error) {
	res, err := s.client.Get(s.base + "/cpu")
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(string(text), 64)
}

// clients call at the same time, as they do in a server that has something to do.
const clients = 8

// roundTrips makes n round trips, by all clients together.
func (s *server) roundTrips(path string, n int) error {
	errs := make(chan error, clients)
	var left atomic.Int64
	left.Store(int64(n))
	for range clients {
		go func() {
			var err error
			for err == nil && left.Add(-1) >= 0 {
				err = s.roundTrip(path)
			}
			errs <- err
		}()
	}
	var err error
	for range clients {
		err = errors.Join(err, <-errs)
	}
	return err
}

// roundTrip asks and answers.
func (s *server) roundTrip(path string) error {
	first, err := s.post(path, "")
	if err != nil {
		return err
	}
	if first.Result.RequestState == "" {
		return errors.New("nothing was asked")
	}
	state, err := json.Marshal(first.Result.RequestState)
	if err != nil {
		return err
	}
	second, err := s.post(path, `,"inputResponses":{"confirm":{"action":"accept","content":{"decision":"approve"}}},"requestState":`+string(state))
	if err == nil && !second.Result.StructuredContent.Done {
		err = errors.New("the call was not done")
	}
	return err
}

type response struct {
	Result struct {
		RequestState      string
		StructuredContent result
	}
}

func (s *server) post(path, more string) (*response, error) {
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"restart","arguments":{"service":"billing","environment":"production"},` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}` + more + `}}`
	req, err := http.NewRequest(http.MethodPost, s.base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"restart"},
	}
	res, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	if _, data, ok := bytes.Cut(text, []byte("data: ")); ok {
		text = data
	}
	var r response
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&r); err != nil {
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	return &r, nil
}

func measure(blocks, calls int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), child+"=1")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer cmd.Wait()
	defer stdin.Close()
	var address string
	if _, err := fmt.Fscanln(stdout, &address); err != nil {
		return err
	}
	s := &server{"http://" + address, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}}
	costs := make([][]float64, len(sides)) // nanoseconds a round trip, by side and block
	for block := -2; block < blocks; block++ {
		for turn := range sides {
			i := (turn + block + 2) % len(sides) // nobody is always first
			before, err := s.cpu()
			if err != nil {
				return err
			}
			if err := s.roundTrips(sides[i].path, calls); err != nil {
				return fmt.Errorf("%s: %w", sides[i].path, err)
			}
			after, err := s.cpu()
			if err != nil {
				return err
			}
			if block >= 0 { // the first ones warm up
				costs[i] = append(costs[i], (after-before)/float64(calls))
			}
		}
	}
	fmt.Printf("CPU of the server process for a round trip of two requests, median of %d turns of %d round trips;\nthe ratio is the median of the turns' ratios, with its 95%% interval\n\n", blocks, calls)
	for i, side := range sides {
		ratios := make([]float64, blocks)
		for b := range ratios {
			ratios[b] = costs[i][b] / costs[0][b]
		}
		slices.Sort(ratios)
		// The interval of a median, from the order of the values: no distribution is assumed.
		margin := int(0.98 * math.Sqrt(float64(blocks)))
		low, high := max(0, blocks/2-margin), min(blocks-1, blocks/2+margin)
		fmt.Printf("%-45s %8.1f µs   %.3f  [%.3f, %.3f]\n", side.name, median(costs[i])/1000, ratios[blocks/2], ratios[low], ratios[high])
	}
	return nil
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
