#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What bpfprof daemon may do, and that it is enough. (That what it gave up is refused, and what its filter
# does not allow ends it: kernel/privileges_test.c, kernel/call_filter_test.c.)
#
# Runs beside others.

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

# Programs that nobody has seen before, one after the other, until the folder is gone.
run_new_programs() {
	local number=0
	while cp "$WORKLOADS/mainbarfoo" "new_$number"; do
		"./new_$number" 20
		rm -f "new_$number"
		number=$((number + 1))
	done
}

tells_of_unread() {
	"$BPFPROF" report --store store --since 1h -s comm -g none >losses
	grep -q 'a binary was not read for its stacks: it ended the process that read it' losses
}

tells_of_killed() {
	"$BPFPROF" report --store store --since 1h -s comm,dso -g none >names
	grep -q 'names or lines of a binary were not kept: it ended the process that read it' names
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

# Whether the process is nobody, has no rights, and can do little.
is_confined() {
	[ "$(privileges "$1" | grep -v '^Cap.* 0*$')" = "NoNewPrivs 1
Seccomp 2" ] && [ "$(awk '/^Uid/ { print $3 }' "/proc/$1/status")" = 65534 ]
}

# Whether what the process has started is that, too. It is another one each time that it has read some files,
# and then there is none until somebody asks for the next.
has_confined_worker() {
	local worker=
	read -r worker _ <"/proc/$1/task/$1/children" || true
	[ -n "$worker" ] && is_confined "$worker" 2>/dev/null
}

@test "a daemon with the capabilities of its service keeps those that it needs later, and needs no more" {
	# a program that only its owner may read
	chmod 711 .
	install -o nobody -m 500 "$WORKLOADS/mainbarfoo" worker
	start_low setpriv --reuid nobody --clear-groups ./worker 1000000
	start setpriv --no-new-privs --bounding-set "$(unit_capabilities)" \
		"$BPFPROF" daemon --store store --window 1s 2>log
	daemon=$!
	wait_for says "sampling at 199 Hz"
	wait_for has_windows 1

	# bpf, perfmon, sys_ptrace, checkpoint_restore, dac_read_search, syslog; sys_admin where the kernel asks for it
	kept=000001c400080004
	if says 'CAP_SYS_ADMIN is kept'; then kept=000001c400280004; fi
	[ "$(privileges "$daemon")" = "$(
		cat <<-END
			CapAmb 0000000000000000
			CapBnd 0000000000000000
			CapEff $kept
			CapInh 0000000000000000
			CapPrm $kept
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
	[ "$(grep -vc 'CAP_SYS_ADMIN is kept' log)" = 2 ]

	# names, though the program has gone
	rm worker
	"$BPFPROF" report --store store --since 1h >names
	grep -q 'worker .*worker .*\] foo' names
}

@test "readers of binaries are nobody and may do nothing; one that is killed costs its file, and is counted" {
	[ -r "/proc/$$/task/$$/children" ] || skip "a kernel without CONFIG_PROC_CHILDREN"
	start_low "$WORKLOADS/mainbarfoo" 1000000
	start "$BPFPROF" daemon --store store --window 1s 2>log
	daemon=$!
	wait_for says "sampling at 199 Hz"
	read -r keeper _ <"/proc/$daemon/task/$daemon/children" || true
	wait_for is_confined "$keeper" # nobody has asked it yet: it may only now become so

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
	says 'somebody has ended or stopped the process that reads binaries; start the daemon again'
	[ -z "$(find store -name '*.open')" ]
}

@test "files are read for stacks as nobody, with no rights; one that ends its reader is counted, and sampling goes on" {
	[ -r "/proc/$$/task/$$/children" ] || skip "a kernel without CONFIG_PROC_CHILDREN"
	start "$BPFPROF" daemon --store store --window 1s 2>log
	daemon=$!
	wait_for says "sampling at 199 Hz"
	read -r _ keeper _ <"/proc/$daemon/task/$daemon/children" || true
	[ "$(cat "/proc/$keeper/comm")" = bpfprof-unwind ]
	is_confined "$keeper" # it read for the start
	start run_new_programs
	programs=$!
	wait_for has_confined_worker "$keeper"
	kill_readers "$keeper" 2>/dev/null &
	killer=$!
	background+=("$killer")
	wait_for tells_of_unread
	kill "$killer"
	before=$(find store/windows -name '*.data' | wc -l)
	wait_for has_windows $((before + 1))
	kill "$programs"

	kill -KILL "$keeper"
	status=0
	wait "$daemon" || status=$?
	[ "$status" = 1 ]
	says 'somebody has ended or stopped the process that reads binaries; start the daemon again'
}

counts_refused_maps() {
	"$BPFPROF" list --store store >listed
	grep -q "perf-PID.map was not believed: it is another user's" listed &&
		grep -q 'perf-PID.map was not believed: it is a link, or no file' listed &&
		grep -q 'perf-PID.map was not believed: it is larger than 64 MiB' listed
}

@test "maps of made code that are not believed are counted by reason, in list, report and metrics" {
	maps=()
	for kind in foreign link large; do
		start_low "$WORKLOADS/jit" framed 1000
		map=/tmp/perf-$!.map
		maps+=("$map")
		rm -f "$map"
		case $kind in
		foreign) echo '0 ffffffffffffffff theirs' >"$map" && chown nobody "$map" ;;
		link) ln -s "$PWD/theirs" "$map" ;;
		large) truncate -s 65M "$map" ;;
		esac
	done
	echo '0 ffffffffffffffff theirs' >theirs
	start "$BPFPROF" daemon --store store --window 1s --metrics-file metrics 2>log
	wait_for counts_refused_maps
	"$BPFPROF" report --store store --since 1h -g none >reported
	grep -q "perf-PID.map was not believed: it is another user's" reported
	rm -f "${maps[@]}"
	lacks theirs reported
	for reason in foreign no_file too_large; do
		grep -q "^bpfprof_losses_total{reason=\"jit_map_$reason\"} [1-9]" metrics
	done
}

# A store made with /etc/group as the file has it, by a daemon that takes one window.
store_with_groups() {
	unshare --mount sh -c 'mount --bind "$1" /etc/group && exec "$2" daemon --once --window 1s --store "$3"' \
		- "$1" "$BPFPROF" "$2" 2>log
}

@test "a store is its owner's alone, unless there is a group bpfprof, whose members may read it" {
	chmod 711 .
	grep -v '^bpfprof:' /etc/group >none || true
	store_with_groups none alone
	[ -z "$(find alone -type f -perm /077)" ]
	[ "$(stat -c %a alone)" = 700 ]

	{ cat none && echo 'bpfprof:x:64999:'; } >group
	store_with_groups group shared
	[ -n "$(find shared/names -type f)" ]
	[ -z "$(find shared ! -group 64999)" ]
	[ -z "$(find shared -type f ! -perm 640)" ]
	member=(env PERF_CONFIG=/dev/null setpriv --reuid nobody --regid 64999 --clear-groups)
	"${member[@]}" "$BPFPROF" list --store shared >listed
	grep -q '^# 1 window' listed
	"${member[@]}" "$BPFPROF" report --store shared --since 1h >/dev/null
	refused() { PERF_CONFIG=/dev/null setpriv --reuid nobody --regid nogroup --clear-groups "$BPFPROF" "$@"; }
	fails_with 1 'cannot read the store alone: Permission denied; run as root; members of a group bpfprof may read it if there is one when the daemon starts' \
		refused list --store alone
	fails_with 1 'cannot read the store shared, which group 64999 may: Permission denied; run as root, or as a member of the group that may' \
		refused report --store shared --since 1h
	# somebody else's choice stays
	chgrp 64998 alone
	chmod 750 alone
	store_with_groups group alone
	[ "$(stat -c '%g %a' alone)" = '64998 750' ]
}

@test "a store from before there was a group, and one made under umask 077, can be read by its members" {
	chmod 711 .
	grep -v '^bpfprof:' /etc/group >none || true
	{ cat none && echo 'bpfprof:x:64999:'; } >group
	store_with_groups none older
	echo secret >older/token
	chmod 600 older/token
	store_with_groups group older
	umask 077
	store_with_groups group strict
	member=(env PERF_CONFIG=/dev/null setpriv --reuid nobody --regid 64999 --clear-groups)
	for store in older strict; do
		[ -n "$(find $store/names -type f)" ]
		[ -z "$(find $store ! -path older/token ! -group 64999)" ]
		[ -z "$(find $store -type f ! -path older/token ! -perm 640)" ]
		[ -z "$(find $store -type d ! -perm 2750)" ]
		"${member[@]}" "$BPFPROF" report --store $store --since 1h >/dev/null
	done
	"${member[@]}" "$BPFPROF" list --store older >listed
	grep -q '^# 2 windows' listed
	[ "$(stat -c '%g %a' older/token)" = '0 600' ]
}
