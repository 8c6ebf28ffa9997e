# `make demo` and `make test` set everything up on a fresh machine with Python 3.11+, a C++17 compiler and make.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
CORE = CMakeLists.txt $(wildcard src/cranfield/core/*)
# Compiler warnings are errors in our own builds, never in a user's.
WERROR ?= OFF
BUILD = -C cmake.define.CRANFIELD_WERROR=$(WERROR)

# Where it is set, every command that a test or a benchmark starts would compile the whole package anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo serve test check docs picture prove bench bench-against load mutants record sanitize clean

demo: $(VENV)/.demo-installed
	@$(BIN)/cranfield demo

# A server with a project to try, on this machine alone.
serve: $(VENV)/.web-installed
	@$(BIN)/cranfield serve demo

test: $(VENV)/.test-installed
	$(BIN)/python -m pytest -n auto --dist loadgroup

check: $(VENV)/.test-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The pages that are written by the program itself; a test checks that they are current.
docs: $(VENV)/.installed
	$(BIN)/cranfield measures --markdown > docs/measures.md

# The pictures of README.md. They need a browser.
picture: $(VENV)/.test-installed
	$(BIN)/python docs/pictures/report.py
	$(BIN)/python docs/pictures/judging.py

# What is claimed of the statistics of online experiments, by simulation, all of it. It takes about four minutes of a processor.
prove: $(VENV)/.test-installed
	$(BIN)/cranfield online prove

# Times whole processes against other tools, side by side in one run. It takes a few minutes.
bench: .venv-bench/.installed
	.venv-bench/bin/python bench/run.py

# Times this commit and an earlier one by turns: make bench-against BASE=main~5
bench-against: .venv-bench/.installed
	.venv-bench/bin/python bench/against.py $(BASE)

# 200 people judge for ten minutes, on SQLite and on PostgreSQL; server and database are killed 300 times. It takes hours.
load: $(VENV)/.test-installed
	PYTHONPATH=tests/common $(BIN)/python tests/common/crowds.py $(LOAD)
	CRANFIELD_KILLS=100 CRANFIELD_MACHINE=300 $(BIN)/python -m pytest -rP tests/web/test_durability.py tests/web/test_judging_machine.py

# Do the tests bite? Puts 300 faults into a copy of the code, one at a time, and counts those that a test notices, by area.
# It takes hours; MUTANTS='--resume' goes on where it ended, MUTANTS='--list-survivors' shows what no test noticed.
mutants: $(VENV)/.test-installed
	$(BIN)/python tests/house/mutants.py $(MUTANTS)

# Writes down anew what tests keep: what commands print and write, errors, help, all that is registered. Then read the diff.
RECORDED = tests/cli/test_cases.py tests/cli/test_command_line.py tests/cli/test_options.py tests/explanation/test_explain.py \
    tests/house/test_lecture_page.py tests/house/test_recipes.py tests/house/test_registered.py tests/house/test_signatures.py \
    tests/house/test_words.py
record: $(VENV)/.test-installed
	$(if $(ONLY),PYTHONPATH=tests/common $(BIN)/python $(ONLY),set -e; for file in $(RECORDED); do PYTHONPATH=tests/common $(BIN)/python $$file; done)

# The same tests on a core built with AddressSanitizer and UndefinedBehaviorSanitizer. The interpreter never frees
# all it has, and pytrec_eval frees with the wrong function: neither is ours to report. Left out is what cannot run
# under them or does not reach the core: browsers, Java with Spark, PostgreSQL and the judging server.
sanitize: .venv-sanitize/.installed
	ASAN_OPTIONS=detect_leaks=0:alloc_dealloc_mismatch=0 LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libstdc++.so)" \
	CRANFIELD_FUZZ=$(or $(FUZZ),2000) .venv-sanitize/bin/python -m pytest -p no:cacheprovider --ignore-glob='*_browser.py' \
	    --ignore=tests/spark --ignore=tests/web

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.installed: $(BIN)/python pyproject.toml $(CORE)
	$(BIN)/python -m pip install --quiet $(BUILD) -e .
	@touch $@

$(VENV)/.demo-installed: $(BIN)/python pyproject.toml $(CORE)
	$(BIN)/python -m pip install --quiet $(BUILD) -e '.[search]'
	@touch $@ $(VENV)/.installed

$(VENV)/.web-installed: $(BIN)/python pyproject.toml $(CORE)
	$(BIN)/python -m pip install --quiet $(BUILD) -e '.[web]'
	@touch $@ $(VENV)/.installed $(VENV)/.demo-installed

$(VENV)/.test-installed: $(BIN)/python pyproject.toml $(CORE)
	$(BIN)/python -m pip install --quiet $(BUILD) -e '.[test]'
	@touch $@ $(VENV)/.installed $(VENV)/.demo-installed $(VENV)/.web-installed

.venv-bench/.installed: pyproject.toml $(CORE) $(shell find src -name '*.py')
	test -d .venv-bench || $(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet '.[bench]'
	@touch $@

.venv-sanitize/.installed: pyproject.toml $(CORE)
	test -d .venv-sanitize || $(PYTHON) -m venv .venv-sanitize
	.venv-sanitize/bin/python -m pip install --quiet -C cmake.build-type=Debug -C cmake.define.CRANFIELD_SANITIZE=ON -e '.[test]'
	@touch $@

clean:
	rm -rf .venv .venv-bench .venv-sanitize build
