# Sluice. `make help` lists the targets. Everything that a target needs and that
# is missing on a Debian machine is installed by `make deps`.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO       ?= go
TEMPL    := $(GO) tool templ
LINT     := $(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  := -s -w -X main.version=$(VERSION)
SRC      := static/src

.PHONY: help
help: ## List the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build ./bin/sluice (needs Go alone)
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/sluice ./cmd/sluice

.PHONY: run
run: ## Start the product
	$(GO) run ./cmd/sluice

.PHONY: deps
deps: ## Install what the tests need and the machine lacks (Debian)
	./.ci/deps

.PHONY: npm
npm: $(SRC)/node_modules/.package-lock.json ## Install the locked npm packages

$(SRC)/node_modules/.package-lock.json: $(SRC)/package.json $(SRC)/package-lock.json
	cd $(SRC) && npm ci --no-audit --no-fund --loglevel=error

.PHONY: generate
generate: npm ## Regenerate templ code and the built pages
	$(TEMPL) generate -include-version=false
	cd $(SRC) && npm run --silent build

.PHONY: verify
verify: generate ## Check that generated files are current
	git diff --exit-code -- '*_templ.go' static/dist
	@test -z "$$(git status --porcelain -- static/dist)" || { git status --porcelain -- static/dist; exit 1; }
	$(GO) mod tidy -diff

.PHONY: fmt
fmt: npm ## Format everything
	$(TEMPL) fmt .
	$(LINT) fmt
	cd $(SRC) && npx biome format --write .

.PHONY: lint
lint: npm ## Lint Go and TypeScript
	$(GO) vet ./...
	$(LINT) run
	cd $(SRC) && npm run --silent check && npm run --silent lint

.PHONY: test
test: deps npm ## Run every test: units, both databases, browser journeys
	cd $(SRC) && npm test --silent
	$(GO) test -race -shuffle=on -count=1 -timeout 30m ./...

SEED     ?= 0
DURATION ?= 10m
DATABASE ?= all

.PHONY: soak
soak: ## Try to break the engine's promises (SEED=… DURATION=20m DATABASE=memory|sqlite|postgres|all)
	$(GO) test -count=1 -timeout 0 ./engine/enginetest/promises -parallel 100 \
		-promise.database=$(DATABASE) $(if $(filter-out 0,$(SEED)),-promise.seed=$(SEED),-promise.duration=$(DURATION))

.PHONY: bench
bench: ## Run the benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

.PHONY: fuzz
fuzz: ## Fuzz each parser for half a minute
	$(GO) test -run '^$$' -fuzz FuzzTemplate -fuzztime 30s ./engine/expr
	$(GO) test -run '^$$' -fuzz FuzzExpression -fuzztime 30s ./engine/expr
	$(GO) test -run '^$$' -fuzz FuzzDecode -fuzztime 30s ./engine/expr
	$(GO) test -run '^$$' -fuzz FuzzImportValidate -fuzztime 30s ./engine

.PHONY: vuln
vuln: ## Look for known vulnerabilities (needs the network)
	$(GO) run golang.org/x/vuln/cmd/govulncheck@latest ./...
