# make run        opens the sample workspace in the terminal app
# make test       passes the tests, but for those that go over whole corpora or play for long
# make test-deep  passes these, and tries each property on 25 times as many examples
# Each makes the environment first if it is missing or out of date: `make run` what the app needs, and the rest, which
# searching by meaning needs, is installed behind it; all others everything.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LIGHT := $(VENV)/.light
INSTALLED := $(VENV)/.installed
INSTALL := $(BIN)/python -m memento_tui.package_installer
SAMPLE := data/local

.PHONY: run test test-deep fuzz-keys torture hub lint types bench poison screenshots reference clean

run: $(LIGHT)
	@test -d $(SAMPLE) || echo "Loading the sample workspace into $(SAMPLE)."
	@$(BIN)/python data/load_sample.py $(SAMPLE)
	@$(BIN)/memento engine install --background || true
	@$(BIN)/memento --data-dir $(SAMPLE)

test: $(INSTALLED)
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile -m 'not deep'

# DEEP: the files or folders to look into; SEED: what the examples are drawn from, to see the same ones again.
DEEP = tests
SEED =

test-deep: $(INSTALLED)
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile -m 'deep or property' --hypothesis-profile=deep \
		$(if $(SEED),--hypothesis-seed=$(SEED)) $(DEEP)

# SEED: what is typed; SECONDS: for how long, or BURSTS: how many bursts of it.
SECONDS = 60
BURSTS =

fuzz-keys: $(INSTALLED)
	$(BIN)/python -m tests.fuzz.fuzz_keys --seed $(or $(SEED),1) \
		$(if $(BURSTS),--bursts $(BURSTS),--seconds $(SECONDS))

torture: $(INSTALLED)
	$(BIN)/python -m tests.torture --seed $(or $(SEED),1) --seconds $(or $(SECONDS),60) $(if $(OF_EACH),--of-each $(OF_EACH))

# A PostgreSQL of its own, to try the hub with.
hub: $(INSTALLED)
	@$(BIN)/python -m tests.postgres data/hub

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(INSTALLED)
	$(BIN)/mypy

bench: $(INSTALLED)
	$(BIN)/python -m tests.benchmarks

# JUDGE: a Python that has OWASP's agent-memory-guard, as a second judge of the same texts.
JUDGE =

poison: $(INSTALLED)
	$(BIN)/python -m tests.poison $(if $(JUDGE),--judge $(JUDGE))

screenshots: $(INSTALLED)
	$(BIN)/python screenshots/make.py
	$(BIN)/python -m tests.tour

reference: $(INSTALLED)
	$(BIN)/python -m tests.reference
	$(BIN)/python -m tests.first_answers
	$(BIN)/python -m tests.rule_needs

clean:
	rm -rf $(VENV) $(SAMPLE) build dist *.egg-info

$(LIGHT): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "memento needs Python 3.11 or newer; name one with make PYTHON=python3.11"; exit 1; }
	@echo "1 of 3: an environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@echo "2 of 3: some sixty packages that the app needs; about half a minute"
	@$(INSTALL) --editable .
	@echo "3 of 3: memento itself"
	@$(BIN)/python -m compileall -q memento_tui
	@touch $@

$(INSTALLED): $(LIGHT)
	@echo "All that searching by meaning and the tests need, about 2 GB; a few minutes"
	@$(INSTALL) --editable '.[dev]'
	@touch $@
