#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# bpfprof script prints a long recording on all CPUs that it may use, and byte for byte what it prints on
# one of them.
#
# Runs beside others.

load common

# Each page that is touched for the first time is a sample, in many short processes that map files.
setup_file() {
	bind_early
	cd "$BATS_FILE_TMPDIR" || return 1
	"$PERF" record -q --no-bpf-event -e page-faults -c 1 -g -o long.data -- \
		sh -c 'for i in $(seq 700); do /bin/ls -l /bin/sh; done' >/dev/null 2>&1 || return 0
	taskset -pc $$ 2>/dev/null | sed -E 's/.*: ([0-9]+).*/\1/' >cpu
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	[ -s long.data ] || skip "perf cannot record here"
	[ "$(samples long.data)" -gt 50000 ] # enough for several threads
}

# on_one OPTION...: by one thread
on_one() {
	taskset -c "$(cat cpu)" "$BPFPROF" script "$@"
}

# alike OPTION...: by one and by several, output, words and status are the same
alike() {
	local status=0 status_of_one=0
	on_one "$@" >one.txt 2>one.err || status_of_one=$?
	"$BPFPROF" script "$@" >several.txt 2>several.err || status=$?
	[ "$status" = "$status_of_one" ]
	cmp one.txt several.txt
	cmp one.err several.err
}

@test "several threads print what one prints" {
	alike -i long.data
	[ "$(grep -c '^$' several.txt)" = "$(samples long.data)" ]
	alike -i long.data -G
	alike -i long.data --strict-perf -F comm,pid,tid,time,ip,sym,symoff,dso --ns
	alike -i long.data -F event,addr,ip,sym -c ls
	alike -i long.data --max-stack 2 --time 20%-70%
}

@test "what depends on other samples is the same, too" {
	alike -i long.data --deltatime
	alike -i long.data --reltime -G
	alike -i long.data --show-mmap-events --show-task-events
	alike -i long.data -F +misc -S _start
}

@test "several threads print what perf prints" {
	"$PERF" script -i long.data >perf.txt 2>/dev/null
	"$BPFPROF" script --strict-perf -i long.data >ours.txt
	[ "$(grep -c '^$' ours.txt)" = "$(samples long.data)" ]
	diff <(grep -v $'\033' perf.txt) ours.txt >differences.txt || { head -5 differences.txt; return 1; }
}

@test "a stream is printed by several threads as by one" {
	on_one -i long.data >one.txt
	"$BPFPROF" script -i - <long.data >several.txt
	cmp one.txt several.txt
}

@test "of a cut recording several threads print all whole records, and one line" {
	head -c "$(($(stat -c %s long.data) * 4 / 5))" long.data >cut.data
	alike -i cut.data
	[ "$(wc -l <several.err)" = 1 ]
	grep -q 'cut.data is cut at byte' several.err
}

@test "several threads end with the reader of their output" {
	run -141 bash -c 'set -o pipefail; "$BPFPROF" script -i long.data | head -n 1 >/dev/null'
	(
		trap '' PIPE
		"$BPFPROF" script -i long.data 2>several.err || echo $? >status
	) | head -n 1 >/dev/null
	[ "$(cat status)" = 1 ]
	[ "$(cat several.err)" = "bpfprof: cannot write to standard output: Broken pipe" ]
}

@test "several threads say in one line that the disk is full" {
	run bash -c '"$BPFPROF" script -i long.data 2>&1 >/dev/full'
	[ "$status" = 1 ]
	[ "$output" = "bpfprof: cannot write to standard output: No space left on device" ]
}

@test "a signal ends several threads" {
	local printer status=0
	mkfifo output
	start bash -c 'exec "$BPFPROF" script -i long.data >output'
	printer=$!
	# nobody reads on, so it stands
	exec {reading}<output
	read -r _ <&"$reading"
	kill -TERM "$printer"
	wait "$printer" || status=$?
	[ "$status" = 143 ]
}
