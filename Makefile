# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Every target of bpfprof. `make help` lists them.

# --- what one may set -----------------------------------------------------------------------------
BUILD ?= build
# However it is spelled: the commands below name it, and other commands make everything again.
override BUILD := $(patsubst $(CURDIR)/%,%,$(abspath $(BUILD)))
PREFIX ?= /usr/local
# For another processor: CROSS_COMPILE=aarch64-linux-gnu- and the folder that holds its /usr.
CROSS_COMPILE ?=
SYSROOT ?=
CC := $(if $(filter default,$(origin CC)),$(CROSS_COMPILE)gcc,$(CC))
CXX := $(if $(filter default,$(origin CXX)),$(CROSS_COMPILE)g++,$(CXX))
AR := $(if $(filter default,$(origin AR)),$(CROSS_COMPILE)ar,$(AR))
CLANG ?= clang
CFLAGS ?= -O2 -g
FUZZ_SECONDS ?= 60
# What `make lbr-table` simulates: registers, and faults behind commas (32,arch).
LBR_SETTINGS ?= 32 16
# Which Debian releases' kernels `make test-kernels` boots: Linux 5.10, 6.1, 6.12 (also as built for
# bookworm, so that a module for it can be) and the newest.
KERNELS ?= bullseye-amd64 bookworm-amd64 bookworm-backports-amd64 trixie-amd64 trixie-backports-amd64 \
	bullseye-arm64 bookworm-arm64 trixie-arm64 trixie-backports-arm64
FUZZ_TARGETS ?= $(patsubst tests/fuzz/%_fuzz.c,%,$(wildcard tests/fuzz/*_fuzz.c))

# The one list of packages, for Debian 12 and Ubuntu; .ci/deps reads it and explains "a|b", "?a" and
# %CLANG%. Ubuntu's bpftool and perf come with linux-tools.
DEB_BUILD_PACKAGES := gcc libc6-dev make pkg-config clang bpftool|linux-tools-generic \
	libbpf-dev libelf-dev libdw-dev zlib1g-dev libzstd-dev liblzma-dev libxxhash-dev libiberty-dev \
	libzydis-dev libseccomp-dev libtraceevent-dev libcurl4-gnutls-dev|libcurl4-openssl-dev libmicrohttpd-dev
DEB_TEST_PACKAGES := perl libcmocka-dev bats jq python3 shellcheck cppcheck clang-tidy clang-format \
	g++ scdoc man-db util-linux procps binutils xz-utils openssl git sqlite3 ?zsh ?fish \
	libclang-rt-%CLANG%-dev|libclang-common-%CLANG%-dev \
	linux-perf|linux-tools-generic ?libc6-arm64-cross ?llvm ?libc6-dbg ?python3-dbg ?dwz ?hyperfine ?lcov valgrind ?stress-ng \
	debuginfod
DEB_PACKAGES := $(DEB_BUILD_PACKAGES) $(DEB_TEST_PACKAGES)
# Only for `make test-kernels`.
DEB_KERNEL_TEST_PACKAGES := qemu-system-x86 qemu-system-arm \
	gcc-aarch64-linux-gnu g++-aarch64-linux-gnu busybox-static cpio debian-archive-keyring bsdextrautils
# Only for `make test-service`.
DEB_SERVICE_TEST_PACKAGES := systemd util-linux procps
# For arm64, unpacked into build/: never installed.
DEB_GUEST_PACKAGES := libc6-dev libstdc++-12-dev libbpf-dev libelf-dev libdw-dev zlib1g-dev \
	libzstd-dev liblzma-dev libxxhash-dev libiberty-dev libzydis-dev libseccomp-dev \
	libtraceevent-dev libcurl4-gnutls-dev libmicrohttpd-dev libcmocka-dev busybox-static coreutils

# All CPUs, unless -j says otherwise.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc)
endif

# --- how it is built ------------------------------------------------------------------------------
Q := $(if $(V),,@)
SAY := @$(if $(findstring s,$(firstword -$(MAKEFLAGS))),:,echo)
ARCH := $(or $(firstword $(subst -, ,$(CROSS_COMPILE))),$(shell uname -m))
BPF_ARCH := $(if $(filter aarch64 arm64,$(ARCH)),arm64,x86)
RELEASE := 0.1
VERSION := $(RELEASE)$(shell git -c safe.directory='*' describe --always --dirty \
	--exclude='*' 2>/dev/null | sed 's/^/-g/')

# Ubuntu's bpftool and perf in /usr are scripts that refuse to run on a kernel they were not made
# for; the binaries behind them work everywhere. Takes the first that answers.
first_working = $(firstword $(foreach tool,$(wildcard $(1)),$(shell $(tool) version >/dev/null 2>&1 \
	&& echo $(tool))))
ifndef BPFTOOL
BPFTOOL := $(or $(call first_working,/usr/sbin/bpftool /usr/local/sbin/bpftool /usr/bin/bpftool \
	/usr/lib/linux-tools/*/bpftool /usr/lib/linux-tools-*/bpftool),bpftool)
endif
ifndef PERF
PERF := $(or $(call first_working,/usr/bin/perf /usr/local/bin/perf /usr/lib/linux-tools/*/perf \
	/usr/lib/linux-tools-*/perf),perf)
endif

# Fields that a designated initializer leaves out are zero, and mean to be.
WARNINGS := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wno-missing-field-initializers
INCLUDES := -D_GNU_SOURCE -Iinclude -Iuser -I$(BUILD)/skeleton
# Frame pointers, so that bpfprof sees its own stacks.
C_FLAGS := -std=gnu11 $(WARNINGS) -fno-omit-frame-pointer $(CFLAGS)
ifneq ($(SYSROOT),)
CC += --sysroot=$(abspath $(SYSROOT))
CXX += --sysroot=$(abspath $(SYSROOT))
endif
ifdef SANITIZE
C_FLAGS += -fsanitize=$(SANITIZE) -fno-sanitize-recover=all
LDFLAGS += -fsanitize=$(SANITIZE)
endif
ifdef COVERAGE
C_FLAGS += --coverage -O0
LDFLAGS += --coverage
endif
LDLIBS := -lbpf -lelf -ldw -lz -lzstd -llzma -lxxhash -lZydis -lseccomp -liberty -lpthread -ldl -lm $(LDLIBS)
BPF_FLAGS := -target bpf -D__TARGET_ARCH_$(BPF_ARCH) -Oz -g -mcpu=v3 -Wall -Wextra -Werror \
	-Iinclude -Ivmlinux -Ibpf -I$(abspath $(SYSROOT))/usr/include/$(ARCH)-linux-gnu

# --- sources: found, not listed -------------------------------------------------------------------
USER_SOURCES := $(wildcard user/*.c user/*/*.c)
USER_OBJECTS := $(USER_SOURCES:%.c=$(BUILD)/%.o)
VERSION_USERS := $(patsubst %.c,$(BUILD)/%.o,$(shell grep -ls BPFPROF_VERSION $(USER_SOURCES)))
LIBRARY := $(BUILD)/libbpfprof.a
BPF_SOURCES := $(wildcard bpf/*.bpf.c)
SKELETONS := $(BPF_SOURCES:bpf/%.bpf.c=$(BUILD)/skeleton/%.skel.h)
KERNEL_TEST_BPF := $(wildcard tests/kernel/*.bpf.c)
KERNEL_TEST_SKELETONS := $(KERNEL_TEST_BPF:%.bpf.c=$(BUILD)/%.skel.h)
UNIT_SOURCES := $(wildcard tests/unit/*_test.c tests/unit/*/*_test.c)
KERNEL_SOURCES := $(wildcard tests/kernel/*_test.c)
TESTS := $(patsubst %.c,$(BUILD)/%,$(UNIT_SOURCES) $(KERNEL_SOURCES))
LIVE_CHECK := $(BUILD)/tests/kernel/live_check
BRANCH_FILE := $(BUILD)/tests/kernel/branch_file
FAKE_LBR_TEST := $(BUILD)/tests/kernels/fake_lbr/fake_lbr_test
FUZZ_SOURCES := $(wildcard tests/fuzz/*_fuzz.c)
REPLAYS := $(FUZZ_SOURCES:%_fuzz.c=$(BUILD)/%_replay)
WORKLOAD_SOURCES := $(filter-out tests/workloads/$(if $(filter x86,$(BPF_ARCH)),arm,x86)_%, \
	$(wildcard tests/workloads/*.c tests/workloads/*.cc))
WORKLOADS := $(patsubst %,$(BUILD)/%,$(basename $(WORKLOAD_SOURCES)))
DWARF_TOOLS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/dwarf/*.c))
LBR_TOOLS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/lbr/*.c))
DAMAGE := $(BUILD)/tests/damage/damage
BENCH_TOOLS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/bench/*.c))
MANUAL_SOURCES := $(wildcard user/man/*.scd)
MANUALS := $(MANUAL_SOURCES:user/man/%.scd=$(BUILD)/man/%)
SHELLS := bash zsh fish
C_FILES := $(sort $(wildcard bpf/*.[ch] include/*/*.h vmlinux/*.h user/*.c user/*/*.[ch] tests/*/*.[ch] \
	tests/*/*/*.[ch] tests/workloads/*.cc))

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:
.PHONY: all
all: $(BUILD)/bpfprof ## build bpfprof into build/ (BUILD=folder, CC=clang, V=1 shows the commands)

# These two files change only when what they hold changes; what depends on it is then made again.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(INCLUDES) $(C_FLAGS) $(CLANG) $(BPF_FLAGS)' | cmp -s - $@ || \
		echo '$(CC) $(INCLUDES) $(C_FLAGS) $(CLANG) $(BPF_FLAGS)' >$@
$(BUILD)/version: FORCE
	@mkdir -p $(@D)
	@echo '$(VERSION)' | cmp -s - $@ || echo '$(VERSION)' >$@
$(VERSION_USERS): $(BUILD)/version
.PHONY: FORCE
FORCE:

# One line instead of a page of compiler errors on a machine that lacks what building needs.
$(BUILD)/prepared: Makefile .ci/deps
	@mkdir -p $(@D)
	$(Q)pkg-config --atleast-version=1.0 libbpf 2>/dev/null || { echo "bpfprof: libbpf 1.0 or newer \
	is needed to build, found $$(pkg-config --modversion libbpf 2>/dev/null || echo none);" \
	"run: sudo make deb-deps (Ubuntu 22.04 has 0.5: build libbpf from source)" >&2; exit 1; }
	$(Q)$(BPFTOOL) version >/dev/null 2>&1 || { echo "bpfprof: no working bpftool, which builds the \
	BPF skeletons; run: sudo make deb-deps, or set BPFTOOL=" >&2; exit 1; }
	@touch $@

$(BUILD)/%.bpf.o: %.bpf.c $(BUILD)/flags | $(BUILD)/prepared
	@mkdir -p $(@D)
	$(SAY) "  BPF   $@"
	$(Q)$(CLANG) $(BPF_FLAGS) -MMD -MP -c $< -o $@

define make_skeleton
	@mkdir -p $(@D)
	$(SAY) "  SKEL  $@"
	$(Q){ echo '/* NOLINTBEGIN: written by bpftool */' && $(BPFTOOL) gen skeleton $< \
		name $(subst .,_,$(notdir $*))_bpf && echo '/* NOLINTEND */'; } >$@.new && mv $@.new $@
endef
$(BUILD)/skeleton/%.skel.h: $(BUILD)/bpf/%.bpf.o
	$(make_skeleton)
$(BUILD)/tests/kernel/%.skel.h: $(BUILD)/tests/kernel/%.bpf.o
	$(make_skeleton)

$(BUILD)/%.o: %.c $(BUILD)/flags | $(SKELETONS) $(BUILD)/prepared
	@mkdir -p $(@D)
	$(SAY) "  CC    $@"
	$(Q)$(CC) $(INCLUDES) $(CPPFLAGS) $(C_FLAGS) -DBPFPROF_VERSION='"$(VERSION)"' -MMD -MP -c $< -o $@

$(LIBRARY): $(filter-out $(BUILD)/user/main.o,$(USER_OBJECTS))
	$(SAY) "  AR    $@"
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/bpfprof: $(BUILD)/user/main.o $(LIBRARY)
	$(SAY) "  LD    $@"
	$(Q)$(CC) $(C_FLAGS) $(LDFLAGS) $^ $(LDLIBS) -o $@

# --- packages and running -------------------------------------------------------------------------
# What root built belongs to whoever owns the tree, so that a later plain `make` still works.
give_back = [ "$$(id -u)" != 0 ] || chown -R --reference=Makefile $(BUILD)
need = $(if $(filter no,$(DEPS)),:,CC='$(CC)' CLANG='$(CLANG)' .ci/deps $(foreach row,$(1),'$(row)'))

.PHONY: run
run: ## install what is missing, build, profile this machine for 10 s and show the report
	@$(call need,$(DEB_BUILD_PACKAGES))
	@$(MAKE) --no-print-directory all; status=$$?; $(give_back); exit $$status
	@PAGER= BPFPROF_PAGER= $(BUILD)/bpfprof -a -F 99 --duration 10; status=$$?; \
		[ "$$(id -u)" != 0 ] || chown --reference=Makefile perf.data* 2>/dev/null; exit $$status

.PHONY: deb-deps
deb-deps: ## install what building and testing need, through apt
	@$(call need,$(DEB_PACKAGES))

# --- tests ----------------------------------------------------------------------------------------
# The distribution's tools first: a version manager's (pyenv) are scripts that run a dozen programs.
run_tests = PATH="/usr/sbin:/usr/bin:/sbin:/bin:$$PATH" \
	BUILD=$(abspath $(BUILD)) BPFPROF=$(abspath $(BUILD))/bpfprof PERF=$(PERF) \
	TEST_ALL=$(TEST_ALL) BPFTOOL=$(BPFTOOL) CC=$(CC) CLANG=$(CLANG) SANITIZE=$(SANITIZE) COVERAGE=$(COVERAGE) \
	tests/run.sh

.PHONY: test
test: ## install what is missing, lint, and run every test; the last line counts them
	@$(call need,$(DEB_PACKAGES))
	@$(MAKE) --no-print-directory tests; status=$$?; $(give_back); exit $$status

# A long check takes a sample unless TEST_ALL is set.
.PHONY: test-all
test-all: ## the same, where there is more to check than time for it: all of it (minutes)
	@$(MAKE) --no-print-directory TEST_ALL=1 test
	@$(MAKE) --no-print-directory test-service

.PHONY: test-service
test-service: ## run the service under a systemd of its own, in namespaces (as root)
	@$(call need,$(DEB_PACKAGES) $(DEB_SERVICE_TEST_PACKAGES))
	@$(MAKE) --no-print-directory service-tests; status=$$?; $(give_back); exit $$status
.PHONY: service-tests
service-tests: $(BUILD)/bpfprof $(WORKLOADS)
	$(Q)$(run_tests) tests/service/service.bats

.PHONY: tests
tests: tests-built
	$(Q)$(run_tests) lint unit kernel cli

.PHONY: guest-built
guest-built: $(BUILD)/bpfprof $(filter $(BUILD)/tests/kernel/%,$(TESTS)) $(LIVE_CHECK) $(WORKLOADS)
.PHONY: tests-built
tests-built: $(BUILD)/bpfprof $(TESTS) $(LIVE_CHECK) $(BRANCH_FILE) $(REPLAYS) $(WORKLOADS) \
	$(DAMAGE) $(BENCH_TOOLS) $(LBR_TOOLS) $(DWARF_TOOLS) man \
	$(if $(filter x86,$(BPF_ARCH)),lbr-simulator)

.PHONY: unit
unit: $(filter $(BUILD)/tests/unit/%,$(TESTS)) $(REPLAYS) ## build and run the unit tests, fuzz corpora included
	$(Q)$(run_tests) unit

.PHONY: kernel-tests
kernel-tests: tests-built ## build and run the tests that load BPF (as root)
	$(Q)$(run_tests) kernel

.PHONY: cli-tests
cli-tests: tests-built ## build and run the command-line tests
	$(Q)$(run_tests) cli

# A real Prometheus and Go's pprof, unpacked and not installed: 250 MB, so only when asked for.
.PHONY: test-fleet
test-fleet: all ## run the daemon against Debian's Prometheus and Go's pprof, which are fetched
	$(Q)tests/kernels/fetch.sh packages bookworm $(shell dpkg --print-architecture) $(BUILD)/fleet \
		prometheus golang-go
	$(Q)FLEET=$(abspath $(BUILD))/fleet $(run_tests) tests/fleet/fleet.bats

.PHONY: test-kernels
test-kernels: ## boot Debian kernels in qemu and run the kernel tests there (KERNELS=… only some)
	@$(call need,$(DEB_PACKAGES) $(DEB_KERNEL_TEST_PACKAGES))
	@$(MAKE) --no-print-directory kernels-run; status=$$?; $(give_back); exit $$status
.PHONY: kernels-run
kernels-run: guest-built $(if $(filter %-amd64,$(KERNELS)),$(FAKE_LBR_TEST)) \
		$(if $(filter %-arm64,$(KERNELS)),arm64-guest-built)
	$(Q)BUILD=$(abspath $(BUILD)) tests/kernels/run.sh $(KERNELS)

# bpfprof for arm64 is built against Debian's libraries, which are unpacked and not installed.
arm64_root := $(BUILD)/kernels/arm64
.PHONY: arm64-guest-built
arm64-guest-built:
	$(Q)tests/kernels/fetch.sh packages bookworm arm64 $(arm64_root) $(DEB_GUEST_PACKAGES)
	$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)/arm64 CROSS_COMPILE=aarch64-linux-gnu- \
		SYSROOT=$(arm64_root) guest-built

# What is linked with everything of user/ but main.c.
define make_test
	@mkdir -p $(@D)
	$(SAY) "  TEST  $@"
	$(Q)$(CC) $(INCLUDES) -Itests -I$(@D) $(CPPFLAGS) $(C_FLAGS) $(TEST_FLAGS) -MMD -MP -MF $@.d \
		$(filter %.c %.a,$^) $(LDFLAGS) $(LDLIBS) -lcmocka -o $@
endef
# Compiled in two thirds of the time, of which much is spent on them; what is less understood warns more.
$(BUILD)/tests/unit/%_test: TEST_FLAGS = -Og -Wno-maybe-uninitialized
$(BUILD)/tests/unit/%_test: tests/unit/%_test.c $(LIBRARY)
	$(make_test)
$(BUILD)/tests/unit/lbr_simulator/model_test: tests/lbr_simulator/model.c
$(BUILD)/tests/kernel/%_test: tests/kernel/%_test.c $(LIBRARY) | $(KERNEL_TEST_SKELETONS)
	$(make_test)
# Recordings with scripted branch stacks; what tests/kernel/branches.bats looks at.
$(BRANCH_FILE): tests/kernel/branch_file.c $(LIBRARY) | $(KERNEL_TEST_SKELETONS)
	$(make_test)
# Runs in guests that have the fake PMU.
$(FAKE_LBR_TEST): INCLUDES += -I$(BUILD)/tests/kernel
$(FAKE_LBR_TEST): tests/kernels/fake_lbr/fake_lbr_test.c $(LIBRARY) | $(KERNEL_TEST_SKELETONS)
	$(make_test)
# Our stacks against libdw's; what tests/kernel/live.bats runs. (Of several sources only the last has
# its headers in the file that -MF names.)
$(LIVE_CHECK): $(wildcard tests/kernel/*.h) tests/kernel/live_check.c tests/kernel/event_queue.c \
		tests/kernel/copied_file.c tests/kernel/libdw_walk.c $(LIBRARY)
	$(make_test)
# Damaged recordings through the commands; what tests/cli/damage.bats runs.
$(DAMAGE): tests/damage/damage.c $(LIBRARY)
	$(make_test)
# Chains of a recording as the stitcher finds them, to hold against the truth.
$(BUILD)/tests/lbr/%: tests/lbr/%.c $(LIBRARY)
	$(make_test)
# Source frames of addresses, to hold against llvm-symbolizer's.
$(BUILD)/tests/dwarf/%: tests/dwarf/%.c $(LIBRARY)
	$(make_test)
$(BUILD)/tests/fuzz/%_replay: TEST_FLAGS = -DCORPUS='"tests/fuzz/corpus/$*"'
$(BUILD)/tests/fuzz/%_replay: tests/fuzz/%_fuzz.c tests/fuzz/replay.c $(LIBRARY)
	$(make_test)

# A workload says in its first line how it is compiled: /* CFLAGS: -O2 … */. Stacks depend on it.
workload_flags = $$(sed -n '1s|^/\* CFLAGS: \(.*\) \*/$$|\1|p' $<)
$(WORKLOADS): $(wildcard tests/workloads/*.h)
$(BUILD)/tests/workloads/lbr_tree_nofp: tests/workloads/lbr_tree.c
$(BUILD)/tests/workloads/x86_lbr_retpoline: tests/workloads/lbr_tail.c
define make_workload
	@mkdir -p $(@D)
	$(SAY) "  LOAD  $@"
	$(Q)$(if $(filter %.cc,$<),$(CXX),$(CC)) -D_GNU_SOURCE -Wall -Wextra -Werror $< -o $@ $(workload_flags)
endef
$(BUILD)/tests/workloads/%: tests/workloads/%.c
	$(make_workload)
$(BUILD)/tests/workloads/%: tests/workloads/%.cc
	$(make_workload)
$(BUILD)/tests/bench/%: tests/bench/%.c
	$(make_workload)
$(BUILD)/tests/bench/work_without_frame_pointers: tests/bench/work.c

# The LBR simulator is a Valgrind tool: a static program out of Valgrind's libraries, found by the name
# that Valgrind looks for. Source: valgrind.pc and pub_tool_tooliface.h of Valgrind 3.19.
LBR := $(BUILD)/tests/lbr_simulator
VALGRIND_LIBRARIES := /usr/lib/x86_64-linux-gnu/valgrind
VALGRIND_PRELOADS := /usr/libexec/valgrind
VALGRIND_FLAGS := -O2 -std=gnu11 $(WARNINGS) -fno-builtin -fno-stack-protector -fno-strict-aliasing \
	-DVGA_amd64=1 -DVGO_linux=1 -DVGP_amd64_linux=1 -DVGPV_amd64_linux_vanilla=1 \
	-Iinclude -isystem /usr/include/valgrind
.PHONY: lbr-simulator
lbr-simulator: $(LBR)/lbr-amd64-linux $(LBR)/step ## build the simulator of call-stack LBRs (needs valgrind)
$(LBR)/%.o: tests/lbr_simulator/%.c tests/lbr_simulator/model.h Makefile
	@mkdir -p $(@D)
	$(SAY) "  CC    $@"
	$(Q)$(CC) $(VALGRIND_FLAGS) -c $< -o $@
$(LBR)/lbr-amd64-linux: $(LBR)/valgrind_tool.o $(LBR)/model.o
	$(SAY) "  LD    $@"
	$(Q)$(CC) -s -static -nodefaultlibs -nostartfiles -u _start -Wl,-Ttext-segment=0x58000000 \
		-Wl,--build-id=none $^ -L$(VALGRIND_LIBRARIES) -lcoregrind-amd64-linux -lvex-amd64-linux \
		-lgcc -o $@
	$(Q)ln -sf $(VALGRIND_PRELOADS)/vgpreload_core-amd64-linux.so $(VALGRIND_PRELOADS)/default.supp $(@D)/

$(LBR)/step: tests/lbr_simulator/step.c tests/lbr_simulator/model.c tests/lbr_simulator/model.h
	@mkdir -p $(@D)
	$(SAY) "  LD    $@"
	$(Q)$(CC) $(INCLUDES) $(C_FLAGS) $(filter %.c,$^) $(LDFLAGS) -o $@

.PHONY: lbr-table
lbr-table: lbr-simulator $(WORKLOADS) $(LBR_TOOLS) ## what LBR chains show of true stacks: simulates 22 programs (minutes)
	$(Q)$(subst tests/run.sh,tests/lbr_simulator/table.sh,$(run_tests)) $(LBR_SETTINGS)

.PHONY: asan
asan: ## run unit and command-line tests with ASan and UBSan, leaks included
	$(Q)ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1 \
		$(MAKE) --no-print-directory BUILD=$(BUILD)/asan SANITIZE=address,undefined sanitized-tests
.PHONY: sanitized-tests
sanitized-tests: tests-built
	$(Q)$(run_tests) unit cli

.PHONY: tsan
tsan: ## run the tests of what several threads do with the thread sanitizer
	$(Q)TSAN_OPTIONS=exitcode=66:history_size=4 \
		$(MAKE) --no-print-directory BUILD=$(BUILD)/tsan SANITIZE=thread thread-sanitized-tests
.PHONY: thread-sanitized-tests
thread-sanitized-tests: $(BUILD)/bpfprof $(WORKLOADS)
	$(Q)$(run_tests) tests/cli/report_threads.bats tests/cli/script_threads.bats

.PHONY: coverage
coverage: ## run all tests and write build/coverage/html/index.html
	$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)/coverage COVERAGE=1 covered-tests
.PHONY: covered-tests
covered-tests: tests-built
	$(Q)find $(BUILD) -name '*.gcda' -delete
	$(Q)$(run_tests) unit kernel cli
	$(Q)lcov -q -c -d $(BUILD)/user -o $(BUILD)/all.info 2>$(BUILD)/lcov.log && \
		lcov -q -e $(BUILD)/all.info '*/user/*' '*/include/bpfprof/*' -o $(BUILD)/lcov.info && \
		genhtml -q $(BUILD)/lcov.info -o $(BUILD)/html && lcov --summary $(BUILD)/lcov.info

.PHONY: fuzz
fuzz: ## fuzz each reader of foreign bytes for FUZZ_SECONDS (60); FUZZ_TARGETS picks some
	$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)/fuzz CC=$(CLANG) \
		SANITIZE=fuzzer-no-link,address,undefined fuzzers-run
.PHONY: fuzzers-run
fuzzers-run: $(FUZZ_TARGETS:%=$(BUILD)/%_fuzz)
	@mkdir -p $(FUZZ_TARGETS:%=$(BUILD)/corpus/%)
	$(Q)printf '%s\n' $(FUZZ_TARGETS) | xargs -P $$(nproc) -I TARGET env \
		$(BUILD)/TARGET_fuzz -max_total_time=$(FUZZ_SECONDS) -timeout=20 -rss_limit_mb=2048 \
		-verbosity=0 -print_final_stats=1 -artifact_prefix=$(BUILD)/TARGET- \
		$(BUILD)/corpus/TARGET tests/fuzz/corpus/TARGET
	@echo "no finding in $(FUZZ_SECONDS) s of each: $(FUZZ_TARGETS)"
$(BUILD)/%_fuzz: tests/fuzz/%_fuzz.c $(LIBRARY)
	$(SAY) "  FUZZ  $@"
	$(Q)$(CC) $(INCLUDES) -Itests $(CPPFLAGS) $(C_FLAGS) $< $(LIBRARY) -fsanitize=fuzzer $(LDFLAGS) \
		$(LDLIBS) -o $@

.PHONY: bench
bench: $(BUILD)/bpfprof $(BENCH_TOOLS) $(WORKLOADS) ## measure cost against perf, side by side (as root)
	$(Q)$(subst tests/run.sh,tests/bench/bench.sh,$(run_tests)) $(BENCH)
$(BUILD)/tests/bench/rows $(BUILD)/tests/bench/store: $(BUILD)/tests/bench/%: tests/bench/%.c $(LIBRARY)
	$(make_test)

# --- lint -----------------------------------------------------------------------------------------
LINTS := format tidy analyzer cppcheck shell layers headers contracts spdx size
.PHONY: lint $(LINTS:%=lint-%)
lint: $(LINTS:%=lint-%) ## hold every rule a machine can hold (each also alone: lint-tidy …)

# Of these files those to be read: with LINT_SINCE=COMMIT what changed since.
linted = $(if $(LINT_SINCE),$(filter $(shell tests/lint/changed.sh $(LINT_SINCE)),$(1)),$(1))

# A process for many files: to begin takes longer than to read one.
lint-format: $(BUILD)/lint/format
$(BUILD)/lint/format: $(C_FILES) .clang-format
	@mkdir -p $(@D)
	$(Q)printf '%s\n' $(if $(filter .clang-format,$?),$(C_FILES),$?) | xargs -P2 -n50 clang-format --dry-run -Werror
	@touch $@

# Only what changed, or whose object was made again as a header changed, is looked at.
TIDY_SOURCES := $(USER_SOURCES) $(UNIT_SOURCES) $(KERNEL_SOURCES)
TIDY_OBJECTS := $(patsubst user/%.c,$(BUILD)/user/%.o,$(patsubst tests/%.c,$(BUILD)/tests/%,$(TIDY_SOURCES)))
tidy_flags = -std=gnu11 $(WARNINGS) -isystem $(BUILD)/skeleton $(filter-out -I$(BUILD)/skeleton,$(INCLUDES)) \
	-Itests -I$(BUILD)/tests/kernel -DBPFPROF_VERSION=""
changed_sources = $(sort $(patsubst $(BUILD)/user/%.o,user/%.c,$(patsubst $(BUILD)/tests/%,tests/%.c,$?)))

# The style, and what clang warns of where gcc does not.
lint-tidy: $(BUILD)/lint/tidy
$(BUILD)/lint/tidy: $(TIDY_OBJECTS) .clang-tidy
	@mkdir -p $(@D)
	$(Q)printf '%s ' $(call linted,$(if $(filter .clang-tidy,$?),$(TIDY_SOURCES),$(changed_sources))) | \
		FLAGS='$(tidy_flags)' xargs -r -P2 -n40 tests/lint/tidy.sh '-clang-analyzer-*'
	@touch $@

# The analyzer takes most of a second for each file, of which each has a process of its own, as it mixes up what it
# knows of the functions of several. So `make test` does without.
lint-analyzer: $(TIDY_SOURCES:%=$(BUILD)/lint/%.analyzed)
$(BUILD)/lint/user/%.c.analyzed: user/%.c $(BUILD)/user/%.o .clang-tidy
	$(analyze)
$(BUILD)/lint/tests/%.c.analyzed: tests/%.c $(BUILD)/tests/% .clang-tidy
	$(analyze)
define analyze
	@mkdir -p $(@D)
	$(SAY) "  TIDY  $<"
	$(Q)FLAGS='$(tidy_flags)' tests/lint/tidy.sh '-bugprone-*,-readability-*' $<
	@touch $@
endef

lint-cppcheck: $(SKELETONS)
	@mkdir -p $(BUILD)/lint/cppcheck
	$(Q)printf '%s ' $(call linted,$(USER_SOURCES)) | xargs -r cppcheck -q -j2 --std=c11 \
		--enable=warning,performance,portability --inline-suppr --suppress=missingIncludeSystem \
		--suppress=identicalInnerCondition --cppcheck-build-dir=$(BUILD)/lint/cppcheck --error-exitcode=1 \
		-D_GNU_SOURCE -D__x86_64__ -Iinclude -Iuser

# SC2030, SC2031: every bats test is a subshell; SC2154: `run` assigns $stderr.
# SC2016: what looks like an expression in single quotes is awk.
lint-shell:
	$(Q)printf '%s ' $(call linted,.ci/run .ci/deps $(shell find tests -name '*.sh')) | xargs -r shellcheck -x -e SC2016
	$(Q)printf '%s ' $(call linted,$(shell find tests -name '*.bats' -o -name '*.bash')) | \
		xargs -r shellcheck -x -s bash -e SC2016,SC2030,SC2031,SC2154

lint-layers lint-contracts lint-spdx lint-size: lint-%:
	$(Q)tests/lint/$*.sh .

lint-headers: $(SKELETONS)
	$(Q)CC='$(CC)' FLAGS='-std=gnu11 $(WARNINGS) $(INCLUDES)' CLANG='$(CLANG)' \
		BPF_FLAGS='$(BPF_FLAGS)' tests/lint/headers.sh .

.PHONY: format
format: ## lay out all C files by .clang-format
	clang-format -i $(C_FILES)

.PHONY: check-vmlinux
check-vmlinux: ## check vmlinux/vmlinux.h against the running kernel's BTF
	$(Q)BPFTOOL='$(BPFTOOL)' tests/lint/vmlinux_check.sh

# --- installing -----------------------------------------------------------------------------------
.PHONY: man
man: $(MANUALS) ## make the manual pages into build/man/
# A page's OPTIONS section is written by the rows of the command itself, so that it cannot differ.
$(BUILD)/man/%: user/man/%.scd $(BUILD)/bpfprof
	@mkdir -p $(@D)
	$(SAY) "  MAN   $@"
	$(Q)awk -v bpfprof=$(BUILD)/bpfprof '/^@OPTIONS .*@$$/ { gsub(/@|OPTIONS /, ""); \
		system(bpfprof " --manual-options " $$0); next } { print }' $< | scdoc >$@.new && mv $@.new $@

COMPLETIONS := $(SHELLS:%=$(BUILD)/completion/%)
$(COMPLETIONS): $(BUILD)/completion/%: $(BUILD)/bpfprof
	@mkdir -p $(@D)
	$(Q)$< --completion $* >$@.new && mv $@.new $@

bin := $(DESTDIR)$(PREFIX)/bin
man := $(DESTDIR)$(PREFIX)/share/man/man1
share := $(DESTDIR)$(PREFIX)/share
unit := $(DESTDIR)$(PREFIX)/lib/systemd/system/bpfprof.service
sysusers := $(DESTDIR)$(PREFIX)/lib/sysusers.d/bpfprof.conf
example := $(share)/doc/bpfprof/bpfprofconfig.example
INSTALLED := $(bin)/bpfprof $(unit) $(sysusers) $(example) $(MANUALS:$(BUILD)/man/%=$(man)/%) \
	$(share)/bash-completion/completions/bpfprof $(share)/zsh/site-functions/_bpfprof \
	$(share)/fish/vendor_completions.d/bpfprof.fish

.PHONY: install
install: $(BUILD)/bpfprof $(MANUALS) $(COMPLETIONS) ## install below PREFIX (/usr/local), DESTDIR in front
	$(Q)install -D -m 755 $(BUILD)/bpfprof $(bin)/bpfprof
	$(Q)$(foreach page,$(MANUALS),install -D -m 644 $(page) $(man)/$(notdir $(page)) &&) true
	$(Q)install -D -m 644 $(BUILD)/completion/bash $(share)/bash-completion/completions/bpfprof
	$(Q)install -D -m 644 $(BUILD)/completion/zsh $(share)/zsh/site-functions/_bpfprof
	$(Q)install -D -m 644 $(BUILD)/completion/fish $(share)/fish/vendor_completions.d/bpfprof.fish
	$(Q)install -D -m 644 user/service/bpfprofconfig.example $(example)
	$(Q)install -D -m 644 user/service/bpfprof.sysusers $(sysusers)
	$(Q)install -d $(dir $(unit)) && sed 's|@BIN@|$(PREFIX)/bin|' user/service/bpfprof.service.in >$(unit) && \
		chmod 644 $(unit)
	@$(give_back)

.PHONY: uninstall
uninstall: ## remove exactly what install put there
	$(Q)rm -f $(INSTALLED)

.PHONY: clean
clean: ## remove build/
	rm -rf $(BUILD)

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / { printf "  %-14s %s\n", $$1, $$2 }' Makefile

-include $(USER_OBJECTS:.o=.d) $(patsubst %.c,$(BUILD)/%.d,$(BPF_SOURCES) $(KERNEL_TEST_BPF)) \
	$(addsuffix .d,$(TESTS) $(FAKE_LBR_TEST) $(BRANCH_FILE) $(LIVE_CHECK) $(REPLAYS) $(LBR_TOOLS))
