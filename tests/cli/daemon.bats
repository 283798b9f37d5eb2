#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# bpfprof daemon: windows into a store, all the time.

load common
load daemons

told_reloading() {
	[ "$(grep -c RELOADING=1 told)" = "$1" ]
}

# Starts a daemon with windows of a second; its pid is $daemon.
start_daemon() {
	start "$BPFPROF" daemon --store store --window 1s "$@" 2>>log
	daemon=$!
	wait_for says "sampling at"
}

# Ends the daemon with a signal; its status is $status.
end_daemon() {
	status=0
	kill -"$1" "$daemon"
	wait "$daemon" || status=$?
}

# Whether we read a window to its end, with not a byte on standard error. It may be empty: of a window that
# has just begun, or of a machine where nothing runs, report would say so there.
is_readable() {
	"$BPFPROF" script -i "$1" >ours 2>errors && [ ! -s errors ]
}

# Runs perf, which may say on standard error that a busy machine lost samples, and nothing else.
quiet_perf() {
	"$PERF" "$@" 2>errors && ! grep -Ev '^(Warning:|Processed .* lost .*%!|)$' errors
}

# Whether stock perf reads it. (Inlined functions take it minutes.)
perf_reads() {
	quiet_perf report --stdio --no-inline -i "$1" >perf.report &&
		quiet_perf script --no-inline --comms worker -i "$1" >perf.script &&
		quiet_perf diff -C worker "$1" "$1" >perf.diff
}

@test "one window: perf and we read it, with the names of what ran" {
	cp "$WORKLOADS/mainbarfoo" ./worker
	start_low ./worker 1000000
	"$BPFPROF" daemon --store store --window 1s --once -F 499
	[ "$(windows | wc -l)" = 1 ]
	is_readable "$(windows)"
	"$BPFPROF" report -i "$(windows)" >ours
	grep -q 'worker .*worker .*\] foo' ours
	grep -q 'worker .*worker .*\] bar' ours
	if "$PERF" --version >/dev/null 2>&1; then
		perf_reads "$(windows)"
		grep -q 'worker .*worker .*\] foo' perf.report
		# samples at one place with one stack are one record with their periods added up
		awk '$1 == "worker" && $5 + 0 > 2004008 { found = 1 } END { exit !found }' <(tr -s ' ' <perf.script)
	fi
	[ -n "$(find store/names -name '*.names')" ]
}

@test "a daemon tells systemd of itself, refuses a second one, reads its settings again, and ends in order" {
	python3 - <<-'END' >told &
		import socket
		asked = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
		asked.bind("notify")
		while True:
		    text = asked.recv(4096).decode()
		    print(text, flush=True)
		    if "STOPPING" in text:
		        break
	END
	background+=($!)
	wait_for [ -S notify ]
	export NOTIFY_SOCKET=$BATS_TEST_TMPDIR/notify
	printf '[daemon]\n\tfreq = 199\n\tmax-cpu = none\n' >config
	start_daemon
	wait_for grep -q READY=1 told

	fails_with 1 "$(printf '%s' "$("$BPFPROF" daemon --store store 2>&1 | sed 's/^bpfprof: //')")" \
		"$BPFPROF" daemon --store store
	grep -q "process $daemon" stderr

	wait_for has_windows 1
	printf '[daemon]\n\tfreq = nonsense\n' >config
	kill -HUP "$daemon"
	wait_for says "going on as before"
	printf '[daemon]\n\tfreq = 299\n\tkeep-time = 1h\n\tmax-cpu = none\n' >config
	kill -HUP "$daemon"
	wait_for says "settings were read again"
	wait_for told_reloading 2
	before=$(windows | wc -l)
	wait_for has_windows $((before + 1))
	wait_for grep -q 'STATUS=last window: .* samples, .* lost, .*% of one CPU' told

	end_daemon TERM
	[ "$status" = 0 ]
	wait_for grep -q STOPPING=1 told
	[ -z "$(find store -name '*.open')" ]
	for window in $(windows); do
		is_readable "$window"
		"$BPFPROF" report --header-only -i "$window"
	done >headers
	grep -q 'sample_freq } = 199' headers
	grep -q 'sample_freq } = 299' headers
}

@test "a daemon whose log nobody reads any more goes on, and keeps its window" {
	mkfifo pipe
	sed -u '/sampling at/q' <pipe >log &
	reader=$!
	background+=("$reader")
	start env --default-signal=PIPE "$BPFPROF" daemon --store store --window 1m 2>pipe
	daemon=$!
	wait_for says "sampling at"
	wait "$reader"
	kill -HUP "$daemon" # which it has something to say of
	end_daemon TERM
	[ "$status" = 0 ]
	[ -n "$(windows)" ]
	[ -z "$(find store -name '*.open')" ]
}

warnings_are() {
	[ "$(grep -c '/config line 2: unknown key daemon.frq; did you mean daemon.freq?$' log)" = "$1" ]
}

@test "a key that the daemon does not know is told when it starts, and when it reads its settings again" {
	printf '[daemon]\n\tfrq = 199\n' >config
	start_daemon
	warnings_are 1
	kill -HUP "$daemon"
	wait_for says "settings were read again"
	warnings_are 2
	end_daemon TERM
	[ "$status" = 0 ]
}

@test "a daemon that costs more than it may samples less, says so, and more again when it may" {
	printf '[daemon]\n\tmax-cpu = 0.001%%\n' >config
	start "$WORKLOADS/mainbarfoo" 1000000
	start_daemon -F 999
	wait_for says "Hz or less from now on, to stay below 0.00% of one CPU"
	before=$(windows | wc -l)
	wait_for has_windows $((before + 2))
	printf '[daemon]\n\tmax-cpu = none\n' >config
	kill -HUP "$daemon"
	wait_for says "sampling at 999 Hz again"
	end_daemon TERM
	[ "$status" = 0 ]
	for window in $(windows); do
		"$BPFPROF" report --header-only -i "$window"
	done | grep -q 'sample_freq } = [0-9][0-9]\{0,1\},'
}

@test "a storm of processes beyond --max-memory: windows end early, which is said, and the rest stays" {
	start_daemon --window 1m --max-cpu none --max-memory 512k -F 499
	start "$WORKLOADS/forky" 1000000 20000
	start "$WORKLOADS/forky" 1000000 0 /bin/true
	wait_for has_windows 3
	says "a window ends early: --max-memory is reached"
	end_daemon TERM
	[ "$status" = 0 ]
	for window in $(windows); do
		is_readable "$window"
	done
	# none of the first windows had its minute, and no sample is missing without a reason
	"$BPFPROF" list --store store --json >facts
	jq -e '.windows | length >= 3 and all(.lost == ([.losses | to_entries[] |
		select(.key | startswith("lost_")) | .value] | add // 0))' facts
}
