#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Measures what bpfprof costs, side by side with perf on the same load in the same run.
#
# usage: make bench [BENCH="sample recorder memory report rows"]      as root, on a quiet machine
#
#   sample    all-in cost of a sample, as the thread it interrupts sees it
#   recorder  CPU time of the recorder, bytes a sample, samples lost
#   memory    largest resident set with 300 busy processes
#   report    time to read and report one big file
#   rows      CPU time and bytes of an unwind row (ROW_FILES; ROW_ROUNDS of 30; perf has no such thing)
#
# RATES ("99 999 4999"), ROUNDS (5) and SECONDS_EACH (10) say how much. Tools take turns within each
# round, and medians are printed; a ratio below 1 is in favour of bpfprof. "perf -BN" is perf without
# its build-id work at the end.
set -u
cd "$(dirname "$0")/../.." || exit 1
: "${BUILD:=$PWD/build}" "${PERF:=perf}" "${BPFPROF:=$BUILD/bpfprof}"
: "${RATES:=99 999 4999}" "${ROUNDS:=5}" "${SECONDS_EACH:=10}" "${PROCESSES:=300}"
tools=("perf" "perf -BN" "bpfprof")
bench=$BUILD/tests/bench
folder=$(mktemp -d "${TMPDIR:-/tmp}/bpfprof-bench.XXXXXX") || exit 1
load=

stop_load() {
	[ -z "$load" ] || kill -- -"$load" 2>/dev/null
	load=
}
trap 'stop_load; rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

[ "$(id -u)" = 0 ] || { echo "bench: needs root to profile all CPUs; run: sudo make bench" >&2; exit 1; }

# set_recorder TOOL RATE FILE: the command that profiles all CPUs until the command behind it ends.
set_recorder() {
	rm -f "$3" "$3.old"
	case $1 in
	none) recorder=() ;;
	perf) recorder=("$PERF" record -q -a -g -F "$2" -o "$3" --) ;;
	"perf -BN") recorder=("$PERF" record -q -B -N -a -g -F "$2" -o "$3" --) ;;
	bpfprof) recorder=("$BPFPROF" record -q -a -g -F "$2" -o "$3" --) ;;
	esac
}

# run_recorder COMMAND...: stops the bench if the recorder does not work. perf gets three attempts:
# it crashes when somebody else begins to record with attr.build_id while it records (the kernel then
# marks perf's mappings as if they held build ids; seen with perf 6.1 on Linux 6.18).
run_recorder() {
	local attempt

	for attempt in 1 2 3; do
		rm -f "$folder/used"
		"${recorder[@]}" "$@" 2>"$folder/messages" && return
		echo "bench: failed ($attempt): ${recorder[*]} $*: $(tail -n 1 "$folder/messages")" >&2
	done
	exit 1
}

# median < numbers, one a line
median() {
	sort -g | awk '{ value[NR] = $1 } END { if (NR) print (value[int((NR + 1) / 2)] + \
		value[int(NR / 2) + 1]) / 2; else print "nan" }'
}

# column N FILE: the median of one column
column() {
	awk -v column="$1" '{ print $column }' "$2" | median
}

# file_of TOOL RATE WHAT: where the numbers of one kind are gathered
file_of() {
	echo "$folder/$3-$2-${1// /}"
}

# count_events FILE: samples and lost events in a perf.data, by perf itself
count_events() {
	"$PERF" report --stats -i "$1" 2>/dev/null | awk '
	/SAMPLE events:/ && !/LOST/ && !total { total = $3 }
	/LOST(_SAMPLES)? events:/ { lost += $3 }
	END { print total ? total : "nan", lost + 0 }'
}

bench_sample() {
	local rate round tool

	echo "All-in cost of a sample (stack of 40 frames; CPU time of fixed work, with and without):"
	for rate in $RATES; do
		for ((round = 0; round < ROUNDS; round++)); do
			for tool in none "${tools[@]}"; do
				set_recorder "$tool" "$rate" "$folder/data"
				run_recorder "$bench/work" 40 "${MILLIONS:-1500}" \
					>>"$(file_of "$tool" "$rate" sample)"
			done
		done
		for tool in "${tools[@]}"; do
			awk -v rate="$rate" -v tool="$tool" -v base="$(column 1 "$(file_of none "$rate" sample)")" \
				-v base_min="$(sort -g "$(file_of none "$rate" sample)" | head -n 1)" \
				-v with_min="$(sort -g "$(file_of "$tool" "$rate" sample)" | head -n 1)" \
				-v with="$(column 1 "$(file_of "$tool" "$rate" sample)")" 'BEGIN {
				printf "  %5d Hz  %-9s work %8.2f ms -> %8.2f ms (%+6.2f%%)  %7.2f us a sample, by minima %7.2f\n",
					rate, tool, base / 1e6, with / 1e6, (with / base - 1) * 100,
					(with - base) / (with * rate / 1e9) / 1000,
					(with_min - base_min) / (with_min * rate / 1e9) / 1000
			}'
		done
	done
}

# The load of the recorder's bench: deep stacks on one CPU, short-lived programs on the other.
start_load() {
	set -m
	{
		while :; do
			"$bench/work" 40 1000
		done &
		while :; do
			"$BUILD/tests/workloads/forky" 500 1000 /bin/true
		done
	} >/dev/null 2>&1 &
	load=$!
	set +m
}

bench_recorder() {
	local rate round tool data=$folder/data

	echo "The recorder (deep stacks on one CPU, fork and exec on the other, $SECONDS_EACH s each):"
	start_load
	for rate in $RATES; do
		for ((round = 0; round < ROUNDS; round++)); do
			for tool in "${tools[@]}"; do
				record_resources "$tool" "$rate" "$data" >>"$(file_of "$tool" "$rate" recorder)"
			done
		done
		print_recorder "$rate"
	done
	stop_load
}

# record_resources TOOL RATE FILE: one line: user s, system s, KiB, wall s, samples, lost, bytes
record_resources() {
	set_recorder "$1" "$2" "$3"
	recorder=("$bench/resources" "$folder/used" "${recorder[@]}")
	run_recorder sleep "$SECONDS_EACH" >/dev/null
	echo "$(cat "$folder/used") $(count_events "$3") $(stat -c %s "$3")"
}

print_recorder() {
	local tool

	for tool in "${tools[@]}"; do
		awk -v rate="$1" -v tool="$tool" -v user="$(column 1 "$(file_of "$tool" "$1" recorder)")" \
			-v sys="$(column 2 "$(file_of "$tool" "$1" recorder)")" \
			-v kib="$(column 3 "$(file_of "$tool" "$1" recorder)")" \
			-v samples="$(column 5 "$(file_of "$tool" "$1" recorder)")" \
			-v lost="$(column 6 "$(file_of "$tool" "$1" recorder)")" \
			-v bytes="$(column 7 "$(file_of "$tool" "$1" recorder)")" \
			-v perf_user="$(column 1 "$(file_of perf "$1" recorder)")" 'BEGIN {
			printf "  %5d Hz  %-9s user %7.3f s (%4.2f of perf)  system %7.3f s  %7s samples  %4d lost  %6.1f bytes a sample  %5.1f MiB resident\n",
				rate, tool, user, user / perf_user, sys, samples, lost,
				(samples > 0 ? bytes / samples : 0), kib / 1024
		}'
	done
}

bench_memory() {
	local tool

	echo "Resident memory with $PROCESSES busy processes, 999 Hz:"
	set -m
	"$bench/crowd" "$PROCESSES" >"$folder/crowd" &
	load=$!
	set +m
	until [ -s "$folder/crowd" ]; do :; done
	for tool in "${tools[@]}"; do
		awk -v tool="$tool" '{ printf "  %-9s %6.1f MiB, %s samples\n", tool, $3 / 1024, $5 }' \
			<<<"$(record_resources "$tool" 999 "$folder/data")"
	done
	stop_load
}

bench_report() {
	local data=$folder/big tool

	start_load
	# With build ids from the kernel, so that nobody else's recording can spoil the file.
	recorder=("$PERF" record -q --buildid-mmap -a -g -F 4999 -o "$data" --)
	run_recorder sleep "${BIG_SECONDS:-30}" >/dev/null
	stop_load
	read -r samples _ <<<"$(count_events "$data")"
	echo "Reporting $(stat -c %s "$data") bytes with $samples samples (perf record -a -g -F 4999):"
	hyperfine -N -w 1 -r "$ROUNDS" --style none --export-json "$folder/report.json" \
		-n perf "$PERF report --stdio --no-inline -i $data" \
		-n bpfprof "$BPFPROF report --stdio --no-inline -i $data" 2>"$folder/messages" || {
		echo "bench: failed: $(grep -v '^$' "$folder/messages" | tail -n 1)" >&2
		return
	}
	jq -r '.results[] | [.command, .median, .user] | @tsv' "$folder/report.json" |
		awk -F '\t' '{ printf "  %-9s median %7.3f s, user %7.3f s\n", $1, $2, $3 }'
	for tool in "$PERF" "$BPFPROF"; do
		rm -f "$folder/used"
		"$bench/resources" "$folder/used" "$tool" report --stdio --no-inline -i "$data" \
			>/dev/null 2>&1
		awk -v tool="${tool##*/}" '{ printf "  %-9s %6.1f MiB resident\n", tool, $3 / 1024 }' \
			"$folder/used"
	done
}

bench_rows() {
	local files="${ROW_FILES:-/lib/*-linux-gnu/libc.so.6 /usr/bin/python3.?? \
		$(gcc -print-prog-name=cc1) /usr/lib/*-linux-gnu/libLLVM-14.so.1}"

	echo "Unwind rows (CPU time of one core, the least of ${ROW_ROUNDS:-30} rounds):"
	# shellcheck disable=SC2086  # patterns, as many as there are
	"$bench/rows" "${ROW_ROUNDS:-30}" $files
}

[ $# -gt 0 ] || set -- sample recorder memory report rows
echo "bench: $(uname -r), $(nproc) CPUs, load $(cut -d' ' -f1 /proc/loadavg), $("$PERF" version)"
for part in "$@"; do
	case $part in
	sample | recorder | memory | report | rows) "bench_$part" ;;
	*)
		echo "bench: no part named $part; there are sample, recorder, memory, report and rows" >&2
		exit 2
		;;
	esac
done
