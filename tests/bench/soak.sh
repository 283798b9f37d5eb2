#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What `bpfprof daemon` takes while it stays on, and what perf does: builds, python, PostgreSQL
# under its own benchmark and short processes run together, and every minute memory, CPU time, losses
# and bytes of both are written down. perf comes in the second half: two profilers at once are each
# dearer than alone (what the other has run is out of the caches), and one is what people run.
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
perf_pid=

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
	local kernel perfs="0 0 0"

	read -ra kernel <<<"$(kernel_side "$daemon")"
	[ -z "$perf_pid" ] || perfs="$(cpu_of "$perf_pid") $(resident_of "$perf_pid") $(du -sk "$folder/perf" | cut -f1)"
	echo "$1 $(cpu_of "$daemon") $(resident_of "$daemon") ${kernel[*]} $(du -sk "$folder/store" | cut -f1)" \
		"$perfs $(cpu_of_children "$daemon") $(host_took)" |
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

# table SETTLED HALF PERF OURS: minutes; what perf_samples says; samples, timers that did not fire and losses
table() {
	awk -v settled="$1" -v half="$2" -v perf="$3" -v ours="$4" '
	BEGIN { CPU = 2; RSS = 3; MAPS = 4; BPF = 5; DISK = 6; PERFS_CPU = 7; PERFS_RSS = 8; PERFS_DISK = 9; NAMES = 10
		TAKEN = 11; WORKED = 12 }
	function row(name, a, b) { printf "%-46s %14s %14s\n", name, a, b }
	function grown(what, from, to) { return at[to, what] - at[from, what] }
	function share(ms, from, to) { return sprintf("%.3f", ms / (60000 * (to - from)) * 100) }
	function mib(kib) { return sprintf("%.1f", kib / 1024) }
	function per_hour(what, from, to) { return mib(grown(what, from, to) * 60 / (to - from)) }
	function most(what, from, to,  minute, found) {
		for (minute = from; minute <= to; minute++)
			if (at[minute, what] > found) found = at[minute, what]
		return found
	}
	function cpu_rows(when, from, to, perfs,  own, bpf, taken) {
		own = grown(CPU, from, to)
		bpf = grown(BPF, from, to)
		taken = grown(WORKED, from, to) ? grown(TAKEN, from, to) / grown(WORKED, from, to) : 0
		row("minutes " from " to " to ", " when ":", "", "")
		row("  CPU by itself, % of one CPU", share(own, from, to), perfs)
		row("    of it reading the names of new binaries", share(grown(NAMES, from, to), from, to), "-")
		row("  CPU in BPF", share(bpf, from, to), perfs == "-" ? "-" : "not counted")
		row("  CPU together", share(own + bpf, from, to), "-")
		row("  taken by the host, % of busy CPU time", sprintf("%.1f", 100 * taken), "-")
		row("  CPU together without that", share(own + bpf * (1 - taken), from, to), "-")
	}
	{ for (i = 1; i <= NF; i++) at[$1, i] = $i; end = $1 }
	END {
		split(perf, taken, " ")
		split(ours, mine, " ")
		from = half + 1 < end ? half + 1 : half
		row("in " end " minutes", "daemon", "perf")
		row("resident after " settled " min, MiB", mib(at[settled, RSS]), "-")
		row("resident at the end, MiB", mib(at[end, RSS]), mib(at[end, PERFS_RSS]))
		row("resident at most from then on, MiB", mib(most(RSS, settled, end)), mib(most(PERFS_RSS, settled, end)))
		row("maps in the kernel after " settled " min, MiB", mib(at[settled, MAPS]), "-")
		row("maps in the kernel at the end, MiB", mib(at[end, MAPS]), "-")
		row("maps in the kernel at most from then on, MiB", mib(most(MAPS, settled, end)), "-")
		cpu_rows("with its start", 0, settled, "-")
		cpu_rows("without perf", settled, half, "-")
		cpu_rows("beside perf", from, end, share(grown(PERFS_CPU, from, end), from, end))
		row("BPF, us a sample", sprintf("%.1f", mine[1] ? grown(BPF, 0, end) * 1000 / mine[1] : 0), "-")
		row("disk, MiB an hour", per_hour(DISK, 0, end), per_hour(PERFS_DISK, half, end))
		row("samples (perf: the idle task too)", mine[1], taken[1])
		row("lost: timers that did not fire", mine[2] + 0, taken[2])
		row("lost: all else", mine[3] + 0, taken[3])
	}' "$folder/minutes"
}

# What perf takes in the kernel nobody counts. The programs of a plain recording do what it does there for -g:
# the kernel's own walker of kernel stacks, frame pointers in user space, each sample sent.
compare_in_kernel() {
	local plain ours theirs

	setsid "$BPFPROF" record -q -a -F 99 --call-graph fp -o "$folder/plain.data" >"$folder/plain" 2>&1 &
	plain=$!
	started+=("$plain")
	until [ "$(kernel_side $plain | cut -d' ' -f2)" != 0 ] || ! kill -0 $plain; do sleep 1; done
	ours=$(kernel_side "$daemon" | cut -d' ' -f2)
	theirs=$(kernel_side $plain | cut -d' ' -f2)
	sleep 60
	ours=$(($(kernel_side "$daemon" | cut -d' ' -f2) - ours))
	theirs=$(($(kernel_side $plain | cut -d' ' -f2) - theirs))
	printf '%-46s %14s %14s\n' "BPF in one more minute, ms: as perf -g walks" "$ours" "$theirs"
	kill -TERM $plain
}

start_perf() {
	setsid "$PERF" record -q -B -N -a -F 99 -g --switch-output=60s -o "$folder/perf/perf.data" >"$folder/perf.log" 2>&1 &
	perf_pid=$!
	started+=("$perf_pid")
}

start_database
again build
again calculate
again storm
mkdir -p "$folder/perf" "$folder/store"
setsid "$BPFPROF" daemon --max-cpu none --store "$folder/store" >"$folder/daemon" 2>&1 &
daemon=$!
started+=("$daemon")

# ten minutes, if there are that many
settled=$((SOAK_MINUTES < 30 ? SOAK_MINUTES / 3 : 10))
half=$((settled + (SOAK_MINUTES - settled) / 2))
echo "minute | daemon: CPU (ms), resident KiB, KiB of maps, BPF ms, KiB on disk | perf: CPU, resident KiB, KiB on disk | CPU of it reading names |" \
	"ticks: taken by the host, of all busy"
for ((now = 0; now <= SOAK_MINUTES; now++)); do
	minute $now
	kill -0 "$daemon" || { echo "bench: the daemon ended: $(tail -n 1 "$folder/daemon")" >&2; exit 1; }
	[ $now != $half ] || start_perf
	[ $now = "$SOAK_MINUTES" ] || sleep 60
done

compare_in_kernel >"$folder/in_kernel"
for pid in "${started[@]}"; do
	kill -TERM -- "-$pid" 2>/dev/null
done
wait "$daemon" "$perf_pid"
"$BPFPROF" list --store "$folder/store" --json >"$folder/windows" || exit 1
table $settled $half "$(perf_samples 99)" "$(jq -r '.windows | "\(map(.samples) | add) \(
	map(.losses.lost_late // 0) | add) \(map((.lost // 0) - (.losses.lost_late // 0)) | add)"' "$folder/windows")"
cat "$folder/in_kernel"
echo "what else the windows say:"
losses
