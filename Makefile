# Needs node (20 or later), npm and make. The pinned Node 24, pnpm and everything else come with `make install`.
PNPM := npx --yes pnpm@12.21.0
INSTALLED := node_modules/.installed
LOCAL := node tools/local/dist/main.js

export PATH := $(CURDIR)/node_modules/.bin:$(PATH)

.DEFAULT_GOAL := help
.PHONY: help install build check test cluster pbx demo bench chaos up down try-containers format docs manifests

# $(call step,name,command): one line with the time it took; the command's output only when it fails.
step = @printf '  %-20s' '$(1)'; began=$$(date +%s); said=$$( { $(2); } 2>&1 ) && echo "ok  $$(($$(date +%s) - began)) s" || \
  { echo FAILED; printf '%s\n' "$$said"; exit 1; }

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(INSTALLED) ## the tool chain and the packages, as the lockfile pins them

$(INSTALLED): pnpm-lock.yaml pnpm-workspace.yaml $(wildcard package.json packages/*/package.json services/*/package.json tools/*/package.json tests/*/package.json)
	$(call step,install,$(PNPM) install --frozen-lockfile)
	@touch $@

build: $(INSTALLED)
	$(call step,build,tsc -b)

# Types go before lint: the linter reads other packages' types from what the compiler has built.
check: $(INSTALLED) ## format, lint, types, unused code, unit tests: seconds
	$(call step,format,biome ci .)
	$(call step,types,tsc -b && tsc -p tsconfig.test.json)
	$(call step,lint,oxlint --type-aware --deny-warnings)
	$(call step,unused code,knip)
	$(call step,unit tests,jest --selectProjects unit)

TEST_REPORTERS := --reporters=./tests/jest/progress.mjs --reporters=summary --reporters=./tests/jest/closing-line.mjs

# One test file at a time: some kill parts of the one stack that they share, or put the one broker into alarm.
test: build ## everything, from nothing: what CI runs
	@jest --selectProjects unit it e2e --maxWorkers=1 $(TEST_REPORTERS)

cluster: build ## three RabbitMQ nodes and three Redis nodes, killed one after the other: docs/scaling.md
	@jest --selectProjects cluster --maxWorkers=1

pbx: build ## a real Asterisk with SIP phones, downloaded at the first time (72 MB): every platform test, by real calls
	@jest --selectProjects pbx --maxWorkers=1

demo: build ## the whole service at work, from nothing, to watch
	@$(LOCAL) demo

try-containers: build ## docker compose, tried: built, started, played on, scaled and killed at under load, removed
	@$(LOCAL) try-containers

bench: build ## what it can do, beside a baseline in the same run: docs/benchmarks.md (FIGURES=latency,noisy: some of it)
	@node tools/bench/dist/main.js

chaos: build ## faults under load, then a check of every event: CONTRIBUTING.md (KILLS, SEED, FAULTS, REPORT)
	@node tools/chaos/dist/main.js

up: build ## the stack in the background; again: starts whatever of it is not running
	@$(LOCAL) up

down: ## the stack stopped, nothing left running
	@test ! -e tools/local/dist/main.js || $(LOCAL) down

format: $(INSTALLED) ## format and sort imports
	@biome check --write .

docs: $(INSTALLED) ## writes docs/openapi.json, docs/asyncapi.json and docs/configuration.md from the code
	@node --conditions=source services/api/src/openapi/write-document.ts
	@node --conditions=source tools/reference/src/write-configuration.ts

manifests: $(INSTALLED) ## infra/kubernetes/rendered anew, from the overlays; needs kubectl
	@node tests/deployment/src/build-manifests.ts
