#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# bpfprof script prints what perf script prints, byte for byte, and answers wrong input in one line.
#
# Runs beside others.

load common

setup_file() {
	bind_early
	cd "$BATS_FILE_TMPDIR" || return 1
	"$WORKLOADS/deep" 20 100 3>&- &
	# attached, so that no sample is older than the program's own mappings
	wait_for grep -q deep "/proc/$!/comm"
	"$PERF" record -q --no-bpf-event -e cpu-clock -F 500 -g -p $! -o chains.data -- "$WORKLOADS/spin" 0.3 \
		>/dev/null 2>&1 || { kill $! && return 0; }
	"$PERF" record -q --no-bpf-event -e cpu-clock,task-clock -F 300 -p $! -o flat.data -- "$WORKLOADS/spin" 0.3 \
		>/dev/null 2>&1
	kill $!
	"$PERF" record -q --no-bpf-event -e cpu-clock -F 300 -d --intr-regs=ip,sp,r15 --user-regs=ip,sp,bp -k monotonic \
		-W --phys-data --data-page-size --code-page-size -o rare.data -- "$WORKLOADS/mainbarfoo" 100 \
		>/dev/null 2>&1
	"$PERF" record -q --no-bpf-event -e cpu-clock,page-faults -c 500000 -g -o kinds.data -- "$WORKLOADS/mainbarfoo" 100 \
		>/dev/null 2>&1
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	[ -s chains.data ] || skip "perf cannot record here"
}

# same FILE OPTION...: both print the same, and something. (Somebody on the machine may be named with
# escape codes, which perf prints raw.)
same() {
	local file=$1
	shift
	"$PERF" script -i "$file" "$@" 2>perf.err | grep -v $'\033' >perf.txt
	"$BPFPROF" script --strict-perf -i "$file" "$@" 2>ours.err | grep -vF '\x1b' >ours.txt
	[ -s perf.txt ]
	[ ! -s ours.err ]
	diff perf.txt ours.txt >differences.txt || { head -5 differences.txt; return 1; }
}

@test "samples with call chains look as perf's" {
	same chains.data
}

@test "samples without call chains look as perf's" {
	same flat.data
}

@test "hidden call chains leave the line of the sample" {
	same chains.data -G
}

@test "fields are printed in perf's order and widths" {
	same chains.data -F comm,tid,time,ip,sym
	same chains.data -F ip,sym,symoff,dso,comm,pid,tid,time,event,period
	same flat.data -F comm,pid,event,ip,dso
	same flat.data -F comm,time,period
}

@test "a field is added or left out" {
	same flat.data -F +pid
	same flat.data -F -period
}

@test "registers, weights, addresses and page sizes are printed as perf prints them" {
	same rare.data -F ip,sym,iregs,uregs
	same rare.data -F +addr,+weight,+ins_lat,+phys_addr,+data_page_size,+code_page_size
	same rare.data -F comm,flags,misc,ip
	same kinds.data -G -F +misc,-period
}

@test "the time of day and times since others are printed as perf prints them" {
	same rare.data -F +tod
	same rare.data -F +tod --ns
	same rare.data --reltime
	same rare.data --deltatime --ns
	same rare.data -L
}

@test "the fields of one kind of events are chosen" {
	same kinds.data -F sw:comm,time
	same kinds.data -F trace:comm,time
	same kinds.data -F sw:-period
}

@test "samples are chosen by function and binary" {
	same rare.data -S foo
	same rare.data --dsos mainbarfoo
	same kinds.data --stop-bt bar
	run -0 "$BPFPROF" script -i rare.data -S nothing
	[ -z "$output" ]
}

@test "a field of perf script that is none here is answered with the reason, and may be left out" {
	run -2 "$BPFPROF" script -i flat.data -F comm,callindent
	[[ $output == *"field 'callindent' is not printed here; it is only known to decoders of hardware traces" ]]
	same flat.data -F -insn
	run -2 "$BPFPROF" script -i flat.data -F what:comm
	[[ $output == *"unknown kind of events 'what'; there are hw, sw, trace, raw and break" ]]
	run -2 "$BPFPROF" script -i flat.data -F comm,iregs
	[ "$output" = "bpfprof: the samples hold no 'iregs'; leave it out of -F" ]
}

@test "records beside the samples are printed as perf prints them" {
	local shown=(--show-task-events --show-mmap-events --show-switch-events --show-namespace-events
		--show-cgroup-events --show-bpf-events --show-lost-events)
	same kinds.data "${shown[@]}"
	same rare.data "${shown[@]}" -F +misc
	grep -q PERF_RECORD_MMAP2 ours.txt
	grep -q 'PERF_RECORD_COMM exec: mainbarfoo' ours.txt
	[ "$(id -u)" = 0 ] || return 0
	"$PERF" record -q --no-bpf-event -e cpu-clock -F 99 -a --switch-events --namespaces --all-cgroups -o all.data -- \
		"$WORKLOADS/mainbarfoo" 20 >/dev/null 2>&1
	same all.data "${shown[@]}" -F +misc
	grep -q 'PERF_RECORD_SWITCH_CPU_WIDE OUT' ours.txt
}

@test "dumps are perf's, compressed and from pipes, too" {
	same rare.data -D
	grep -q '^\.\.\. intr regs: mask' ours.txt
	same kinds.data -D
	same flat.data -D --time 10%-40%
	"$PERF" record -q --no-bpf-event -z -g -e cpu-clock -F 300 -o packed.data -- "$WORKLOADS/mainbarfoo" 50 >/dev/null 2>&1
	same packed.data -D
	"$PERF" record -q --no-bpf-event -e '{cpu-clock,task-clock}:S' -F 99 -o group.data -- "$WORKLOADS/mainbarfoo" 50 \
		>/dev/null 2>&1
	same group.data -D
	"$PERF" record -q --no-bpf-event -g -e cpu-clock -F 300 -o - -- "$WORKLOADS/mainbarfoo" 50 2>/dev/null >pipe.data
	same pipe.data -D
}

@test "an unsorted dump has the records in the order of the file" {
	"$BPFPROF" script -i flat.data --dump-unsorted-raw-trace | awk -F'[@ ]' '/^0x.*event: /{ print $1 }' >offsets
	[ "$(wc -l <offsets)" -gt 50 ]
	while read -r offset; do printf '%d\n' "$offset"; done <offsets | sort -nc
}

@test "times have nine digits if asked" {
	same flat.data --ns
}

@test "the innermost frames are kept" {
	same chains.data --max-stack 3
}

@test "samples are chosen by time" {
	local middle
	# As text: awk prints six digits of a number, and a machine may be up for a day. The blanks
	# before a time are as many as its seconds leave.
	middle=$("$PERF" script -i flat.data -F time | tr -d ' :' | awk '{ t[NR] = $0 } END { print t[int(NR / 2)] }')
	[[ $middle =~ ^[0-9]+\.[0-9]{6}$ ]]
	same flat.data --time "$middle,"
	same flat.data --time ",$middle"
}

@test "samples are chosen by share of the recording" {
	same flat.data --time 10%-40%
	same flat.data --time 10%/2
}

@test "samples are chosen by process and thread" {
	local pid
	pid=$("$PERF" script -i flat.data -F pid | awk 'NR == 1 { print $1 }')
	same flat.data --pid "$pid"
	same flat.data --tid "$pid"
	run -0 "$BPFPROF" script -i flat.data --pid 1
	[ -z "$output" ]
}

@test "samples are chosen by name" {
	same flat.data --comms deep
	run -0 "$BPFPROF" script -i flat.data --comms dee,ep
	[ -z "$output" ]
}

@test "a CPU that was not recorded is said" {
	run ! "$BPFPROF" script -i flat.data -C 0
	[ "$output" = "bpfprof: the samples do not say on which CPU they were taken; leave out --cpu" ]
}

@test "stacks fold as flame graphs want them" {
	"$BPFPROF" script -i chains.data >ours.txt
	# a header that begins at the margin, frames behind a tab, an empty line
	awk '/^$/ { if (!head || !frames) exit 1; head = frames = 0; whole++; next }
	     /^\t/ { if (!head || NF < 3) exit 1; frames++; next }
	     { if (head) exit 1; head = 1 }
	     END { exit whole < 10 || head }' ours.txt
}

@test "the header stands first if asked" {
	run -0 "$BPFPROF" script -i flat.data --header
	[ "${lines[0]}" = "# ========" ]
	[[ $output == *"# hostname : $(uname -n)"* ]]
	run -0 "$BPFPROF" script -i flat.data --header-only
	[ "${lines[-2]}" = "# ========" ]
}

@test "an unknown field is answered with the nearest" {
	run ! "$BPFPROF" script -i flat.data -F comm,perido
	[[ $output == *"unknown field 'perido'; did you mean period?"* ]]
}

@test "each of our stacks says how it was walked and why it ended, if asked" {
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	"$BPFPROF" record -q -e cpu-clock -F 500 -o ours.data -- "$WORKLOADS/deep" 20 0.3
	"$BPFPROF" script --strict-perf -i ours.data >plain.txt
	"$BPFPROF" script --strict-perf -i ours.data -F +provenance >marked.txt
	[ "$(grep -c '^deep' marked.txt)" -gt 50 ]
	# the mark ends the sample's line, and nothing else differs
	run ! grep -Ev '^$|^	|^deep.* cpu-clock: \[(eh_frame|frame pointers|eh_frame and frame pointers), [a-z ]+\]$|^deep.*: \[no user stack\]$' marked.txt
	sed -E '/^deep/s/\[[a-z_ ,]+\]$//' marked.txt | diff plain.txt -
	"$PERF" script -i ours.data >perf.txt 2>perf.err
	[ ! -s perf.err ]
	diff perf.txt plain.txt
}

@test "a recording of perf does not say how stacks were walked" {
	run ! "$BPFPROF" script -i chains.data -F +provenance
	[ "$output" = "bpfprof: the samples hold no 'provenance'; leave it out of -F" ]
}

@test "a range that makes no sense is answered" {
	run ! "$BPFPROF" script -i flat.data --time 20%-10%
	[ "${#lines[@]}" = 1 ]
	[[ $output == *"--time '20%-10%' is not a range"* ]]
}

@test "a reader that goes away ends it quietly" {
	run bash -c '"$BPFPROF" script -i chains.data | head -1'
	[ "$status" = 0 ]
	[ "${#lines[@]}" = 1 ]
}

# options of perf script, as its help lists them
@test "every option of perf script is understood, or refused in a line that says what to use" {
	local option
	"$PERF" script -h 2>&1 | grep -oE '^ +(-[a-zA-Z], )?--[a-z-]+[^ ]*( <)?' | sed 's/^.*--/--/' >options.txt
	[ "$(grep -c . options.txt)" -gt 50 ]
	while read -r option; do
		case $option in
		*'<') option="${option% <} x" ;;
		*'['*) option=${option%%[*} ;;
		esac
		[ "$option" != "--input x" ] || continue
		# shellcheck disable=SC2086
		"$BPFPROF" script -i /dev/null $option >/dev/null 2>error.txt || true
		[ "$(grep -c . error.txt)" = 1 ]
		if grep -E 'unknown option' error.txt; then return 1; fi
	done <options.txt
}

@test "rounds are shown as perf does" {
	same flat.data --show-round-events
}
