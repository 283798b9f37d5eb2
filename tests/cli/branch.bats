#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Branch stacks: what perf prints of them, we print to the byte. The files are made
# (branch_recording.py), for nothing here can record them.

load common

setup_file() {
	MAKE_BRANCHES=$(realpath "$BATS_TEST_DIRNAME/branch_recording.py")
	PROGRAM=$WORKLOADS/nofp
	export MAKE_BRANCHES PROGRAM PERF_CONFIG=/dev/null PAGER=cat DEBUGINFOD_URLS=
	cd "$BATS_FILE_TMPDIR" || return
	mkdir nothing
	"$MAKE_BRANCHES" plain.data "$PROGRAM" odd=1
	"$MAKE_BRANCHES" types.data "$PROGRAM" bits=$((1 | 8 | 1 << 16))
	[ "$(id -u)" != 0 ] || "$MAKE_BRANCHES" kernel.data "$PROGRAM" kernel=1 odd=1
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
	need_perf
	need_root
}

# Kernel names need root; the table of symbols of perf is of this machine's kernel.
same_script() {
	diff <("$PERF" script -i "$@" 2>/dev/null) <("$BPFPROF" script -i "$@")
}

@test "script prints branch stacks as perf does: addresses, names, flags and types" {
	local fields
	for fields in brstack brstacksym brstack,dso brstacksym,dso comm,brstack +brstack \
		comm,tid,ip,sym,brstacksym brstack,brstacksym; do
		echo "fields: $fields"
		same_script plain.data -F "$fields"
		same_script types.data -F "$fields"
		same_script kernel.data -F "$fields"
	done
}

@test "script prints offsets in files and in the kernel, as perf does of files it has not loaded" {
	same_script kernel.data --symfs nothing -F brstackoff
	same_script kernel.data --symfs nothing -F brstackoff,dso
	[ "$("$BPFPROF" script -i plain.data -F brstackoff | grep -c 0x5555)" = 0 ]
}

@test "branch counters and the index of the newest register are stepped over" {
	"$MAKE_BRANCHES" counters.data "$PROGRAM" bits=$((2 | 8 | 1 << 17 | 1 << 19))
	"$MAKE_BRANCHES" without.data "$PROGRAM" bits=$((2 | 8))
	cmp <("$BPFPROF" script -i counters.data -F time,ip,brstack) \
		<("$BPFPROF" script -i without.data -F time,ip,brstack)
}

@test "branch stacks of a kind that is not known are refused by name, not misread" {
	"$MAKE_BRANCHES" future.data "$PROGRAM" bits=$((2 | 8 | 1 << 21))
	for command in report script; do
		run -1 --separate-stderr "$BPFPROF" "$command" -i future.data
		[ -z "$output" ]
		[[ $stderr == *"future.data: the branch stacks of event cycles are of a kind that is not known"* ]]
		[[ $stderr == *"branch_sample_type 0x200000"* ]]
	done
}
