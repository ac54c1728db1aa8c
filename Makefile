# Needs node (20 or later), npm and make. The pinned Node 24, pnpm and everything else come with `make install`.
PNPM := npx --yes pnpm@12.21.0
INSTALLED := node_modules/.installed
# Its requests stay on this machine, also in a shell whose Node.js uses a proxy.
LOCAL := NODE_USE_ENV_PROXY= node --conditions=source tools/local/src/make.ts
# The console is built again only if one of its sources is newer than the result.
CONSOLE := packages/products/console/dist/app/index.html
CONSOLE_SOURCES := packages/products/console/vite.config.ts $(shell find packages/products/console/app packages/products/client/src -type f)

export PATH := $(CURDIR)/node_modules/.bin:$(PATH)

comma := ,

.DEFAULT_GOAL := help
.PHONY: help install build console check test test-long cluster pbx clients demo bench chaos drill upgrade-test up down try-containers format release images docs chart alerts pictures

# make passes variables of its command line, such as PLATFORM=asterisk, to every recipe.

# $(call step,name,command): one line with the time it took; the command's output only when it fails.
step = @printf '  %-20s' '$(1)'; began=$$(date +%s); said=$$( { $(2); } 2>&1 ) && echo "ok  $$(($$(date +%s) - began)) s" || \
  { echo FAILED; printf '%s\n' "$$said"; exit 1; }

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(INSTALLED) ## install the pinned tool chain and packages

$(INSTALLED): pnpm-lock.yaml pnpm-workspace.yaml $(wildcard package.json packages/*/package.json packages/products/*/package.json services/*/package.json tools/*/package.json tests/*/package.json)
	$(call step,install,$(PNPM) install --frozen-lockfile)
	@touch $@

build: $(INSTALLED) $(CONSOLE)
	$(call step,build,tsc -b)

console: $(CONSOLE) ## build the files of the console, which the api serves at /console

$(CONSOLE): $(INSTALLED) $(CONSOLE_SOURCES)
	$(call step,console,packages/products/console/node_modules/.bin/vite build --config packages/products/console/vite.config.ts)

# Types before lint: the type-aware linter reads the declarations that the compiler has built.
# The linter also keeps the architecture: no import cycles, no upward imports, one door per package (.oxlintrc.json).
check: $(INSTALLED) ## check format, types, lint, architecture, unused code and unit tests, in seconds
	$(call step,format,biome ci .)
	$(call step,types,tsc -b && tsc -p tsconfig.test.json && tsc -p packages/products/console/app)
	$(call step,lint,oxlint --type-aware --deny-warnings)
	$(call step,unused code,knip)
	$(call step,unit tests,jest --selectProjects unit --maxWorkers=100%)

test: $(INSTALLED) ## run every test except the long ones, as CI does (FILES=a,b: only those whose path contains a or b)
	@node --conditions=source tests/runner/src/main.ts test $(foreach file,$(subst $(comma), ,$(FILES)),'$(file)')

test-long: $(INSTALLED) ## run the tests that take minutes: random faults, two versions side by side, every screen of the console (FILES as for test)
	@node --conditions=source tests/runner/src/main.ts test-long $(foreach file,$(subst $(comma), ,$(FILES)),'$(file)')

cluster: build ## kill nodes of a RabbitMQ cluster and of Redis with replicas one by one (docs/scaling.md)
	@jest --selectProjects cluster --maxWorkers=1

pbx: build ## run the tests with real calls over a private Asterisk (72 MB download on first use)
	@jest --selectProjects pbx --maxWorkers=2

clients: build ## generate clients in other languages from docs/openapi.json, compile them and run a program with each (CLIENTS=<pattern>)
	@node tools/clients/dist/main.js

demo: $(INSTALLED) ## start everything, play a scenario and stop again (PLATFORM=asterisk: on real SIP phones)
	@$(LOCAL) demo

try-containers: build ## test docker compose: build, start, run the demo scenario, scale and kill under load, remove
	@node tools/local/dist/main.js try-containers

bench: build ## measure performance next to a baseline (docs/benchmarks.md; FIGURES=latency,noisy selects; FROM=<git ref> compares)
	@node tools/bench/dist/$(if $(FROM),compare,main).js

chaos: build ## inject faults under load, then check every event (tools/chaos/README.md; KILLS, SEED, FAULTS, REPORT, PLATFORM)
	@node tools/chaos/dist/main.js

drill: build ## lose Redis and the broker under load, restore backups, then check every event (docs/backup.md; DRILLS)
	@node tools/chaos/dist/drill.js

upgrade-test: build ## update from FROM=<git ref> and back under load, then check every event (docs/upgrades.md; ORDER)
	@node tools/chaos/dist/upgrade-test.js

up: $(INSTALLED) ## start the stack in the background, or the parts of it that are not running (PLATFORM=asterisk)
	@$(LOCAL) up

down: ## stop the stack
	@test ! -e tools/local/dist/main.js || $(LOCAL) down

format: $(INSTALLED) ## format and sort imports
	@biome check --write .

release: check ## prepare the release VERSION=1.2.3 in the working tree: version and changelog (docs/releasing.md)
	@node --conditions=source tools/release/src/main.ts

# The time of the commit, so that two builds of it have the same time stamps.
images: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct)
images: export REVISION ?= $(shell git rev-parse HEAD)
images: export VERSION ?= $(shell node -p "require('./package.json').version")
images: ## build the images of a release with buildx, or push them with OUTPUT=push (docs/releasing.md)
	@mkdir -p .local/images
	docker buildx bake --file infra/docker/bake.hcl

docs: $(INSTALLED) ## write the generated documents and the sources of the client from the code and from the benchmarks
	@node --conditions=source services/api/src/write-document.ts
	@node --conditions=source tools/reference/src/write-pages.ts
	@node --conditions=source tools/reference/src/write-client.ts

chart: $(INSTALLED) ## render the Helm chart into infra/helm/rendered and write docs/helm-values.md
	@node --conditions=source tools/chart/src/main.ts

# The links of the rules are relative to the repository: an alert needs the address at which you publish docs.
alerts: ## print the alert rules with full links to the runbook (RUNBOOKS=<url of the folder docs>)
	@test -n '$(RUNBOOKS)' || { echo 'set RUNBOOKS to the URL at which you publish the folder docs'; exit 1; }
	@sed 's|runbook_url: docs/|runbook_url: $(patsubst %/,%,$(RUNBOOKS))/|' infra/helm/switchhook/files/alerts.yml

pictures: build ## take the pictures of docs/console.md in a real Chromium (needs pngquant)
	@PICTURES=$(CURDIR)/docs/images/console jest screens --selectProjects browser-long --maxWorkers=1
	@pngquant --force --ext .png --speed 1 docs/images/console/*.png
