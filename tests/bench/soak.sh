#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What `bpfprof daemon` takes while it stays on, beside perf that stays on: builds, python, PostgreSQL
# under its own benchmark and short processes run together, and every minute memory, CPU time, losses
# and bytes of both are written down.
#
# usage: make bench BENCH=soak [SOAK_MINUTES=60]      as root
#
# The load runs with the lowest priority, and beside what else the machine does. The daemon has no
# limit of its CPU time here (--max-cpu none): a lowered rate would make it look cheap. SOAK_KEEP names
# a folder that is kept, with a table of every minute in `minutes`; the first ten are left out of what
# is said of growth.
set -u
cd "$(dirname "$0")/../.." || exit 1
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

# used PID: user and system time so far, in hundredths of a second, and resident KiB
used() {
	local after
	after=$(cat "/proc/$1/stat" 2>/dev/null) || { echo "nan nan"; return; }
	after=${after##*) }
	read -ra after <<<"$after"
	echo "$((after[11] + after[12])) $(awk '/^VmRSS/ { print $2 }' "/proc/$1/status")"
}

# kernel_side PID: KiB of its maps, ms that its programs ran (0 if nobody asked the kernel to count)
kernel_side() {
	cat "/proc/$1"/fdinfo/* 2>/dev/null | awk '
	/^map_type/ { map = 1 }
	/^prog_type/ { map = 0 }
	/^memlock/ && map { memory += $2 }
	/^run_time_ns/ { time += $2 }
	END { printf "%d %d\n", memory / 1024, time / 1e6 }'
}

minute() {
	local ours perfs kernel

	read -ra ours <<<"$(used "$daemon")"
	read -ra perfs <<<"$(used "$perf_pid")"
	read -ra kernel <<<"$(kernel_side "$daemon")"
	echo "$1 ${ours[*]} ${kernel[*]} $(du -sk "$folder/store" | cut -f1) ${perfs[*]} $(du -sk "$folder/perf" | cut -f1)" |
		tee -a "$folder/minutes"
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

echo "minute | daemon: CPU (1/100 s), resident KiB, KiB of maps, BPF ms, KiB on disk | perf: CPU, resident KiB, KiB on disk"
for ((now = 0; now <= SOAK_MINUTES; now++)); do
	minute $now
	kill -0 "$daemon" || { echo "bench: the daemon ended: $(tail -n 1 "$folder/daemon")" >&2; exit 1; }
	[ $now = "$SOAK_MINUTES" ] || sleep 60
done

kill -TERM "$daemon"
wait "$daemon"
awk -v hz="$(getconf CLK_TCK)" '
	NR == 1 { cpu = $2; bpf = $5; perf = $7; disk = $6; perfs_disk = $9; from = $1 }
	$1 >= 10 && !ten { ten = $3; maps = $4; ten_minute = $1 }
	$1 >= 10 { if ($3 > most) most = $3; if ($4 > most_maps) most_maps = $4 }
	END {
		seconds = ($1 - from) * 60
		printf "daemon: %.3f%% of one CPU by itself, %.3f%% in BPF; perf: %.3f%%\n",
			($2 - cpu) / hz / seconds * 100, ($5 - bpf) / 10 / seconds, ($7 - perf) / hz / seconds * 100
		printf "disk an hour: daemon %.1f MiB, perf %.1f MiB\n",
			($6 - disk) / 1024 / seconds * 3600, ($9 - perfs_disk) / 1024 / seconds * 3600
		if (ten)
			printf "after ten minutes: resident %.1f MiB, at most %.1f; maps %.1f MiB, at most %.1f\n",
				ten / 1024, most / 1024, maps / 1024, most_maps / 1024
	}' "$folder/minutes"
"$BPFPROF" list --store "$folder/store" --json >"$folder/windows" &&
	jq -r '"windows \(.windows | length), samples \([.windows[].samples] | add), lost \([.windows[].lost // 0] | add)"' "$folder/windows"
