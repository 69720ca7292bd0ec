# `make test` and `make train` do all the set-up themselves. Kept to what GNU make 3.81
# (macOS) and BSD make both read.

VENV = .venv
EXTRAS = dev,viewer,video,gym,export,sweep,wandb
# The interpreter that creates VENV; empty: the first python3 that is new enough.
PYTHON =
# The task of `make train`; empty: the humanoid Velocity-G1 on a machine with CUDA, and
# Velocity-Go1-Flat, which a laptop learns in minutes, elsewhere.
TASK =
# Options for `make train`, as in: make train ARGS="--env.scene.num-envs 4096"
ARGS =
# Options for pytest, as in: make test PYTEST_ARGS="-k contact"
PYTEST_ARGS =
# One room of the tests, as in: make test ROOM=managers
ROOM =
# Processes for all tests; a room runs in one, which begins sooner.
JOBS = auto

BIN = $(VENV)/bin
READY = $(VENV)/.ready
SOURCES = mjlab mjlab_fused tasks scripts bench tests

.PHONY: test slow train docs web web-check web-packages format style type check faults setup

test: $(READY)
	@if [ -z "$(ROOM)" ]; then \
	  set -- -n $(JOBS) --maxprocesses 8 $(PYTEST_ARGS); \
	elif [ -d "tests/$(ROOM)" ]; then \
	  set -- "tests/$(ROOM)" $(PYTEST_ARGS); \
	else \
	  echo "make test: no room '$(ROOM)' among" $$(cd tests && echo */) >&2; exit 2; \
	fi; \
	echo "$(BIN)/python -m pytest $$*"; exec $(BIN)/python -m pytest "$$@"

# As many slow tests as fit into MINUTES, beginning where TURN says.
MINUTES = 30
TURN = 0
slow: $(READY)
	$(BIN)/python -m pytest -p tests.tools.slow_share -m "slow and not gpu" -n $(JOBS) \
	  --maxprocesses 8 --dist loadfile --no-loadscope-reorder \
	  --share-minutes $(MINUTES) --share-turn $(TURN) -o faulthandler_timeout=3600 \
	  $(PYTEST_ARGS)

train: $(READY)
	@task="$(TASK)"; \
	if [ -z "$$task" ]; then \
	  task=Velocity-Go1-Flat; \
	  if $(BIN)/python -c 'import sys, torch; sys.exit(not torch.cuda.is_available())'; \
	  then task=Velocity-G1; fi; \
	fi; \
	set -- "$$task" --video $(ARGS); \
	echo "$(BIN)/python scripts/train.py $$*"; \
	exec $(BIN)/python scripts/train.py "$$@"

# The documentation in build/site. Warnings are errors. Its page of policies shows those
# that ship with the package.
SHOWN = Velocity-Go1-Flat Velocity-G1-Flat Muscle-Walk-W18 Lift-Yam Cartpole-Swingup
docs: $(READY)
	$(BIN)/python -m sphinx -q -W --keep-going -d build/doctrees docs build/site
	$(BIN)/python scripts/web.py $(SHOWN) --logs build --out build/site/policies.html
	@echo "build/site/index.html"

# The script and the WebAssembly of the pages that run policies, from web/ and the npm
# packages that its lock file pins. Needs Node 20; the results are tracked.
web: web-packages
	cd web && npm run build

# Checks the types of web/, and that the tracked results belong to the sources.
web-check: web-packages
	cd web && npm run check

web-packages:
	@command -v npm >/dev/null || { \
	  echo "make web: npm is missing: install Node 20 or newer" >&2; exit 2; }
	cd web && npm ci --ignore-scripts --no-audit --no-fund --loglevel error

format: $(READY)
	$(BIN)/python -m ruff check --fix $(SOURCES)
	$(BIN)/python -m ruff format $(SOURCES)

type: $(READY)
	$(BIN)/python -m pyright --level error

style: $(READY)
	$(BIN)/python -m ruff check $(SOURCES)
	$(BIN)/python -m ruff format --check $(SOURCES)

check: style type test

# Monthly: plants each fault of tests/mutants in a copy, and names those that no test
# notices. Hours.
faults: $(READY)
	$(BIN)/python tests/mutants/run.py --all

setup: $(READY)

# The stamp makes set-up run again only when what it installs has changed.
$(READY): pyproject.toml constraints.txt scripts/setup_venv.sh
	@sh scripts/setup_venv.sh "$(VENV)" "$(EXTRAS)" "$(PYTHON)"
	@touch $@
