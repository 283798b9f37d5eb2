#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What bpfprof daemon may do, and that it is enough. (That what it gave up is refused, and what its filter
# does not allow ends it: kernel/privileges_test.c, kernel/call_filter_test.c.)

load common
load daemons

setup() {
	enter_with_config
	printf '[daemon]\n\tfreq = 199\n\tmax-cpu = none\n' >config
}

# Kills what the daemon's child has started, as soon as it is there.
kill_readers() {
	local keeper=$1 worker
	while [ -d "/proc/$keeper" ]; do
		read -r worker _ <"/proc/$keeper/task/$keeper/children" || true # it has no newline
		[ -z "$worker" ] || kill -KILL "$worker" || true
	done
}

tells_of_killed() {
	"$BPFPROF" report --store store --since 1h >names
	grep -q 'names of a binary were not kept: it ended the process that read it' names
}

# What the unit file lets the service have, as setpriv wants it: "-all,+bpf,+perfmon".
unit_capabilities() {
	sed -n 's/^CapabilityBoundingSet=/-all /p' "$BATS_TEST_DIRNAME/../../user/service/bpfprof.service.in" |
		sed 's/ CAP_/,+/g' | tr '[:upper:]' '[:lower:]'
}

# Of each thread: "CapEff 000000…" and so on.
privileges() {
	awk '/^(Cap|NoNewPrivs|Seccomp:)/ { sub(":", "", $1); print $1, $2 }' "/proc/$1"/task/*/status | sort -u
}

@test "a daemon with the capabilities of its service keeps six of them, and needs no more" {
	# a program that only its owner may read
	chmod 711 .
	install -o nobody -m 500 "$WORKLOADS/mainbarfoo" worker
	start setpriv --reuid nobody --clear-groups ./worker 1000000
	start setpriv --no-new-privs --bounding-set "$(unit_capabilities)" \
		"$BPFPROF" daemon --store store --window 1s 2>log
	daemon=$!
	wait_for says "sampling at 199 Hz"
	wait_for has_windows 1

	# bpf, perfmon, sys_ptrace, checkpoint_restore, dac_read_search, syslog
	[ "$(privileges "$daemon")" = "$(
		cat <<-'END'
			CapAmb 0000000000000000
			CapBnd 0000000000000000
			CapEff 000001c400080004
			CapInh 0000000000000000
			CapPrm 000001c400080004
			NoNewPrivs 1
			Seccomp 2
		END
	)" ]

	# new programs, new events
	printf '[daemon]\n\tfreq = 299\n\tmax-cpu = none\n' >config
	kill -HUP "$daemon"
	wait_for says "settings were read again"
	before=$(find store/windows -name '*.data' | wc -l)
	wait_for has_windows $((before + 1))
	kill "$daemon"
	wait "$daemon"
	[ "$(wc -l <log)" = 2 ]

	# names, though the program has gone
	rm worker
	"$BPFPROF" report --store store --since 1h >names
	grep -q 'worker .*worker .*\] foo' names
}

@test "readers of binaries are nobody and may do nothing; one that is killed costs its file, and is counted" {
	[ -r "/proc/$$/task/$$/children" ] || skip "a kernel without CONFIG_PROC_CHILDREN"
	start "$WORKLOADS/mainbarfoo" 1000000
	start "$BPFPROF" daemon --store store --window 1s 2>log
	daemon=$!
	wait_for says "sampling at 199 Hz"
	read -r keeper _ <"/proc/$daemon/task/$daemon/children" || true
	[ "$(privileges "$keeper" | grep -v '^Cap.* 0*$')" = "NoNewPrivs 1
Seccomp 2" ]
	[ "$(awk '/^Uid/ { print $3 }' "/proc/$keeper/status")" = 65534 ]

	kill_readers "$keeper" 2>/dev/null &
	killer=$!
	background+=("$killer")
	wait_for tells_of_killed
	kill "$killer"

	# it goes on, until somebody ends the process that starts readers
	before=$(find store/windows -name '*.data' | wc -l)
	wait_for has_windows $((before + 1))
	kill -KILL "$keeper"
	status=0
	wait "$daemon" || status=$?
	[ "$status" = 1 ]
	says 'somebody has ended the process that reads binaries; start the daemon again'
	[ -z "$(find store -name '*.open')" ]
}
