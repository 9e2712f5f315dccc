# Log Lab. `make help` lists the targets.
#
# Nothing generated and nothing third-party is committed: `generate` makes it, and every other target
# that needs it runs `generate` first. GNU make, bash and Go are needed; `make test` also needs Chromium
# and npm, and says so.

SHELL       := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

# Where `make run` serves, how long `make fuzz` spends on a target, how many inputs `make test` gives to one,
# how long each part of `make load` takes, how many seeds `make sim` runs.
ADDR     ?= 127.0.0.1:8080
LOADTIME ?= 1m
FUZZTIME ?= 2m
FUZZRUNS ?= 5000x
SEEDS    ?= 1000

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0

# The browser of the tests in web/browsertest: $CHROMIUM, else the first of these that is installed.
export CHROMIUM ?= $(shell command -v chromium || command -v chromium-browser || command -v google-chrome)

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

.PHONY: run
run: build ## generate, build and serve on ADDR (127.0.0.1:8080)
	bin/loglab serve --addr $(ADDR)

.PHONY: build
build: generate ## bin/loglab, a static binary
	CGO_ENABLED=0 go build -trimpath -o bin/loglab ./cmd/loglab

.PHONY: generate
generate: ## templates, browser bundle, table of simplifications
	go tool templ generate -log-level warn
	go run ./tools/fetchassets datastar
	go run ./tools/simplified labs/simplified_gen.go engine labs

.PHONY: test
test: browser generate vet short-fuzz ## everything that must hold: vet, format, short fuzz runs, all Go and browser tests
	go test -timeout 25m -json ./... | go run ./tools/testsummary # a slow machine takes 15 minutes in web/browsertest alone

.PHONY: race
race: browser generate ## all Go and browser tests under the race detector (needs a C compiler)
	CGO_ENABLED=1 go test -race ./...

.PHONY: judge
judge: generate ## compare with Kafka's own classes, kafkajs and librdkafka (the first run fetches them)
	go test -count=1 -timeout 60m -v -tags judge ./judge

.PHONY: bench
bench: generate ## all benchmarks, then load
	go test -run '^$$' -bench . -benchmem ./...
	$(MAKE) load

.PHONY: load
load: build ## thirty clients for a minute, then a minute among hostile ones
	go run ./tools/load -bin bin/loglab -for $(LOADTIME)

# Each test counts for every package, as a learner's request goes through all of them. Generated code is
# left out: it is made of branches for writes that fail.
.PHONY: cover
cover: browser generate ## statements that the tests reach: all, by package, and line by line in bin/cover.html
	@mkdir -p bin
	go test -coverpkg=./... -coverprofile=bin/cover.all ./... >bin/cover.log || { cat bin/cover.log; exit 1; }
	@grep -v -e '_templ\.go:' -e '_gen\.go:' bin/cover.all >bin/cover.out
	@$(cover-by-package)
	go tool cover -html=bin/cover.out -o bin/cover.html

# A line of the profile is "loglab/web/play.go:20.5,22.3 STATEMENTS COUNT", one for each test binary.
define cover-by-package
awk -F '[: ]' 'NR > 1 { block = $$1 ":" $$2; size[block] = $$3; if ($$4 > 0) hit[block] = 1 } \
	END { for (block in size) { package = block; sub("/[^/]*$$", "", package); \
		all[package] += size[block]; sum += size[block]; if (block in hit) { reached[package] += size[block]; reachedSum += size[block] } } \
		for (package in all) printf "%5.1f %%  %s\n", 100 * reached[package] / all[package], package | "sort -k3"; close("sort -k3"); \
		printf "%5.1f %%  all %d statements\n", 100 * reachedSum / sum, sum }' bin/cover.out
endef

# A seed that fails is printed with the command that runs it again.
.PHONY: sim
sim: generate ## SEEDS (1000) new random clusters with random faults, under the invariants
	go test -count=1 -timeout 0 -v -run 'TestSimulator$$' ./engine/enginetest -seeds=$(SEEDS)

.PHONY: fuzz
fuzz: generate ## every fuzz target for FUZZTIME (2m) each
	@$(call each-fuzz-target,$(FUZZTIME))

# A number of inputs and not a time: in Go 1.26 the end of a time can be reported as a failure.
.PHONY: short-fuzz
short-fuzz: generate ## FUZZRUNS (5000x) inputs for every fuzz target
	@$(call each-fuzz-target,$(FUZZRUNS))

# `go test -list` prints the targets of a package and then "ok", the package and a time.
define each-fuzz-target
go test -list '^Fuzz' ./... \
	| awk '/^Fuzz/ { names[++n] = $$1 } /^ok/ { for (i = 1; i <= n; i++) print names[i], $$2; n = 0 }' \
	| while read -r name package; do \
		echo "fuzz $$package $$name"; \
		go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(1) -fuzzminimizetime 100x "$$package" </dev/null; \
	done
endef

.PHONY: vet
vet: generate ## go vet and gofmt
	go vet ./...
	@$(check-gofmt)

.PHONY: lint
lint: generate ## gofmt, templ fmt, go vet, staticcheck
	@$(check-gofmt)
	go tool templ fmt -fail .
	go vet ./...
	go vet -tags judge ./...
	go run $(STATICCHECK) ./...

# The generators' output is not ours to format.
define check-gofmt
unformatted=$$(gofmt -l . | grep -v -e '_templ\.go$$' -e '_gen\.go$$' || true); \
	if [ -n "$$unformatted" ]; then echo "gofmt -w is needed for:"; echo "$$unformatted"; exit 1; fi
endef

.PHONY: vuln
vuln: generate ## known vulnerabilities in what the binary uses
	go run $(GOVULNCHECK) ./...

.PHONY: browser
browser: ## what the browser tests need: Chromium must be there, the accessibility checker is fetched
	@if ! command -v "$(CHROMIUM)" >/dev/null; then \
		echo "The browser tests need Chromium: apt-get install chromium, or set CHROMIUM to its path."; exit 1; \
	fi
	go run ./tools/fetchassets axe

.PHONY: clean
clean: ## remove everything generated, fetched and built
	find . -name '*_templ.go' -not -path './.git/*' -delete
	find static/dist -type f -not -name .keep -delete
	rm -rf labs/simplified_gen.go third_party bin
