#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# bpfprof diff: what is beyond chance. Runs of tests/workloads/shares, alike and with a planted change.

load common

setup_file() {
	export PAGER=cat DEBUGINFOD_URLS=
	cd "$BATS_FILE_TMPDIR" || return
	[ "$(id -u)" = 0 ] || return 0
	local turn
	for turn in 1 2; do
		"$BPFPROF" record -q -F 4999 -o "same$turn.data" -- "$WORKLOADS/shares" 60000
		"$BPFPROF" record -q -F 4999 -o "more$turn.data" -- "$WORKLOADS/shares" 66000 10
	done
	"$BPFPROF" record -q -F 99 -o few.data -- "$WORKLOADS/shares" 20000
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
	need_root
}

# marked FILES...: the functions of the program that are marked
marked() {
	"$BPFPROF" diff -q --significant "$@" | awk '/ shares / { print $NF }'
}

@test "of two runs of one program nothing of it is marked" {
	[ -z "$(marked same1.data same2.data)" ]
	"$BPFPROF" diff same1.data same2.data >all
	grep -E ' part_0$' all
	grep -E '^# [0-9]+ of [0-9]+ lines changed beyond chance \(\*\), in [0-9 ]+ and [0-9 ]+ samples' all
	grep '^# What would have been found: ' all
}

@test "a function that takes ten points more is marked, with the interval that holds them" {
	marked same1.data more1.data | grep -x part_6
	"$BPFPROF" diff -q same1.data more1.data | awk '$NF == "part_6"' >line
	read -r _ delta interval mark _ <line
	[ "$mark" = "*" ]
	# From 5 of 100 to 15 of 110 chunks: 8.6 points.
	awk -v delta="${delta%\%}" -v interval="${interval%\%}" \
		'BEGIN { exit !(delta - interval < 8.6 && 8.6 < delta + interval && interval < 5) }'
}

@test "several runs a side are told from one another by a colon" {
	marked same1.data same2.data : more1.data more2.data | grep -x part_6
	[ -z "$(marked same1.data : same2.data)" ]
	"$BPFPROF" diff same1.data same2.data : more1.data more2.data >all
	grep -F '#  [0] same1.data same2.data (Baseline)' all
	grep -F '#  [1] more1.data more2.data ' all
	grep -F '# t test with the spread of 2 and 2 recordings;' all
	"$BPFPROF" diff -q -c ratio same1.data same2.data : more1.data more2.data | grep -E '\* +shares .* part_6$'
}

@test "few samples are said to be too few" {
	"$BPFPROF" diff -q few.data same1.data | grep -E ' \?  '
	"$BPFPROF" diff few.data same1.data | grep -E '; [0-9]+ more have too few \(\?\)'
}

@test "with what they called, functions are marked too" {
	"$BPFPROF" diff -q --children --significant same1.data more1.data >marked
	grep -E '\* +shares .* part_6$' marked
	lacks -E ' main$' marked # has all of both
	"$BPFPROF" diff -q --children same1.data more1.data | grep -E '^ +9[0-9]\.[0-9]+%.* main$'
}

@test "what perf does not have is refused with --strict-perf" {
	fails_with 2 "perf has no test of significance; leave --strict-perf out" \
		"$BPFPROF" diff --strict-perf --significant same1.data same2.data
	"$BPFPROF" diff --strict-perf same1.data same2.data >strict
	lacks -F '+/-' strict
	lacks 'beyond chance' strict
}

@test "a side without recordings is refused" {
	fails_with 2 "there is no recording on one side of ':'; write OLD1 OLD2 : NEW1 NEW2" \
		"$BPFPROF" diff same1.data :
	fails_with 2 "there is no recording on one side of ':'; write OLD1 OLD2 : NEW1 NEW2" \
		"$BPFPROF" diff : same1.data
}
