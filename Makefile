# `make help` says what there is. YES=1 answers every question with yes.
.POSIX:
.SUFFIXES:
.PHONY: help up down status test lint cases mutate bench lock clean

VENV = .venv
BIN = $(VENV)/bin
SETUP = appliance/bringup
# Further options of `mesocosm up`, `pytest`, mutation testing and `mesocosm bench reset`.
UPFLAGS =
PYTESTFLAGS =
BENCHFLAGS = -n 100
MUTATEFLAGS =
# Without the addresses of indexes: each host has its own.
PIN = uv pip compile pyproject.toml --universal --extra probe --extra openai --extra video \
	--extra ocr --no-annotate --no-emit-index-url --custom-compile-command "make lock"

help: ## Show this.
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' Makefile

up: ## Set everything up, start the appliance, run one scored trial.
	@sh $(SETUP)/host.sh $${YES:+--yes}
	@sh $(SETUP)/venv.sh $(VENV) requirements.lock
	@$(BIN)/mesocosm up $${YES:+--yes} $(UPFLAGS)

down: ## Stop all that `make up` started; images and results stay.
	@if [ -x $(BIN)/mesocosm ]; then $(BIN)/mesocosm down; fi

status: ## Show machines and services.
	@$(BIN)/mesocosm status

lint: ## Check form and types.
	@sh $(SETUP)/host.sh --test $${YES:+--yes}
	@sh $(SETUP)/venv.sh $(VENV) requirements.lock requirements-dev.lock
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint ## Set everything up, run all checks and tests; leave nothing running.
	sh tests/with_appliance.sh $(BIN)/mesocosm $(BIN)/pytest $(PYTESTFLAGS)

cases: ## Regenerate the index of evaluator test cases and docs/evaluators.md.
	$(BIN)/python -m tests.evaluator_cases.generate

mutate: ## Mutation testing of evaluators (an hour); writes docs/mutation.md.
	$(BIN)/python -m tests.evaluator_cases.mutate --page docs/mutation.md $(MUTATEFLAGS)

bench: ## Measure resets against libvirt's own way.
	$(BIN)/mesocosm bench reset $(BENCHFLAGS)

lock: ## Pin dependencies again after pyproject.toml changed (needs uv).
	$(PIN) --output-file requirements.lock
	$(PIN) --output-file requirements-dev.lock --extra dev

clean: ## Remove what tools left in the checkout; the appliance's state stays.
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
