# Each target sets up .venv first; see scripts/setup.sh.
PYTHON := .venv/bin/python
.DELETE_ON_ERROR:
.PHONY: demo test test-slow check bench setup clean

demo: setup  ## the paper's simulations into out/index.html, and a report on 326 simulated people
	.venv/bin/explorelab reproduce --out out
	.venv/bin/explorelab population --out out/people
	.venv/bin/explorelab check out/people/choices.csv
	.venv/bin/explorelab report out/people/choices.csv --out out/people/report.html --starts 4
	@echo "Open in a browser:"
	@echo "  out/index.html          the paper's simulations, reproduced"
	@echo "  out/people/report.html  report on 326 simulated people, beside the paper's figures"

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
