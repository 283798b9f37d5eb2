#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# bpfprof daemon --metrics and --metrics-file: what Prometheus reads.
#
# Runs beside others.

load common
load daemons

# value NAME FILE: of a metric without labels
value() {
	awk -v name="bpfprof_$1" '$1 == name { print $2 }' "$2"
}

has_windows() {
	fetch >now && [ "$(value windows_total now)" -ge "$1" ]
}

fetch() {
	python3 -c 'import sys, urllib.request
print(urllib.request.urlopen(sys.argv[1]).read().decode(), end="")' "$url"
}

# Each metric has HELP and TYPE once, before its rows; a counter ends in _total, and nothing else does.
is_well_formed() {
	awk '
	/^# HELP/ { if (helped[$3]++ || NF < 4) exit bad = 1; next }
	/^# TYPE/ {
		if (!helped[$3] || typed[$3]++ || ($4 == "counter") != ($3 ~ /_total$/)) exit bad = 1
		next
	}
	{
		name = $1
		sub(/{.*/, "", name)
		if (!typed[name] || seen[$1]++ || name !~ /^bpfprof_[a-z_]+$/ || $2 !~ /^[0-9.]+$/ || NF != 2)
			exit bad = 1
	}
	END { exit bad || NR < 50 }' "$1"
}

@test "what is told is what is in the store, over HTTP and in the file" {
	umask 0027 # as the service's
	start "$BPFPROF" daemon --store store --window 1s --metrics 0 --metrics-file node.prom 2>log
	daemon=$!
	wait_for says 'metrics at http://127.0.0.1:'
	url=$(sed -n 's/.*metrics at //p' log)
	is_well_formed node.prom # from the beginning
	[ "$(stat -c %a node.prom)" = 644 ]
	wait_for has_windows 2
	is_well_formed now
	[ "$(value resident_memory_bytes now)" -gt 1000000 ]
	[ "$(value kernel_memory_bytes now)" -gt 100000 ]
	[ "$(value sampling_rate_wanted_hertz now)" = 99 ]
	grep -q '^bpfprof_cpu_seconds_total{of="process"} [0-9]*\.[0-9]*$' now
	grep -q '^bpfprof_samples_lost_total{reason="ring_full"} 0$' now
	fails_with 1 "cannot listen at ${url:7:-8} for --metrics: Address already in use; name another port" \
		"$BPFPROF" daemon --store other --metrics "${url:7:-8}"

	# taken away at SIGHUP, with what it was told in the end in the file
	printf '[daemon]\n\tmax-cpu = none\n' >config
	kill -HUP "$daemon"
	wait_for says "settings were read again"
	kill -TERM "$daemon"
	wait "$daemon"
	is_well_formed node.prom
	[ "$(value windows_total node.prom)" = "$(value store_windows node.prom)" ]
	[ "$(value store_windows node.prom)" = "$(find store -name '*.data' | wc -l)" ]
	[ "$(value samples_total node.prom)" = \
		"$("$BPFPROF" export --store store --since 1h -q | awk '{ sum += $NF } END { print sum }')" ]
	[ "$(find . -name '*.prom*' | wc -l)" = 1 ]
	# Prometheus' own word, where it is there
	! command -v "${PROMTOOL:-promtool}" || "${PROMTOOL:-promtool}" check metrics <node.prom
}

# use_metrics SETTING: at the next SIGHUP, from now on
use_metrics() {
	printf '[daemon]\n\tmax-cpu = none\n\tmetrics = %s\n' "$1" >config
}

# Whether the daemon has read its settings so often.
has_read_settings() {
	[ "$(grep -c "settings were read again" log)" = "$1" ]
}

@test "at SIGHUP metrics go on where they are until they are elsewhere" {
	use_metrics 0
	start "$BPFPROF" daemon --store store 2>log
	daemon=$!
	wait_for says 'metrics at http://127.0.0.1:'
	url=$(sed -n 's/.*metrics at //p' log)
	use_metrics name:99
	kill -HUP "$daemon"
	wait_for says "name:99 is no address and port to listen at; .*; metrics are still at $url"
	fetch >now
	is_well_formed now

	# the same again: nothing begins anew
	use_metrics 0
	kill -HUP "$daemon"
	wait_for has_read_settings 2
	# another address of the same port
	port=${url##*:}
	port=${port%/metrics}
	use_metrics "127.0.0.1:$port"
	kill -HUP "$daemon"
	wait_for has_read_settings 3
	use_metrics "0.0.0.0:$port"
	kill -HUP "$daemon"
	wait_for says "metrics at http://0.0.0.0:$port/"
	fetch >now
	is_well_formed now
	use_metrics none
	kill -HUP "$daemon"
	wait_for has_read_settings 5
	kill "$daemon"
	wait "$daemon"
	grep -o 'metrics at .*' log >places
	diff - places <<-END
		metrics at $url
		metrics at $url
		metrics at http://0.0.0.0:$port/metrics
	END
	run ! fetch
}

@test "what cannot work is answered in one line" {
	fails_with 2 "name:99 is no address and port to listen at; give one such as 127.0.0.1:9464" \
		"$BPFPROF" daemon --store store --once --metrics name:99
}

@test "metrics that cannot be written to their file are told once, and written when they can be" {
	start "$BPFPROF" daemon --store store --window 1s --max-cpu none --metrics-file none/node.prom 2>log
	daemon=$!
	wait_for says "sampling at"
	grep -x 'bpfprof: cannot write the metrics to none/node.prom: No such file or directory' log
	mkdir made
	echo theirs >theirs
	ln -s ../theirs "made/node.prom.$daemon" # where it writes first
	mv made none
	wait_for says "metrics can be written again"
	is_well_formed none/node.prom
	[ "$(cat theirs)" = theirs ]
	kill "$daemon"
	wait "$daemon"
	[ "$(grep -c 'cannot write the metrics' log)" = 1 ]
	[ "$(ls none)" = node.prom ]

	# as root without its right to write wherever it likes
	chown nobody none
	chmod 755 none
	"$BPFPROF" daemon --store store --window 1s --once --metrics-file none/node.prom 2>said
	grep -x 'bpfprof: cannot write the metrics to none/node.prom: Permission denied' said
}
