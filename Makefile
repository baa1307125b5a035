# build, demo, test, check: each works from a bare clone. They make .venv and install what they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2
BUILD := build/c

.PHONY: build demo test test-c test-python check bench clean

$(VENV)/ready: requirements.txt requirements-nodeps.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -r requirements-nodeps.txt
	@touch $@

# The wheel: libvtpu.so, the adapter, the Python package. Rebuilt when a source is newer.
SOURCES := $(shell find src include adapter python cmake -type f) CMakeLists.txt pyproject.toml
$(VENV)/installed: $(VENV)/ready $(SOURCES)
	CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/pip install --quiet \
	  --disable-pip-version-check --no-build-isolation --no-deps .
	@touch $@

build: $(VENV)/installed

demo: build
	$(BIN)/python examples/digits.py

test-c: $(VENV)/ready
	$(BIN)/cmake -S . -B $(BUILD) -G Ninja -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python \
	  -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -DTPUTORCH_ADAPTER=OFF > /dev/null
	$(BIN)/ninja -C $(BUILD) -j $(JOBS) --quiet
	$(BIN)/ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

test-python: build
	$(BIN)/python -m pytest tests

test: test-c test-python

# Style and structure; the compilers' and sanitizers' part is in .ci/run.
check: $(VENV)/ready
	$(BIN)/ruff check python tests examples bench tools
	$(BIN)/python tools/check_layers.py
	$(BIN)/python tools/check_size.py
	$(BIN)/python tools/check_headers.py
	$(BIN)/python tools/check_words.py
	$(BIN)/python tools/check_format.py

bench: build
	$(BIN)/python bench/run.py

clean:
	rm -rf build
