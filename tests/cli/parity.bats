#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What perf report says of a recording, bpfprof report says too: entry by entry to 0.01 point
# (compare_report.py tells what is known to differ), and to the byte where nothing does. Code without
# symbol, which ours names by its function, is left to names.bats: --strict-perf here.
#
# The recordings are of programs that are started here, so that nothing else on the machine is in them;
# of the one of all CPUs only those programs and the idle CPUs are compared.
#
# Runs beside others.

load common

setup_file() {
	# Wrappers of python3 are programs with names longer than perf prints.
	export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
	COMPARE=$(realpath "$BATS_TEST_DIRNAME/compare_report.py")
	bind_early
	export COMPARE PERF_CONFIG=/dev/null PAGER=cat DEBUGINFOD_URLS=
	WORK=$(realpath "$BATS_TEST_DIRNAME")/mixed_work.sh
	cd "$BATS_FILE_TMPDIR" || return
	"$PERF" --version >/dev/null 2>&1 || return 0
	"$BATS_TEST_DIRNAME/known_recording.py" made.data chains=1 shuffle=1 "$WORKLOADS/mainbarfoo" \
		'foo<bar<main<_start=500500x180' 'bar<main<_start=500500x120' 'main<_start=500500x3' _start=500500
	[ "$(id -u)" = 0 ] || return 0
	perf_records -F 1999 -g -o named.data -- "$WORKLOADS/mainbarfoo" 1500
	perf_records -F 999 -g -o mixed.data -- "$WORK"
	perf_records --bpf-event -F 999 -a -g -o all.data -- "$WORK"
	perf_records -F 999 -z -g -o compressed.data -- "$WORK"
	perf_records -F 199 --call-graph dwarf -o dwarf.data -- "$WORKLOADS/mainbarfoo" 200
	# Nobody who reads the clock: perf does not step out of the vDSO there, which we have in memory.
	perf_records -F 1999 --call-graph dwarf -o one-dwarf.data -- "$WORKLOADS/mainbarfoo" 200
	perf_records -F 999 -g -e cpu-clock,task-clock:u,page-faults -o events.data -- \
		"$WORKLOADS/mainbarfoo" 200
	perf_records -F 499 -g -e cpu-clock,task-clock:u,page-faults -o mixed-events.data -- "$WORK"
	# The work writes to standard output too.
	"$PERF" record -q --no-bpf-event --buildid-mmap -F 999 -g -o - -- "$WORK" 2>/dev/null >pipe.data
	"$BATS_TEST_DIRNAME/pipe_to_file.py" pipe.data pipe-as-file.data
	"$BPFPROF" record -q -F 999 -o ours.data -- "$WORK" >/dev/null
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
	need_perf
	need_root
}

# agree FILE OPTIONS...: every entry has perf's figures; of what a test asks of a file besides, a third
agree() {
	[ $# = 1 ] || is_its_turn 3 || return 0
	"$COMPARE" "$PERF" "$BPFPROF" "$@"
}

# The report without what each says behind it. perf 6.1 looks into memory it has not set to see
# whether "[...]" is inlined.
perf_text() {
	"$PERF" report --stdio --no-inline -i "$@" 2>perf.err |
		sed -e '/^# (Tip/,$d' -e 's/\[\.\.\.\] (inlined)$/[...]/'
}

our_text() {
	"$BPFPROF" report --strict-perf --stdio --no-inline -i "$@" | sed '/^# [0-9 ]* samples/,$d'
}

same_text() {
	diff <(perf_text "$@") <(our_text "$@")
}

@test "perf record -g: every entry agrees, whatever the keys" {
	agree mixed.data
	agree mixed.data -s comm,dso,sym
	agree mixed.data -s sym
	agree mixed.data -s dso
	agree mixed.data -s comm
	agree mixed.data -s pid
	agree mixed.data -s pid,sym
	agree mixed.data -s cpu,dso
}

@test "perf record -g: every entry agrees without children, and inverted" {
	agree mixed.data --no-children
	agree mixed.data -G
	agree mixed.data --no-children -s dso,sym
	agree mixed.data --max-stack 4
}

@test "perf record -a -g: every entry of these programs, and of idle CPUs, agrees" {
	local programs=swapper,mixed_work.sh,mainbarfoo,deep,forky
	agree all.data --comms $programs
	agree all.data --comms $programs -s comm,dso,sym
	agree all.data --comms $programs -s comm,sym
	agree all.data --comms $programs -s cpu,comm
	agree all.data --comms $programs --no-children
	agree all.data --comms $programs -G
}

# Of our own programs, which have symbols, only linkage tables have none; perf takes their beginning for
# _init.
callers_without_name() {
	grep -E '\[\.\] 0x0000[5-7][0-9a-f]{11}$' | grep -vE ' (forky|deep|mainbarfoo) +\[' | sort
}

@test "a caller without a name has a line for each address it was seen at, as in perf" {
	perf_text mixed.data -g none | callers_without_name >theirs
	our_text mixed.data -g none | callers_without_name >ours
	[ "$(wc -l <theirs)" -gt 10 ]
	# what is deleted meanwhile we may name
	diff <(grep -v '(deleted)' theirs | sed 's/  */ /g') <(grep -v '(deleted)' ours | sed 's/  */ /g')
}

@test "bpfprof record: every entry agrees" {
	agree ours.data
	agree ours.data -s sym
	agree ours.data -s dso
	agree ours.data -s comm
	agree ours.data -s pid
	agree ours.data --no-children
	agree ours.data -G
}

@test "perf record --call-graph dwarf: every entry agrees where there are no files to unwind by" {
	mkdir -p nothing
	agree one-dwarf.data --symfs nothing
	agree one-dwarf.data --symfs nothing -s dso
	agree one-dwarf.data --symfs nothing -s pid
	agree one-dwarf.data --symfs nothing -G
	agree one-dwarf.data --symfs nothing --no-children
}

@test "without --strict-perf it is told where such a sample was" {
	mkdir -p nothing
	"$BPFPROF" script -i dwarf.data --symfs nothing --comms mainbarfoo -F comm,ip,provenance >script.txt
	grep -q 'no file\]$' script.txt
	# each of these has its one user frame
	awk '/no file\]$/ { wanted = 1; next } NF { last = $1 }
		!NF && wanted { bad += last ~ /^ffff/ || last == ""; wanted = 0; last = "" }
		END { exit bad }' script.txt
}

@test "perf record --call-graph dwarf: what the samples themselves used agrees" {
	agree dwarf.data --no-children
	agree dwarf.data --no-children -s dso
	agree dwarf.data --no-children -s sym
}

@test "a pipe's recording: every entry is that of the same events in a file" {
	agree pipe-as-file.data --ours pipe.data
	agree pipe-as-file.data --ours pipe.data -s sym
	agree pipe-as-file.data --ours pipe.data -s dso
	agree pipe-as-file.data --ours pipe.data -s pid
}

@test "a pipe's recording: what the samples themselves used agrees" {
	agree pipe.data --no-children
	agree pipe.data --no-children -s dso
}

@test "a compressed recording: every entry agrees" {
	agree compressed.data
	agree compressed.data -s sym
	agree compressed.data --no-children
}

@test "several events: one block each, every entry agrees" {
	agree events.data
	agree events.data -s comm
	same_text events.data
	agree mixed-events.data
	agree mixed-events.data -s sym
	agree mixed-events.data -s pid
}

@test "events side by side, and hierarchies: every line agrees" {
	agree events.data --group
	agree mixed-events.data --group --no-children
	agree mixed-events.data --group -s dso,sym
	agree mixed.data --hierarchy
	agree mixed.data --hierarchy -s '{comm,dso},sym'
	agree mixed.data --no-children -s time,comm
	agree mixed.data -s parent,comm -p 'sys_|fault' -x
	same_text events.data --group
	same_text events.data --group --hierarchy -g none
	same_text named.data --hierarchy
}

@test "the table is perf's to the byte" {
	local options
	for options in "" "-s dso" "-s comm" "-s pid" "-s cpu,dso" "--no-children" \
		"-n --show-total-period" "--showcpuutilization" "-F overhead,sample,dso -s comm" \
		"-t," "-q" "--percent-limit 5" "-w 9,9,6" "--hierarchy" "-U" \
		"--symbol-filter ba"; do
		is_its_turn 3 || continue
		echo "options: $options"
		# shellcheck disable=SC2086
		same_text named.data -g none $options
	done
	# Lines of equal share, and of code without symbol, perf puts by what came first where functions are told
	# apart, and their files are not: no recording with the start of a program in it.
	same_text made.data -g none -s sym
	same_text made.data -g none -s parent,sym -p ma
	same_text made.data -g none -p ma
	same_text made.data -g none -s pid -t :
	same_text made.data -g none -F overhead,sym -p ma
}

@test "call graphs are perf's to the byte" {
	local options
	for options in "" "-G" "-g callee" "--no-children" "--no-children -G" "-g fractal" "-g flat" \
		"-g folded" "-g graph,0" "-g graph,2,1,caller,count" "-g fractal,5,callee,period" \
		"-s dso" "--percent-limit 5" "--max-stack 2" "--ignore-callees ^bar$ --no-children"; do
		is_its_turn 3 || continue
		echo "options: $options"
		# shellcheck disable=SC2086
		same_text named.data $options
	done
	same_text made.data -s sym
}

@test "figures of main, bar and foo are what the program does" {
	local children self symbol
	# Twenty samples a round: foo's share is right even where rounds and samples keep step. Of its user code: at
	# this rate the kernel is some percent of it.
	perf_records -e cpu-clock:u -F 20000 -g -o figures.data -- "$WORKLOADS/mainbarfoo" 500
	while read -r children self _ _ _ symbol; do
		case $symbol in
		main) awk "BEGIN { exit !(${self%\%} < 0.5) }" ;; # it calls bar, and looks at the clock
		bar) awk "BEGIN { exit !(${self%\%} > 35 && ${self%\%} < 45) }" ;;
		foo) awk "BEGIN { exit !(${self%\%} > 55 && ${self%\%} < 65) }" ;;
		*) continue ;;
		esac
		[ "$symbol" = foo ] || awk "BEGIN { exit !(${children%\%} > 95) }"
		echo "$symbol" >>seen
	done < <("$BPFPROF" report -q -g none -i figures.data)
	[ "$(sort seen | tr '\n' ' ')" = "bar foo main " ]
}

# Where mappings have build ids, perf 6.1 takes a part of them for the inode.
without_inodes() {
	sed -E 's/^( +[0-9a-f]+-[0-9a-f]+ [rwxps-]{4} [0-9a-f]+) [0-9]+ /\1 /'
}

@test "records counted, tasks and mappings are perf's to the byte" {
	local file option
	for file in mixed.data compressed.data events.data pipe.data ours.data; do
		for option in --stats --tasks --mmaps; do
			echo "$file $option"
			"$PERF" report -i "$file" $option >theirs.txt 2>perf.err
			[ "$(grep -c . theirs.txt)" -gt 1 ]
			if has_build_ids "$file"; then
				diff <(without_inodes <theirs.txt) \
					<("$BPFPROF" report -i "$file" $option | without_inodes)
			else
				diff theirs.txt <("$BPFPROF" report -i "$file" $option)
			fi
		done
	done
}

# What perf tells of BPF programs is told here only to be there.
@test "-I shows all of the header that perf shows of CPUs, caches and memory" {
	local command
	for command in report script; do
		"$PERF" $command -i mixed.data --header-only -I 2>/dev/null >theirs.txt
		"$BPFPROF" $command -i mixed.data --header-only -I >ours.txt
		grep -q '^# sibling threads : ' ours.txt
		diff <(grep -vE 'bpf_prog_info|sub_prog|btf info' theirs.txt) <(grep -v '# BPF_' ours.txt)
	done
}

@test "-T shows what the events of each thread counted, as perf does" {
	# Children that work too little for a sample leave a file that perf has nothing to say of.
	perf_records -s -F 999 -e cpu-clock,task-clock -o counters.data -- "$WORKLOADS/forky" 10 50000000
	"$PERF" report --stdio -i counters.data -T 2>/dev/null | sed -n '/^# *PID/,$p' >theirs.txt
	[ "$(grep -c . theirs.txt)" -gt 2 ]
	diff theirs.txt <("$BPFPROF" report -i counters.data -T | sed -n '/^# *PID/,$p')
	"$BPFPROF" report -i counters.data | lacks PID
}
