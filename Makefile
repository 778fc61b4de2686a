# SPDX-License-Identifier: LGPL-2.1-or-later
# The front door: each target calls what does the work (CMake, Kbuild, qemu/). `make help` lists them.

SHELL := /bin/bash
BUILD ?= build
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
# The kernels that `make check` builds for and boots.
CHECK_KERNELS ?= 6.12 6.1

# Asked only by targets that build modules, so that `make help` works without any kernel headers.
kver = $(or $(shell qemu/kernel $(KVER)),$(error no kernel to build for))

# A build folder keeps the generator it was made with.
generator = $(if $(wildcard $(BUILD)/user/CMakeCache.txt),,-G Ninja)

.PHONY: all user tool modules install dkms clean help deps lint images check check-deep debug-kernel fuzz sanitize \
	coverage demo shell bench figures

all: user modules

help:
	@echo 'make            userspace and modules, for the running kernel or KVER=6.12'
	@echo 'make user       libnvmeofctl, nvmeofctl, tests; make tool: without the tests'
	@echo 'make modules    nvmeof.ko and nvmeof_tcp.ko; KVER= as above'
	@echo 'make demo       boot a guest, connect, verified I/O, disconnect: the whole thing in a minute or two'
	@echo 'make check      everything CI runs: builds for $(CHECK_KERNELS), lint, unit tests, guest tests'
	@echo 'make check-deep the same, and everything again on the debug kernel, with faults and fuzzing: many hours'
	@echo 'make debug-kernel  build that kernel, below ~/.cache/nvmeof'
	@echo 'make fuzz       libFuzzer on all that parses; make sanitize: the unit tests with ASan and UBSan'
	@echo 'make coverage   what the runs on the debug kernel have executed of the modules'
	@echo 'make figures    how many misbehaviours, faults, random messages the last runs have tried'
	@echo 'make shell      an interactive guest with a target and the modules; KVER=6.1 for the older kernel'
	@echo 'make bench      cost of an I/O and of a connect, next to the in-tree driver'
	@echo 'make lint       static checks'
	@echo 'make deps       install the Debian packages that are missing (as root), or name them'
	@echo 'make install    modules, library and tool, on this machine; DESTDIR= and PREFIX= as usual'
	@echo 'make dkms       the same modules through dkms, so that each new kernel gets its own'
	@echo 'make clean      remove $(BUILD)/'

deps:
	@qemu/deps

user: cmake-target := all
tool: cmake-target := nvmeofctl
user tool:
	@mkdir -p $(BUILD)
	@cmake -S . -B $(BUILD)/user $(generator) -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_INSTALL_PREFIX=$(PREFIX) \
		"-DNVMEOF_GUEST_KERNELS=$$(tr ' ' ';' <<< '$(CHECK_KERNELS)')" \
		> $(BUILD)/cmake.log 2>&1 || { cat $(BUILD)/cmake.log; exit 1; }
	cmake --build $(BUILD)/user -j $(JOBS) --target $(cmake-target)

modules:
	@set -e; kver=$(kver); export KDIR=$$(qemu/kernel --build $$kver); \
	kmod/build $$kver $(if $(filter debug,$(KVER)),GCOV_PROFILE=y); tests/selector/build $$kver; \
	$(if $(filter debug,$(KVER)),tests/faults/build $$kver)

lint:
	@test -x tests/lint/run || { echo 'make lint: tests/lint/run is missing' >&2; exit 1; }
	tests/lint/run

# Guest images ahead of the tests, so that the first test is not charged for them.
images:
	@set -e; for k in $(CHECK_KERNELS); do qemu/mkinitramfs $$(qemu/kernel $$k); done > /dev/null

# Guests run on all CPUs; ctest knows how many threads each of them is. A case that fails there and passes by itself is
# named at the end.
# The debug kernel is smoke-tested where it has been built.
check: skip := $(if $(shell qemu/debug/build --path 2> /dev/null),deep,deep|smoke)
check: deps
	@$(MAKE) --no-print-directory user
	@set -e; for k in $(CHECK_KERNELS) $(if $(findstring smoke,$(skip)),,debug); do \
		$(MAKE) --no-print-directory modules KVER=$$k; done
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory images
	@$(if $(findstring smoke,$(skip)),echo 'make check: no debug kernel of this configuration: no smoke test')
	ctest --test-dir $(BUILD)/user --output-on-failure -LE 'guest|$(skip)'
	@qemu/check-guests -j $(JOBS) -LE '$(skip)'; status=$$?; $(MAKE) --no-print-directory figures; \
	qemu/check-guests --cost; qemu/check-guests --flaky; exit $$status

# Everything of `make check` too, but the smoke test, which is a part of it
check-deep: deps debug-kernel
	@$(MAKE) --no-print-directory user
	@set -e; for k in $(CHECK_KERNELS) debug; do $(MAKE) --no-print-directory modules KVER=$$k; done
	tests/lint/run all
	tests/sanitize/run
	@$(MAKE) --no-print-directory images
	@rm -rf $(BUILD)/guest/*/verdict
	ctest --test-dir $(BUILD)/user --output-on-failure -j $(JOBS) -LE smoke; status=$$?; \
	$(MAKE) --no-print-directory figures; qemu/coverage --missed; exit $$status

# How much was tried, by the last runs
figures:
	@cat $(BUILD)/fuzz/table 2> /dev/null || true
	@cd $(BUILD)/guest && grep -H '^  figure: ' */verdict | sed 's,/verdict:  figure: ,: ,' || true

debug-kernel:
	@qemu/debug/build

fuzz: deps
	tests/fuzz/run

sanitize: deps
	tests/sanitize/run

coverage:
	@qemu/coverage

demo shell bench: KVER := $(or $(KVER),6.12)
demo: deps
	@$(MAKE) --no-print-directory tool
	@$(MAKE) --no-print-directory modules KVER=$(KVER)
	@qemu/demo/run $(KVER)

shell: deps
	@$(MAKE) --no-print-directory tool
	@$(MAKE) --no-print-directory modules KVER=$(KVER)
	@qemu/shell $(KVER)

bench: deps
	@$(MAKE) --no-print-directory tool
	@$(MAKE) --no-print-directory modules KVER=$(KVER)
	@qemu/bench/run $(KVER)

install: all
	@set -e; kver=$(kver); \
	$(MAKE) --no-print-directory -C /lib/modules/$$kver/build M=$$PWD/$(BUILD)/kmod-$$kver \
		INSTALL_MOD_PATH=$(DESTDIR) INSTALL_MOD_DIR=updates modules_install; \
	test -n "$(DESTDIR)" || depmod $$kver
	DESTDIR=$(DESTDIR) cmake --install $(BUILD)/user

# Registers the sources with dkms, which then builds and installs the modules for every kernel of this machine.
dkms: version = $(shell cat VERSION)
dkms: source = $(DESTDIR)/usr/src/nvmeof-$(version)
dkms:
	@command -v dkms > /dev/null || { echo 'make dkms: dkms is not here: apt-get install dkms' >&2; exit 1; }
	rm -rf $(source)
	mkdir -p $(source)
	cp -a --parents VERSION Kbuild kmod include/uapi $(source)/
	sed 's/@VERSION@/$(version)/' kmod/dkms.conf > $(source)/dkms.conf
	test -n "$(DESTDIR)" || dkms install nvmeof/$(version) -k $$(qemu/kernel $(KVER))

clean:
	rm -rf $(BUILD)
