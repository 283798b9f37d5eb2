#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What is in the file when a recording ends badly: killed, out of disk, out of memory for samples.
#
# Runs beside others.

load common

setup() {
	need_root
	cd "$BATS_TEST_TMPDIR" || return
	start "$WORKLOADS/spin" 1000 "$(nproc)"
}

teardown() {
	show_failure
	end_background
	! mountpoint -q "$BATS_TEST_TMPDIR/small" || umount -l "$BATS_TEST_TMPDIR/small"
}

# Both readers open the file without complaint and find the busy loop. That much was lost, which
# perf warns of, is no complaint about the file.
opens() {
	perf report -i "$1" --stdio --no-children -g none -s sym >by_perf 2>warnings
	lacks -vE '^(Warning:|Processed [0-9]+ samples and lost .*)?$' warnings
	grep -q spin_here by_perf
	"$BPFPROF" report -i "$1" --stdio --no-children -g none -s sym >by_us 2>warnings
	[ ! -s warnings ] || { cat warnings; return 1; }
	grep -q spin_here by_us
}

has_spin() {
	[ -e "$1" ] && "$BPFPROF" report -i "$1" --stdio -g none -s sym 2>/dev/null | grep -q spin_here
}

# A recording that is killed while it runs, with these options.
kill_while_recording() {
	start "$BPFPROF" record -q -a -F 999 "$@"
	wait_for has_spin perf.data
	kill -KILL "${background[-1]}"
	wait "${background[-1]}" || true
}

@test "killed in the middle: the file opens, with what was flushed" {
	kill_while_recording -z0
	opens perf.data
}

@test "killed in the middle, compressed: the file opens" {
	kill_while_recording -z
	opens perf.data
}

@test "a disk that gets full: said at once, counted, and the file opens" {
	mkdir small
	mount -t tmpfs -o size=320k none small
	# 10,000 samples of more than 100 bytes each
	run -1 "$BPFPROF" record -z0 -v -F 4999 -o small/perf.data -- "$WORKLOADS/spin" 1 2
	echo "$output"
	[ "$(grep -c 'No space left on device' <<<"$output")" -eq 1 ]
	awk '$2 == "lost_disk_full" { lost = $3 } END { exit !(lost > 0) }' <<<"$output"
	[ "$(samples small/perf.data)" -gt 0 ]
	opens small/perf.data
	[ "$(awk '$2 == "samples_sent" { print $3 }' <<<"$output")" -eq "$(samples small/perf.data)" ]
}

@test "a disk without any room: one line" {
	mkdir small
	mount -t tmpfs -o size=4k none small
	dd if=/dev/zero of=small/filler bs=4k count=1 2>/dev/null
	run -1 "$BPFPROF" record -z0 -q -a -o small/perf.data --duration 1
	echo "$output"
	[ "$(grep -c . <<<"$output")" -eq 1 ]
	[[ $output == *"No space left on device"* ]]
}

@test "a full disk does not end the command that is profiled" {
	mkdir small
	mount -t tmpfs -o size=320k none small
	run -1 "$BPFPROF" record -q -z0 -F 4999 -o small/perf.data -- \
		sh -c "$WORKLOADS/spin 1 2; echo the command went on"
	[[ $output == *"the command went on"* ]]
}

# The recorder is stopped until far more has been sampled than a page holds, so that the ring must
# overflow however fast it would be drained.
@test "a ring of one page: what is lost is counted, the file opens" {
	start env --default-signal "$BPFPROF" record -v -a -F 4999 --ring-size 4096 2>said
	wait_for has_spin perf.data
	kill -STOP "${background[-1]}"
	"$WORKLOADS/spin" 0.1
	kill -CONT "${background[-1]}"
	kill -INT "${background[-1]}"
	wait "${background[-1]}" || true
	[ "$(counter lost_ring_full)" -gt 0 ]
	opens perf.data
}
