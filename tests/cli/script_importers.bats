#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Programs that read perf script's output read ours, unchanged: what they make of both is the same.
#
# FLAMEGRAPH  folder with FlameGraph's stackcollapse-perf.pl (or it is in PATH)
# SPEEDSCOPE  folder of npm's package speedscope (or it is installed: npm install -g speedscope); otherwise
#             npm fetches it, once, if there is one and its registry answers
#
# Runs beside others.

load common

setup_file() {
	export PERF_CONFIG=/dev/null PAGER=cat DEBUGINFOD_URLS=
	CORPUS=$(realpath "$BATS_TEST_DIRNAME/../../../shared/perf-corpus" 2>/dev/null) || CORPUS=
	IMPORTER=$(realpath "$BATS_TEST_DIRNAME/speedscope.mjs")
	export CORPUS IMPORTER
	bind_early
	cd "$BATS_FILE_TMPDIR" || return
	"$PERF" --version >/dev/null 2>&1 || return 0
	"$PERF" record -q --no-bpf-event -e cpu-clock -F 1999 -g -o own.data -- "$WORKLOADS/mainbarfoo" 300 >/dev/null 2>&1 ||
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
		[ "$(wc -l <left)" -gt 1 ]
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

# Prints the folder of speedscope's package; fails if there is none.
find_speedscope() {
	local kept folder
	kept=$(realpath "${BUILD:-$BATS_TEST_DIRNAME/../../build}")/speedscope
	for folder in "${SPEEDSCOPE:-/nowhere}" "$(npm root -g 2>/dev/null)/speedscope" "$kept/package"; do
		[ ! -d "$folder/dist/release" ] || { echo "$folder"; return; }
	done
	cd "$BATS_TEST_TMPDIR" || return
	timeout 20 npm pack --silent --fetch-retries=0 --fetch-timeout=5000 speedscope@1.25.0 >/dev/null 2>&1 &&
		mkdir -p "$kept" && tar -xzf speedscope-1.25.0.tgz -C "$kept" && echo "$kept/package"
}

@test "speedscope imports the same profile" {
	local package
	command -v node >/dev/null || skip "no node"
	package=$(find_speedscope) || skip "no speedscope, and npm cannot fetch it"
	agree node "$IMPORTER" "$package"
	node "$IMPORTER" "$package" own.ours.linux-perf.txt | grep -q '> foo mainbarfoo\|> foo .*/mainbarfoo'
}
