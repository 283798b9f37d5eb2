#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# perf.data both ways: perf reads ours, we read everybody's; damage is answered in one line.
#
# Runs beside others.

load common

setup_file() {
	export CORPUS="$PWD/../shared/perf-corpus"
	cd "$BATS_FILE_TMPDIR" || return 1
	[ "$(id -u)" = 0 ] || return 0
	"$BPFPROF" record -z0 -F 999 -o file.data -- "$WORKLOADS/mainbarfoo" >/dev/null 2>&1
	"$BPFPROF" record -z -F 999 -o packed.data -- "$WORKLOADS/mainbarfoo" >/dev/null 2>&1
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
}

need_recording() {
	[ -s packed.data ] || skip "recording needs root and BPF"
}

# same_lines FILE FILE: or the first differences
same_lines() {
	diff "$1" "$2" >differences.txt && return 0
	head -5 differences.txt
	return 1
}

# perf_reads FILE: report and script of stock perf say nothing on stderr and know the hot function
perf_reads() {
	local file=$1
	"$PERF" report --stdio -i "$file" >report.txt 2>err.txt
	cat err.txt
	[ ! -s err.txt ]
	grep -q '\[\.\] foo' report.txt
	"$PERF" script -i "$file" >script.txt 2>err.txt
	cat err.txt
	[ ! -s err.txt ]
	grep -q ' foo+0x' script.txt
}

@test "stock perf reads a recording without a warning" {
	need_recording
	perf_reads file.data
}

@test "stock perf reads a compressed recording without a warning" {
	need_recording
	perf_reads packed.data
}

@test "stock perf compares two recordings without a warning" {
	need_recording
	"$PERF" diff file.data packed.data >diff.txt 2>err.txt
	cat err.txt
	[ ! -s err.txt ]
	grep -q '\[\.\] foo' diff.txt
}

@test "stock perf reads what comes through a pipe" {
	need_recording
	"$BPFPROF" record -F 999 -o - -- "$WORKLOADS/mainbarfoo" 2>/dev/null |
		"$PERF" report --stdio -i - >report.txt 2>err.txt
	cat err.txt
	[ ! -s err.txt ]
	grep -q '\[\.\] foo' report.txt
}

@test "script prints of our recordings what perf prints of them" {
	need_recording
	local file
	for file in file.data packed.data; do
		"$PERF" script -i $file -F comm,tid,cpu,time,event,period,ip >perf.txt
		"$BPFPROF" script -i $file -F comm,tid,cpu,time,event,period,ip >ours.txt
		grep -c : perf.txt ours.txt
		# frames differ where a stack is older than exec(): perf keeps the old mappings
		grep : perf.txt >perf-samples.txt
		grep : ours.txt >our-samples.txt
		same_lines perf-samples.txt our-samples.txt
	done
}

# perf_records FILE OPTION...: perf records a program that has mapped all it will map. (Linux 6.18
# spoils new mappings of perf while somebody else on the machine asks for build ids, and perf crashes
# on them.)
perf_records() {
	local file=$1 status=0
	shift
	start "$WORKLOADS/deep" 20 100 >/dev/null
	"$PERF" record -q --no-bpf-event -e cpu-clock -F 500 -p "${background[-1]}" "$@" -o "$file" -- "$WORKLOADS/spin" 0.3 \
		>"$file.stdout" 2>/dev/null || status=1
	kill "${background[-1]}"
	return $status
}

@test "what perf sends through a pipe is read" {
	need_recording
	perf_records -
	"$PERF" script -i - -F comm,tid,time,event,period <./-.stdout | grep . >perf.txt
	[ -s perf.txt ]
	"$BPFPROF" script -i - -F comm,tid,time,event,period <./-.stdout >ours.txt
	same_lines perf.txt ours.txt
	"$BPFPROF" report --stdio -i - <./-.stdout >report.txt
	grep -q '\[\.\] at_the_bottom' report.txt
}

@test "what perf compressed is read" {
	need_recording
	perf_records packed-by-perf.data -g -z
	"$PERF" script -i packed-by-perf.data -F comm,tid,time,event,period >perf.txt
	[ -s perf.txt ]
	"$BPFPROF" script -i packed-by-perf.data -F comm,tid,time,event,period >ours.txt
	same_lines perf.txt ours.txt
}

@test "a recording of several threads of perf is read" {
	need_recording
	perf_records threads.data --threads
	[ -d threads.data ]
	"$PERF" script -i threads.data -F comm,tid,time,event,period | sort >perf.txt
	[ -s perf.txt ]
	"$BPFPROF" script -i threads.data -F comm,tid,time,event,period | sort >ours.txt
	same_lines perf.txt ours.txt
}

@test "recordings of many perfs hold the same samples as for perf" {
	[ -d "$CORPUS" ] || skip "no ../shared/perf-corpus"
	local file count=0
	for file in "$CORPUS"/perf.data*; do
		"$PERF" script -f -i "$file" -F comm,pid,tid,time,event,period,ip --max-stack 127 \
			>perf.txt 2>/dev/null
		"$BPFPROF" script -i "$file" -F comm,pid,tid,time,event,period,ip --max-stack 127 \
			>ours.txt
		[ -s perf.txt ]
		echo "$file"
		same_lines perf.txt ours.txt
		count=$((count + 1))
	done
	[ "$count" -ge 20 ]
}

@test "a missing file is answered" {
	fails_with 1 "cannot open gone.data: No such file or directory; record first, or name a file with -i" \
		"$BPFPROF" script -i gone.data
}

@test "an empty file is answered" {
	: >empty.data
	fails_with 1 "empty.data is empty: nothing was recorded; record again" \
		"$BPFPROF" script -i empty.data
}

@test "a file of something else is answered" {
	echo hello >other.data
	fails_with 1 "other.data is not a perf.data file; give a file recorded by perf or bpfprof" \
		"$BPFPROF" script -i other.data
}

@test "a cut recording shows what is there and says so" {
	local file="$CORPUS/perf.data.singleprocess-3.8"
	[ -s "$file" ] || skip "no ../shared/perf-corpus"
	head -c 11000 "$file" >cut.data
	run -1 --separate-stderr "$BPFPROF" script -i cut.data
	[ "${#lines[@]}" -gt 0 ]
	[[ $stderr == "bpfprof: cut.data is cut at byte "*" samples before that are shown" ]]
}

@test "user stacks that come after their samples are joined, and those that do not come are counted" {
	local known=$BATS_TEST_DIRNAME/known_recording.py command
	local samples=("$WORKLOADS/mainbarfoo" 'foo<bar<main=100x3500' 'bar<main=7x1500')
	"$known" usual.data chains=1 "${samples[@]}"
	"$known" deferred.data chains=1 deferred=5 "${samples[@]}"
	# 714 stacks for seven samples each, and one for the last two that does not come
	"$known" short.data chains=1 deferred=7 "${samples[@]}"
	for command in report script; do
		"$BPFPROF" "$command" -i usual.data >usual.txt
		"$BPFPROF" "$command" -i deferred.data >deferred.txt 2>err.txt
		same_lines usual.txt deferred.txt
		[ ! -s err.txt ]
		"$BPFPROF" "$command" -i short.data >short.txt 2>err.txt
		diff <(echo "bpfprof: 2 of 5000 deferred user stacks are missing: what was to bring them after" \
			"their samples is not in the file") err.txt
	done
	[ "$("$BPFPROF" script -D -i short.data | grep -c PERF_RECORD_CALLCHAIN_DEFERRED)" = 714 ]
}

@test "a recording that is damaged in its midst shows what is before and says where" {
	"$BATS_TEST_DIRNAME/known_recording.py" whole.data "$WORKLOADS/mainbarfoo" 'main=1x300'
	local at
	# the first sample behind the middle (type 9, some bits, 8 bytes of size up to the next one) gets a size of 1
	at=$(python3 - whole.data <<-'END'
		import struct, sys
		data = bytearray(open(sys.argv[1], "rb").read())
		at, length = struct.unpack_from("<QQ", data, 40)
		end, middle = at + length, at + length // 2
		while at < middle or struct.unpack_from("<I", data, at)[0] != 9:
		    at += struct.unpack_from("<IHH", data, at)[2]
		struct.pack_into("<H", data, at + 6, 1)
		open("damaged.data", "wb").write(data)
		print(at)
	END
	)
	run -1 --separate-stderr "$BPFPROF" script -i damaged.data
	[ "${#lines[@]}" -gt 100 ]
	[[ $stderr == "bpfprof: damaged.data is damaged: the record at byte $at has the impossible size 1; "*" samples before that are shown" ]]
}

@test "events of a recording can be listed and none of its bytes reach the terminal raw" {
	need_recording
	start bash -c 'printf "x\033[31my" >/proc/$$/comm; while :; do :; done'
	wait_for grep -q 31my "/proc/$!/comm"
	record_until has_values perf.data pid "$!" -- -F 999 -p "$!"
	"$BPFPROF" script >ours.txt
	grep -q '^x\\x1b\[31my ' ours.txt
	run ! grep -q $'\033' ours.txt
}
