# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# bpfprof: every target. `make help` lists them.

BUILD ?= build
PREFIX ?= /usr/local
CC ?= gcc
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/local/sbin/bpftool) bpftool)
Q := $(if $(V),,@)

ARCH := $(shell uname -m)
BPF_ARCH := $(if $(filter aarch64 arm64,$(ARCH)),arm64,x86)
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo 0)

WARNINGS := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes
CPPFLAGS += -D_GNU_SOURCE -Iinclude -Iuser -I$(BUILD)/skeleton
CFLAGS ?= -O2 -g
CFLAGS += -std=gnu11 $(WARNINGS)
ifdef SANITIZE
CFLAGS += -fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all
LDFLAGS += -fsanitize=$(SANITIZE)
endif
ifdef COVERAGE
CFLAGS += --coverage -O0
LDFLAGS += --coverage
endif
LDLIBS += -lbpf -lelf -ldw -lz -lzstd -llzma -lxxhash -liberty -lpthread

BPF_CFLAGS := -target bpf -D__TARGET_ARCH_$(BPF_ARCH) -O2 -g -Wall -Wextra -Werror -mcpu=v3 \
	-Iinclude -Ivmlinux -Ibpf -I/usr/include/$(ARCH)-linux-gnu

# --- sources: found, not listed -------------------------------------------------------------------
USER_SOURCES := $(wildcard user/*.c user/*/*.c)
USER_OBJECTS := $(USER_SOURCES:%.c=$(BUILD)/%.o)
LIBRARY := $(BUILD)/libbpfprof.a
BPF_SOURCES := $(wildcard bpf/*.bpf.c)
SKELETONS := $(BPF_SOURCES:bpf/%.bpf.c=$(BUILD)/skeleton/%.skel.h)
UNIT_SOURCES := $(wildcard tests/unit/*_test.c tests/unit/*/*_test.c)
UNIT_TESTS := $(UNIT_SOURCES:%.c=$(BUILD)/%)

.DEFAULT_GOAL := all
.PHONY: all
all: $(BUILD)/bpfprof ## build everything into build/

$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c
	@mkdir -p $(@D)
	@echo "  BPF   $@"
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/skeleton/%.skel.h: $(BUILD)/bpf/%.bpf.o
	@mkdir -p $(@D)
	@echo "  SKEL  $@"
	$(Q)$(BPFTOOL) gen skeleton $< name $(subst .,_,$*)_bpf > $@.new && mv $@.new $@

$(BUILD)/%.o: %.c | $(SKELETONS)
	@mkdir -p $(@D)
	@echo "  CC    $@"
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -DBPFPROF_VERSION='"$(VERSION)"' -c $< -o $@

$(LIBRARY): $(filter-out $(BUILD)/user/main.o,$(USER_OBJECTS))
	@echo "  AR    $@"
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/bpfprof: $(BUILD)/user/main.o $(LIBRARY)
	@echo "  LD    $@"
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(LDLIBS) -o $@

# --- tests ----------------------------------------------------------------------------------------
$(BUILD)/tests/unit/%_test: tests/unit/%_test.c $(LIBRARY)
	@mkdir -p $(@D)
	@echo "  TEST  $@"
	$(Q)$(CC) $(CPPFLAGS) -Itests $(CFLAGS) -MMD -MP -MF $@.d $< $(LIBRARY) $(LDFLAGS) $(LDLIBS) -lcmocka -o $@

.PHONY: unit
unit: $(UNIT_TESTS) ## build and run the unit tests
	$(Q)CMOCKA_MESSAGE_OUTPUT=TAP prove -e '' $(UNIT_TESTS)

.PHONY: clean
clean: ## remove build/
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
