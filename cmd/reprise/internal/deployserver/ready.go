// Copyright 2026 The Reprise Authors
// SPDX-License-Identifier: Apache-2.0

package deployserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/reprise-mcp/reprise/ledger"
	"github.com/reprise-mcp/reprise/requeststate"
)

// Readiness is what a replica says about itself at /readyz, with status 200 if it is ready and 503 if not. It names keys and
// holds none.
type Readiness struct {
	Ready  bool     `json:"ready"`
	Keys   []string `json:"keys"`   // ids: the first seals, all open
	Ledger string   `json:"ledger"` // "ok" or "unavailable"
}

func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	var flow ledger.FlowID
	rand.Read(flow[:])
	answer, status := Readiness{Ready: true, Ledger: "ok"}, http.StatusOK
	if _, err := s.ledger.Lookup(r.Context(), s.now(), flow); err != nil {
		s.config.Log.Error("ledger", slog.Any("error", err))
		answer.Ready, answer.Ledger, status = false, "unavailable", http.StatusServiceUnavailable
	}
	for _, id := range s.sealer.Keyring().IDs() {
		answer.Keys = append(answer.Keys, id.String())
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(answer)
}

// AskReady asks the replica at url, of which only scheme and host count, for its readiness.
func AskReady(ctx context.Context, url string) (Readiness, error) {
	var got Readiness
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return got, err
	}
	if request.URL.Host == "" {
		return got, fmt.Errorf("%q is no URL of a replica, such as http://127.0.0.1:8931", url)
	}
	request.URL.Path, request.URL.RawPath, request.URL.RawQuery = "/readyz", "", ""
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return got, err
	}
	defer response.Body.Close()
	err = json.NewDecoder(io.LimitReader(response.Body, 1<<20)).Decode(&got)
	if err != nil || len(got.Keys) == 0 {
		return got, fmt.Errorf("%s answers with status %d, and not with which keys it has", request.URL, response.StatusCode)
	}
	return got, nil
}

// reload has the sealer take the keyring file when it was changed: once a second, and when now says so. A file that cannot be
// used changes nothing, and is told once. The function that it returns ends that.
func (s *Server) reload(ctx context.Context, now <-chan os.Signal) (stop func()) {
	if strings.HasPrefix(s.config.Keyring, "env:") { // which does not change while the process lives
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		told := ""
		for {
			select {
			case <-ctx.Done():
				return
			case <-now:
				told = ""
			case <-tick.C:
			}
			if err := s.takeKeyring(); err == nil {
				told = ""
			} else if told != err.Error() {
				told = err.Error()
				s.config.Log.Error("the keyring stays as it was", slog.Any("error", err))
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

func (s *Server) takeKeyring() error {
	ring, err := requeststate.ReadKeyring(s.config.Keyring)
	if err != nil || slices.Equal(ring.IDs(), s.sealer.Keyring().IDs()) {
		return err
	}
	if err := s.sealer.SetKeyring(ring); err != nil {
		return err
	}
	s.config.Log.Warn("the keyring has changed: the first key seals, all open", slog.Any("keys", ring.IDs()))
	return nil
}
