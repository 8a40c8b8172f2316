# vyre: a thin front of the CMake build. `make help` tells what there is.
.DEFAULT_GOAL := build
.PHONY: help build run test test-asan test-tsan test-mutants test-cuda test-oclgrind lint format clean install \
        roundtrip fuzz-diff fuzz ulp bench bench-plan
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

PREFIX  ?= /usr/local
DESTDIR ?=
N       ?= 1000000
SEED    ?= 1
BACKEND ?= ref-split
JOBS    ?= 1
TARGET  ?= parse
SECONDS ?= 600
M       ?=
W       ?=
JSON    ?=
RUN     ?= examples/bfs.vy --in row,col=rmat:14:16:1 --time

define HELP
vyre: data-parallel programs with grid-wide barriers, the same result on any device

  make                 build everything into build/
  make run             build and run an example (RUN="FILE options" for another)
  make test            build and run the quick tests
  make lint            formatting, clang-tidy, warnings of gcc and clang as errors
  make test-asan       the tests with the address and undefined behaviour sanitizers
  make test-tsan       the tests with the thread sanitizer
  make test-mutants    does a test notice each seeded fault? (M=NAME: lists the test that does)
  make install         PREFIX=/usr/local DESTDIR=: libraries, headers, command, manual
  make format          rewrite the sources with clang-format
  make clean           remove all build folders

Long runs; each ends with one line that tells what ran and what failed:

  make roundtrip       N=1000000 SEED=1: print and parse random programs
  make fuzz-diff       BACKEND=ref-split N=1000000 SEED=1 JOBS=1: random programs against ref,
                       seeds SEED to SEED + N - 1; what differs is reduced to build/diff-cases
  make fuzz            TARGET=parse SECONDS=600: libFuzzer on tests/fuzz/fuzz_TARGET.c
  make test-cuda       every program as CUDA C++ through nvcc, where there is one
  make test-oclgrind   the examples on a simulator of OpenCL that sees every access
  make ulp             N=1000000 SEED=1 F=exp_f64: elementary functions (or F) against MPFR, N random
                       arguments each
  make bench           W=workload JSON=file: vyre beside hand-written code (docs/bench.md)
  make bench-plan      JSON=file: the planners; AGAINST=commit N=200000: beside those of a commit,
                       with the plans of N random problems compared

Missing Debian packages are installed when root; otherwise the line to run is printed.
endef
export HELP

help:
	@echo "$$HELP"

# One folder per kind of build; made once, kept up to date by ninja itself.
build-asan/build.ninja:    options = -DVYRE_PEERS=OFF -DVYRE_SANITIZE=address,undefined
build-tsan/build.ninja:    options = -DVYRE_PEERS=OFF -DVYRE_SANITIZE=thread
build-mutants/build.ninja: options = -DVYRE_PEERS=OFF -DVYRE_MUTANTS=ON "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O1 -w"
build-clang/build.ninja:   options = -DVYRE_PEERS=OFF -DCMAKE_C_COMPILER=clang
build-fuzz/build.ninja:    options = -DVYRE_PEERS=OFF -DCMAKE_C_COMPILER=clang -DVYRE_FUZZ=ON \
                                     -DVYRE_SANITIZE=address,undefined
%/build.ninja: | setup-run
	@cmake -S . -B $* -G Ninja --log-level=WARNING -DCMAKE_C_COMPILER=gcc $(options) >/dev/null

setup-%:
	@scripts/setup $*

build: setup-test build/build.ninja
	@ninja -C build

run: setup-run build/build.ninja
	@ninja -C build product
	@scripts/need build/bin/vyre
	build/bin/vyre run $(RUN)

test: build
	@tests/run build

test-asan: setup-test build-asan/build.ninja
	@ninja -C build-asan
	@TEST_PERCENT=20 tests/run -x package/ build-asan

test-tsan: setup-test build-tsan/build.ninja
	@ninja -C build-tsan
	@TEST_PERCENT=10 setarch -R tests/run -x package/ build-tsan

test-mutants: setup-test woven build-mutants/build.ninja
	@ninja -C build-mutants
	@scripts/mutants $(if $(M),-k )build-mutants $(M)

.PHONY: woven
woven: setup-test
	@scripts/weave build-mutants/woven

test-cuda: build
	@scripts/cuda build/bin/vyre

test-oclgrind: setup-oclgrind build
	@scripts/oclgrind build/bin/vyre

lint: setup-lint build/build.ninja build-clang/build.ninja
	@scripts/lint build build-clang

format: setup-lint
	@scripts/sources | xargs clang-format -i

roundtrip: build
	@scripts/need build/tests/vyre_roundtrip
	@build/tests/vyre_roundtrip --count $(N) --seed $(SEED)

fuzz-diff: build
	@scripts/need build/tests/vyre_fuzz_diff
	@mkdir -p build/diff-cases
	@build/tests/vyre_fuzz_diff --backend $(BACKEND) --count $(N) --seed $(SEED) --jobs $(JOBS) \
	    --cases build/diff-cases

fuzz: setup-fuzz build-fuzz/build.ninja
	@scripts/need tests/fuzz/fuzz_$(TARGET).c
	@ninja -C build-fuzz fuzz_$(TARGET)
	@scripts/fuzz build-fuzz $(TARGET) $(SECONDS)

ulp: build
	@scripts/need build/tests/vyre_ulp
	@build/tests/vyre_ulp --random $(N) --seed $(SEED) $(F)

# Configured anew: peers may have been installed just now.
bench: setup-bench build/build.ninja
	@cmake -B build --log-level=WARNING >/dev/null
	@ninja -C build
	@scripts/bench "$(W)" "$(JSON)"

bench-plan: build
	@$(if $(AGAINST),scripts/bench-plan-against "$(AGAINST)" "$(N)",scripts/bench plan "$(JSON)")

install: setup-run build/build.ninja
	@cmake -B build --log-level=WARNING -DCMAKE_INSTALL_PREFIX="$(PREFIX)" >/dev/null
	@ninja -C build product
	@DESTDIR="$(DESTDIR)" cmake --install build

clean:
	rm -rf build build-asan build-tsan build-clang build-fuzz build-mutants
