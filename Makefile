# `make help` lists all targets. YES=1 answers every question with yes.
.POSIX:
.SUFFIXES:
.PHONY: help setup up down status lint test-fast test-unit test test-nightly nightly-status release cases case-views mutate \
	settings-page bench lock clean

VENV = .venv
BIN = $(VENV)/bin
LINT_VENV = .venv-lint
# VMs run on one worker, containers on another, other tests on any free worker (tests/tiers.py): three workers use
# two cores, because tests often wait. Bytecode is always written: tests start hundreds of processes, each of which
# would recompile everything.
PYTEST = env -u PYTHONDONTWRITEBYTECODE $(BIN)/pytest -q -n 3 --dist loadscope --no-loadscope-reorder
SETUP = appliance/bringup
# Arguments of `mesocosm up`, `pytest`, the nightly jobs, a release, `mesocosm bench reset`, mutation testing.
UPFLAGS =
PYTESTFLAGS =
JOBS =
VERSION =
BENCHFLAGS = -n 100
MUTATEFLAGS =
# Omit index URLs: they differ between hosts.
PIN = uv pip compile pyproject.toml --universal --extra probe --extra openai --extra anthropic \
	--extra google --extra video \
	--extra images --extra ocr --extra service --extra tools --no-annotate --no-emit-index-url --generate-hashes \
	--custom-compile-command "make lock"

help: ## Show this help.
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' Makefile

up: ## Set up and start the appliance, then run one scored trial.
	@sh $(SETUP)/supported.sh
	@sh $(SETUP)/host.sh $${YES:+--yes}
	@sh $(SETUP)/venv.sh $(VENV) requirements.lock
	@$(BIN)/mesocosm up $${YES:+--yes} $(UPFLAGS)

down: ## Stop everything that `make up` started; keeps images and results.
	@if [ -x $(BIN)/mesocosm ]; then $(BIN)/mesocosm down; fi

status: ## Show machines and services.
	@$(BIN)/mesocosm status

setup: ## Install test requirements: system packages and the Python environment.
	@sh $(SETUP)/supported.sh
	@sh $(SETUP)/host.sh --test $${YES:+--yes}
	@sh $(SETUP)/venv.sh $(VENV) requirements.lock requirements-dev.lock

# Without the test environment: one that needs only Python, as libvirt-python is compiled.
LINT_SETUP = [ -x $(BIN)/mypy ] || { mkdir -p $(LINT_VENV); \
		sed '/^libvirt-python/,/[^\\]$$/d' requirements-dev.lock >$(LINT_VENV)/lint.lock; sh $(SETUP)/venv.sh $(LINT_VENV) $(LINT_VENV)/lint.lock; }

lint: ## Run ruff and mypy; installs no system packages.
	@$(LINT_SETUP)
	@bin=$(BIN); [ -x $$bin/mypy ] || bin=$(LINT_VENV)/bin; set -x; \
	$$bin/ruff check . && $$bin/ruff format --check . && $$bin/mypy

test-fast: ## Run the tests that need only Python, of what has changed (ALL=1: all, two minutes); no system packages.
	@$(LINT_SETUP)
	@bin=$(BIN); [ -x $$bin/mypy ] || bin=$(LINT_VENV)/bin; set -x; \
	$$bin/python -m tests.inner_loop $${ALL:+--all} $(PYTESTFLAGS)

test-unit: ## Run the tests that need no machines (about 4 minutes).
	$(PYTEST) tests/unit tests/test_layers.py tests/test_shape.py $(PYTESTFLAGS)

test: setup lint ## Set up, lint and run the tests required before a merge; leaves nothing running.
	sh tests/with_appliance.sh $(BIN)/mesocosm $(PYTEST) $(PYTESTFLAGS)

test-nightly: setup ## Run nightly jobs with stale results; resumable; updates the ledger.
	$(BIN)/python -m tests.nightly run $(JOBS)

nightly-status: setup ## List nightly jobs with stale results; exit 1 if any.
	$(BIN)/python -m tests.nightly status --strict

release: setup ## Tag a release, VERSION=1.2.3; refused while a nightly result is stale.
	$(BIN)/python -m tests.nightly release $(VERSION)

case-views: ## Record the views of test cases' documents, with the renderer (mesocosm image build renderer).
	$(BIN)/python -m tests.evaluator_cases.record_views $(VIEWFLAGS)

cases: ## Regenerate the index of evaluator test cases, docs/evaluators.md and docs/actions.md.
	$(BIN)/python -m tests.evaluator_cases.generate

settings-page: ## Regenerate docs/settings.md.
	env -i PATH="$$PATH" $(BIN)/mesocosm settings --page >docs/settings.md.new
	mv docs/settings.md.new docs/settings.md

mutate: ## Run mutation tests of evaluators (about an hour); writes docs/mutation.md.
	$(BIN)/python -m tests.evaluator_cases.mutate --page docs/mutation.md $(MUTATEFLAGS)

bench: ## Benchmark resets against libvirt's revert.
	$(BIN)/mesocosm bench reset $(BENCHFLAGS)

lock: ## Update the lock files after a change of pyproject.toml, including the pin of uv (needs uv).
	$(PIN) --output-file requirements.lock
	uv pip compile images/renderer/requirements.txt --universal --python-version 3.10 --no-annotate \
		--no-emit-index-url --generate-hashes --custom-compile-command "make lock" \
		--output-file images/renderer/requirements.lock
	echo uv | uv pip compile - --upgrade --no-annotate --no-emit-index-url --generate-hashes \
		--custom-compile-command "make lock" --output-file $(SETUP)/installer.lock
	$(PIN) --output-file requirements-dev.lock --extra dev
	$(PIN) --output-file requirements-ray.lock --extra ray --constraint requirements.lock

clean: ## Remove build and tool output from the checkout; keeps the appliance's state.
	rm -rf $(VENV) $(LINT_VENV) .nightly .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
