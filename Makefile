# SPDX-License-Identifier: LGPL-2.1-or-later
# Each target calls CMake, Kbuild or a script in qemu/, tests/ or tools/. `make help` lists them.

SHELL := /bin/bash
BUILD ?= build
# Everything below finds it by this name, from wherever it runs.
override BUILD := $(abspath $(BUILD))
export BUILD
# ON or OFF; by default there are tests where Catch2 is installed.
TESTS ?=
# ON: warnings are errors, as tests/check has it; a build folder keeps it.
WERROR ?=
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
# The kernels that `make check` builds for and boots, as KERNELS=
CHECK_KERNELS ?= $(or $(KERNELS),6.12 6.1)
export CHECK_KERNELS

# Evaluated only by targets that build modules, so that `make help` works without any kernel headers.
kver = $(or $(shell qemu/kernel $(KVER)),$(error no kernel to build for))

# A build folder keeps the generator it was made with.
generator = $(if $(wildcard $(BUILD)/user/CMakeCache.txt),,-G Ninja)
# `make demo` alone compiles without optimisation, unless something was built before.
build_type = $(if $(and $(MAKECMDGOALS),$(if $(filter-out demo demo-gds,$(MAKECMDGOALS)),,yes)),\
	$(if $(wildcard $(BUILD)/user/CMakeCache.txt),,-DCMAKE_BUILD_TYPE=Quick),-DCMAKE_BUILD_TYPE=RelWithDebInfo)

.PHONY: all configure user tool modules test-modules deb rpm install dkms uninstall clean help deps test-deps \
	lint unit fuzz check check-quick check-deep check-status debug-kernel plain-kernel newest-kernel arm64-kernel \
	arm64-user coverage demo demo-cdc demo-gds shell bench bench-cdc figures

all: user modules

help:
	@echo 'make            userspace and modules, for the running kernel or KVER=6.12'
	@echo 'make user       libnvmeofctl, nvmeofctl, nvmeofd, programs of the guest tests; make tool: without these'
	@echo 'make modules    nvmeof.ko, nvmeof_tcp.ko, nvmeof_rdma.ko, nvmeof_nvfs.ko; KVER= as above'
	@echo 'make demo       verified I/O in a guest while paths fail: 5 minutes on two idle cores, and 2 to 5'
	@echo '                more on a bare machine, to download and install packages'
	@echo 'make demo-cdc   two discovery services, 1,000 hosts that start at once, one service killed'
	@echo 'make demo-gds   storage for GPUs (stand-ins): topology, stripe, plan; two sockets, 16 drives'
	@echo 'make check      the core tests and the suites of the areas that you changed: 25 minutes on two cores'
	@echo 'make check AREA=rdma,cdc   all tests of these areas (tests/areas); AREA=auto: of the changed areas'
	@echo 'make check KERNELS="newest 6.1"   on these kernels instead of 6.12 and 6.1; Documentation/kernels.md'
	@echo 'make check ONLY=failover   only the tests whose names match'
	@echo 'make check-status  tell whether this tree has passed make check'
	@echo 'make check-quick  lint, unit tests, one short guest: under five minutes once all is built'
	@echo 'make check-deep everything, also on the debug kernel, with faults and more fuzzing: hours'
	@echo 'make debug-kernel  build the debug kernel in ~/.cache/nvmeof'
	@echo 'make plain-kernel  the same source without debugging options, for tests of P2PDMA'
	@echo 'make newest-kernel  fetch the newest kernel of Debian, for KVER=newest; RENEW=1: look for a newer one'
	@echo 'make arm64-kernel  fetch Debian for arm64, for KVER=arm64 and arm64-16k'
	@echo 'make arm64-user  the programs that guests on arm64 need'
	@echo 'make unit       unit tests with sanitizers; make fuzz: every fuzzer for a minute'
	@echo 'make coverage   lines of the modules that runs on the debug kernel have executed'
	@echo 'make figures    numbers of misbehaviours, faults and random messages in the last runs'
	@echo 'make shell      an interactive guest with a target and the modules; KVER=6.1 for the older kernel'
	@echo 'make bench      performance next to the in-tree driver; CASES= in Documentation/performance.md'
	@echo 'make bench-cdc  performance of the discovery service; CASES= of tests/system/cdc/bench'
	@echo 'make lint       static checks'
	@echo 'make deps       install missing Debian packages as root, or print the command that does'
	@echo 'make deb        Debian packages in $(BUILD)/deb, a repository for apt'
	@echo 'make rpm        RPM packages in $(BUILD)/rpm'
	@echo 'make install    install modules and userspace on this machine; DESTDIR= and PREFIX= as usual'
	@echo 'make dkms       the same, with modules by DKMS, which rebuilds them for each new kernel'
	@echo 'make uninstall  remove an installation by either'
	@echo 'make clean      remove $(BUILD)/'

deps:
	@qemu/deps

# Further packages that `make check` needs
test-deps:
	@qemu/deps tests/packages

configure:
	@mkdir -p $(BUILD)
	@cmake -S . -B $(BUILD)/user $(generator) $(build_type) -DCMAKE_INSTALL_PREFIX=$(PREFIX) \
		"-DNVMEOF_GUEST_KERNELS=$$(tr ' ' ';' <<< '$(CHECK_KERNELS)')" \
		$(if $(TESTS),-DNVMEOF_TESTS=$(TESTS)) $(if $(WERROR),-DNVMEOF_WERROR=$(WERROR)) \
		> $(BUILD)/cmake.log 2>&1 || { cat $(BUILD)/cmake.log; exit 1; }
	@sed -n 's/^-- \(.*: NOT BUILT.*\)/make: \1/p' $(BUILD)/cmake.log >&2

user: cmake-target := all
tool: cmake-target := installed
user tool: configure
	cmake --build $(BUILD)/user -j $(JOBS) --target $(cmake-target)

modules:
	@set -e; kver=$(kver); export KDIR=$$(qemu/kernel --build $$kver); \
	kmod/build $$kver $(if $(filter debug,$(KVER)),GCOV_PROFILE=y)

# Modules that the tests load beside ours
test-modules: modules
	@set -e; kver=$(kver); export KDIR=$$(qemu/kernel --build $$kver); \
	tests/kmod/selector/build $$kver; tests/kmod/direct/build $$kver; \
	$(if $(filter debug,$(KVER)),tests/kmod/faults/build $$kver)

lint:
	@test -x tests/lint/run || { echo 'make lint: tests/lint/run is missing' >&2; exit 1; }
	tests/lint/run

check: test-deps
	@tests/check $(if $(ONLY),only '$(ONLY)',$(if $(AREA),area '$(AREA)'))

check-quick check-deep: test-deps
	@tests/check $(@:check-%=%)

check-status:
	@tests/check status

# Figures of the last runs
figures:
	@cat $(BUILD)/fuzz/table 2> /dev/null || true
	@cd $(BUILD)/guest 2> /dev/null && grep -H '^  figure: ' */verdict | sed 's,/verdict:  figure: ,: ,' || true

debug-kernel:
	@qemu/debug/build

plain-kernel:
	@qemu/debug/build plain

newest-kernel:
	@qemu/newest/build $(if $(RENEW),--renew)

arm64-kernel:
	@qemu/arm64/build $(if $(RENEW),--renew) arm64

# The programs that guests on arm64 need, in $(BUILD)/user-arm64
arm64-user:
	@qemu/arm64/user

fuzz: test-deps
	tests/fuzz/run

unit: test-deps
	tests/sanitize/run

coverage:
	@qemu/coverage

demo demo-gds shell bench: KVER := $(or $(KVER),6.12)
demo demo-gds: deps configure
	@echo '1 of 3: building nvmeofctl, nvmeofd and nvmeof-tlsd: at the first time, 2 minutes on two idle cores'
	@cmake --build $(BUILD)/user -j $(JOBS) --target nvmeofctl nvmeofd nvmeof-tlsd > $(BUILD)/demo.log || \
		{ tail -n 40 $(BUILD)/demo.log; exit 1; }
	@echo '2 of 3: building the modules for $(KVER): at the first time, 1 minute'
	@$(MAKE) --no-print-directory modules KVER=$(KVER)
	@echo '3 of 3: the guest: about 1.5 minutes'
	@qemu/demo/run $(KVER) $(patsubst demo-%,%,$(filter-out demo,$@))

shell bench: deps
	@$(MAKE) --no-print-directory tool
	@$(MAKE) --no-print-directory test-modules KVER=$(KVER)
	@qemu/$(if $(filter bench,$@),bench/run,shell) $(KVER)

demo-cdc bench-cdc: test-deps
	@$(MAKE) --no-print-directory tool
	@tests/system/cdc/$(@:%-cdc=%)

# On this machine, or below DESTDIR. A build directory with another PREFIX is configured again.
install: tool modules
	@DESTDIR=$(DESTDIR) tools/packaging/install modules $(kver)
	@DESTDIR=$(DESTDIR) tools/packaging/install userspace

# The modules by dkms, which then builds them for every new kernel of this machine; everything else as by `install`.
dkms: tool
	@mkdir -p $(BUILD)
	@DESTDIR=$(DESTDIR) tools/packaging/install dkms $(kver)
	@DESTDIR=$(DESTDIR) tools/packaging/install userspace

# Compiled with the flags of the distribution, not what `make tool` has built: in minutes
deb:
	@tools/packaging/deb

rpm:
	@tools/packaging/rpm/build

uninstall:
	@DESTDIR=$(DESTDIR) tools/packaging/install uninstall

clean:
	rm -rf $(BUILD)
