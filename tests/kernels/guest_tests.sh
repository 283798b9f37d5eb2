#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What a person types, inside a guest.
#
# The host may give the guest no time for a while, and then ticks are late: so work goes by count where
# it can, and of samples a few are enough, but each of them must be right.

# shellcheck source=tests/kernels/guest_tap.sh
. /guest_tap.sh

file=/tmp/perf.data

# Records with what is given, quietly.
record() {
	bpfprof record -q -o "$file" "$@"
}

# The stacks of what was recorded, a line each, innermost first: foo;bar;main;
stacks() {
	bpfprof script -i "$file" -F ip,sym | awk 'NF { printf "%s;", $2 } !NF { print "" }'
}

check_finds_all_that_recording_needs() {
	bpfprof check
}

one_event_loads() {
	record -F 999 -e cpu-clock -- mainbarfoo 100
	stacks | atleast '^foo;' 10
}

two_events_load() {
	record -F 999 -e cpu-clock,page-faults -- mainbarfoo 100
	bpfprof script -i "$file" -F event | sort | uniq -c
	bpfprof script -i "$file" -F event | atleast page-faults 1
	bpfprof script -i "$file" -F event | atleast cpu-clock 1
}

sixteen_events_load() {
	clocks=cpu-clock,cpu-clock:u,cpu-clock:k,task-clock,task-clock:u,task-clock:k
	faults=page-faults,page-faults:u,page-faults:k,minor-faults,minor-faults:u,minor-faults:k
	record -F 199 -e "$clocks,$faults,context-switches,cpu-migrations,context-switches:k,cpu-migrations:k" \
		-- forky 50 2000000
	stacks | atleast '^child_work;' 10
	bpfprof script -i "$file" -F event | sort -u | atleast : 8
}

frame_pointers_give_the_known_stack() {
	record -F 999 --call-graph fp -- deep 30 0.6
	stacks >/tmp/stacks
	atleast '^at_the_bottom;\(down;\)\{30\}main;' 20 </tmp/stacks
	# Whoever was at the bottom was called by 30 of down(). Before a function has its frame, and when
	# it has left it, frame pointers pass over its caller.
	! grep '^at_the_bottom' /tmp/stacks | grep -v '^at_the_bottom;\(down;\)\{29,30\}main;'
}

stacks_without_frame_pointers_are_whole() {
	record -F 999 -- "$WORKLOADS/nofp" plain 0.5
	bpfprof report -i "$file" --no-children | head -n 20
	stacks >/tmp/stacks
	sort /tmp/stacks | uniq -c | sort -n | tail -n 5
	atleast ';main;.*_start;$' 10 </tmp/stacks
}

# Bound at the start: what glibc for arm64 says of where it binds late is wrong, and libdw believes it.
stacks_are_those_that_libdw_finds() {
	export LD_BIND_NOW=1
	seq 100000 | awk '{ print $1 * 7919 % 100003 }' >/tmp/lines
	live_check -F 999 -n 20 -w 10 -N sort coreutils-sort /tmp/lines >/tmp/sorted 2>/tmp/wrong || {
		cat /tmp/wrong
		grep samples /tmp/sorted
		return 1
	}
	live_check -F 999 -n 20 -w 10 -N nofp "$WORKLOADS/nofp" sort 2
	live_check -F 999 -n 20 -w 10 -N bpfprof bpfprof script -i "$file" >/dev/null
}

cycles_are_sampled_where_the_cpu_counts_them() {
	bpfprof check | grep '^.ok. *CPU cycle counter' || exit "$SKIP"
	for event in cycles cycles:u; do
		record -F 999 -e $event -- mainbarfoo 100
		bpfprof script -i "$file" -F event | atleast " *$event" 10
		stacks | atleast '^foo;bar;main;.*_start;$' 10
	done
}

no_stacks_come_if_none_are_asked_for() {
	record -F 999 --call-graph none -- mainbarfoo 100
	bpfprof script -i "$file" -F ip,sym >/tmp/stacks
	atleast ' foo$' 10 </tmp/stacks
	! grep -q '^$' /tmp/stacks # which separates stacks
}

report_shows_who_called_whom() {
	record -F 999 -- mainbarfoo 300
	bpfprof report -i "$file" --percent-limit 5 >/tmp/report
	cat /tmp/report
	for name in main bar foo; do
		grep -q "mainbarfoo *\[\.\] $name\$" /tmp/report || return 1
	done
}

children_of_a_process_are_followed() {
	forky 1000000 1000000 &
	record -F 999 -p $! --duration 1
	kill $!
	bpfprof script -i "$file" -F comm | sort | uniq -c | tail -n 5
	bpfprof script -i "$file" -F comm | atleast ' *child-[0-9]' 20
}

pids_are_those_of_the_namespace() {
	unshare -p -f --mount-proc sh -c 'spin 20 & pid=$!
		bpfprof record -q -F 499 -p $pid --duration 1 -o "$0"; kill $pid; echo $pid >/tmp/pid' "$file"
	[ "$(cat /tmp/pid)" -lt 20 ]
	[ "$(bpfprof script -i "$file" -F pid | tr -d ' ' | grep . | sort -u)" = "$(cat /tmp/pid)" ]
}

whole_machine_adds_up() {
	spin 1 2 &
	bpfprof record -v -a -F 999 --duration 0.5 -o "$file" 2>&1 | tee /tmp/counters
	wait
	awk '/overflows / { seen = $3 } /samples_sent|skipped_|lost_/ { sum += $3 }
		END { print seen " seen, " sum " accounted for"; exit !(seen > 500 && seen == sum) }' \
		/tmp/counters
}

samples_are_counted_in_the_kernel() {
	bpfprof record --aggregate --call-graph fp -v -e page-faults -c 1 -o "$file" -- forky 20 >/tmp/counters 2>&1
	cat /tmp/counters
	awk '/overflows / { seen = $3 } /samples_sent|samples_counted|skipped_|lost_/ { sum += $3 }
		/samples_counted/ { counted = $3 }
		END { print seen " seen, " sum " accounted for"; exit !(counted > 100 && seen == sum) }' \
		/tmp/counters
	bpfprof script -i "$file" -F provenance | atleast 'samples]' 2
}

run_tests "$0"
