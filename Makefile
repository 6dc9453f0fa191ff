# Every target builds the virtual environment it needs when it is missing, and nothing otherwise.
# Needed: python 3.11 or later, make, a package index. A C compiler is used when there is one.
PYTHON ?= python3
JOBS   ?= 2
OUT    ?= out
ROWS   ?= 1e7
CASES  ?= 100000
# The tests already use one process a core; threads inside them would only fight.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

SHELL := /bin/sh
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

BUILD_INPUTS := pyproject.toml $(wildcard hatch_build.py src/multiobs/native/*.c src/multiobs/native/*.h)
BIN      := .venv/bin
DOCS_BIN := .venv-docs/bin

# $(call environment,directory,requirements): exact versions first, then this package in place,
# built with the pinned build tool, so that nothing unpinned is ever fetched.
define environment
	@$(PYTHON) -c 'import sys; sys.exit("multiobs needs Python 3.11 or later, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	@echo "building $(1) from $(2)"
	@test -x $(1)/bin/python || $(PYTHON) -m venv $(1)
	@$(1)/bin/python -m pip install --quiet --disable-pip-version-check --requirement $(2)
	@$(1)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(1)/.stamp
endef

.venv/.stamp: requirements/test.txt $(BUILD_INPUTS)
	$(call environment,.venv,requirements/test.txt)

# Shows what it fetches: the first minute of a newcomer should not be silent.
.venv-demo/.stamp: requirements/demo.txt $(BUILD_INPUTS)
	@$(PYTHON) -c 'import sys; sys.exit("multiobs needs Python 3.11 or later, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	@echo "building .venv-demo from requirements/demo.txt ($$(grep -c == requirements/demo.txt) packages, once)"
	@test -x .venv-demo/bin/python || $(PYTHON) -m venv .venv-demo
	@.venv-demo/bin/python -m pip install --disable-pip-version-check --progress-bar on --requirement requirements/demo.txt
	@.venv-demo/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

.venv-dist/.stamp: requirements/dist.txt
	@echo "building .venv-dist from requirements/dist.txt"
	@test -x .venv-dist/bin/python || $(PYTHON) -m venv .venv-dist
	@.venv-dist/bin/python -m pip install --quiet --disable-pip-version-check --requirement requirements/dist.txt
	@touch $@

.venv-docs/.stamp: requirements/docs.txt $(BUILD_INPUTS)
	$(call environment,.venv-docs,requirements/docs.txt)

.venv-studies/.stamp: requirements/studies.txt $(BUILD_INPUTS)
	$(call environment,.venv-studies,requirements/studies.txt)

.venv-minimum/.stamp: requirements/minimum.txt $(BUILD_INPUTS)
	$(call environment,.venv-minimum,requirements/minimum.txt)

.venv-core/.stamp: requirements/core.txt $(BUILD_INPUTS)
	$(call environment,.venv-core,requirements/core.txt)

.PHONY: help demo test check docs browser-docs studies bench bench-scale scale-tables reproduce quality smooth-sim coverage-sim mutants test-minimum test-core browser fuzz fuzz-doors differential sanitize dist clean growth

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: .venv-demo/.stamp ## fit a model to real data: a table, a picture, a report (in out/demo)
	@.venv-demo/bin/python -m multiobs demo --out $(OUT)/demo

test: .venv/.stamp ## run the tests and doctests, warnings as errors
	$(ONE_THREAD) $(BIN)/python -m pytest -q -n $(JOBS)

check: .venv/.stamp ## lint, formatting, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: .venv-docs/.stamp ## build the documentation site (docs/_build/html)
	@rm -rf docs/api/generated # pages of names that are gone
	$(DOCS_BIN)/python -m sphinx -W --keep-going -q -b html -d docs/_build/doctrees docs docs/_build/html
	@echo "the documentation is in docs/_build/html/index.html"

browser-docs: docs ## look at every page of the site in a browser (needs chromium): cut text, raw markup, console errors
	MULTIOBS_SITE=docs/_build/html $(DOCS_BIN)/python -m pytest -q tests/docs/site

studies: .venv-studies/.stamp ## the four studies on real data again: tables and pictures in docs/_static/studies
	$(ONE_THREAD) .venv-studies/bin/python -m docs.studies

bench: .venv/.stamp ## time the fits and check them against their limits
	$(BIN)/python -m benchmarks --out $(OUT)/bench
	$(BIN)/python -m benchmarks.default_cost --out $(OUT)/bench/default_cost.json
	$(BIN)/python -m benchmarks.class_cost --out $(OUT)/bench/class_cost.csv

bench-scale: .venv/.stamp ## make ROWS rows (1e7) and fit them by parts: against DuckDB's sort, and a forest
	$(ONE_THREAD) $(BIN)/python -m benchmarks.scale --out $(OUT)/scale --rows $(ROWS)

scale-tables: .venv/.stamp ## tables of docs/guide/scaling from what bench-scale measured at several ROWS, and the simulated plans
	$(ONE_THREAD) $(BIN)/python -m benchmarks.scale_plan --measured $(OUT)/scale/scale.json --out docs/_static/performance

growth: .venv/.stamp ## how time and memory grow with rows, columns, ties, groups and arity, against limits
	$(ONE_THREAD) $(BIN)/python -m benchmarks.growth --out docs/_static/performance

reproduce: .venv/.stamp ## the paper's figure, the table behind it and a verdict on each claim
	$(BIN)/python -m multiobs reproduce --out $(OUT)/reproduce

quality: .venv/.stamp ## defaults against the oracle and all baselines on many laws
	$(ONE_THREAD) $(BIN)/python -m benchmarks.quality --out $(OUT)/quality
	$(ONE_THREAD) $(BIN)/python -m benchmarks.contest --half final --out $(OUT)/quality
	$(ONE_THREAD) $(BIN)/python -m benchmarks.contest --half final --paper --trials 100 --out $(OUT)/quality
	$(ONE_THREAD) $(BIN)/python -m benchmarks.efficient --out $(OUT)/quality/efficient.csv
	$(ONE_THREAD) $(BIN)/python -m benchmarks.interactions --out $(OUT)/quality/interactions.csv

smooth-sim: .venv/.stamp ## smooth classes against mgcv and plug-ins; 1000 data sets for their bands and tests (hours; goes on where it stopped)
	$(ONE_THREAD) $(BIN)/python -m benchmarks.smooth --laws final --trials 40 --out $(OUT)/smooth
	$(ONE_THREAD) $(BIN)/python -m benchmarks.smooth --laws final-wide --rows 1000 --statistics variance --out $(OUT)/smooth
	$(ONE_THREAD) $(BIN)/python -m benchmarks.smooth_bands --laws final --trials 1000 --out $(OUT)/smooth
	$(ONE_THREAD) $(BIN)/python -m benchmarks.smooth_bands --laws final --trials 200 --rows 300 --tests --out $(OUT)/smooth

coverage-sim: .venv/.stamp ## the slow simulations (interval coverage, promises of the lemmas)
	$(ONE_THREAD) $(BIN)/python -m pytest -q -n $(JOBS) --slow -m slow

mutants: .venv/.stamp ## plant small faults one at a time, and see whether the tests notice
	$(ONE_THREAD) $(BIN)/python -m benchmarks.mutants --out $(OUT)/mutants.csv

test-minimum: .venv-minimum/.stamp ## the tests with the oldest versions the package declares
	$(ONE_THREAD) .venv-minimum/bin/python -m pytest -q -n $(JOBS) tests # doctests show numbers as numpy 2 writes them

test-core: .venv-core/.stamp ## the tests without any optional package (not the doctests of scale, which need pyarrow)
	$(ONE_THREAD) .venv-core/bin/python -m pytest -q -n $(JOBS) --doctest-ignore-import-errors --ignore=src/multiobs/scale

browser: .venv/.stamp ## read the report in headless Chromium (installs Debian's if it is missing)
	@command -v chromium chromedriver > /dev/null || { apt-get update -qq && apt-get install -y -qq chromium chromium-driver fonts-dejavu-core; }
	$(ONE_THREAD) $(BIN)/python -m pytest -q --browser -m browser tests/report

fuzz: .venv/.stamp ## ten thousand broken tables, a hundred thousand broken model files, Ctrl-C at random times
	$(ONE_THREAD) MULTIOBS_FUZZ=10000 MULTIOBS_FLIPS=100000 MULTIOBS_INTERRUPTS=200 MULTIOBS_MADE_UP=2000 \
		$(BIN)/python -m pytest -q tests/cli/test_fuzz.py tests/cli/test_corpus.py tests/models/test_damage.py

fuzz-doors: .venv/.stamp ## CASES odd and bad calls of everything public (1e5): a right answer or a sentence
	$(ONE_THREAD) MULTIOBS_DOORS=$(CASES) $(BIN)/python -m pytest -q -s tests/fuzz/test_doors.py -k "bad_input"

differential: .venv/.stamp ## CASES tiny data sets (1e5) against exact fractions, every sum and line to 1e-9
	$(ONE_THREAD) MULTIOBS_DIFFERENTIAL=$(CASES) $(BIN)/python -m pytest -q -s tests/differential -k "exact"

sanitize: .venv/.stamp ## the compiled loops' tests under address and undefined-behaviour sanitizers (needs gcc)
	$(ONE_THREAD) .ci/sanitize $(BIN)/python

dist: .venv-dist/.stamp ## sdist and wheels in dist/, checked and tried in empty environments
	PYTHON=$(PYTHON) .ci/dist

clean: ## remove environments, caches and everything built
	rm -rf .venv .venv-docs .venv-minimum .venv-core .venv-demo .venv-dist .venv-studies $(OUT) build dist docs/_build docs/gallery docs/api/generated
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	rm -f src/multiobs/native/*.so src/multiobs/native/*.dylib src/multiobs/native/*.dll
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
