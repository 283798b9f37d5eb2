#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# CPUs that go offline and come back while somebody records. That is nothing to do to the machine that
# runs all other tests. Between going and coming here is less than between two looks at the CPUs, or
# it is waited for that the first was seen.

# shellcheck source=tests/kernels/guest_tap.sh
. /guest_tap.sh

mkdir -p /tmp/cpus && cd /tmp/cpus || exit
file=/tmp/cpus/perf.data cpu1=/sys/devices/system/cpu/cpu1/online
cp "$WORKLOADS/spin" late # its process's name, too

unpluggable() {
	[ -w $cpu1 ] || { echo "CPU 1 cannot be taken off here" && exit "$SKIP"; }
}

# Records while both CPUs have work, and has met it on both.
begin() {
	rm -f "$file"
	spin 1000 2 & busy=$!
	bpfprof record -a -F 99 -o "$file" 2>log & recorder=$!
	await sampled spin
	events=$(events)
}

# Whether there are samples of the process NAME on CPU 1.
sampled() {
	bpfprof script -i "$file" -F comm,cpu >samples
	grep "^ *$1 .*\[001\]" samples
}

events() {
	for fd in "/proc/$recorder/fd/"*; do
		readlink "$fd" || : # it may be closed by now
	done | grep -c perf_event
}

noticed() {
	[ "$(events)" -lt "$events" ]
}

# A program begins where nobody is told of it.
late() {
	taskset 2 ./late 1000 & late=$!
}

# Ends all of it: the late one has its names, and the gap is told.
finish() {
	kill -INT "$recorder"
	wait "$recorder" || [ $? = 130 ]
	kill "$busy" "$late"
	cat log
	grep 'a CPU came online and was not watched at once' log
	bpfprof report -i "$file" -g none --no-children -s comm,dso,symbol >names
	cat names
	grep 'late  *late  *\[\.\] spin_here' names
	! grep -E "(:$late|late) .*\[unknown\]" names # what ends before anybody can look has none
}

a_cpu_that_was_away_for_a_moment_is_sampled_again() {
	unpluggable
	begin
	echo 0 >$cpu1
	echo 1 >$cpu1
	late
	await sampled late
	finish
}

what_begins_on_a_cpu_that_comes_later_has_its_names() {
	unpluggable
	begin
	echo 0 >$cpu1
	await noticed
	echo 1 >$cpu1
	late
	await sampled late
	finish
}

stored() {
	bpfprof report --store store --at '@0..@9999999999' -g none --no-children -s comm,dso,symbol >names
	grep 'late  *late  *\[\.\] spin_here' names
}

the_daemon_goes_on_where_a_cpu_was_away() {
	unpluggable
	: >config
	PERF_CONFIG=$PWD/config bpfprof daemon --store store --window 5s -F 99 --max-cpu none 2>log & recorder=$!
	await grep 'sampling at' log
	echo 0 >$cpu1
	echo 1 >$cpu1
	late
	await stored
	kill "$late"
	kill -INT "$recorder"
	wait "$recorder"
	bpfprof report --store store --at '@0..@9999999999' -g none | grep 'a CPU came online'
	! grep -E 'late .*\[unknown\]' names
}

run_tests "$0"
