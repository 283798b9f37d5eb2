#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Recording from inside a pid namespace: pids are those that are seen there.
#
# shellcheck disable=SC2016 # the inner shell expands

setup() {
	: "${BPFPROF:=$BATS_TEST_DIRNAME/../../build/bpfprof}"
	: "${WORKLOADS:=$BATS_TEST_DIRNAME/../../build/tests/workloads}"
	export BPFPROF WORKLOADS file="$BATS_TEST_TMPDIR/perf.data"
	unshare -p --fork --mount-proc true 2>/dev/null || skip "no right to make a pid namespace"
	"$BPFPROF" check >/dev/null 2>&1 || skip "no right to record"
}

# Runs its arguments as pid 1 of a new pid namespace.
in_namespace() {
	unshare -p --fork --mount-proc bash -c "$1"
}

@test "a process is found by its pid in the namespace, and recorded under it" {
	run in_namespace '"$WORKLOADS/spin" 20 & pid=$!
		"$BPFPROF" record -q -F 499 -p $pid --duration 1 -o "$file"; kill $pid; echo "pid $pid"'
	pid=${lines[-1]#pid }
	[ "$pid" -lt 100 ]
	run "$BPFPROF" script -i "$file" -F pid
	[ "$status" = 0 ]
	[ "$(tr -d ' ' <<<"$output" | grep . | sort -u)" = "$pid" ]
}

@test "children are followed in the namespace" {
	run in_namespace '"$BPFPROF" record -q -F 4999 -o "$file" -- "$WORKLOADS/forky" 3 60000000'
	[ "$status" = 0 ]
	run "$BPFPROF" script -i "$file" -F comm
	[ "$status" = 0 ]
	[ "$(grep -o 'child-[0-9]' <<<"$output" | sort -u | wc -l)" = 3 ]
}
