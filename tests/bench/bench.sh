#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Measures what bpfprof costs, side by side with perf on the same load in the same run.
#
# usage: make bench [BENCH="sample recorder memory report dwarf rows"]      as root, on a quiet machine
#
#   sample    what a sample takes from the thread that it interrupts (tests/bench/work.c)
#   recorder  CPU time of the recorder, bytes a sample, samples lost
#   memory    largest resident set with 300 busy processes
#   report    time to read and report one big file
#   read      report, script and diff of a file of 1 M samples and more (BIG_SECONDS of 30, or BIG_DATA),
#             READ_ROUNDS (3), what a million costs in files of READ_MILLIONS ("0.1 0.3 1 3 10"), and how
#             soon the first screen of a small file (FIRST_SECONDS of 60) is there
#   dwarf     time and memory to unwind and report perf record --call-graph dwarf, with inlined functions
#             and without (HOTSPOT: its hotspot-perfparser, if it is to be compared)
#   rows      CPU time and bytes of an unwind row (ROW_FILES; ROW_ROUNDS of 30; perf has no such thing)
#   store     questions to a store of a day (STORE_SECONDS of 130, STORE_ROUNDS of 3)
#   bytes     what a sample takes on disk, for perf record -g and -z and for the daemon (BYTES_SECONDS of 62)
#   false-alarms  of the diff of recordings of equal loads; only if it is named (false_alarms.sh)
#   soak      the daemon and perf, both on for SOAK_MINUTES (60); only if it is named (soak.sh)
#   max-cpu   whether the daemon costs no more than it may when samples get dear; only if it is named (max_cpu.sh)
#
# RATES ("99 999 4999"), TURNS (15), ROUNDS (5), SECONDS_EACH (10), TOOLS and LOADS say how much. Tools
# take turns within each round, or run at once, and are compared with the first of TOOLS.
set -u
cd "$(dirname "$0")/../.." || exit 1
: "${BUILD:=$PWD/build}" "${PERF:=perf}" "${BPFPROF:=$BUILD/bpfprof}"
: "${RATES:=99 999 4999}" "${ROUNDS:=5}" "${SECONDS_EACH:=10}" "${PROCESSES:=300}"
: "${TOOLS:=perf perf-BN bpfprof bpfprof-fp}" "${LOADS:=}"
bench=$BUILD/tests/bench
folder=$(mktemp -d "${TMPDIR:-/tmp}/bpfprof-bench.XXXXXX") || exit 1
export XDG_CACHE_HOME=$folder/cache
last_cpu=$(($(nproc) - 1))
load=

# The recorders: what stands before "-- COMMAND" to profile all CPUs while COMMAND runs, with RATE and
# FILE to be filled in. perf-BN (as perf-dwarf) is perf without its build-id work at the end.
declare -A recorders=(
	[none]=""
	[perf]="$PERF record -q -a -g -F RATE -o FILE --"
	[perf-BN]="$PERF record -q -B -N -a -g -F RATE -o FILE --"
	[perf-dwarf]="$PERF record -q -B -N -a --call-graph dwarf -F RATE -o FILE --"
	[bpfprof]="$BPFPROF record -q -a -F RATE -o FILE --"
	[bpfprof-fp]="$BPFPROF record -q -a --call-graph fp -F RATE -o FILE --"
)

# What is interrupted: depth, program, mode of tests/bench/work.c.
sample_loads=(frame-pointers kernel no-frame-pointers)
declare -A works=(
	[frame-pointers]="40 work"
	[kernel]="40 work kernel"
	[no-frame-pointers]="40 work_without_frame_pointers"
)

# What goes on while a recorder is looked at: a shell function each.
recorder_loads=(mixed busy)

stop_load() {
	[ -z "$load" ] || kill -- -"$load" 2>/dev/null
	load=
}
trap 'stop_load; rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

[ "$(id -u)" = 0 ] || { echo "bench: needs root to profile all CPUs; run: sudo make bench" >&2; exit 1; }
for tool in $TOOLS; do
	[ -n "${recorders[$tool]+there}" ] ||
		{ echo "bench: no tool named $tool; there are ${!recorders[*]}" >&2; exit 2; }
done

# set_recorder TOOL RATE FILE: the command that profiles all CPUs until the command behind it ends.
set_recorder() {
	local row=${recorders[$1]}

	rm -f "$3" "$3.old"
	row=${row/RATE/$2}
	read -ra recorder <<<"${row/FILE/$3}"
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

# spread < numbers, one a line: their median, quartiles, and between which two of them the median of
# all such numbers lies, 95 times of 100. "nan" where there are none.
spread() {
	sort -g | awk '
	function at(place) { return value[place < 1 ? 1 : place > NR ? NR : place] }
	function quantile(share,  place) {
		place = 1 + (NR - 1) * share
		return at(int(place)) + (place - int(place)) * (at(int(place) + 1) - at(int(place)))
	}
	{ value[NR] = $1 }
	END {
		rank = int(NR / 2 - 0.98 * sqrt(NR) + 0.5) # of the binomial distribution
		if (!NR)
			print "nan nan nan nan nan"
		else
			print quantile(0.5), quantile(0.25), quantile(0.75),
				at(rank), at(NR + 1 - rank)
	}'
}

# column N FILE [TOOL]: one column of the rows of a tool
column() {
	awk -v column="$1" -v tool="${3:-}" 'tool == "" || $1 == tool { print $column }' "$2"
}

# median_of N FILE TOOL: the median of a column
median_of() {
	column "$@" | spread | cut -d' ' -f1
}

# difference_of N FILE TOOL OTHER: turn by turn, a column of one tool minus that of another
difference_of() {
	awk -v column="$1" -v tool="$3" -v other="$4" '
	$1 == tool { ours[$2] = $column }
	$1 == other { theirs[$2] = $column }
	END { for (turn in ours) if (turn in theirs) print ours[turn] - theirs[turn] }' "$2"
}

# in_turn ROUND: the tools, another one first in each round
in_turn() {
	local all=() first

	read -ra all <<<"$TOOLS"
	first=$(($1 % ${#all[@]}))
	echo "${all[@]:first}" "${all[@]:0:first}"
}

# count_events FILE: samples and lost events in a perf.data, by perf itself
count_events() {
	"$PERF" report --stats -i "$1" 2>/dev/null | awk '
	/SAMPLE events:/ && !/LOST/ && !total { total = $3 }
	/LOST(_SAMPLES)? events:/ { lost += $3 }
	END { print total ? total : "nan", lost + 0 }'
}

# Rows: tool, turn, median ns of a sample, mean ns, samples found, samples that there should be.
bench_sample() {
	local loads=${LOADS:-${sample_loads[*]}} rate round tool name rows

	echo "What a sample takes from the thread it interrupts, ${TURNS:=15} turns of ${MILLISECONDS:=1000} ms" \
		"(typical: median of a turn; in brackets: turn by turn against ${TOOLS%% *}):"
	for name in $loads; do
		for rate in $RATES; do
			rows=$folder/sample-$name-$rate
			for ((round = 0; round < TURNS; round++)); do
				for tool in ${TOOLS#"${TOOLS%% *}"}; do
					interrupt "$tool" "$rate" "$name" "$round" >>"$rows"
				done
			done
			print_sample "$name" "$rate" "$rows"
		done
	done
}

# interrupt TOOL RATE LOAD ROUND: one turn of a tool and of what it is compared with, both at once: their
# rates differ by 2 Hz, so that each keeps a beat of its own, and both meet the same machine. Their
# work runs above all else on its CPU.
interrupt() {
	local depth program mode first=${TOOLS%% *} rates=("$2" $(($2 + 2))) command

	read -r depth program mode <<<"${works[$3]:?no such load}"
	[ $(($4 % 2)) = 0 ] || rates=($(($2 + 2)) "$2")
	set_recorder "$first" "${rates[1]}" "$folder/first"
	command=("${recorder[@]}" chrt -f 1 taskset -c "$last_cpu" "$bench/$program" "$depth"
		"$MILLISECONDS" "${rates[0]},${rates[1]}" ${mode:+"$mode"})
	set_recorder "$1" "${rates[0]}" "$folder/data"
	run_recorder "${command[@]}" | awk -v turn="$4/$1" -v tools="$1 $first" '
		BEGIN { split(tools, tool, " ") } { print tool[NR], turn, $0 }'
}

# print_sample LOAD RATE ROWS
print_sample() {
	local first=${TOOLS%% *} tool

	for tool in $TOOLS; do
		echo "$tool $(column 3 "$3" "$tool" | spread) $(column 4 "$3" "$tool" | spread)" \
			"$(difference_of 3 "$3" "$tool" "$first" | spread)" \
			"$(difference_of 4 "$3" "$tool" "$first" | spread)" \
			"$(median_of 5 "$3" "$tool") $(median_of 6 "$3" "$tool")"
	done | awk -v load="$1" -v rate="$2" -v first="$first" '
	function against(column) {
		if ($1 != first)
			printf " (%+5.2f, 95%%: %+5.2f … %+5.2f)",
				$column / 1e3, $(column + 3) / 1e3, $(column + 4) / 1e3
	}
	{
		printf "  %-17s %5d Hz  %-13s typical %5.2f us, quartiles %5.2f %5.2f",
			load, rate, $1, $2 / 1e3, $3 / 1e3, $4 / 1e3
		against(12)
		printf "  mean %5.2f us", $7 / 1e3
		against(17)
		printf "  %d of %d samples found\n", $22, $23
	}'
}

# start_load COMMAND...: keeps it running in the background, with all that it starts
start_load() {
	set -m
	"$@" >/dev/null 2>&1 &
	load=$!
	set +m
}

# again COMMAND...: for ever
again() {
	while :; do
		"$@"
	done
}

# Deep stacks on one CPU, short-lived programs on the other.
mixed() {
	again "$bench/work" 40 1000 &
	again "$BUILD/tests/workloads/forky" 500 1000 /bin/true
}

# Every CPU busy, nothing that begins or ends.
busy() {
	local cpu

	for ((cpu = 0; cpu <= last_cpu; cpu++)); do
		taskset -c "$cpu" "$bench/work" 40 1000000000 &
	done
	wait
}

# Rows: tool, round, user s, system s, KiB, wall s, samples, lost, bytes, CPU s and wall s of a
# recording of one second.
bench_recorder() {
	local loads=${LOADS:-${recorder_loads[*]}} rate round tool name rows

	echo "The recorder, $SECONDS_EACH s each (mixed: deep stacks on one CPU, fork and exec on the other):"
	for name in $loads; do
		start_load "$name"
		for rate in $RATES; do
			rows=$folder/recorder-$name-$rate
			for ((round = 0; round < ROUNDS; round++)); do
				for tool in $(in_turn "$round"); do
					echo "$tool $round $(record_resources "$tool" "$rate")" >>"$rows"
				done
			done
			print_recorder "$name" "$rate" "$rows"
		done
		stop_load
	done
}

# resources_of TOOL RATE SECONDS: user s, system s, KiB, wall s
resources_of() {
	set_recorder "$1" "$2" "$folder/data"
	recorder=("$bench/resources" "$folder/used" "${recorder[@]}")
	run_recorder sleep "$3" >/dev/null
	cat "$folder/used"
}

# record_resources TOOL RATE: a row without its first two columns
record_resources() {
	local short

	short=$(resources_of "$1" "$2" 1)
	echo "$(resources_of "$1" "$2" "$SECONDS_EACH") $(count_events "$folder/data")" \
		"$(stat -c %s "$folder/data") $(awk '{ print $1 + $2, $4 }' <<<"$short")"
}

# print_recorder LOAD RATE ROWS
print_recorder() {
	local first=${TOOLS%% *} tool number

	for tool in $TOOLS; do
		echo "$tool $(for number in 3 4 5 6 7 8 9 10 11; do
			median_of "$number" "$3" "$tool"
		done | paste -sd ' ') $(median_of 3 "$3" "$first")"
	done | awk -v load="$1" -v rate="$2" -v first="$first" '{
		printf "  %-6s %5d Hz  %-11s user %6.3f s (%4.2f of %s)  system %6.3f s", load, rate, $1,
			$2, $2 / $11, first, $3
		printf "  beyond the first second %5.2f%% of one CPU",
			($2 + $3 - $9) / ($5 - $10) * 100
		printf "  %7s samples  %4d lost  %6.1f bytes a sample  %5.1f MiB resident\n",
			$6, $7, ($6 > 0 ? $8 / $6 : 0), $4 / 1024
	}'
}

bench_memory() {
	local tool

	echo "Resident memory with $PROCESSES busy processes, 999 Hz:"
	set -m
	"$bench/crowd" "$PROCESSES" >"$folder/crowd" &
	load=$!
	set +m
	until [ -s "$folder/crowd" ]; do :; done
	for tool in $TOOLS; do
		echo "$tool $(resources_of "$tool" 999 "$SECONDS_EACH") $(count_events "$folder/data")"
	done | awk '{ printf "  %-11s %6.1f MiB, %s samples\n", $1, $4 / 1024, $6 }'
	stop_load
}

bench_report() {
	local data=$folder/big tool

	start_load mixed
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

# Programs with debug information and large ones without, until it is stopped.
with_debug_information() {
	again "$folder/inlines" 2 &
	again python3 -c 'import json; [json.loads(json.dumps([{str(i): [i]} for i in range(3000)])) for _ in range(99)]' &
	again g++ -O2 -g -c -o "$folder/inlines.o" tests/bench/inlines.cc
}

# reported NAME COMMAND...: user s, system s, KiB and wall s of it; says so if it failed
reported() {
	local name=$1
	shift
	rm -f "$folder/used"
	timeout 1800 "$bench/resources" "$folder/used" "$@" >/dev/null 2>"$folder/messages" ||
		{ echo "  $name failed: $(tail -n 1 "$folder/messages")" && return; }
	awk -v name="$name" '{ printf "  %-22s %8.2f s  user %8.2f s  system %6.2f s  %6.1f MiB resident\n",
		name, $4, $1, $2, $3 / 1024 }' "$folder/used"
}

bench_dwarf() {
	local data=$folder/dwarf

	g++ -O2 -g -o "$folder/inlines" tests/bench/inlines.cc || return
	start_load with_debug_information
	recorder=("$PERF" record -q --buildid-mmap -a --call-graph dwarf -F 99 -o "$data" --)
	run_recorder sleep "${DWARF_SECONDS:-30}" >/dev/null
	stop_load
	samples=$("$BPFPROF" report --json --no-inline -i "$data" 2>/dev/null | jq .recording.samples)
	echo "Unwinding $(stat -c %s "$data") bytes with $samples samples (perf record -a --call-graph dwarf -F 99):"
	reported "perf --no-inline" "$PERF" report --stdio --no-inline -i "$data"
	reported "bpfprof --no-inline" "$BPFPROF" report --stdio --no-inline -i "$data"
	reported "bpfprof, again" "$BPFPROF" report --stdio --no-inline -i "$data"
	reported "perf" "$PERF" report --stdio -i "$data"
	reported "bpfprof" "$BPFPROF" report --stdio -i "$data"
	reported "bpfprof, again" "$BPFPROF" report --stdio -i "$data"
	[ -z "${HOTSPOT:-}" ] ||
		reported hotspot-perfparser "$HOTSPOT" --input "$data" --output "$folder/hotspot"
}

bench_rows() {
	local files="${ROW_FILES:-/lib/*-linux-gnu/libc.so.6 /usr/bin/python3.?? \
		$(gcc -print-prog-name=cc1) /usr/lib/*-linux-gnu/libLLVM-14.so.1}"

	echo "Unwind rows (CPU time of one core, the least of ${ROW_ROUNDS:-30} rounds):"
	# shellcheck disable=SC2086  # patterns, as many as there are
	"$bench/rows" "${ROW_ROUNDS:-30}" $files
}

# least NAME TOOL COMMAND...: wall s, CPU s and MiB of a command, of the best of several rounds, added up
# in $folder/least.NAME.TOOL
least() {
	local file=$folder/least.$1.$2
	shift 2
	rm -f "$folder/used"
	timeout 1800 "$bench/resources" "$folder/used" "$@" >/dev/null 2>"$folder/messages" ||
		echo "  failed: $*: $(tail -n 1 "$folder/messages")"
	cat "$folder/used" >>"$file"
}

# of_least NAME TOOL: the figures as "wall CPU MiB"
of_least() {
	awk '{ if (NR == 1 || $4 < wall) wall = $4; if (NR == 1 || $1 + $2 < cpu) cpu = $1 + $2
		if ($3 > most) most = $3 } END { print wall, cpu, most / 1024 }' "$folder/least.$1.$2"
}

# side_by_side NAME ARGUMENTS...: the same arguments to perf and to bpfprof, in turns
side_by_side() {
	local name=$1 round
	shift
	for ((round = 0; round < READ_ROUNDS; round++)); do
		least "$name" perf "$PERF" "$@"
		least "$name" bpfprof "$BPFPROF" "$@"
	done
	echo "$(of_least "$name" perf) $(of_least "$name" bpfprof)" | awk -v name="$name" '{
		printf "  %-22s %8.2f s %8.2f s %7.0f MiB   %8.2f s %8.2f s %7.0f MiB   %5.1f x %5.1f x  1/%.1f\n",
			name, $1, $2, $3, $4, $5, $6, $1 / $4, $2 / $5, $3 / $6 }'
}

# by_size DATA: what a million samples cost as files grow
by_size() {
	local million samples file=$folder/sized wall cpu most

	echo "  bpfprof report --stdio by size (of the first file's records, again and again):"
	for million in $READ_MILLIONS; do
		samples=$(awk -v million="$million" 'BEGIN { printf "%d", million * 1000000 }')
		"$bench/repeat" "$1" "$file" "$samples" || { echo "  cannot make $samples" && return; }
		rm -f "$folder"/least.size.*
		for ((round = 0; round < READ_ROUNDS; round++)); do
			least size bpfprof "$BPFPROF" report --stdio -i "$file"
		done
		read -r wall cpu most <<<"$(of_least size bpfprof)"
		awk -v wall="$wall" -v cpu="$cpu" -v most="$most" -v million="$million" 'BEGIN {
			printf "  %6.1f M samples %8.2f s, a million %6.2f s, CPU %6.2f s, %7.0f MiB\n",
				million, wall, wall / million, cpu / million, most }'
		rm -f "$file"
	done
}

bench_read() {
	local data=$folder/big first=$folder/first round

	: "${READ_ROUNDS:=3}" "${READ_MILLIONS:=0.1 0.3 1 3 10}"
	start_load mixed
	recorder=("$PERF" record -q --buildid-mmap -a -g -F 99 -o "$first" --)
	run_recorder sleep "${FIRST_SECONDS:-60}" >/dev/null
	if [ -n "${BIG_DATA:-}" ]; then
		data=$BIG_DATA
	else
		recorder=("$PERF" record -q --buildid-mmap -a -g -F 20000 -o "$data" --)
		run_recorder sleep "${BIG_SECONDS:-30}" >/dev/null
	fi
	stop_load
	read -r samples _ <<<"$(count_events "$data")"
	echo "Reading $(stat -c %s "$data") bytes with $samples samples (perf record -a -g -F 20000):"
	printf '  %-22s %-32s   %-32s   %s\n' "" "perf: wall, CPU, memory" "bpfprof" \
		"faster by wall, CPU; memory"
	side_by_side "report" report --stdio -i "$data"
	side_by_side "report --no-children" report --stdio --no-children -i "$data"
	side_by_side "script" script -i "$data"
	side_by_side "diff" diff "$data" "$data"
	by_size "$data"
	for ((round = 0; round < 5; round++)); do
		least screen bpfprof sh -c "$BPFPROF report --stdio -i $first | head -n 30"
	done
	echo "First screen of $(stat -c %s "$first") bytes (perf record -a -g -F 99): $(of_least \
		screen bpfprof | awk '{ printf "%.0f ms", $1 * 1000 }')"
}

# One question to a store of a day, of which no file is in memory.
ask_store() {
	local name=$1 round
	shift
	for ((round = 0; round < STORE_ROUNDS; round++)); do
		find "$folder/day" -type f -exec sync -d {} +
		find "$folder/day" -type f -exec dd if={} iflag=nocache count=0 status=none \;
		least "$name" bpfprof "$BPFPROF" "$@" --store "$folder/day"
	done
	of_least "$name" bpfprof | awk -v name="$name" '{
		printf "  %-32s %6.2f s wall, %6.2f s CPU, %5.0f MiB\n", name, $1, $2, $3 }'
}

# Windows of the daemon under load, repeated for a day.
bench_store() {
	local windows first

	: "${STORE_ROUNDS:=3}"
	start_load mixed
	timeout -s INT "${STORE_SECONDS:-130}" "$BPFPROF" daemon --store "$folder/seen" >"$folder/messages" 2>&1
	stop_load
	mapfile -t windows < <("$BPFPROF" list --store "$folder/seen" --json |
		jq -r '.windows[] | select(.end_ns - .start_ns > 55e9) | .file')
	[ ${#windows[@]} -gt 0 ] || {
		echo "bench: no whole window in ${STORE_SECONDS:-130} s; give STORE_SECONDS=130 or more" >&2
		return 1
	}
	first=$(($(date +%s) - 86400))
	"$bench/store" "$folder/day" 1440 "$first" "${windows[@]}"
	echo "A store of a day: $("$BPFPROF" list --store "$folder/day" | tail -n 1 | cut -c3-)"
	ask_store "report of 24 h, without sums" report
	"$bench/store" sums "$folder/day" >/dev/null
	ask_store "report of 24 h" report
	ask_store "report of 24 h, -g none" report --no-children -g none
	ask_store "report of an hour" report --at "@$((first + 3600))..@$((first + 7200))"
	ask_store "diff of two hours" diff --before "@$((first + 3600))..@$((first + 7200))" \
		--after "@$((first + 7200))..@$((first + 10800))"
	rm -r "$folder/day"
}

# per_sample NAME BYTES SAMPLES
per_sample() {
	awk -v name="$1" -v bytes="$2" -v samples="$3" 'BEGIN {
		printf "  %-22s %9d bytes, %6d samples, %7.1f bytes a sample\n", name, bytes, samples, bytes / samples }'
}

# samples_in FILE: read by us, for perf crashes on files into which another tool's build ids leaked
samples_in() {
	"$BPFPROF" report --stats -i "$1" 2>/dev/null | awk '/SAMPLE events:/ { print $3; exit }'
}

# Programs that live on: deep stacks, an interpreter, compression.
steady() {
	"$bench/work" 40 1000000000 &
	python3 -c 'import json
while True: json.loads(json.dumps([{str(i): [i]} for i in range(300)]))' &
	gzip -c /dev/zero >/dev/null
}

# What a sample takes on disk: all three record the same at the same time, from two seconds before a
# minute on: but for these and the rest of the last minute the daemon's windows are whole.
bench_bytes() {
	local name options first second

	: "${BYTES_SECONDS:=62}"
	for name in steady mixed; do
		start_load "$name"
		sleep $(((117 - 10#$(date +%S)) % 60 + 1))
		options=(-q -a -F 99 -g -B -N --buildid-mmap)
		"$PERF" record "${options[@]}" -o "$folder/bytes" -- sleep "$BYTES_SECONDS" 2>/dev/null &
		first=$!
		"$PERF" record "${options[@]}" -z -o "$folder/bytes-z" -- sleep "$BYTES_SECONDS" 2>/dev/null &
		second=$!
		timeout -s INT "$BYTES_SECONDS" "$BPFPROF" daemon --max-cpu 10% --store "$folder/$name" 2>/dev/null
		wait "$first" "$second"
		stop_load
		echo "On disk, 99 Hz, $BYTES_SECONDS s ($name):"
		per_sample "perf record -g" "$(stat -c %s "$folder/bytes")" "$(samples_in "$folder/bytes")"
		per_sample "perf record -g -z" "$(stat -c %s "$folder/bytes-z")" "$(samples_in "$folder/bytes-z")"
		# shellcheck disable=SC2046  # two words
		per_sample "bpfprof daemon" $("$BPFPROF" list --store "$folder/$name" --json |
			jq -r '[.windows[] | [.bytes, .samples]] | transpose | map(add) | @sh')
	done
}

[ $# -gt 0 ] || set -- sample recorder memory report read dwarf rows
echo "bench: $(uname -r), $(nproc) CPUs, load $(cut -d' ' -f1 /proc/loadavg), $("$PERF" version)"
for part in "$@"; do
	case $part in
	sample | recorder | memory | report | read | dwarf | rows | store | bytes) "bench_$part" ;;
	false-alarms) tests/bench/false_alarms.sh ;;
	soak) tests/bench/soak.sh ;;
	max-cpu) tests/bench/max_cpu.sh ;;
	*)
		echo "bench: no part named $part; there are sample, recorder, memory, report, read, dwarf, rows, store, bytes," \
			"false-alarms, soak and max-cpu" >&2
		exit 2
		;;
	esac
done
