# `make run` and `make test` need Python 3.11 or newer with its venv module, and nothing installed by hand.
.DEFAULT_GOAL := help
SHELL := /bin/sh
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest
# Most tests wait for programs more than they compute, so three workers keep two cores busy; 0 runs them in turn.
WORKERS ?= 3
AT_ONCE = -n $(WORKERS) --dist worksteal
CRASH := tests/contract/crash
QUICK := tests/unit tests/contract --ignore $(CRASH)

# Where this is set, every start compiles a thousand modules anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run test test-all check test-unit test-contract test-crash test-fuzz test-conformance test-isolation test-real coverage quality bench stack run-distributed format docs lock clean environment conformance-suite real-servers

help: ## List what can be made
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## Start Dormouse on this machine (DORMOUSE_PORT, DORMOUSE_DATA_DIR; docs/configuration.md)
	@tools/environment requirements.lock
	@exec $(BIN)/dormouse serve

test: check ## Check everything, then run the unit and contract tests
	@$(PYTEST) $(AT_ONCE) $(QUICK)

test-all: check conformance-suite real-servers ## Check everything, then run the tests of every tier
	@$(PYTEST) $(AT_ONCE) tests

check: environment ## Format, lint, types, imports, generated files
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(PYTEST) -q tests/unit/project

test-unit: environment ## Unit tests alone
	@$(PYTEST) $(AT_ONCE) tests/unit

test-contract: environment ## Contract tests alone: the real program, and each port on its adapters
	@$(PYTEST) $(AT_ONCE) tests/contract --ignore $(CRASH)

test-crash: environment ## Kill the real server at every step and compare its stores afterwards: minutes
	@$(PYTEST) $(CRASH)

test-conformance: environment conformance-suite ## The real server against the official suite of MCP
	@$(PYTEST) tests/conformance

test-real: environment real-servers ## Adapters of servers on real ones: PostgreSQL, S3, Neo4j, Kafka and vectors, killed and started again
	@$(PYTEST) $(AT_ONCE) tests/real

stack: environment real-servers ## Start the servers of the cluster's form and print the settings, until interrupted
	@$(BIN)/python -m tests.toolchain.stack

run-distributed: environment real-servers ## Run two gateways and four workers on such servers, until interrupted
	@$(BIN)/python -m tests.toolchain.stack --processes

test-isolation: environment ## Ten thousand operations of users who must not notice each other: minutes
	@$(PYTEST) $(AT_ONCE) tests/isolation

test-fuzz: environment ## Send the real server whatever its description allows or forbids: minutes
	@$(PYTEST) tests/fuzz

coverage: environment ## Unit and contract tests with branch coverage
	@$(PYTEST) $(AT_ONCE) --cov --cov-report=term-missing $(QUICK)

quality: environment ## Measure how well recall finds: DATA=folder of sets, SET=one, STORE=folder, ABLATION=1
	@test -n "$(DATA)" || { echo "name the folder of question sets: make quality DATA=folder" >&2; exit 2; }
	@$(BIN)/python -m load.quality --data "$(DATA)" $(if $(STORE),--store "$(STORE)") $(if $(SET),--set "$(SET)") $(if $(ABLATION),--ablation)

bench: environment ## Measure speed: CACHE=folder that keeps the filled stores, ONLY="mcp ...", PASSAGES="600 10000"
	@test -n "$(CACHE)" || { echo "name a folder for the stores: make bench CACHE=folder" >&2; exit 2; }
	@$(BIN)/python -m load.bench --cache "$(CACHE)" $(if $(ONLY),--only $(ONLY)) $(if $(PASSAGES),--passages $(PASSAGES))

format: environment ## Put imports and layout in order
	@$(BIN)/ruff check --fix --select I .
	@$(BIN)/ruff format .

docs: environment ## Write the generated pages anew
	@$(BIN)/python -m tools.configuration_page
	@$(BIN)/python -m tools.openapi_page

lock: environment ## Resolve the lock files anew (needs a package index)
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m tools.locks

clean: ## Remove the virtual environment and every cache
	@rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage htmlcov

environment:
	@tools/environment requirements-dev.lock

# Where this fails, the tests that need it skip and say so.
conformance-suite: environment
	@$(BIN)/python -m tests.toolchain.conformance_suite || true

# So it is with these.
real-servers: environment
	@$(BIN)/python -m tests.toolchain.postgresql || true
	@$(BIN)/python -m tests.toolchain.s3_server || true
	@$(BIN)/python -m tests.toolchain.neo4j || true
	@$(BIN)/python -m tests.toolchain.kafka || true
