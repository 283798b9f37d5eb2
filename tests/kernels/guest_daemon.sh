#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The daemon inside a guest: with what the kernel lets it keep of its privileges; and on a clock that
# somebody sets, an hour on, two back and three on again, while it runs and before anybody asks. That is
# nothing to do to the machine that runs all other tests.
#
# What must keep its name meanwhile is what cli/outlived.bats has: a program that was replaced, one that
# was deleted, one that has gone with its mount namespace, and code that a process made.

# shellcheck source=tests/kernels/guest_tap.sh
. /guest_tap.sh

mkdir -p /tmp/daemon && cd /tmp/daemon && : >config || exit
export PERF_CONFIG=/tmp/daemon/config

# Moves the clock on by so many seconds, or back.
turn() {
	date -s "@$(($(date +%s) + $1))" >/dev/null
}

windows() {
	find store/windows -name '*.data' | wc -l
}

reached() {
	[ "$(windows)" -ge "$1" ]
}

# pid NAME: that of the recording
pid() {
	sed -n "s/^$1=//p" pids
}

# Until a window that has begun after this has ended.
another() {
	await reached $(($(windows) + 2))
}

# shown OPTION...: process, binary and function of all that was sampled
shown() {
	bpfprof report --store store "$@" -s pid,dso,symbol -g none --no-children | grep '\[\.\]' | sed 's/ *$//'
}

# of PID BINARY [FILE]: the functions of it that the process was sampled in
of() {
	grep -E "% +$1:[^ ]+ +$2 .*\[\.\]" "${3:-later}" | sed 's/.*\[\.\] //'
}

# Whether the windows so far have samples of PID in the function; looks when there is one more.
looked=0
sampled() {
	[ "$(windows)" -gt "$looked" ] || return 1
	looked=$(windows)
	shown --at '@0..@9999999999' >now
	of "$1" "$2" now | grep -qx "$3"
}

# rests PID BINARY NAME: has it stopped once it was sampled there, to leave the CPU to others
rests() {
	await sampled "$@"
	kill -STOP "$1"
}

# What any program has besides, or what has no name: neither is another program's.
ANYONES='_start|call_weak_fn|_init|_fini|.*_tm_clones|frame_dummy|.*_dtors_aux|.*@plt|0x.*|.fn 0x.*'

# only PID BINARY NAMES: the process was sampled in functions of that binary, and has no name of
# another one
only() {
	of "$1" "$2" >names
	cat names
	grep -Eqx "$3" names
	! grep -Evx "$3|$ANYONES" names
}

# Whether the process has made its code; names it, as its maker would. (The vDSO's line has a name.)
mapped() {
	sed -n 's/^\([0-9a-f]*\)-.* r-xp 00000000 00:00 0 *$/\1 1000 made_here/p' "/proc/$1/maps" >code
	[ -s code ] && cp code "/tmp/perf-$1.map"
}

begin() {
	bpfprof daemon --store store --window 5s -F 199 --max-cpu none 2>log &
	daemon=$!
	await says 'sampling at' || { cat log; return 1; }
}

# What runs before the clock is set.
early() {
	cp "$WORKLOADS/mainbarfoo" service
	./service 1000000 & before=$!
	rests "$before" service foo
	mkdir -p inside
	cp "$WORKLOADS/shares" contained_program
	unshare -m sh -c 'mount -t tmpfs none inside && cp contained_program inside/program &&
		exec inside/program 100000000' & contained=$!
	rests "$contained" program 'part_[0-9]'
	"$WORKLOADS/jit" framed 1000 & maker=$!
	await mapped "$maker"
	rests "$maker" '.JIT. tid [0-9]+' made_here
}

# What runs an hour later by the clock: another program in the first one's place, and one that is deleted.
late() {
	cp "$WORKLOADS/deep" new
	mv new service
	./service 30 10000 & after=$!
	rests "$after" service at_the_bottom
	cp "$WORKLOADS/mainbarfoo" program
	./program 1000000 & gone=$!
	await grep -q program "/proc/$gone/comm"
	rm program
	rests "$gone" program foo
	kill -KILL "$gone" "$maker" "$contained"
	kill -CONT "$before"
}

a_clock_that_is_set_does_not_end_the_daemon() {
	begin
	early
	turn 3600
	await says 'the clock was set'
	late
	turn -7200
	another
	kill -KILL "$before" "$after"
	kill -INT "$daemon"
	wait "$daemon"
	shown --at '@0..@9999999999' >at_once
	rm -f service contained_program
	printf '0 ffffffffffffffff wrong_name\n' >"/tmp/perf-$maker.map"
	# an hour after the last window
	turn 10800
	shown --since 4h >later
	for name in before contained maker after gone; do
		eval "echo $name=\$$name"
	done >pids
}

names_are_the_same_an_hour_later() {
	diff at_once later
	! grep wrong_name later
}

each_process_has_the_names_of_its_own_program() {
	only "$(pid before)" service 'foo|bar|main'
	only "$(pid after)" service 'at_the_bottom|down|main|cpu_seconds'
}

what_went_with_its_namespace_has_its_names() {
	only "$(pid contained)" program 'part_[0-9]|draw|main'
}

what_was_deleted_has_its_names() {
	only "$(pid gone)" program 'foo|bar|main'
}

code_that_was_made_has_the_names_of_its_map() {
	only "$(pid maker)" '.JIT. tid [0-9]+' made_here
}

windows_end_where_the_clock_is_set_and_none_is_lost() {
	cat log
	[ "$(grep -c 'the clock was set' log)" = 2 ]
	[ "$(grep -c 'is lost' log)" = 0 ]
	bpfprof list --store store >listed
	cat listed
	grep "^# $(windows) windows" listed
	! grep -i 'damaged\|not written' listed
}

new_settings_work_with_what_the_daemon_kept() {
	rm -rf store
	echo '[daemon]' >config
	begin
	# bpf, perfmon, sys_ptrace, checkpoint_restore, dac_read_search, syslog; sys_admin if it says so
	kept=000001c400080004
	! says 'CAP_SYS_ADMIN is kept' || kept=000001c400280004
	grep "CapPrm:.*$kept" "/proc/$daemon/status"
	# and with a clock that is set before a window begins, but behind the end of the one before
	kill -STOP "$daemon"
	printf '[daemon]\n\tcall-graph = fp\n\twindow = 2s\n' >config
	kill -HUP "$daemon"
	turn 3600
	kill -CONT "$daemon"
	await says 'settings were read again'
	another
	kill "$daemon"
	wait "$daemon"
	! grep 'cannot sample anew' log
}

run_tests "$0"
