# make demo and make test need nothing but Go; every tool is in go.mod.
GO ?= go

.PHONY: demo build test race lint bench soak fuzz demo-trace same-bytes gate fidelity fidelity-table signals-table fit

demo: build
	@bin/triage demo

build:
	$(GO) build -o bin/triage ./cmd/triage

test: lint race
	$(GO) test ./...

# A live router calls package policies from many goroutines; runs and searches share traces and memory between workers.
# make race RACE=./... looks everywhere, in some ten minutes. The race detector needs a C compiler on some systems; where
# there is none, go does without cgo.
RACE ?= ./policies/... ./sim ./sim/tune
race:
	@if [ "$$($(GO) env CGO_ENABLED)" = 1 ]; then set -x; $(GO) test -race $(RACE); else echo "no C compiler: races are not looked for"; fi

lint:
	@test -z "$$(gofmt -l cmd engine policies reports sim traces)" || { gofmt -l cmd engine policies reports sim traces; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

# Ratios are taken within one run; compare two revisions with: make bench > old.txt; ...; go tool benchstat old.txt new.txt
bench:
	$(GO) test -run '^$$' -bench . -benchmem $(BENCH) ./...

# Compares the engine with its reference on many more random cases than the tests do: make soak [SOAK=500000], or for a
# time: make soak SOAK=30m. make fuzz [FUZZ=10m] looks for cases by what they reach in the code.
SOAK ?= 500000
soak:
	SOAK=$(SOAK) $(GO) test ./engine/enginetest -run TestSoak -v -timeout 0

FUZZ ?= 10m
fuzz:
	$(GO) test ./engine/enginetest -run '^$$' -fuzz FuzzEngine -fuzzminimizetime 10x -fuzztime $(FUZZ)

# The embedded demo trace, made again from its preset.
demo-trace:
	$(GO) test ./traces -run TestDemo -update

# A build that may fuse multiplications and additions has to print the same bytes as one that may not.
same-bytes:
	GOAMD64=v1 $(GO) build -o bin/triage-v1 ./cmd/triage
	GOAMD64=v3 $(GO) build -o bin/triage-v3 ./cmd/triage
	for v in v1 v3; do \
		bin/triage-$$v replay demo --format json --outcomes bin/$$v.csv >bin/$$v.out && \
		bin/triage-$$v tune demo --grid q=0.3,3 --grid norm=work,absolute --grid fit=spill,off -o bin/tune-$$v --force --plots none >/dev/null && \
		for p in demo chat rag agents near-capacity; do bin/triage-$$v trace generate $$p --requests 3000 -o - --to mooncake 2>/dev/null; done >>bin/$$v.out || exit 1; \
	done
	cmp bin/v1.out bin/v3.out
	cmp bin/v1.csv bin/v3.csv
	cmp bin/tune-v1/sweep.parquet bin/tune-v3/sweep.parquet
	cmp bin/tune-v1/result.json bin/tune-v3/result.json

# The demo trace has to show what the README says of it. A replay is no slower than itself; one whose steps take 5 % longer
# is, and the gates have to find it: exit code 3.
gate: build
	bin/triage replay demo -o bin/gate --force --plots none >/dev/null
	bin/triage replay demo -o bin/gate-slow --force --plots none --cost-scale 1.05 >/dev/null
	bin/triage gate bin/gate -f .ci/gates.yaml --strict --junit bin/gates.xml --summary bin/gates.md
	bin/triage gate bin/gate -f .ci/gates-baseline.yaml --strict --junit bin/gates-baseline.xml --summary bin/gates-baseline.md
	bin/triage gate bin/gate-slow -f .ci/gates-baseline.yaml --strict --junit bin/gates-slow.xml --summary bin/gates-slow.md; \
		code=$$?; test $$code = 3 || { echo "exit code $$code for a replay that is 5 % slower, want 3"; exit 1; }
	grep -q '<failure' bin/gates-slow.xml
	! grep -q '<failure' bin/gates.xml bin/gates-baseline.xml

# Simulated latencies against measured ones: make fidelity [DATA=folder]
DATA ?= ../shared/fidelity
fidelity: build
	bin/triage fidelity --data $(DATA)

# The coefficients of the cost model, fitted to the measurements again and written to engine/fitted.go; then make fidelity-table.
fit:
	$(GO) test ./sim/fidelity -run 'TestFitted$$' -update -timeout 30m

# After a change of step times: the table of errors that every result's "can I trust it?" goes by, and what the README says
# of it, both made again from the measurements.
fidelity-table: build
	bin/triage fidelity --data $(DATA) --write-table sim/trust/errors.json >/dev/null
	$(GO) test ./reports -run TestReadmeErrors -update

# The tables of signals and routers, from the public Mooncake conversation trace beside the checkout.
signals-table:
	$(GO) test ./reports -run TestSignalsTable -update
