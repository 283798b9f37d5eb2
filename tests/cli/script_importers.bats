#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Programs that read perf script's output read ours, unchanged: what they make of both is the same.
#
# FLAMEGRAPH  folder with FlameGraph's stackcollapse-perf.pl (or it is in PATH)
# SPEEDSCOPE  folder of npm's package speedscope (or it is installed: npm install -g speedscope)
#
# Runs beside others.

load common

setup_file() {
	export PERF_CONFIG=/dev/null PAGER=cat DEBUGINFOD_URLS=
	CORPUS=$(realpath "$BATS_TEST_DIRNAME/../../../shared/perf-corpus" 2>/dev/null) || CORPUS=
	IMPORTER=$(realpath "$BATS_TEST_DIRNAME/speedscope.mjs")
	export CORPUS IMPORTER
	cd "$BATS_FILE_TMPDIR" || return
	"$PERF" --version >/dev/null 2>&1 || return 0
	"$PERF" record -q -e cpu-clock -F 1999 -g -o own.data -- "$WORKLOADS/mainbarfoo" 300 >/dev/null 2>&1 ||
		return 0
	"$PERF" script -i own.data >own.theirs.linux-perf.txt 2>/dev/null
	"$BPFPROF" script --strict-perf -i own.data >own.ours.linux-perf.txt
	[ -d "$CORPUS" ] || return 0
	"$PERF" script -i "$CORPUS/perf.data.callgraph-3.4" >old.theirs.linux-perf.txt 2>/dev/null
	"$BPFPROF" script --strict-perf -i "$CORPUS/perf.data.callgraph-3.4" >old.ours.linux-perf.txt
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
	[ -s own.data ] || skip "perf cannot record here"
}

# agree COMMAND...: prints the same of both outputs of each recording, and something
agree() {
	local theirs
	for theirs in *.theirs.linux-perf.txt; do
		"$@" "$theirs" >left
		"$@" "${theirs/theirs/ours}" >right
		[ "$(wc -l <left)" -gt 5 ]
		diff left right
	done
}

@test "FlameGraph's stackcollapse-perf.pl folds the same stacks" {
	local collapse=${FLAMEGRAPH:+$FLAMEGRAPH/stackcollapse-perf.pl}
	collapse=${collapse:-$(command -v stackcollapse-perf.pl)} || skip "no stackcollapse-perf.pl"
	agree perl "$collapse"
	perl "$collapse" own.ours.linux-perf.txt >folded
	grep -q '^mainbarfoo;.*main[^;]*;bar[^;]*;foo' folded
}

@test "speedscope imports the same profile" {
	local package=${SPEEDSCOPE:-}
	command -v node >/dev/null || skip "no node"
	[ -n "$package" ] || package=$(npm root -g 2>/dev/null)/speedscope
	[ -d "$package/dist/release" ] || skip "no speedscope"
	agree node "$IMPORTER" "$package"
	node "$IMPORTER" "$package" own.ours.linux-perf.txt | grep -q '> foo mainbarfoo\|> foo .*/mainbarfoo'
}
