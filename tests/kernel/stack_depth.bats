#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Functions of BPF that call one another take no more stack than every kernel has for them. Linux from 6.13 on
# gives each function of a sampler a stack of its own, so that loading it there shows nothing.
#
# Runs beside others.

load ../cli/common

setup() {
	need_root
	cd "$BATS_TEST_TMPDIR" || return
}

# depth OPTION...: bytes of the sampling program of such a recording, and the functions that take them
depth() {
	"$BPFPROF" record -q -o depth.data "$@" -- bash -c '
		id=$(cat /proc/$PPID/fdinfo/* 2>/dev/null | awk "/^prog_type:\t7\$/ { sampler = 1 }
			sampler && /^prog_id/ { print \$2; exit }")
		exec "$BPFTOOL" prog dump xlated id "$id"' >program
	awk -f "$BATS_TEST_DIRNAME/stack_depth.awk" program
}

# assert_fits OPTION...
assert_fits() {
	local bytes way

	read -r bytes way <<<"$(depth "$@")"
	echo "# $*: $bytes bytes: $way"
	[[ $way == *"take_any_frame"* || $way == *"take_stacks"* ]]
	[ "$bytes" -gt 100 ]
	[ "$bytes" -le 512 ]
}

@test "the programs' stacks fit into 512 bytes together" {
	export BPFTOOL="${BPFTOOL:-bpftool}"
	assert_fits -g
	assert_fits -a -g --aggregate
}

# Three functions that call one another, 8, 100 and 33 bytes; and one that only calls the last.
@test "the deepest chain is the one that is reported" {
	cat >made_up <<-'END'
		int first(struct bpf_perf_event_data * ctx):
		   0: (7b) *(u64 *)(r10 -8) = r1
		   1: (85) call pc+3#bpf_prog_0123456789abcdef_second
		   2: (85) call pc+9#bpf_prog_0123456789abcdef_other
		int second(u64 at):
		   3: (bf) r2 = r10
		   4: (07) r2 += -100
		   5: (85) call pc+3#third
		int third(u64 at):
		   6: (79) r1 = *(u64 *)(r10 -33)
		int other(u64 at):
		   7: (85) call pc-2#third
	END
	[ "$(awk -f "$BATS_TEST_DIRNAME/stack_depth.awk" made_up)" = "224 first (32) > second (128) > third (64)" ]
}
