#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Real recordings of many perfs (../shared/perf-corpus): every figure of perf report is ours too, with
# many options: a fifth of the cases here, all of them with TEST_ALL=1. compare_report.py tells what is known
# to differ.
#
# Runs beside others.

load common

setup_file() {
	export PERF_CONFIG=/dev/null PAGER=cat DEBUGINFOD_URLS=
	export CORPUS=$BATS_TEST_DIRNAME/../../../shared/perf-corpus
	COMPARE=$(realpath "$BATS_TEST_DIRNAME/compare_report.py")
	export COMPARE
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	need_perf
	[ -d "$CORPUS" ] || skip "no ../shared/perf-corpus"
}

# agree NAME OPTIONS...: every line has perf's figures
agree() {
	local name=$1
	shift
	echo "$name $*"
	"$COMPARE" "$PERF" "$BPFPROF" "$CORPUS/perf.data.$name" "$@"
}

agree_in_turn() {
	! is_its_turn 5 || agree "$@"
}

files_of_samples="armv7-3.4 busy.0-3.8 callgraph-3.4 ctx_switch_namespaces-4.14 group_desc-4.14
	hw_and_sw-3.4 hybrid_topology i686-3.4 lost_samples-4.4 raw-3.4 remmap-3.2 singleprocess-3.8
	systemwide.0-3.4 systemwide.1-3.8 throttle-3.8"
pipes="piped.header_features-4.16 piped.lost_samples-4.4 piped.target-3.4"
files_of_branches="branch-4.14 callgraph_and_branch-3.8"

@test "recordings of samples: every line agrees, whatever the keys" {
	local name
	for name in $files_of_samples $pipes; do
		agree_in_turn "$name"
		agree_in_turn "$name" -s comm,dso
		agree_in_turn "$name" -s pid,sym --no-children
		agree_in_turn "$name" -F overhead,overhead_sys,overhead_us,sample,period,dso
	done
}

@test "recordings of samples: every line agrees in hierarchies and side by side" {
	local name
	for name in $files_of_samples; do
		agree_in_turn "$name" --hierarchy
		agree_in_turn "$name" --hierarchy -s '{pid,dso},sym' -n
		agree_in_turn "$name" --group --show-total-period
		agree_in_turn "$name" --group --no-children -s comm
	done
}

@test "recordings of samples: every line agrees under limits and filters" {
	local name
	for name in $files_of_samples; do
		agree_in_turn "$name" --percent-limit 1
		agree_in_turn "$name" --percentage relative --no-children -s dso
		agree_in_turn "$name" -s cpu,socket,time --no-children
	done
	agree callgraph-3.4 -U --no-children
	agree callgraph-3.4 --max-stack 3
	agree callgraph-3.4 -s parent,comm -p .
}

@test "recordings of branches: every line agrees" {
	local name
	for name in $files_of_branches; do
		agree "$name"
		agree "$name" -s comm,dso_from,dso_to,mispredict
		agree "$name" -F overhead,sample,symbol_from,symbol_to,in_tx,abort,cycles
		agree "$name" --no-branch-stack
		agree "$name" --no-branch-stack --hierarchy
	done
}

@test "call graphs: every chain of every line agrees" {
	local order
	for order in caller callee; do
		agree callgraph-3.4 --graphs -g "$order"
		agree callgraph-3.4 --graphs -g "$order,count" --no-children -s dso,sym
		agree callgraph-3.4 --graphs -g "$order,period" --no-children -s comm
	done
	agree callgraph_and_branch-3.8 --graphs --no-branch-stack -g caller
}

@test "all of the corpus is looked at" {
	local name known
	read -r -d '' -a known <<<"$files_of_samples $pipes $files_of_branches" || true
	for name in "$CORPUS"/perf.data.*; do
		[[ " ${known[*]} " == *" ${name##*perf.data.} "* ]]
	done
}
