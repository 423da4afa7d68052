# `make` alone lists what there is. Every target that needs an environment brings it by itself.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

export NO_MKDOCS_2_WARNING := 1
# Tests start hundreds of processes, each of which would compile this project anew.
unexport PYTHONDONTWRITEBYTECODE

PY := .venv/bin/python
PYTEST := $(PY) -m pytest
# How many share the tests; those that measure time run by themselves.
WORKERS := 2
UV := .tools/bin/uv
COMPILE := $(UV) pip compile --quiet --universal --python-version 3.11 \
	--generate-hashes --no-emit-index-url --no-header --no-annotate $(UPGRADE)

.PHONY: help setup engine oldest dagster jars buckets demo test test-slow suites test-all soak bench check format wheel docs lock clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

# --- environments: once, and again only when a lock or pyproject.toml changes ---

setup: .venv/.ready ## Make .venv: this project, every extra, and the tools, exactly as locked
engine: .venv-engine/.ready ## Make .venv-engine: the published ubunye-engine that tests compare with
oldest: .venv-oldest/.ready ## Make .venv-oldest: the oldest Airflow and Dagster that are supported
dagster: .venv-dagster/.ready ## Make .venv-dagster: the web server of Dagster that tests start

# Looks at every jar, not at a date, and takes no time when all is there.
jars: ## Bring the jars of Delta for Spark, exactly as locked, into .jars
	@tools/jars.sh .jars requirements/jars.lock

# Looks at the lock, and takes no time when it is the one that was installed.
buckets: ## Bring the servers of buckets that tests start, exactly as locked, into .buckets
	@tools/buckets.sh .buckets requirements/buckets

.tools/.ready: requirements/tools.lock tools/environment.sh
	@tools/environment.sh .tools requirements/tools.lock
	@touch $@

.venv/.ready: requirements/dev.lock pyproject.toml .tools/.ready
	@tools/environment.sh .venv requirements/dev.lock --editable
	@touch $@

.venv-engine/.ready: requirements/engine.lock .tools/.ready
	@tools/environment.sh .venv-engine requirements/engine.lock
	@touch $@

.venv-oldest/.ready: requirements/oldest.lock pyproject.toml .tools/.ready
	@tools/environment.sh .venv-oldest requirements/oldest.lock --editable
	@touch $@

.venv-dagster/.ready: requirements/dagster.lock .tools/.ready
	@tools/environment.sh .venv-dagster requirements/dagster.lock
	@touch $@

# --- what people run ---

demo: setup ## Run the main job on this machine: one gate, two schedulers, one store
	@$(PY) -m example_dags.demo

test: setup engine buckets ## Run the fast tests (about five minutes)
	@$(PYTEST) -n $(WORKERS) -m "not slow and not soak and not alone" --suite-report=.suites/fast.json

# The slow tests alone; 5 is pytest's word for "none selected", and the suites' check comes after.
test-slow: setup engine oldest dagster jars buckets
	@$(PYTEST) -n $(WORKERS) -m "slow and not soak and not alone" --suite-report=.suites/slow.json \
		|| [ $$? -eq 5 ]
	@$(PYTEST) -m "alone and not soak" --suite-report=.suites/alone.json || [ $$? -eq 5 ]

suites: setup
	@$(PY) tests/check_suites.py .suites/fast.json .suites/slow.json .suites/alone.json

test-all: ## Run every test but the soak, and check that no suite went missing
	@$(MAKE) --no-print-directory test
	@$(MAKE) --no-print-directory test-slow
	@$(MAKE) --no-print-directory suites

soak: setup engine buckets ## Run the long tests: kills, races, thousands of runs
	@$(PYTEST) -m soak --timeout 3600

bench: setup engine ## Measure imports, stores, windows and hashes (an hour; benchmarks/README.md)
	@for file in benchmarks/{airflow_gates,airflow_listener,hash,hash_memory,hash_spark,imports,stores_delta,windows}.py; do \
		$(PY) "$$file"; done
	@$(PY) -m benchmarks.sql
	@$(PY) -m benchmarks.stores
	@$(PY) -m benchmarks.stores.saves

check: setup ## Lint, format, types, import rules, docs, ADR numbers, locks
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@.venv/bin/mypy
	@.venv/bin/lint-imports
	@$(PY) tools/check_repo.py
	@.venv/bin/mkdocs build --quiet --strict

format: setup ## Put the code in order
	@.venv/bin/ruff check --fix .
	@.venv/bin/ruff format .

wheel: setup ## Build the wheel and prove it, alone and with each extra
	@tools/check_wheel.sh

docs: setup ## Build the documentation into site/
	@.venv/bin/mkdocs build --quiet --strict
	@echo "Open site/index.html"

lock: .tools/.ready ## Write the locks anew (UPGRADE=--upgrade takes the newest versions)
	@$(COMPILE) requirements/tools.in -o requirements/tools.lock
	@$(COMPILE) pyproject.toml --all-extras --group dev -o requirements/dev.lock
	@$(COMPILE) --group engine -o requirements/engine.lock
	@$(COMPILE) pyproject.toml --extra airflow --extra dagster --group oldest \
		-o requirements/oldest.lock
	@$(COMPILE) pyproject.toml --extra dagster requirements/dagster.in -o requirements/dagster.lock

clean: ## Remove environments, caches and results
	@rm -rf .tools .venv .venv-* .jars .buckets .environment.lock build dist site .demo
	@rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .suites .artefacts
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
