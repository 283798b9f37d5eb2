#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What `bpfprof daemon` takes while it stays on, beside perf that stays on: builds, python, PostgreSQL
# under its own benchmark and short processes run together, and every minute memory, CPU time, losses
# and bytes of both are written down.
#
# usage: make bench BENCH=soak [SOAK_MINUTES=60]      as root
#
# At the end all of it is one table. A timer that did not fire (the virtual machine was not running, or
# interrupts were off) is a sample that nobody could take: the daemon counts those, of perf they are
# reckoned from its samples' times, so that both can be seen to miss as many.
#
# The clock of BPF goes on while the host runs something else on our CPU, that of processes does not; the kernel
# knows how long that was (steal).
#
# The load runs with the lowest priority, and beside what else the machine does. The daemon has no
# limit of its CPU time here (--max-cpu none): a lowered rate would make it look cheap. SOAK_KEEP names
# a folder that is kept, with a table of every minute in `minutes`. Growth is told from minute ten on, or
# after a third of a run that is shorter than half an hour.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/bench/daemon_cost.sh
. tests/bench/daemon_cost.sh
: "${BUILD:=$PWD/build}" "${PERF:=perf}" "${BPFPROF:=$BUILD/bpfprof}"
: "${SOAK_MINUTES:=60}" "${SOAK_KEEP:=}"
workloads=$(realpath "$BUILD/tests/workloads")
folder=${SOAK_KEEP:-$(mktemp -d "${TMPDIR:-/tmp}/bpfprof-bench.XXXXXX")}
mkdir -p "$folder" || exit 1
postgres=$(find /usr/lib/postgresql -name pg_ctl -printf '%h\n' 2>/dev/null | sort -V | tail -n 1)
started=()

stop() {
	local pid

	for pid in "${started[@]}"; do
		kill -TERM -- "-$pid" 2>/dev/null
	done
	[ ! -d "$folder/database" ] ||
		as_postgres "$postgres/pg_ctl" -D "$folder/database" -m immediate stop >"$folder/stopping" 2>&1
	wait
	[ -n "$SOAK_KEEP" ] || rm -rf "$folder"
}
trap stop EXIT
trap 'exit 130' INT TERM

[ "$(id -u)" = 0 ] || { echo "bench: needs root to profile all CPUs; run: sudo make bench BENCH=soak" >&2; exit 1; }

as_postgres() {
	setpriv --reuid=postgres --regid=postgres --clear-groups "$@"
}

# again COMMAND...: over and over, until the group that it begins is stopped
# shellcheck disable=SC2016 # the shell that is started expands them
again() {
	setsid nice -n 19 bash -c 'while :; do "$@" || sleep 1; done >>"$0" 2>&1' "$folder/load" "$@" &
	started+=($!)
}

build() {
	gcc -O2 -D_GNU_SOURCE -Iinclude -Iuser -I"$BUILD/skeleton" -c -o "$folder/built.o" \
		"$(find user -name '*.c' | shuf -n 1)"
}
calculate() {
	python3 -c '
import json, random, re, zlib
rows = [{"k%d" % i: random.random(), "s": "x" * random.randint(1, 40)} for i in range(2000)]
for _ in range(40):
    text = json.dumps(rows)
    json.loads(text)
    len(re.findall(r"[a-z]+\d+[^,]*", text))
    zlib.compress(text.encode())'
}
storm() {
	"$workloads/forky" 40 1000 /bin/ls /
	sleep 2
}
export -f build calculate storm as_postgres
export folder workloads BUILD

start_database() {
	if [ -z "$postgres" ]; then
		echo "bench: no PostgreSQL here, so none in the load; run: apt install postgresql" >&2
		return
	fi
	chmod 755 "$folder"
	if ! { install -d -o postgres "$folder/database" "$folder/socket" &&
		as_postgres "$postgres/initdb" -D "$folder/database" &&
		as_postgres "$postgres/pg_ctl" -w -D "$folder/database" -l "$folder/database/log" \
			-o "-k $folder/socket -c listen_addresses=" start &&
		as_postgres pgbench -q -h "$folder/socket" -i -s 5 postgres; } >"$folder/starting" 2>&1; then
		echo "bench: PostgreSQL does not start: $(tail -n 1 "$folder/starting")" >&2
		exit 1
	fi
	again as_postgres pgbench -h "$folder/socket" -c 2 -j 1 -T 30 postgres
}

minute() {
	local kernel

	read -ra kernel <<<"$(kernel_side "$daemon")"
	echo "$1 $(cpu_of "$daemon") $(resident_of "$daemon") ${kernel[*]} $(du -sk "$folder/store" | cut -f1)" \
		"$(cpu_of "$perf_pid") $(resident_of "$perf_pid") $(du -sk "$folder/perf" | cut -f1)" \
		"$(cpu_of_children "$daemon") $(host_took)" |
		tee -a "$folder/minutes"
}

# What perf took, and what its own rate says it should have taken between the first sample of each CPU and
# the last. It has no count of timers that did not fire. (perf script aborts on some of its own files.)
perf_samples() {
	local file

	for file in "$folder"/perf/perf.data.*; do
		"$BPFPROF" script -i "$file" -F cpu,time --ns --show-lost-events 2>/dev/null
	done | awk -v rate="$1" '
	/LOST/ { told += /lost [0-9]+/ ? substr($0, match($0, /lost [0-9]+/) + 5) + 0 : 1; next }
	NF == 2 {
		cpu = $1
		if (!(cpu in first)) first[cpu] = $2 + 0
		last[cpu] = $2 + 0
		count[cpu]++
	}
	END {
		for (cpu in count) {
			samples += count[cpu]
			expected += int((last[cpu] - first[cpu]) * rate + 0.5) + 1
		}
		printf "%d %d %d\n", samples, (expected > samples ? expected - samples : 0), told
	}'
}

# Whatever a window says beside its samples and whole stacks: NAME COUNT
losses() {
	jq -r '[.windows[].losses | to_entries[]] | group_by(.key)[] | "\(.[0].key) \(map(.value) | add)"' "$folder/windows" |
		grep -E '^(lost|side_band|names|mappings|windows|aggregate|cgroups|throttled)'
}

table() {
	awk -v settled="$1" -v perf="$2" -v ours="$3" '
	function row(name, a, b) { printf "%-46s %14s %14s\n", name, a, b }
	function share(ms, from) { return sprintf("%.3f", ms / (60000 * ($1 - from)) * 100) }
	function taken_share(took, worked) { return $12 > worked ? ($11 - took) / ($12 - worked) : 0 }
	function mib(kib) { return sprintf("%.1f", kib / 1024) }
	NR == 1 { cpu = $2; bpf = $5; disk = $6; perfs_cpu = $7; perfs_disk = $9; names = $10; took = $11; worked = $12 }
	$1 == settled { rss = $3; maps = $4; perfs_rss = $8; cpu_then = $2; bpf_then = $5; perfs_then = $7; names_then = $10 }
	$1 == settled { took_then = $11; worked_then = $12 }
	$1 >= settled {
		if ($3 > most) most = $3
		if ($4 > most_maps) most_maps = $4
		if ($8 > perfs_most) perfs_most = $8
	}
	END {
		split(perf, taken, " ")
		split(ours, mine, " ")
		row("in " $1 " minutes", "daemon", "perf")
		row("resident after " settled " min, MiB", mib(rss), mib(perfs_rss))
		row("resident at the end, MiB", mib($3), mib($8))
		row("resident at most from then on, MiB", mib(most), mib(perfs_most))
		row("maps in the kernel after " settled " min, MiB", mib(maps), "-")
		row("maps in the kernel at the end, MiB", mib($4), "-")
		row("maps in the kernel at most from then on, MiB", mib(most_maps), "-")
		row("CPU by itself, % of one CPU", share($2 - cpu, 0), share($7 - perfs_cpu, 0))
		row("  of it reading the names of new binaries", share($10 - names, 0), "-")
		row("CPU in BPF, % of one CPU", share($5 - bpf, 0), "not counted")
		row("CPU together, % of one CPU", share($2 - cpu + $5 - bpf, 0), "-")
		if ($1 > settled) {
			row("CPU by itself from minute " settled " on", share($2 - cpu_then, settled),
				share($7 - perfs_then, settled))
			row("  of it reading the names of new binaries", share($10 - names_then, settled), "-")
			row("CPU in BPF from minute " settled " on", share($5 - bpf_then, settled), "not counted")
			row("CPU together from minute " settled " on",
				share($2 - cpu_then + $5 - bpf_then, settled), "-")
		}
		row("taken by the host, % of busy CPU time", sprintf("%.1f", 100 * taken_share(took, worked)), "-")
		if ($1 > settled)
			row("CPU together from then on, without that", sprintf("%.3f", share($2 - cpu_then, settled) +
				share($5 - bpf_then, settled) * (1 - taken_share(took_then, worked_then))), "-")
		row("BPF, us a sample", sprintf("%.1f", mine[1] ? ($5 - bpf) * 1000 / mine[1] : 0), "-")
		row("disk, MiB an hour", mib(($6 - disk) * 60 / $1), mib(($9 - perfs_disk) * 60 / $1))
		row("samples (perf: the idle task too)", mine[1], taken[1])
		row("lost: timers that did not fire", mine[2] + 0, taken[2])
		row("lost: all else", mine[3] + 0, taken[3])
	}' "$folder/minutes"
}

start_database
again build
again calculate
again storm
mkdir -p "$folder/perf" "$folder/store"
setsid "$BPFPROF" daemon --max-cpu none --store "$folder/store" >"$folder/daemon" 2>&1 &
daemon=$!
started+=("$daemon")
setsid "$PERF" record -q -B -N -a -F 99 -g --switch-output=60s -o "$folder/perf/perf.data" >"$folder/perf.log" 2>&1 &
perf_pid=$!
started+=("$perf_pid")

echo "minute | daemon: CPU (ms), resident KiB, KiB of maps, BPF ms, KiB on disk | perf: CPU, resident KiB, KiB on disk | CPU of it reading names |" \
	"ticks: taken by the host, of all busy"
for ((now = 0; now <= SOAK_MINUTES; now++)); do
	minute $now
	kill -0 "$daemon" || { echo "bench: the daemon ended: $(tail -n 1 "$folder/daemon")" >&2; exit 1; }
	[ $now = "$SOAK_MINUTES" ] || sleep 60
done

for pid in "${started[@]}"; do
	kill -TERM -- "-$pid" 2>/dev/null
done
wait "$daemon" "$perf_pid"
"$BPFPROF" list --store "$folder/store" --json >"$folder/windows" || exit 1
# ten minutes, if there are that many
table $((SOAK_MINUTES < 30 ? SOAK_MINUTES / 3 : 10)) "$(perf_samples 99)" "$(jq -r '.windows | "\(map(.samples) | add) \(
	map(.losses.lost_late // 0) | add) \(map((.lost // 0) - (.losses.lost_late // 0)) | add)"' "$folder/windows")"
echo "what else the windows say:"
losses
