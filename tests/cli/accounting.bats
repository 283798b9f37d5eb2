#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Nothing is lost without being counted: what the counters saw is in the file, left out, or lost for a
# reason, and no short-lived process loses its name.

load common

setup() {
	need_root
	cd "$BATS_TEST_TMPDIR" || return
}

# Keeps every CPU busy: a thread for each, and a storm of short-lived processes.
load_machine() {
	start "$WORKLOADS/spin" 1000 "$(nproc)"
	start "$WORKLOADS/forky" 1000000 10000 >/dev/null
}

# A recording through a ring of one page, stopped until far more has been sampled than the page holds:
# it cannot but lose.
record_too_much() {
	start env --default-signal "$BPFPROF" record -v -a -F 4999 --ring-size 4096 2>said
	wait_for has_samples perf.data
	kill -STOP "${background[-1]}"
	"$WORKLOADS/spin" 0.1
	kill -CONT "${background[-1]}"
	kill -INT "${background[-1]}"
	wait "${background[-1]}" || true
}

# A recording's sums hold exactly.
accounts() {
	"$BPFPROF" record -v "$@" 2>said
	sums_hold
}

@test "99 Hz on a busy machine: the sums hold, difference 0" {
	load_machine
	accounts -a -F 99 --duration 2
}

@test "999 Hz on a busy machine: the sums hold, difference 0" {
	load_machine
	accounts -a -F 999 --duration 2
}

@test "4999 Hz through a ring of one page: losses are counted, the sums hold" {
	load_machine
	record_too_much
	sums_hold
	[ "$(counter lost_ring_full)" -gt 0 ]
}

@test "only a process, only user space, by period: the sums hold" {
	load_machine
	accounts -p "${background[0]}" -F 999 --duration 1
	[ "$(counter skipped_target)" -gt 0 ]
	accounts -a -e cpu-clock:u -F 999 --duration 1
	[ "$(counter skipped_mode)" -gt 0 ]
	accounts -a -e cpu-clock -c 3000000 --duration 1
}

@test "the idle task is left out and counted, or kept" {
	accounts -a -F 999 --duration 1
	accounts -a -F 999 --duration 1 --idle
	[ "$(counter skipped_idle)" -eq 0 ]
}

# To perf, a timer that did not fire is no loss.
@test "report and perf show the losses that were said" {
	load_machine
	record_too_much
	lost=$(sum_of said LOST)
	[ "$lost" -gt "$(counter lost_late)" ]
	[ "$(perf report -i perf.data --stats | awk '/LOST_SAMPLES events:/ { lost = $3 } END { print lost }')" -eq \
		$((lost - $(counter lost_late))) ]
	"$BPFPROF" report -i perf.data --stdio | tr -d ' ' |
		grep -q "^#$(counter samples_sent)samplesof.*;${lost}lost"
}

@test "a storm of short-lived processes loses no name" {
	"$BPFPROF" record -q -F 4999 -- "$WORKLOADS/forky" 1000 1000000
	perf script -i perf.data -F comm,pid 2>/dev/null | awk 'NF { print $1 }' | sort -u >names
	grep -q '^child-' names
	[ "$(grep -c '^child-' names)" -gt 100 ]
	lacks -vE '^(child-[0-9]+|forky)$' names
}

@test "a shell loop that starts programs loses no name and no mapping" {
	"$BPFPROF" record -q -F 4999 -- sh -c 'i=0; while [ $i -lt 500 ]; do /bin/true; i=$((i+1)); done'
	perf script -i perf.data -F comm,pid 2>/dev/null | awk 'NF { print $1 }' | sort -u >names
	[ "$(cat names)" = $'sh\ntrue' ]
	perf script -i perf.data -F ip,sym,dso -G 2>/dev/null | awk '$1 !~ /^f{4}/ && /\(\[unknown\]\)/' | lacks .
}
