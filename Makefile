# The commands of the README. Everything is made by npm scripts of Node 24, which package.json brings.
SHELL := /bin/sh
.DEFAULT_GOAL := help
NPM := npm --no-update-notifier
# npm would leave a folder in the system's temporary one.
export NODE_DISABLE_COMPILE_CACHE := 1
# Types are taken off the sources, and V8 compiles them, once.
WITH_COMPILE_CACHE := env -u NODE_DISABLE_COMPILE_CACHE NODE_COMPILE_CACHE=$(CURDIR)/node_modules/.cache/node

.PHONY: as-root help build images check test test-all test-unit test-integration test-e2e chaos demo bench conformance gen format clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: build/.installed ## npm dependencies and everything that bin/ needs
	@$(NPM) run --silent build

images: build ## container images as OCI archives in build/images/, by docker, podman, or else from Debian packages (UDN_IMAGES=NAME,… for some)
	@node_modules/node/bin/node tools/images/main.ts

check: build/.installed ## types, lint, format, import rules, dead code, generated files, unit tests
	@$(NPM) run --silent check

test: build ## all test lanes: unit, integration, e2e (LANES="unit e2e" for some)
	@$(NPM) run --silent test -- $(LANES)

test-all: build ## all lanes with every cell of what `make test` has samples of, for an hour or two: before a release
	@UDN_HOSTILE=all UDN_SERVICE_MATRIX=all UDN_SCENARIOS=all UDN_REPEAT=4 $(NPM) run --silent test -- $(LANES)

test-unit: build/.installed ## unit and property tests
	@$(NPM) run --silent test:unit

test-integration: build ## tests against real daemons and a real kernel, and unit tests of many random runs
	@$(NPM) run --silent test -- integration simulations

test-e2e: build ## scenarios with packets in the sandbox
	@$(NPM) run --silent test -- e2e e2e-on-demand e2e-guest e2e-guest-local

MINUTES ?= 10

chaos: build ## kill everything at random under traffic for MINUTES=10, and report what was lost (UDN_SEED=N for the same order)
	@UDN_CHAOS_MINUTES=$(MINUTES) $(NPM) run --silent test:e2e -- --retry=0 --testTimeout=300000 test/e2e/faults-campaign.test.ts

demo: as-root build ## tenants with the same addresses on two nodes, and who reaches whom (KEEP=1 leaves them up, API=kube takes a real API server)
	@$(WITH_COMPILE_CACHE) node_modules/node/bin/node demo/main.ts $(if $(filter-out 0 no false,$(KEEP)),--keep) $(if $(API),--api $(API)) $(DEMO_ARGS)

# Before anything is built, which takes minutes. The demo says the same when it is started by itself.
as-root:
	@[ "$$(id -u)" = 0 ] || { echo "the demo needs root: it makes network namespaces, links and cgroups" >&2; exit 1; }

bench: build ## benchmarks as a table, and .bench/results.json (ONLY=NAME for some, RUNS=1 for each once, FULL=1 for all)
	@node_modules/node/bin/node bench/main.ts $(if $(ONLY),--only $(ONLY)) $(if $(RUNS),--runs $(RUNS)) $(if $(FULL),--full)

conformance: build ## suites of other projects, on the default network and in tenants; writes docs/conformance.md (ONLY=default|layer3|layer2|policies|policies-layer3|policies-layer2|admin-policies|cluster-policies|cyclonus|cyclonus-layer3|cyclonus-layer2, AGAIN=1, ANY_KERNEL=1, FOCUS=REGEXP)
	@node_modules/node/bin/node tools/conformance/main.ts $(if $(ONLY),--only $(ONLY)) $(if $(AGAIN),--again) $(if $(FOCUS),--focus '$(FOCUS)') $(if $(PROCESSES),--processes $(PROCESSES)) $(if $(LIMIT),--limit $(LIMIT)) $(if $(ANY_KERNEL),--any-kernel) $(if $(PAGE),--page)

gen: build/.installed ## write the generated files
	@$(NPM) run --silent gen

format: build/.installed ## format and apply safe fixes
	@$(NPM) run --silent format

clean: ## remove what was built here (not the cache)
	rm -rf dist build node_modules .demo .bench .conformance

build/.installed: package.json package-lock.json tools/bootstrap.sh
	@tools/bootstrap.sh
# Not `npm ci`: it refuses a lock file that lacks optional packages of platforms which a mirror does not carry.
	@echo "installing npm packages"
	@$(NPM) install --no-save --no-audit --no-fund --loglevel=error
	@mkdir -p build && touch $@
