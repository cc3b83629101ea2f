# make demo and make test need nothing but Go; every tool is in go.mod.
GO ?= go

.PHONY: demo build test lint bench soak demo-trace same-bytes gate fidelity

demo: build
	@bin/triage demo

build:
	$(GO) build -o bin/triage ./cmd/triage

test: lint
	$(GO) test ./...

lint:
	@test -z "$$(gofmt -l cmd engine policies reports sim traces)" || { gofmt -l cmd engine policies reports sim traces; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

# Ratios are taken within one run; compare two revisions with: make bench > old.txt; ...; go tool benchstat old.txt new.txt
bench:
	$(GO) test -run '^$$' -bench . -benchmem $(BENCH) ./...

# Compares the engine with its reference on many more random cases than the tests do.
soak:
	$(GO) test ./engine/enginetest -run TestEngineMatchesReference -rapid.checks=500000 -timeout 0

# The embedded demo trace, made again from its preset.
demo-trace:
	$(GO) test ./traces -run TestDemo -update

# A build that may fuse multiplications and additions has to print the same bytes as one that may not.
same-bytes:
	GOAMD64=v1 $(GO) build -o bin/triage-v1 ./cmd/triage
	GOAMD64=v3 $(GO) build -o bin/triage-v3 ./cmd/triage
	for v in v1 v3; do \
		bin/triage-$$v replay demo --format json --outcomes bin/$$v.csv >bin/$$v.out && \
		for p in demo chat rag agents near-capacity; do bin/triage-$$v trace generate $$p --requests 3000 -o - --to mooncake 2>/dev/null; done >>bin/$$v.out || exit 1; \
	done
	cmp bin/v1.out bin/v3.out
	cmp bin/v1.csv bin/v3.csv

# The demo trace has to show what the README says of it.
gate: build
	bin/triage replay demo -o bin/gate --force >/dev/null
	bin/triage gate bin/gate -f .ci/gates.yaml --strict

# Simulated latencies against measured ones: make fidelity [DATA=folder]
DATA ?= ../shared/fidelity
fidelity: build
	bin/triage fidelity --data $(DATA)
