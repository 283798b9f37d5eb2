#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The daemon against those that a fleet has: a Prometheus that scrapes it, and pprof that reads what it
# pushes. FLEET is the folder into which their packages were unpacked; `make test-fleet` does that.

load ../cli/common
load ../cli/daemons

setup() {
	enter_with_config
	mkdir server data
	prometheus=$FLEET/usr/bin/prometheus
	promtool=$FLEET/usr/bin/promtool
	pprof=$(echo "$FLEET"/usr/lib/go-*/pkg/tool/*/pprof)
	[ -x "$prometheus" ]
	[ -x "$pprof" ]
}

free_port() {
	python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

# ask PATH: what Prometheus' API answers
ask() {
	python3 -c 'import sys, urllib.parse, urllib.request
print(urllib.request.urlopen(sys.argv[1] + urllib.parse.quote(sys.argv[2], safe="/?=&")).read().decode())' \
		"http://127.0.0.1:$prometheus_port" "/api/v1/$1" 2>/dev/null
}

# The value of an expression, if it has one.
queried() {
	ask "query?query=$1" | jq -r '.data.result[0].value[1] // empty'
}

is_scraped() {
	[ "$(queried 'up{job="bpfprof"}')" = 1 ] && [ "$(queried 'bpfprof_windows_total')" -ge 2 ]
}

# What runs for long has its names in some push, and in all that follow.
is_named() {
	find server -name '*.pb.gz' -exec "$pprof" -top {} \; 2>/dev/null | grep -q ' foo$'
}

@test "Prometheus scrapes each metric, and pprof reads each push" {
	start "$WORKLOADS/mainbarfoo" 1000000
	start python3 "$BATS_TEST_DIRNAME/../cli/recording_server.py" server 2>server.log
	wait_for [ -s server/port ]
	start "$BPFPROF" daemon --store store --window 1s --max-cpu none --metrics 0 \
		--push "http://127.0.0.1:$(<server/port)/" 2>log
	daemon=$!
	wait_for says 'metrics at http://127.0.0.1:'
	url=$(sed -n 's/.*metrics at //p' log)
	prometheus_port=$(free_port)
	cat >prometheus.yml <<-END
		scrape_configs:
		  - job_name: bpfprof
		    scrape_interval: 1s
		    static_configs:
		      - targets: ['$(cut -d/ -f3 <<<"$url")']
	END
	start "$prometheus" --config.file=prometheus.yml --storage.tsdb.path=data \
		--web.listen-address="127.0.0.1:$prometheus_port" 2>prometheus.log
	wait_for is_scraped
	wait_for is_named

	# each name that is told is a series there, of the type that was told
	python3 -c 'import sys, urllib.request
print(urllib.request.urlopen(sys.argv[1]).read().decode(), end="")' "$url" >scraped
	"$promtool" check metrics <scraped
	sed -n 's/^# TYPE //p' scraped | sort >told
	ask metadata | jq -r '.data | to_entries[] | select(.key | startswith("bpfprof_")) |
		"\(.key) \(.value[0].type)"' | sort >known
	diff told known
	sed 's/[{ ].*//; /^#/d' scraped | sort -u >names
	ask 'label/__name__/values' | jq -r '.data[] | select(startswith("bpfprof_"))' | sort >series
	diff names series
	[ "$(queried 'bpfprof_samples_lost_total{reason="ring_full"}')" = 0 ]
	[ "$(queried 'bpfprof_push_lost_total{reason="refused"}')" = 0 ]
	kill -TERM "$daemon"
	wait "$daemon"

	# by its own words, and as many samples as ours finds
	[ ! -e server/wrong ]
	for profile in server/*.pb.gz; do
		"$pprof" -top "$profile" >top 2>pprof.log
		grep -q '^Type: cpu' top
		ours=$(python3 "$BATS_TEST_DIRNAME/../cli/read_pprof.py" "$profile" |
			awk '$1 == "samples" { print $3 }')
		[ "$("$pprof" -raw "$profile" 2>/dev/null |
			awk '/^Locations/ { exit } /^ *[0-9]+ +[0-9]+:/ { sum += $1 } END { print sum }')" = "$ours" ]
	done
}
