# Every target sets up what it needs: git, make and Python 3.11 or newer are enough.  `make help` lists the targets.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: help demo test style types books pytest trust cluster-test bench fixtures schema docs pictures clean
.NOTPARALLEL:
.DEFAULT_GOAL := $(READY)

# The environment is made again only when pyproject.toml has changed.
$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "gpudoctor needs Python 3.11 or newer, and '$(PYTHON)' is not: name another one, for example make PYTHON=python3.12" >&2; exit 1; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

help:           ## List the targets
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/^([a-z-]+):.*## */make \1	/' | expand -t 16

demo: $(READY)  ## Diagnose a recorded incident; needs no GPU and no cluster
	@$(BIN)/gpudoctor demo lost-gpu || [ $$? -eq 1 ]   # 1 says that a problem was found: here it is meant to be

test: style types books pytest  ## Everything that must pass before a change is merged

style: $(READY) ## ruff: rules and format
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --check --quiet
	@find src -name '*.py' -exec awk 'END { if (NR > 400) print "advice: " FILENAME " has " NR " lines; is it about one thing?" }' {} \;

types: $(READY) ## mypy --strict
	$(BIN)/mypy

books: $(READY) ## Check the runbooks and run their paired tests
	$(BIN)/gpudoctor lint
	$(BIN)/gpudoctor test

pytest: $(READY) ## The tests of the code
	$(BIN)/pytest -n auto --dist loadfile

trust: $(READY) ## All that must hold for HEALTHY to be believed; the tests of `make pytest` try a twentieth of it
	GPUDOCTOR_TRUST="1 1" GPUDOCTOR_BROKEN="1 1" $(BIN)/pytest -n auto --dist loadfile tests/trust tests/test_broken_answers.py

cluster-test: $(READY) ## Diagnose pods on a real control plane, which is built once (Go; a quarter of an hour)
	tests/cluster/build.sh "$$($(BIN)/python -c 'from tests.cluster.control_plane import cached; print(cached())')"
	$(BIN)/python -m tests.cluster

bench: $(READY) ## Measure what is promised about speed
	$(BIN)/python -m benchmarks

fixtures: $(READY) ## Record the bundles under tests/fixtures again
	$(BIN)/python -m tests.kube.record && $(BIN)/python -m tests.nodes.record

schema: $(READY) ## Write schema/*.json from the models
	$(BIN)/gpudoctor schema --write

docs: $(READY)   ## Write the pages that list all causes and runbooks
	$(BIN)/python -m gpudoctor.cli.pages

pictures: $(READY) ## Make the pictures of the README from a real run (the one of the report needs Chromium)
	$(BIN)/python -m tests.pictures

clean:          ## Remove what was built; the next target sets up again
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis src/gpudoctor/_data
	find benchmarks runbooks src tests -name __pycache__ -type d -prune -exec rm -rf {} +
