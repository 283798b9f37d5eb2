#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# bpfprof without a command's name: records, then prints the report.
#
# Runs beside others.

load common

setup() {
	need_root
	cd "$BATS_TEST_TMPDIR" || return
}

@test "a command is recorded, its report is printed, its file is kept" {
	# Twenty samples a round, which takes a millisecond: where rounds and samples keep step, foo has its
	# 60% of each round to one sample, five points; ten are allowed.
	"$BPFPROF" -F 20000 -- "$WORKLOADS/mainbarfoo" >out 2>said
	grep -q '^# Children *Self *Command' out
	awk '/\] foo$/ { foo = $1 } /\] bar$/ { bar = $1 } /\] main$/ { main = $1 }
		END { exit !(foo / main > 0.5 && foo / main < 0.7 && bar / main > 0.95) }' out
	grep -q 'samples of' said
	perf report -i perf.data --stdio >/dev/null
}

@test "it prints what report prints of the same file" {
	"$BPFPROF" -q -F 999 -- "$WORKLOADS/spin" 0.2 >first
	"$BPFPROF" report >second
	cmp first second
}

@test "the command's status is passed on behind the report" {
	run -7 "$BPFPROF" -q -F 999 -- sh -c "$WORKLOADS/spin 0.1; exit 7"
	[[ $output == *"Children"* ]]
}

@test "without a sample there is no report, and the command's status all the same" {
	run -7 "$BPFPROF" -e cpu-clock -c 1000000000000 -- sh -c 'exit 7'
	[[ $output == *"0 samples of cpu-clock"* ]]
	[[ $output != *Children* ]]
	run -1 "$BPFPROF" report
	[ "$output" = "bpfprof: perf.data has no samples; record longer, or oftener with -F" ]
}

@test "Ctrl-C ends the recording and brings the report" {
	start env --default-signal "$BPFPROF" -q -a -F 999 -o all.data >out
	wait_for has_samples all.data
	kill -INT "${background[0]}"
	wait "${background[0]}"
	grep -q '^# Children *Self *Command' out
}

@test "options stand in front of a command without dashes too" {
	"$BPFPROF" -q -F 999 "$WORKLOADS/spin" 0.1 >out
	grep -q spin_here out
}

@test "a stream cannot be reported afterwards" {
	run -2 "$BPFPROF" -o -
	[ "$output" = "bpfprof: a stream cannot be reported when it is gone; use bpfprof record -o - | bpfprof report -i -" ]
}

@test "an option of report is pointed to" {
	run -2 "$BPFPROF" --no-children
	[ "$output" = "bpfprof: --no-children is an option of report: record first, then bpfprof report --no-children" ]
	run -2 "$BPFPROF" record --percent-limit 5 -- true
	[ "$output" = "bpfprof: record: --percent-limit is an option of report: record first, then bpfprof report --percent-limit" ]
}
