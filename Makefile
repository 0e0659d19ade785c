# make test is all that a change must pass, and does its own set-up.
MODULES     := . ledger/sqlledger sdk/gosdk cmd/reprise bench
STATICCHECK := go run honnef.co/go/tools/cmd/staticcheck@v0.8.2
RACE         = $(shell command -v cc >/dev/null && echo -race || echo "skipped: the race detector, without cc" >&2)
each         = @set -e; for m in $(MODULES); do echo "== $$m: $(1)"; (cd $$m && $(1)); done

test: deps ## vet, staticcheck, all tests under the race detector, the vectors in JavaScript
	$(call each,go vet ./...)
	$(call each,$(STATICCHECK) ./...)
	$(call each,go test $(RACE) $(TESTFLAGS) ./...)
	GODEBUG=fips140=on go test ./... ./sdk/gosdk
	@if command -v node >/dev/null; then node vectors/verify.mjs; else echo "skipped: vectors/verify.mjs, without node"; fi

deps: ## install what the tests need and this machine lacks
	@.ci/deps

bench: ## a token beside what people use, in one run
	cd bench && go test -run '^$$' -bench . -benchmem .

bench-call: ## CPU of a confirmed call over HTTP, beside the bare SDK
	cd sdk/gosdk && go run ./internal/benchcall

bench-check: ## how fast the wire checker is, in MB/s of JSON Lines
	go test -run '^$$' -bench . -benchmem ./wirecheck

attack: ## 10^8 mutated tokens against Open, some minutes
	cd requeststate && go test -run 'TestAttack$$' -timeout 0 -v . -attack 100000000

conformance: ## every server scenario of the official suite
	cd sdk/gosdk && go test -race -count=1 -v -run TestConformance ./internal/conformance

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' Makefile

tidy: ## go mod tidy in all modules
	@.ci/tidy $(MODULES)

.PHONY: test deps help tidy bench bench-call bench-check attack conformance
