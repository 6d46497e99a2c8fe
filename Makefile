# `make help` says what there is. YES=1 answers every question with yes.
.POSIX:
.SUFFIXES:
.PHONY: help setup up down status lint test-unit test test-nightly nightly-status release cases mutate \
	settings-page bench lock clean

VENV = .venv
BIN = $(VENV)/bin
LINT_VENV = .venv-lint
# VMs on one worker, containers on another, everything else wherever there is time (tests/tiers.py): three use two
# cores, for tests wait a lot. Bytecode is kept, whatever the user prefers: tests start hundreds of processes,
# each of which would compile everything anew.
PYTEST = env -u PYTHONDONTWRITEBYTECODE $(BIN)/pytest -q -n 3 --dist loadscope --no-loadscope-reorder
SETUP = appliance/bringup
# Further arguments of `mesocosm up`, `pytest`, the nightly, a release, mutation testing, `mesocosm bench reset`.
UPFLAGS =
PYTESTFLAGS =
JOBS =
VERSION =
BENCHFLAGS = -n 100
MUTATEFLAGS =
# Without the addresses of indexes: each host has its own.
PIN = uv pip compile pyproject.toml --universal --extra probe --extra openai --extra video \
	--extra ocr --extra service --no-annotate --no-emit-index-url --generate-hashes \
	--custom-compile-command "make lock"

help: ## Show this.
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' Makefile

up: ## Set everything up, start the appliance, run one scored trial.
	@sh $(SETUP)/rights.sh
	@sh $(SETUP)/host.sh $${YES:+--yes}
	@sh $(SETUP)/venv.sh $(VENV) requirements.lock
	@$(BIN)/mesocosm up $${YES:+--yes} $(UPFLAGS)

down: ## Stop all that `make up` started; images and results stay.
	@if [ -x $(BIN)/mesocosm ]; then $(BIN)/mesocosm down; fi

status: ## Show machines and services.
	@$(BIN)/mesocosm status

setup: ## Install what tests need: packages of this host, and the Python environment.
	@sh $(SETUP)/host.sh --test $${YES:+--yes}
	@sh $(SETUP)/venv.sh $(VENV) requirements.lock requirements-dev.lock

lint: ## Check form and types; installs no packages of the host.
	@[ -x $(BIN)/mypy ] || { mkdir -p $(LINT_VENV); \
		sed '/^libvirt-python/,/[^\\]$$/d' requirements-dev.lock >$(LINT_VENV)/lint.lock; sh $(SETUP)/venv.sh $(LINT_VENV) $(LINT_VENV)/lint.lock; }
	@bin=$(BIN); [ -x $$bin/mypy ] || bin=$(LINT_VENV)/bin; set -x; \
	$$bin/ruff check . && $$bin/ruff format --check . && $$bin/mypy

test-unit: ## Run the tests that need no machines: about 4 minutes.
	$(PYTEST) tests/unit tests/test_layers.py tests/test_shape.py $(PYTESTFLAGS)

test: setup lint ## Set everything up, run what a landing needs; leave nothing running.
	sh tests/with_appliance.sh $(BIN)/mesocosm $(PYTEST) $(PYTESTFLAGS)

test-nightly: setup ## Run slow proofs that are not current, by jobs; resumable; writes the ledger.
	$(BIN)/python -m tests.nightly run $(JOBS)

nightly-status: setup ## Say which slow proofs are not current; fails where any is not.
	$(BIN)/python -m tests.nightly status --strict

release: setup ## Tag a release, VERSION=1.2.3; refused while a slow proof is not current.
	$(BIN)/python -m tests.nightly release $(VERSION)

cases: ## Regenerate the index of evaluator test cases, docs/evaluators.md and docs/actions.md.
	$(BIN)/python -m tests.evaluator_cases.generate

settings-page: ## Regenerate docs/settings.md.
	env -i PATH="$$PATH" $(BIN)/mesocosm settings --page >docs/settings.md.new
	mv docs/settings.md.new docs/settings.md

mutate: ## Mutation testing of evaluators (an hour); writes docs/mutation.md.
	$(BIN)/python -m tests.evaluator_cases.mutate --page docs/mutation.md $(MUTATEFLAGS)

bench: ## Measure resets against libvirt's own way.
	$(BIN)/mesocosm bench reset $(BENCHFLAGS)

lock: ## Pin dependencies again after pyproject.toml changed, and uv itself (needs uv).
	$(PIN) --output-file requirements.lock
	echo uv | uv pip compile - --upgrade --no-annotate --no-emit-index-url --generate-hashes \
		--custom-compile-command "make lock" --output-file $(SETUP)/installer.lock
	$(PIN) --output-file requirements-dev.lock --extra dev

clean: ## Remove what tools left in the checkout; the appliance's state stays.
	rm -rf $(VENV) $(LINT_VENV) .nightly .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
