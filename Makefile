# Each target sets up .venv first; see scripts/setup.sh.
PYTHON := .venv/bin/python
.DELETE_ON_ERROR:
.PHONY: demo test test-slow check bench setup clean

demo: setup  ## reproduce the paper's simulations into out/index.html
	.venv/bin/explorelab reproduce --out out
	@echo "Open out/index.html in a browser."

test: setup  ## the tests
	$(PYTHON) -m pytest -q -n auto -m "not slow"

test-slow: setup  ## long statistical runs too
	$(PYTHON) -m pytest -q -n auto

check: setup  ## format, lint, types
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy

bench: setup  ## speed and memory against peers and a floor, into docs/benchmarks.md
	$(PYTHON) bench/run.py
	$(PYTHON) bench/people.py

setup:
	@scripts/setup.sh

clean:
	rm -rf .venv .venv-* out build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
