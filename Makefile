# Everything a fresh machine needs: `make run` (the main job) and `make test` (every check).
# Both build their own .venv first. Needs Python 3.11+, make and git.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: run test client lint types bench clean

run: .venv/ready
	@$(BIN)/python -m pipeline.demo

test: .venv/dev
	$(BIN)/ruff check pipeline tests
	$(BIN)/ruff format --check pipeline tests
	$(BIN)/mypy
	$(BIN)/python -m pytest

client: .venv/dev
	tests/client/run $(BIN)/python

.venv/ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo 'Python 3.11 or newer is needed; name one with: make PYTHON=/path/to/python3' >&2; exit 2; }
	@echo 'setting up .venv (once) ...' >&2
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

.venv/dev: .venv/ready
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dev
	@touch $@

bench: .venv/dev
	$(BIN)/python -m tests.bench.run

clean:
	rm -rf .venv .client build dist *.egg-info
