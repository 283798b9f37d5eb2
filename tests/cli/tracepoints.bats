#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What tracepoints say: by formats that are made up (tracepoint_recording.py), of machines of either byte
# order, and by those of this kernel. To the byte what perf prints, but for control characters.
#
# Runs beside others.

load common

setup_file() {
	MAKE_FILE=$(realpath "$BATS_TEST_DIRNAME/tracepoint_recording.py")
	export MAKE_FILE PERF_CONFIG=/dev/null PAGER=cat DEBUGINFOD_URLS=
	cd "$BATS_FILE_TMPDIR" || return
	"$MAKE_FILE" made.data
	"$MAKE_FILE" turned.data order=big
	"$MAKE_FILE" narrow.data long=4
	"$MAKE_FILE" other.data order=big long=4
	"$MAKE_FILE" hostile.data hostile=1
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

# same_report FILE OPTION...: both reports have the same lines, but for perf's tip and our footer
same_report() {
	"$PERF" report --stdio -i "$@" 2>/dev/null | grep -v '^# (Tip\|^#*$' >theirs
	grep -q '^ ' theirs
	"$BPFPROF" report --strict-perf -i "$@" | sed '/^# [0-9].* samples/,$d' | grep -v '^#*$' | diff theirs -
}

# same FILE OPTION...: both print the same
same() {
	"$PERF" script -i "$@" 2>/dev/null >theirs
	[ -s theirs ]
	"$BPFPROF" script --strict-perf -i "$@" >ours
	diff theirs ours
}

@test "what made-up tracepoints say is printed as perf does, whatever machine they are of" {
	local file
	need_perf
	for file in made turned narrow other; do
		same "$file.data"
	done
	same made.data -F trace
	same made.data -F comm,time,event,trace,ip,sym
	same made.data -F -trace
	same made.data -F trace:event,trace
}

@test "without perf, too: numbers, words, flags, and what cannot be read field by field" {
	"$BPFPROF" script -i other.data -F event,trace >said
	grep -q 'made:numbers: a=-1 b=68 c=66 d=252 sum=128 more$' said
	grep -q $'made:words: comm=BCDEFG name=name 1\tbehind a tab' said
	grep -q 'made:choices: flags=TWO|0x20 state=' said
	grep -q 'made:bytes: mac=42:43:44:45:46:47 hex=42 43 44 45 46 47 list=' said
	grep -q 'made:unreadable: \[FAILED TO PARSE\] a=-1$' said
}

@test "a report of tracepoints alone has a line for each thing they say, as perf's" {
	local file
	need_perf
	for file in made turned narrow other; do
		same_report "$file.data"
		same_report "$file.data" -s comm,trace -n
	done
	same_report made.data -s trace,comm
	same_report made.data -s +comm
	same_report made.data -s trace -t,
	same_report made.data -F overhead,trace
	same_report made.data --hierarchy -s comm,trace
	same_report made.data -s comm
	"$BPFPROF" report --json -i made.data |
		jq -e '[.events[].entries[].trace | select(contains("sum=128 more"))] | length == 1'
}

@test "samples that are of no tracepoint say nothing" {
	"$(dirname "$MAKE_FILE")/known_recording.py" plain.data "$WORKLOADS/mainbarfoo" 'main=3'
	"$BPFPROF" report -q -s trace -i plain.data >lines
	grep -q '^ *100.00%  N/A *$' lines
	fails_with 2 "a key of tracepoints was given; use bpfprof report with a recording of tracepoints" \
		"$BPFPROF" diff -s trace made.data made.data
}

@test "a tracepoint's words cannot steer a terminal" {
	sed 's/ABCDEF/AB\x1bDEF/' made.data >steering.data
	"$BPFPROF" script -i steering.data >said
	grep -qF 'made:words: comm=AB\x1bDEF name=name 0' said
}

@test "formats that crash who reads them are answered in one line" {
	fails_with 1 "hostile.data makes the library that reads it crash; leave out what tracepoints say, with -F -trace" \
		"$BPFPROF" script -i hostile.data
	"$BPFPROF" script -i hostile.data -F -trace >said
	grep -q 'made:endless' said
	fails_with 1 "hostile.data makes the library that reads it crash; tell lines apart otherwise, with -s comm,dso,symbol" \
		"$BPFPROF" report -i hostile.data
	"$BPFPROF" report -q -s comm,dso,symbol -i hostile.data | grep -q '100.00%'
}

@test "of a format that says much of few bytes the fields are told" {
	"$MAKE_FILE" wide.data hostile=wide
	"$BPFPROF" script -i wide.data -F event,trace >said
	[ "$(grep -c 'made:wide: \[FAILED TO PARSE\] a=' said)" = 3 ]
	[ "$(wc -c <said)" -lt 1000 ]
}

@test "damaged formats are said, and samples shown" {
	sed 's/header_event/header_fish_/' made.data >damaged.data
	run -1 --separate-stderr "$BPFPROF" script -i damaged.data
	[ "$output" = "$("$BPFPROF" script -i made.data -F -trace)" ]
	# shellcheck disable=SC2154
	[ "$stderr" = "bpfprof: damaged.data: the formats of tracepoints are damaged" ]
	run -1 --separate-stderr "$BPFPROF" report -i damaged.data -s comm,trace
	[ "$stderr" = "bpfprof: damaged.data: the formats of tracepoints are damaged" ]
	[[ $output == *100.00%* ]]
}

@test "formats that were cut or changed anywhere are borne" {
	"$(dirname "$WORKLOADS")/damage/damage" -c 20 -f 40 -j "$(nproc)" script made.data >found ||
		{ cat found; return 1; }
	"$(dirname "$WORKLOADS")/damage/damage" -c 20 -f 40 -j "$(nproc)" report made.data >found ||
		{ cat found; return 1; }
}

@test "the status is the command's, and a reader that goes away is no crash" {
	"$BPFPROF" script -i made.data | head -n 1 >said
	grep -q 'made:numbers: a=0' said
	run -1 sh -c '"$BPFPROF" script -i made.data >/dev/full'
	[ "$output" = "bpfprof: cannot write to standard output: No space left on device" ]
}

@test "asking for what no event has is an error" {
	"$(dirname "$MAKE_FILE")/known_recording.py" plain.data "$WORKLOADS/mainbarfoo" 'main=3'
	fails_with 2 "the samples hold no 'trace'; leave it out of -F" "$BPFPROF" script -i plain.data -F trace
}

@test "this kernel's tracepoints say what perf says, in files and out of pipes" {
	need_perf
	need_root
	bind_early
	"$PERF" record -q --no-bpf-event -e 'raw_syscalls:*' -e sched:sched_process_exec -e sched:sched_process_exit -g \
		-o live.data -- ls / >/dev/null 2>&1 || skip "perf cannot record tracepoints here"
	same live.data
	grep -q 'raw_syscalls:sys_enter: NR' ours
	same live.data -F comm,event,trace
	same_report live.data -g none
	same_report live.data -s comm,trace -g none
	"$PERF" record -q --no-bpf-event -e 'raw_syscalls:sys_exit' -e cpu-clock -o - -- ls / 2>/dev/null >live.pipe
	"$BPFPROF" script -F event,trace -i live.pipe >ours
	"$PERF" script -F event,trace -i - <live.pipe 2>/dev/null | diff - ours
}
