# setup   fill .venv            try      set up, then a tour on real input
# test    set up, then all tests lint     format, lint, types, import contracts
# bench   the figures, DATA=path adds the public sets    nightly   what takes longer
# mutants remove lines of core and outputs, list what no test notices
PYTHON ?= python3
BIN := .venv/bin
DATA ?=

.PHONY: setup try test lint bench nightly mutants clean
setup: .venv/.done

.venv/.done: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable ".[local,lab,gateway,langchain,pydantic-ai]" --group dev
	@touch $@
	@echo 'admit is in $(BIN); to call it by its name:  export PATH="$$PWD/$(BIN):$$PATH"'

try: setup
	$(BIN)/python examples/tour.py

test: setup
	$(BIN)/python -m pytest -n 2

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports

bench: setup
	$(BIN)/python bench/outputs.py --set all --bars $(if $(DATA),--data $(DATA))
	$(BIN)/python bench/ledger.py
	$(BIN)/python bench/judge_local.py
	$(BIN)/python bench/judge_bounds.py
	$(BIN)/python bench/hosts.py
	$(BIN)/python bench/evidence.py --part fixture --part population --part links --part same --part speed --part checks $(if $(DATA),--data $(DATA))

nightly: setup
	ADMIT_NIGHTLY=1 ADMIT_CLAUDE=$$($(BIN)/python tools/claude_client.py) $(BIN)/python -m pytest -n 2
	$(BIN)/python bench/outputs.py --set all --bars --peers $(if $(DATA),--data $(DATA))
	$(BIN)/python bench/evidence.py --part faults --part reads
	$(BIN)/python tools/mutants.py

mutants: setup
	$(BIN)/python tools/mutants.py

clean:
	rm -rf .venv .peers .pytest_cache .ruff_cache .hypothesis bench/out
