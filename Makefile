# Each target sets up .venv first; see scripts/setup.sh.
PYTHON := .venv/bin/python
.DELETE_ON_ERROR:
.PHONY: demo test test-quick test-slow check bench setup page openapi clean

demo: setup page  ## from participant to paper: simulations, a study that robots play, its report, and one on 326 simulated people
	.venv/bin/explorelab reproduce --out out
	@echo "To look at meanwhile: out/index.html, the paper's simulations, reproduced"
	scripts/demo-study.sh out/study
	@echo "To look at meanwhile: out/study/report.html, report on 40 robots who played the experiment"
	.venv/bin/explorelab population --out out/people
	.venv/bin/explorelab check out/people/choices.csv
	.venv/bin/explorelab report out/people/choices.csv --out out/people/report.html --starts 3
	@echo "Open in a browser:"
	@echo "  out/index.html          the paper's simulations, reproduced"
	@echo "  out/study/report.html   report on 40 robots who played the experiment over its real interface"
	@echo "  out/people/report.html  report on 326 simulated people, beside the paper's figures"

test: setup page  ## the tests
	@scripts/packages.sh chromium postgresql
	cd page && npm test --silent
	@# One process for each file, whose tests share what is slow to make. One more process than cores: tests of the
	@# study wait for servers and browsers, and conftest.py spreads their files among the others.
	@# A process that dies ends the run: pytest-xdist may wait for its tests for ever.
	$(PYTHON) -m pytest -q -n $$(($$(nproc) + 1)) --maxprocesses 8 --max-worker-restart 0 --dist loadfile --no-loadscope-reorder -m "not slow"

test-quick: setup page  ## some of each subject, in about a minute
	$(PYTHON) -m pytest -q -n auto --maxprocesses 8 --max-worker-restart 0 --dist loadfile --no-loadscope-reorder -m quick

test-slow: setup page  ## long statistical runs too
	@scripts/packages.sh chromium postgresql caddy
	$(PYTHON) -m pytest -q -n auto --max-worker-restart 0 --dist loadfile --no-loadscope-reorder

.PHONY: test-python
test-python: page  ## the quick tests with Python 3.13 too, where it is installed
	scripts/test-python.sh 3.13

check: setup page  ## format, lint, types, import layers
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/lint-imports
	$(PYTHON) scripts/openapi.py --check
	cd page && npm run --silent check

bench: setup page  ## speed and memory against peers and a floor, into docs/benchmarks.md
	$(PYTHON) -m bench.run
	$(PYTHON) -m bench.people
	$(PYTHON) -m bench.companion
	@scripts/packages.sh postgresql
	$(PYTHON) -m bench.study_load
	$(PYTHON) -m bench.study_advice

setup:
	@scripts/setup.sh

page:  ## the participants' and the researcher's page, into the package
	@scripts/page.sh

openapi: setup page  ## what the server is asked and answers, for the page's types
	$(PYTHON) scripts/openapi.py

clean:
	rm -rf page/node_modules page/dist page/api.d.ts src/explorelab/study/static .venv .venv-* out build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
