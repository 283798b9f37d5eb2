#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What perf report says of a recording, bpfprof report says too: entry by entry to 0.01 point
# (compare_report.py tells what is known to differ), and to the byte where nothing does. Code without
# symbol, which ours names by its function, is left to names.bats: --strict-perf here.

load common

setup_file() {
	# Wrappers of python3 are programs with names longer than perf prints.
	export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
	COMPARE=$(realpath "$BATS_TEST_DIRNAME/compare_report.py")
	export COMPARE PERF_CONFIG=/dev/null PAGER=cat DEBUGINFOD_URLS=
	cd "$BATS_FILE_TMPDIR" || return
	"$PERF" --version >/dev/null 2>&1 || return 0
	[ "$(id -u)" = 0 ] || return 0
	perf_records -F 1999 -g -o named.data -- "$WORKLOADS/mainbarfoo" 3000
	perf_records -F 999 -a -g -o all.data -- "$(realpath "$BATS_TEST_DIRNAME")/mixed_work.sh"
	perf_records -F 999 -z -a -g -o compressed.data -- "$(realpath "$BATS_TEST_DIRNAME")/mixed_work.sh"
	perf_records -F 199 -a --call-graph dwarf -o dwarf.data -- "$WORKLOADS/mainbarfoo" 200
	# Nobody who reads the clock: perf does not step out of the vDSO there, which we have in memory.
	perf_records -F 1999 --call-graph dwarf -o one-dwarf.data -- "$WORKLOADS/mainbarfoo" 200
	perf_records -F 999 -g -e cpu-clock,task-clock:u,page-faults -o events.data -- \
		"$WORKLOADS/mainbarfoo" 200
	perf_records -F 499 -a -g -e cpu-clock,task-clock:u,page-faults -o all-events.data -- \
		"$(realpath "$BATS_TEST_DIRNAME")/mixed_work.sh"
	# The work writes to standard output too.
	"$PERF" record -q --buildid-mmap -F 999 -a -g -o - -- \
		"$(realpath "$BATS_TEST_DIRNAME")/mixed_work.sh" 2>/dev/null >pipe.data
	"$BATS_TEST_DIRNAME/pipe_to_file.py" pipe.data pipe-as-file.data
	"$BPFPROF" record -q -a -F 999 -o ours.data -- \
		"$(realpath "$BATS_TEST_DIRNAME")/mixed_work.sh" >/dev/null
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
	need_perf
	need_root
}

# agree FILE OPTIONS...: every entry has perf's figures
agree() {
	"$COMPARE" "$PERF" "$BPFPROF" "$@"
}

# The report without what each says behind it. perf 6.1 looks into memory it has not set to see
# whether "[...]" is inlined.
perf_text() {
	"$PERF" report --stdio --no-inline -i "$@" 2>/dev/null |
		sed -e '/^# (Tip/,$d' -e 's/\[\.\.\.\] (inlined)$/[...]/'
}

our_text() {
	"$BPFPROF" report --strict-perf --stdio --no-inline -i "$@" | sed '/^# [0-9 ]* samples/,$d'
}

same_text() {
	diff <(perf_text "$@") <(our_text "$@")
}

@test "perf record -a -g: every entry agrees, whatever the keys" {
	agree all.data
	agree all.data -s comm,dso,sym
	agree all.data -s sym
	agree all.data -s dso
	agree all.data -s comm
	agree all.data -s pid
	agree all.data -s pid,sym
	agree all.data -s cpu,dso
}

@test "perf record -a -g: every entry agrees without children, and inverted" {
	agree all.data --no-children
	agree all.data -G
	agree all.data --no-children -s dso,sym
	agree all.data --max-stack 4
}

@test "a caller without a name has a line for each address it was seen at, as in perf" {
	perf_text all.data -g none | grep -E '\[\.\] 0x0000[5-7][0-9a-f]{11}$' | sort >theirs
	our_text all.data -g none | grep -E '\[\.\] 0x0000[5-7][0-9a-f]{11}$' | sort >ours
	[ "$(wc -l <theirs)" -gt 10 ]
	# what is deleted meanwhile we may name
	diff <(grep -v '(deleted)' theirs | sed 's/  */ /g') <(grep -v '(deleted)' ours | sed 's/  */ /g')
}

@test "bpfprof record -a: every entry agrees" {
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
	agree all-events.data
	agree all-events.data -s sym
	agree all-events.data -s pid
}

@test "events side by side, and hierarchies: every line agrees" {
	agree events.data --group
	agree all-events.data --group --no-children
	agree all-events.data --group -s dso,sym
	agree all.data --hierarchy
	agree all.data --hierarchy -s '{comm,dso},sym'
	agree all.data --no-children -s time,comm
	agree all.data -s parent,comm -p 'sys_|fault' -x
	same_text events.data --group
	same_text events.data --group --hierarchy -g none
	same_text named.data --hierarchy
}

@test "the table is perf's to the byte" {
	local options
	for options in "" "-s dso" "-s comm" "-s sym" "-s pid" "-s cpu,dso" "--no-children" \
		"-n --show-total-period" "--showcpuutilization" "-F overhead,sample,dso -s comm" \
		"-t," "-q" "--percent-limit 5" "-w 9,9,6" "--hierarchy" "-U" \
		"--symbol-filter ba" "-s parent,sym -p ma"; do
		echo "options: $options"
		# shellcheck disable=SC2086
		same_text named.data -g none $options
	done
}

@test "call graphs are perf's to the byte" {
	local options
	for options in "" "-G" "-g callee" "--no-children" "--no-children -G" "-g fractal" "-g flat" \
		"-g folded" "-g graph,0" "-g graph,2,1,caller,count" "-g fractal,5,callee,period" \
		"-s sym" "-s dso" "--percent-limit 5" "--max-stack 2" "--ignore-callees ^bar$ --no-children"; do
		echo "options: $options"
		# shellcheck disable=SC2086
		same_text named.data $options
	done
}

@test "figures of main, bar and foo are what the program does" {
	local children self symbol
	while read -r children self _ _ _ symbol; do
		case $symbol in
		main) awk "BEGIN { exit !(${self%\%} < 0.5) }" ;; # it calls bar, and looks at the clock
		bar) awk "BEGIN { exit !(${self%\%} > 35 && ${self%\%} < 45) }" ;;
		foo) awk "BEGIN { exit !(${self%\%} > 55 && ${self%\%} < 65) }" ;;
		*) continue ;;
		esac
		[ "$symbol" = foo ] || awk "BEGIN { exit !(${children%\%} > 95) }"
		echo "$symbol" >>seen
	done < <("$BPFPROF" report -q -g none -i named.data)
	[ "$(sort seen | tr '\n' ' ')" = "bar foo main " ]
}

# Where mappings have build ids, perf 6.1 takes a part of them for the inode.
without_inodes() {
	sed -E 's/^( +[0-9a-f]+-[0-9a-f]+ [rwxps-]{4} [0-9a-f]+) [0-9]+ /\1 /'
}

@test "records counted, tasks and mappings are perf's to the byte" {
	local file option
	for file in all.data compressed.data events.data pipe.data ours.data; do
		for option in --stats --tasks --mmaps; do
			echo "$file $option"
			"$PERF" report -i "$file" $option >theirs.txt 2>/dev/null
			[ "$(grep -c . theirs.txt)" -gt 1 ]
			if [ "$file" = pipe.data ] || [ "$file" = ours.data ]; then
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
		"$PERF" $command -i all.data --header-only -I 2>/dev/null >theirs.txt
		"$BPFPROF" $command -i all.data --header-only -I >ours.txt
		grep -q '^# sibling threads : ' ours.txt
		diff <(grep -vE 'bpf_prog_info|sub_prog|btf info' theirs.txt) <(grep -v '# BPF_' ours.txt)
	done
}

@test "-T shows what the events of each thread counted, as perf does" {
	perf_records -s -F 999 -e cpu-clock,task-clock -o counters.data -- "$WORKLOADS/forky" 10 1000000
	"$PERF" report --stdio -i counters.data -T 2>/dev/null | sed -n '/^# *PID/,$p' >theirs.txt
	[ "$(grep -c . theirs.txt)" -gt 2 ]
	diff theirs.txt <("$BPFPROF" report -i counters.data -T | sed -n '/^# *PID/,$p')
	"$BPFPROF" report -i counters.data | lacks PID
}
