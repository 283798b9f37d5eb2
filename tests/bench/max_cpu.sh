#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Whether `bpfprof daemon --max-cpu` holds when samples get ten times as dear: two processes with short
# stacks, then many with deep ones beside others that keep the caches cold. Every ten seconds it says what
# the daemon cost, all its threads and processes and its BPF programs, and at which rate it sampled.
#
# usage: make bench BENCH=max-cpu [MAX_CPU=0.5] [MAX_CPU_RATES="999 99"] [MAX_CPU_SECONDS=420]     as root
#
# A second is counted as settled from two minutes after each change of the load on. The daemon works for its
# windows once a minute: only the mean of minutes can be compared with the limit. What other processes read
# for it, files' names and unwind tables, is in it. Where the rate that is wanted costs less than the limit,
# as it may under the light load, there is nothing to hold.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/bench/daemon_cost.sh
. tests/bench/daemon_cost.sh
: "${BUILD:=$PWD/build}" "${BPFPROF:=$BUILD/bpfprof}"
: "${MAX_CPU:=0.5}" "${MAX_CPU_RATES:=999 99}" "${MAX_CPU_SECONDS:=420}"
workloads=$(realpath "$BUILD/tests/workloads")
folder=$(mktemp -d "${TMPDIR:-/tmp}/bpfprof-bench.XXXXXX") || exit 1
started=()

stop() {
	local pid

	for pid in "${started[@]}"; do
		kill -TERM -- "-$pid" 2>/dev/null
	done
	wait
	started=()
}
trap 'stop; rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

[ "$(id -u)" = 0 ] || { echo "bench: needs root to profile all CPUs; run: sudo make bench BENCH=max-cpu" >&2; exit 1; }

run() {
	setsid nice -n 19 "$@" >>"$folder/load" 2>&1 &
	started+=($!)
}

light_load() {
	run "$workloads/deep" 2 100000
	run "$workloads/deep" 2 100000
}

dear_load() {
	local i

	for ((i = 0; i < 8; i++)); do
		run "$workloads/nofp" deep 100000
	done
	for ((i = 0; i < 4; i++)); do
		run python3 -c '
memory = bytearray(64 << 20)
while True:
    for at in range(0, len(memory), 4096):
        memory[at] += 1
        memory[at] = 0'
	done
}

# watch NAME: prints the cost of each ten seconds, and of the settled whole minutes
watch() {
	local begin own bpf files before_own=0 before_bpf=0 before_files=0 next end

	begin=$(date +%s%N)
	end=$((begin + MAX_CPU_SECONDS * 1000000000))
	next=$begin
	while :; do
		own=$(sum_cpu "$daemon")
		files=$(cpu_of_children "$daemon")
		bpf=$(kernel_side "$daemon" | cut -d' ' -f2)
		[ "$next" = "$begin" ] || printf '%s %s %d %d %d\n' "$1" $(((next - begin) / 1000000000)) \
			$((own - before_own)) $((bpf - before_bpf)) $((files - before_files))
		before_own=$own
		before_bpf=$bpf
		before_files=$files
		next=$((next + 10000000000))
		[ "$next" -le "$end" ] || break
		sleep "$(awk -v ns=$((next - $(date +%s%N))) 'BEGIN { printf "%.3f", (ns > 0) * ns / 1e9 }')"
	done | tee -a "$folder/cost.$rate" | while read -r load second own bpf files; do
		# ms of ten seconds are hundredths of a percent
		printf '%-6s %4d s: %d.%02d%% by itself + %d.%02d%% reading files + %d.%02d%% in BPF =' "$load" "$second" \
			$((own / 100)) $((own % 100)) $((files / 100)) $((files % 100)) $((bpf / 100)) $((bpf % 100))
		printf ' %d.%02d%% of one CPU, limit %s%%\n' \
			$(((own + files + bpf) / 100)) $(((own + files + bpf) % 100)) "$MAX_CPU"
	done
}

for rate in $MAX_CPU_RATES; do
	echo "--max-cpu $MAX_CPU%, $rate Hz:"
	light_load
	setsid "$BPFPROF" daemon --max-cpu "$MAX_CPU%" -F "$rate" --store "$folder/store.$rate" >"$folder/daemon" 2>&1 &
	daemon=$!
	watch light
	stop_light=("${started[@]}")
	started+=("$daemon")
	for pid in "${stop_light[@]}"; do
		kill -TERM -- "-$pid" 2>/dev/null
	done
	dear_load
	watch dear
	kill -TERM "$daemon"
	wait "$daemon"
	stop
	awk -v limit="$MAX_CPU" '
	$2 > 120 { ms[$1] += $3 + $4 + $5; seconds[$1] += 10 }
	END {
		for (load in ms) {
			percent = ms[load] / seconds[load] / 10
			printf "%s, settled: %.3f%%, %.0f%% of the limit, over %d s\n", load, percent,
				100 * percent / limit, seconds[load]
		}
	}' "$folder/cost.$rate"
	cat "$folder/daemon"
	"$BPFPROF" list --store "$folder/store.$rate"
done
