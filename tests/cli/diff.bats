#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# bpfprof diff: line by line what perf diff prints, under --strict-perf.

load common

setup_file() {
	export PERF_CONFIG=/dev/null PAGER=cat DEBUGINFOD_URLS=
	cd "$BATS_FILE_TMPDIR" || return
	"$PERF" --version >/dev/null 2>&1 || return 0
	[ "$(id -u)" = 0 ] || return 0
	local turn
	for turn in 1 2 3; do
		perf_records -F 1999 -g -o "$turn.data" -- "$WORKLOADS/mainbarfoo" $((turn * 200))
	done
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
	need_perf
	need_root
}

# same_diff OPTIONS AND FILES...: both print the same to the byte
same_diff() {
	"$PERF" diff "$@" >theirs 2>/dev/null
	"$BPFPROF" diff --strict-perf "$@" >ours
	[ -s theirs ]
	diff theirs ours
}

@test "two files and three: every method, order and column is perf's to the byte" {
	local options files
	for options in "" "-c delta" "-c ratio" "-c wdiff:1,2" "-c wdiff:-3,7" "-o 0" "-p" "-F" \
		"-b" "-b -p -F" "-q" "-t ," "-t , -c ratio -p"; do
		for files in "1.data 2.data" "3.data 1.data 2.data"; do
			echo "$options $files"
			# shellcheck disable=SC2086
			same_diff $options $files
		done
	done
	same_diff -o 2 1.data 2.data 3.data
	same_diff -o 2 -c ratio 1.data 2.data 3.data
}
