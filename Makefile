# `make run` and `make test` do all the set-up; `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
FILES := groupx_server groupx_tui shared themes tests
RESULTS := build/live
LIVE_ONLY = $(subst ] [,] or [,$(foreach name,$(LIVE),[$(name)]))

.DEFAULT_GOAL := help
.PHONY: help run test check lint types layers format soak soak-memory goals live live-light live-table bench profile lock wheel-check clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 16

$(VENV)/.run: requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "GroupX needs Python 3.11 or newer; %s is %s. Try: make PYTHON=python3.11 …" % (sys.executable, sys.version.split()[0]))'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements-dev.txt $(VENV)/.run
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements-dev.txt
	@touch $@

run: $(VENV)/.run ## set up and open GroupX
	@$(BIN)/groupx

test: $(VENV)/.dev ## set up and run every check and test
	$(BIN)/ruff format --check --quiet $(FILES)
	$(BIN)/ruff check --quiet $(FILES)
	$(BIN)/lint-imports
	$(BIN)/mypy
	$(BIN)/python -m pytest -n auto --dist loadfile

check: lint layers types ## what `test` checks before the tests

lint: $(VENV)/.dev ## ruff
	$(BIN)/ruff format --check $(FILES)
	$(BIN)/ruff check $(FILES)

layers: $(VENV)/.dev ## import-linter
	$(BIN)/lint-imports

types: $(VENV)/.dev ## mypy --strict
	$(BIN)/mypy

format: $(VENV)/.dev ## format and fix what can be fixed
	$(BIN)/ruff check --fix-only $(FILES)
	$(BIN)/ruff format $(FILES)

soak: $(VENV)/.dev ## kill server and agents under load for some minutes; prove that nothing is lost
	PYTHONPATH=tests $(BIN)/python tests/soak/soak.py $(SOAK)

# Programs that cannot be installed are told in one line each, and their tests are skipped.
live: $(VENV)/.dev ## install real agent programs and run the live tests (LIVE="gemini kimi": only these)
	-@PYTHONPATH=tests $(BIN)/python -m live.install $(LIVE)
	GROUPX_LIVE_RESULTS=$(RESULTS) $(BIN)/python -m pytest -m live tests/live $(if $(LIVE),-k "$(LIVE_ONLY)")

# For the gate: what cannot be installed, or not be run in time, is named and skipped.
live-light: $(VENV)/.dev ## install two quick agent programs and run their live tests, within three minutes
	-@PYTHONPATH=tests $(BIN)/python -m live.install --light --limit 30
	GROUPX_LIVE_TURN_S=60 GROUPX_LIVE_BUDGET_S=75 $(BIN)/python -m pytest -m live -rs \
		tests/live/test_agents_live.py -k "[goose] or [grok]" -n 2

live-table: $(VENV)/.dev ## write what the live tests saw into docs/ADAPTERS.md
	PYTHONPATH=tests $(BIN)/python -m live.capabilities $(RESULTS)/results.jsonl

bench: $(VENV)/.dev ## measure everything and write docs/BENCHMARKS.md (BENCH="--quick", "--only accept,turn")
	PYTHONPATH=tests $(BIN)/python -m bench $(BENCH)

soak-memory: $(VENV)/.dev ## hours of steady work; what the server holds, and how it grows (SOAK="--minutes 120")
	PYTHONPATH=tests $(BIN)/python -m bench.longsoak $(SOAK)

goals: $(VENV)/.dev ## what is promised of memory at its full size: up to an hour (GOALS="-k upgrades")
	GROUPX_GOALS=full $(BIN)/python -m pytest tests/goals tests/server/ledger/test_forget_guarantees.py \
		tests/server/ledger/test_search.py --durations=0 $(GOALS)

profile: $(VENV)/.dev ## where server and window spend their time (PROFILE="server --lines 50")
	PYTHONPATH=tests $(BIN)/python -m bench.profiling $(PROFILE)

wheel-check: $(VENV)/.dev ## build the wheel, install it into an empty environment, run it from there
	PYTHON=$(abspath $(BIN)/python) tests/wheel_check.sh

lock: ## compile the hashed requirements anew (needs uv)
	uv pip compile pyproject.toml --extra build --universal --python-version 3.11 --generate-hashes --no-header --no-annotate -q -o requirements.txt
	uv pip compile pyproject.toml --extra dev -c requirements.txt --universal --python-version 3.11 --generate-hashes --no-header --no-annotate -q -o requirements-dev.txt

clean: ## remove what was built
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
