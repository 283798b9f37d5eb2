#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What bpfprof report and diff say of a long recording on all CPUs that they may use is what they say on
# one of them. `make tsan` runs this file, too.
#
# Runs beside others.

load common

setup_file() {
	bind_early
	cd "$BATS_FILE_TMPDIR" || return 1
	# enough for several threads, of calls that registers hold in part
	"$BATS_TEST_DIRNAME/branch_recording.py" calls.data "$WORKLOADS/nofp" calls=1 samples=70000
	"$BATS_TEST_DIRNAME/branch_recording.py" other.data "$WORKLOADS/nofp" calls=1 samples=40000 seed=2
	"$BATS_TEST_DIRNAME/branch_recording.py" chains.data "$WORKLOADS/nofp" chains=1 depth=2 samples=40000
	taskset -pc $$ 2>/dev/null | sed -E 's/.*: ([0-9]+).*/\1/' >cpu
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
}

# alike WORD...: the output is the same by one thread and by several, and there is some
alike() {
	taskset -c "$(cat cpu)" "$BPFPROF" "$@" >one.txt
	"$BPFPROF" "$@" >several.txt
	cmp one.txt several.txt
	[ "$(grep -vc '^#' several.txt)" -gt 10 ]
}

@test "report: several threads count what one counts" {
	alike report -i calls.data
	alike report -i calls.data --no-children -s sym,srcline
	alike report -i calls.data -g none -s pid,dso,sym
	alike report -i chains.data --no-branch-stack
	alike report -i chains.data --no-branch-stack -g caller --no-children -s sym,srcline
}

@test "report: several threads stitch what one stitches" {
	alike report -i calls.data --stitch-lbr
	alike report -i calls.data --stitch-lbr=likely -g caller --no-children
}

@test "diff: several threads compare what one compares" {
	alike diff --children --stitch-lbr calls.data other.data
}
