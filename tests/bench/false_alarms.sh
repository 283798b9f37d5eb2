#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Whether `bpfprof diff` keeps its promise: of pairs of recordings of one load, at most 5% have a line
# that is marked as changed; and whether it finds two points more in 20,000 samples.
#
# usage: make bench BENCH=false-alarms [PAIRS=100] [PLANTED=10]      as root, on a quiet machine
#
# 100 pairs take about eight minutes. Loads take turns; each is a command that uses a second or so of
# CPU time, and only that is recorded, by bpfprof or perf.
set -u
cd "$(dirname "$0")/../.." || exit 1
: "${BUILD:=$PWD/build}" "${PERF:=perf}" "${BPFPROF:=$BUILD/bpfprof}" "${PAIRS:=100}" "${PLANTED:=10}"
workloads=$(realpath "$BUILD/tests/workloads")
folder=$(mktemp -d "${TMPDIR:-/tmp}/bpfprof-bench.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

make_inputs() {
	cat >"$folder/phases.py" <<-'END'
		import json, random, re, zlib
		random.seed(1)
		rows = [{"k%d" % i: random.random(), "s": "x" * random.randint(1, 40)} for i in range(2000)]
		for _ in range(40):
		    text = json.dumps(rows)
		for _ in range(40):
		    json.loads(text)
		for _ in range(15):
		    len(re.findall(r"[a-z]+\d+[^,]*", text))
		for _ in range(25):
		    sorted(random.random() for _ in range(20000))
		for _ in range(10):
		    zlib.compress(text.encode())
	END
	awk 'BEGIN {
		srand(3)
		for (i = 0; i < 200; i++)
			printf "int f%d(int a,int b){int s=0;for(int i=0;i<a;i++){s+=i*b^%d;if(s&%d)s-=i;" \
				"switch(s&7){case 1:s*=3;break;case 2:s^=b;break;case 5:s+=f%d(a-1,b);}}return s;}\n",
				i, rand() * 999, 2 ^ int(rand() * 9), i ? i - 1 : 0
	}' >"$folder/functions.c"
	seq 1 200000 | awk '{ print ($1 * 7919) % 200003, $1 }' >"$folder/numbers"
}

run_shares() { exec "$workloads/shares" 120000; }
run_python() { exec python3 "$folder/phases.py"; }
run_compile() { exec gcc -O2 -c -o "$folder/functions.o" "$folder/functions.c"; }
run_sort() { sort -n "$folder/numbers" | gzip -9 | gunzip | wc -l >"$folder/lines"; }
run_threads() { exec "$workloads/threads" work 1; }
run_awk() { exec awk '{ count[$1 % 1000] += $2; line[$2] = $0 } END { print length(line) }' "$folder/numbers"; }
export -f run_shares run_python run_compile run_sort run_threads run_awk
export folder workloads

# What is recorded: load, recorder, rate.
cases=("shares bpfprof 4999" "python bpfprof 4999" "compile bpfprof 4999" "sort bpfprof 4999"
	"threads bpfprof 1999" "python perf 999" "awk bpfprof 999" "compile perf 4999" "shares bpfprof 499"
	"sort perf 1999")

# record LOAD TOOL RATE FILE. perf without its build-id work at the end: it crashes over build ids that
# others asked the kernel for (bench.sh).
record() {
	if [ "$2" = perf ]; then
		"$PERF" record -q -B -N -e cpu-clock -F "$3" -g -o "$4" -- bash -c "run_$1" >/dev/null 2>&1
	else
		"$BPFPROF" record -q -F "$3" -o "$4" -- bash -c "run_$1" >/dev/null 2>&1
	fi
}

# marked OLD NEW: the lines that are marked
marked() {
	"$BPFPROF" diff -q --significant "$1" "$2" 2>/dev/null
}

measure_alarms() {
	local pair case=() alarms=0 count text
	declare -A pairs_of=() alarms_of=() samples_of=()

	for ((pair = 0; pair < PAIRS; pair++)); do
		read -ra case <<<"${cases[pair % ${#cases[@]}]}"
		if ! record "${case[@]}" "$folder/a.data" || ! record "${case[@]}" "$folder/b.data"; then
			echo "bench: not recorded: ${case[*]}" >&2
			continue
		fi
		text=$(marked "$folder/a.data" "$folder/b.data")
		pairs_of[${case[*]}]=$((${pairs_of[${case[*]}]:-0} + 1))
		samples_of[${case[*]}]=$("$BPFPROF" report --json -i "$folder/b.data" 2>/dev/null | jq '.events[0].samples')
		[ -z "$text" ] && continue
		alarms_of[${case[*]}]=$((${alarms_of[${case[*]}]:-0} + 1))
		echo "  pair $((pair + 1)), ${case[*]}:"
		echo "${text//$'\n'/$'\n'  }"
	done
	printf '  %-24s %8s %6s %7s\n' "load, recorder, Hz" samples pairs alarms
	for text in "${cases[@]}"; do
		count=${alarms_of[$text]:-0}
		alarms=$((alarms + count))
		printf '  %-24s %8s %6d %7d\n' "$text" "${samples_of[$text]:--}" "${pairs_of[$text]:-0}" "$count"
	done
	count=0
	for text in "${pairs_of[@]}"; do count=$((count + text)); done
	awk -v alarms="$alarms" -v pairs="$count" 'BEGIN {
		printf "  alarms in %d of %d pairs: %.1f%%; promised: at most 5%%", alarms, pairs,
			pairs ? 100 * alarms / pairs : 0
		# The most that 5% give 95 times of 100: binomial.
		for (term = sum = 0.95 ^ pairs; sum < 0.95 && most < pairs; sum += term) {
			term *= (pairs - most) / (most + 1) * 0.05 / 0.95
			most++
		}
		printf " (up to %d in so many pairs)\n", most
	}'
}

# A function of 5% takes 2 chunks more of 100.
measure_power() {
	local pair found=0 others=0 lines

	for ((pair = 0; pair < PLANTED; pair++)); do
		"$BPFPROF" record -q -F 4999 -o "$folder/a.data" -- "$workloads/shares" 450000 2>/dev/null
		"$BPFPROF" record -q -F 4999 -o "$folder/b.data" -- "$workloads/shares" 459000 2 2>/dev/null
		lines=$(marked "$folder/a.data" "$folder/b.data")
		grep -q ' part_6$' <<<"$lines" && found=$((found + 1))
		others=$((others + $(grep -vc -e ' part_6$' -e '^$' <<<"$lines")))
	done
	echo "  two points more: found in $found of $PLANTED pairs of $(
		"$BPFPROF" report --json -i "$folder/b.data" | jq '.events[0].samples') samples; other lines marked: $others"
}

[ "$(id -u)" = 0 ] || { echo "bench: needs root to record; run: sudo make bench" >&2; exit 1; }
make_inputs
echo "False alarms of diff, $PAIRS pairs of recordings of equal loads:"
measure_alarms
[ "$PLANTED" -eq 0 ] || measure_power
