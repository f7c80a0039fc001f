# SPDX-License-Identifier: GPL-2.0
# make help shows what there is. The modules' own build description is Kbuild.

KVER ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KVER)/build
JOBS ?= $(shell nproc)
PYTHON := .venv/bin/python
SHELL := /bin/sh
prefix ?= /usr/local
# Where kbuild puts modules below, as DESTDIR for all else.
INSTALL_MOD_PATH ?= $(abspath $(DESTDIR))
.DELETE_ON_ERROR:

# ---- modules ----

release = $(file <$(KDIR)/include/config/kernel.release)
config = $(KDIR)/include/config/auto.conf
cache = $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/spek/kernels

kbuild = $(MAKE) -C $(KDIR) M=$(CURDIR) $(kbuild-options)
kbuild-options = $(if $(filter CONFIG_CC_IS_CLANG=y,$(file <$(KDIR)/.config)),LLVM=1) \
	$(if $(shell command -v pahole),,CONFIG_DEBUG_INFO_BTF_MODULES=)

.PHONY: all modules
all: modules $(if $(wildcard daq/Makefile),daq-if-possible)

-include daq/Makefile

# One tree can be built for one kernel at a time. When the kernel is another one than last
# time, all objects go: kbuild notices changed commands, not that spek.mod.o carries the old
# kernel's version.
modules: check-headers
	@id=$$(realpath $(KDIR); cat $(KDIR)/Module.symvers $(KDIR)/.config 2>/dev/null | cksum); \
	if [ "$$id" != "$$(cat .kernel-id 2>/dev/null)" ]; then \
		$(MAKE) --no-print-directory clean-modules; echo "$$id" > .kernel-id; \
	fi
	@$(kbuild) -j$(JOBS) modules

# The command of the distribution below $(machine). Any Python will do that knows its syntax.
machine ?= /
install-headers = PYTHONPATH=ctl PYTHONDONTWRITEBYTECODE=1 python3 -c 'import pathlib, sys; \
	from spekctl.distribution import Missing, install; \
	print(install([Missing.HEADERS], pathlib.Path(sys.argv[1]), sys.argv[2]))' \
	$(machine) $(KVER) 2>/dev/null

# Which of these paths are not single words.
colon := :
awkward = $(strip $(foreach name,CURDIR KDIR DESTDIR prefix,$(if $(filter-out 0 1,$(words $($(name))))$(findstring \
	$(colon),$($(name))),$(name)='$($(name))')))

.PHONY: check-headers
check-headers:
	@if [ -n "$(awkward)" ]; then \
		echo "spek: make and kbuild take a space or a colon in a path for its end: $(awkward)"; \
		echo "  Move the clone, or give KDIR=, DESTDIR= or prefix= without them."; \
		exit 2; \
	elif [ ! -e $(KDIR)/Makefile ]; then \
		echo "spek: there are no headers of kernel $(KVER) ($(KDIR) is missing)."; \
		echo "  Install them:           $$($(install-headers) || echo 'they are a package of the distribution')"; \
		echo "  or name another kernel: make KDIR=/path/to/headers/or/built/tree"; \
		echo "  Kernels here:           $(or $(wildcard $(addsuffix \
			/lib/modules/*/build,/ $(cache)/*)),none)" | sed 's://*:/:g'; \
		exit 2; \
	elif grep -qs '^CONFIG_MODULES=y' $(config) && ! grep -qs '^CONFIG_64BIT=y' $(config); then \
		echo "spek: the kernel in $(KDIR) is a 32-bit one, and spek needs CONFIG_64BIT."; \
		exit 2; \
	fi >&2

.PHONY: install uninstall
install: modules $(if $(wildcard daq/Makefile),daq-install) pages-install ## copy the modules to the kernel's updates directory, spek-daq, man pages and completion below $(prefix) (root); DESTDIR=DIR stages all of it below DIR
	$(kbuild) INSTALL_MOD_PATH="$(INSTALL_MOD_PATH)" modules_install
	$(if $(INSTALL_MOD_PATH),,depmod $(release))

uninstall: check-headers $(if $(wildcard daq/Makefile),daq-uninstall) pages-uninstall ## remove what install has copied (root)
	rm -f $(foreach m,spek spek_prober spek_drive spek_augment,$(INSTALL_MOD_PATH)/lib/modules/$(release)/updates/$(m).ko*)
	$(if $(INSTALL_MOD_PATH),,depmod $(release))

# Man pages of spekctl and its completion in bash, zsh and fish; they are made from its commands.
.PHONY: pages-install pages-uninstall
pages-install:
	@if [ -x $(PYTHON) ]; then \
		PYTHONPATH=ctl $(PYTHON) -m spekctl.commands.manual "$(DESTDIR)$(prefix)"; \
	else \
		echo "spek: spekctl is not set up (make deps), so its man pages are not installed" >&2; \
	fi

pages-uninstall:
	rm -f $(addprefix $(DESTDIR)$(prefix)/share/,man/man1/spekctl.1 man/man1/spekctl-*.1 \
		bash-completion/completions/spekctl zsh/site-functions/_spekctl \
		fish/vendor_completions.d/spekctl.fish)

# ---- what is missing is installed, named first ----

.PHONY: deps deps-demo
deps: ## install everything that building, testing and the demo need
	@.ci/packages build daq guest kernel python test browser fuzz
	@.ci/venv test,vm

deps-demo:
	@.ci/packages build guest python
	@.ci/venv vm,report

# ---- the two commands ----

.PHONY: demo test
demo: deps-demo ## boot a guest and run SPC-1-like load on virtual disks; results and a report in out/
	@.ci/demo

# make test ARGS="-k netlink" runs a part of it.
test: deps ## run all tests
	@$(PYTHON) -m pytest $(ARGS)

# Which tests: those marked debug_kernel, debug_kernel_at_length and debug_kernel_only.
.PHONY: test-debug
test-debug: deps debug-kernel ## run guest tests on a debug kernel (VARIANT=kasan or kcsan)
	@$(PYTHON) -m pytest --every-kernel --kernels $(if $(filter kcsan,$(VARIANT)),kcsan,debug) \
		tests/guest $(ARGS)

# VARIANT=kcsan looks for data races.
VARIANT ?= kasan
.PHONY: debug-kernel
debug-kernel: deps-kernel ## build a kernel with checks for tests into the cache (VARIANT=kasan or kcsan)
	@PYTHONPATH=tests $(PYTHON) -m lib.build.debug_kernel $(VARIANT)

.PHONY: deps-kernel
deps-kernel:
	@.ci/packages kernel python
	@.ci/venv test,vm

# Chosen files of the guest tests (ARM64_FILES of tests/lib/harness/kernels.py), emulated.
ARM64_KERNEL ?= 6.1
.PHONY: test-arm64 deps-arm64
deps-arm64: deps
	@.ci/packages arm64

test-arm64: deps-arm64 ## run guest tests on an arm64 kernel (ARM64_KERNEL=6.1), cross-built and emulated
	@$(PYTHON) -m pytest --kernels arm64=$(ARM64_KERNEL) tests/guest $(ARGS)

# Chosen files, too (RT_FILES there).
RT_KERNEL ?= 6.12-rt
.PHONY: test-rt
test-rt: deps ## run guest tests on a kernel with PREEMPT_RT (RT_KERNEL=6.12-rt)
	@$(PYTHON) -m pytest --kernels rt=$(RT_KERNEL) tests/guest $(ARGS)

# herd7 is in no release of Debian: HERD7 names it where it is not in the path.
HERD7 ?= herd7
.PHONY: litmus
litmus: ## check the hand-overs without a lock by the kernel's memory model; HERD7=herd7 is from opam
	@PYTHONPATH=tests $(PYTHON) -m litmus.check --herd7 $(HERD7) $(ARGS)

# make test runs what is marked any_kernel on one of them.
.PHONY: test-kernels
test-kernels: deps ## run all guest tests on every kernel, and what make test leaves out; ARGS="--kernels 6.1,6.12"
	@$(PYTHON) -m pytest --every-kernel tests/build tests/machines tests/unit/ctl/fleet/test_engine_faults.py tests/guest $(ARGS)

.PHONY: fuzz fuzz-netlink
fuzz: deps ## look for inputs that break decoders and parsers; ARGS="--time 3600 daq_csv", --list
	@PYTHONPATH=tests $(PYTHON) -m fuzz $(ARGS)

# A kernel is as in tests: 6.1, debug, or LABEL=/built/tree.
KERNEL ?= 6.1
kernel-of-guest = $(if $(filter debug,$(KERNEL)),\
	"$$(PYTHONPATH=tests $(PYTHON) -m lib.build.debug_kernel kasan)",$(lastword $(subst =, ,$(KERNEL))))
MESSAGES ?= 1000000
SEED ?= 1
FEED ?= 0
fuzz-netlink: deps ## send MESSAGES=1000000 wrong and right requests to the modules in a guest of KERNEL=6.1; FEED=95: per cent of them to feed traces
	@PYTHONPATH=tests $(PYTHON) -c 'from fuzz import netlink_build; netlink_build.program()'
	@.venv/bin/spekctl vm --kernel $(kernel-of-guest) --memory 2G --no-load --exec -- \
		env PYTHONPATH=tests $(PYTHON) -m fuzz.netlink_campaign $(MESSAGES) $(SEED) $(FEED)

# Long versions of what make test does once.
TIMES ?= 100
IOS ?= 100000000

.PHONY: faults test-fleet soak
faults: deps ## play every fault in mid-run TIMES times in a guest with kernel KERNEL; ARGS="-k scsi" a part
	@SPEK_FAULT_TIMES=$(TIMES) $(PYTHON) -m pytest -q tests/guest/test_fault_scenarios.py \
		tests/guest/test_allocations.py --kernels $(KERNEL) --guest-limit $$((300 + 30 * $(TIMES))) $(ARGS)

.PHONY: test-iscsi deps-fleet
deps-fleet: deps
	@.ci/packages fleet

test-fleet: deps-fleet ## boot targets, clients and fleets on networks of guests: totals against the disks' counters, guests that are killed or hang (SPEK_FLEET_KERNEL=6.12, SPEK_FLEET_HOSTS=2)
	@$(PYTHON) -m pytest -q tests/fleet $(ARGS)

test-iscsi: deps-fleet ## the part of test-fleet that has targets: iSCSI (LIO, open-iscsi) and NVMe/TCP by one client, iSCSI by SPEK_ISCSI_CLIENTS=3 as a fleet
	@$(PYTHON) -m pytest -q tests/fleet/test_rig.py tests/fleet/test_storage.py $(ARGS)

.PHONY: fleet-scale
HOSTS ?= 1000
fleet-scale: deps ## measure what the controller of a fleet needs for HOSTS=1000 hosts, which answer from a recorded result; HOSTS="50 100 200 500 1000" shows how that grows
	@PYTHONPATH=tests $(PYTHON) -m bench.fleet_scale $(HOSTS)

soak: deps ## IOS I/Os of mixed load in a guest with kernel KERNEL: exact counters, flat memory
	@SPEK_SOAK_IOS=$(IOS) $(PYTHON) -m pytest -q tests/guest/test_soak.py \
		--kernels $(KERNEL) --guest-limit $$((600 + $(IOS) / 5000)) $(ARGS)

# With KERNEL=debug under KASAN and lockdep.
COMMANDS ?= 1000000
.PHONY: drives drive-times
drives: deps ## make, load, stop and delete modelled drives TIMES times, and send them COMMANDS=1000000 random SCSI commands
	@SPEK_FAULT_TIMES=$(TIMES) SPEK_SCSI_COMMANDS=$(COMMANDS) $(PYTHON) -m pytest -q tests/guest/test_drive.py \
		-k "come_and_go or under_load or no_command" --kernels $(KERNEL) \
		--guest-limit $$((600 + 10 * $(TIMES) + $(COMMANDS) / 100)) $(ARGS)

drive-times: deps-bench ## compare the times of a modelled drive with those of its model in guests; time an hour of requests
	@PYTHONPATH=tests $(PYTHON) -m bench.drive_times $(ARGS)

CUTS ?= 100000
.PHONY: augment-cuts
augment-cuts: deps ## cut the power of modelled devices CUTS=100000 times under the core of the cache that lets disks sleep, and lose one a tenth as often
	@SPEK_CUTS=$(CUTS) $(PYTHON) -m pytest -q tests/unit/augment/test_cuts.py -k flushed_survives $(ARGS)

.PHONY: augment-allocations
augment-allocations: deps debug-kernel ## fail each allocation of that cache once, by number, in TIMES=100 rounds in a guest of a debug kernel
	@SPEK_FAULT_TIMES=$(TIMES) $(PYTHON) -m pytest -q tests/guest/test_augment_allocations.py -k by_number --every-kernel \
		--kernels debug --guest-limit $$((1800 + 300 * $(TIMES))) $(ARGS)

.PHONY: augment-guest-cuts augment-guest-log-writes augment-guest-faults augment-guest-kills augment-soak
# A tenth as many cuts below each file system.
augment-guest-cuts: CUTS = 1000
augment-guest-cuts: deps ## cut the power of disks CUTS=1000 times under that cache in a guest of KERNEL, also below file systems, and lose disks
	@SPEK_AUGMENT_CUTS=$(CUTS) $(PYTHON) -m pytest -q tests/guest/test_augment_cuts.py \
		--every-kernel --kernels $(KERNEL) --guest-limit $$((900 + 15 * $(CUTS))) $(ARGS)

REPLAYS ?= 1000
augment-guest-log-writes: deps ## attach that cache to REPLAYS=1000 disks as they were at flushes, by the log of all writes, in a guest of KERNEL
	@SPEK_AUGMENT_REPLAYS=$(REPLAYS) $(PYTHON) -m pytest -q tests/guest/test_augment_log_writes.py \
		--kernels $(KERNEL) --guest-limit $$((900 + 10 * $(REPLAYS))) $(ARGS)

augment-guest-faults: deps ## plant faults in the module of that cache, as an early acknowledgement, each of which a log of all writes has to show, in a guest of KERNEL
	@SPEK_AUGMENT_KERNEL=$(KERNEL) $(PYTHON) -m pytest -q tests/machines/test_augment_faults.py --every-kernel $(ARGS)

KILLS ?= 10
augment-guest-kills: deps ## kill KILLS=10 guests of KERNEL with that cache under load, on disks that live on; the next one finds all that was flushed
	@SPEK_AUGMENT_KILLS=$(KILLS) SPEK_AUGMENT_KERNEL=$(KERNEL) $(PYTHON) -m pytest -q tests/machines/test_augment.py --every-kernel $(ARGS)

augment-soak: IOS = 10000000
augment-soak: SECONDS = inf
augment-soak: deps ## IOS=10000000 I/Os of load with flushes on that cache in a guest of KERNEL, or those of SECONDS: exact counters, flat memory
	@SPEK_AUGMENT_IOS=$(IOS) SPEK_AUGMENT_SECONDS=$(SECONDS) $(PYTHON) -m pytest -q tests/guest/test_augment_soak.py \
		--kernels $(KERNEL) --guest-limit $$((900 + $(IOS) / 500)) $(ARGS)

.PHONY: replay-times
replay-times: deps-bench ## compare the times of a replay with those of fio's in a guest, and count what feeding it costs
	@PYTHONPATH=tests $(PYTHON) -m bench.replay_times $(ARGS)

.PHONY: figures
figures: deps-bench ## draw the papers' figures again in guests; results in out/figures/
	@.ci/packages fleet
	@.ci/figures

# make bench ARGS="--kernels 6.1 --only spek-mq,floor-mq" measures a part of it.
.PHONY: bench deps-bench
deps-bench:
	@.ci/packages build guest python bench
	@.ci/venv test,vm

bench: deps-bench ## measure what an I/O costs in instructions; results in out/bench/
	@PYTHONPATH=tests $(PYTHON) -m bench $(ARGS)

# Completed runs stay in out/ab-proof, and an interrupted proof resumes from them.
.PHONY: ab-proof
ab-proof: deps-bench deps-kernel ## build two kernels that are 15 instructions per I/O apart, and count how often vm --ab finds that (ARGS="--pairs 20")
	@PYTHONPATH=ctl:tests $(PYTHON) -m bench.ab_proof $(ARGS)

# ---- packages ----

# They are built from the last commit; .ci/packaging/README.md says how. Results are in out/packages/.
.PHONY: wheel deb rpm test-packages test-distributions test-secure-boot release pins deps-packages
deps-packages:
	@.ci/packages daq packages

wheel: deps-packages ## build spekctl alone as a Python wheel
	@.ci/packaging/build wheel

deb: deps-packages ## build Debian packages: spek-dkms, spekctl, spek-daq
	@.ci/packaging/build deb
	@.ci/packaging/lint

rpm: deps-packages ## build an rpm of the modules' sources, spek-dkms
	@.ci/packaging/build rpm

test-packages: deps deps-packages ## build packages twice, install, upgrade and purge them in a fresh Debian 12 root (root)
	@$(PYTHON) -m pytest -q tests/packages --ignore tests/packages/test_secure_boot.py \
		--ignore tests/packages/test_distributions.py $(ARGS)

test-distributions: deps deps-packages ## run make demo, make test without guests, and make deb in a fresh Debian 13 root (root)
	@$(PYTHON) -m pytest -q tests/packages/test_distributions.py $(ARGS)

test-secure-boot: deps deps-packages ## boot Debian's kernels with Secure Boot on and load signed and unsigned modules
	@$(PYTHON) -m pytest -q tests/packages/test_secure_boot.py $(ARGS)

release: deps-packages ## tag the version of dkms.conf and build its tarball, packages and checksums (DRY_RUN=1: without the tag)
	@DRY_RUN=$(DRY_RUN) .ci/packaging/release

pins: deps-packages ## choose the newest libraries for the package of spekctl
	@.ci/packaging/pins

# ---- generated and checked ----

.PHONY: gen quick check scan
gen: ## regenerate what follows from the netlink specs, the schemas of files, and copies of the version
	PYTHONPATH=kmod/genl $(PYTHON) -m specgen
	$(PYTHON) -m spekctl.documents.schemas
	.ci/version --write

quick: deps ## what a change can break at once: ruff, mypy, tests of what differs from main (SINCE=COMMIT)
	@.ci/quick $(SINCE)

check: deps ## static checks: W=1, sparse, ruff, mypy, shellcheck
	@.ci/check

scan: deps ## all static checks: those, gcc -fanalyzer and checkpatch, which it fetches
	@.ci/check --scan

# ---- the rest ----

.PHONY: clean clean-modules help
# Not kbuild's clean: it removes *.o, *.a and *.s below this directory, the ones in .venv too.
clean-modules:
	@find kmod prober -name '*.o' -delete -o -name '.*.cmd' -delete -o -name '*.answer' -delete \
		-o -path '*/probes/*.log' -delete -o -name '.*.d' -delete
	@rm -f kmod/compat/spek_have.h *.o *.ko *.mod *.mod.c .*.cmd .*.d .module-common.o \
		Module.symvers modules.order modules.nsdeps .kernel-id

clean: clean-modules $(if $(wildcard daq/Makefile),clean-daq) ## remove what the build has made; .venv, out/ and the cache stay
	@find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
	@rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis *.egg-info ctl/*.egg-info

help: ## show this
	@echo "make                          build spek.ko, spek_prober.ko, spek_drive.ko and spek_augment.ko for the running kernel, and spek-daq"
	@echo "make KDIR=DIR                 ... for the kernel whose headers or built tree are in DIR"
	@sed -n 's/^\([a-z0-9-]*\)[a-z0-9 -]*:[^#]*## /\1\t/p' $(MAKEFILE_LIST) | \
		while IFS="$$(printf '\t')" read -r goal text; do \
			printf '%-29s %s\n' "make $$goal" "$$text"; done
