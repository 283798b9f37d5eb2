#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Places in the source and inlined functions: perf's, and those that perf does not show.
#
# Runs beside others.

load common

setup_file() {
	# perf keeps copies of what it recorded, with their lines, at home.
	export PERF_CONFIG=/dev/null PAGER=cat DEBUGINFOD_URLS='' HOME=$BATS_FILE_TMPDIR/home
	bind_early
	cd "$BATS_FILE_TMPDIR" || return
	cat >inl.c <<-END
		#include <stdlib.h>
		static inline __attribute__((always_inline)) long leaf(long n)
		{
			volatile long s = 0;
			for (long i = 0; i < n; i++)
				s += i;
			return s;
		}
		static inline __attribute__((always_inline)) long middle(long n)
		{
			long a = leaf(n);
			return a + leaf(n / 2);
		}
		__attribute__((noinline)) long outer(long n)
		{
			long s = 0;
			for (int i = 0; i < 3; i++)
				s += middle(n);
			return s;
		}
		static inline __attribute__((always_inline)) long start(long n)
		{
			return outer(n);
		}
		int main(int argc, char **argv)
		{
			long n = argc > 1 ? atol(argv[1]) : 20000000;
			long sum = start(n);
			return sum == 3;
		}
	END
	gcc -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -o inl inl.c
	"$PERF" --version >/dev/null 2>&1 || return 0
	perf_records -e cpu-clock:u -F 999 -o flat.data ./inl 50000000 || return 0
	perf_records -e cpu-clock:u -F 999 -g -o chains.data ./inl 50000000
	perf_records -e cpu-clock:u -F 999 --call-graph dwarf,4096 -o copied.data ./inl 50000000
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
	export HOME=$BATS_TEST_TMPDIR
	need_perf
	[ -s copied.data ] || skip "perf cannot record here"
}

# A table without the C library's frames around main: the program that perf asks for lines gives the
# outermost function its name in DWARF, and then takes it for an inlined one.
without_start() {
	sed -e '/^# (Tip/,$d' -e '/^# [0-9 ]* samples/,$d' -e '/^#$/d' \
		-e 's/__libc_start_main_impl.* (inlined)/__libc_start_main@@GLIBC_2.34/' \
		-e 's/ libc-start.c:[0-9]*//; s/ libc_start_call_main.h:[0-9]*//; s/ ??:0$//' \
		-e '/^# \.\.\./d' -e '/^# dso: inl$/d' -e '/^# symbol: outer$/d' -e 's/ *$//'
}

# same_inlined FILE OPTION...: the reports are the same, with inlined functions. Of the dynamic linker,
# where few samples are and not always, perf's lines are of another file (dl-error-minimal.c, which
# only includes dl-error-skeleton.c, where we find the code) or ":0": what could show that is given `-d inl`.
same_inlined() {
	"$PERF" report --stdio -i "$@" 2>/dev/null | without_start >theirs
	"$BPFPROF" report --stdio -i "$@" | without_start >ours
	[ "$(wc -l <theirs)" -gt 8 ]
	diff theirs ours
}

# same_places FILE OPTION...: the same of the table of what was in the program's own functions. (A sample
# may fall into its start code, which perf says is of crtstuff.c, and of no line.)
same_places() {
	perf_table "$@" -d inl -S main,outer | sed -E '/^# (dso|symbol): /d' >theirs
	our_table "$@" -d inl -S main,outer | sed -E '/^# (dso|symbol): /d' >ours
	[ "$(wc -l <theirs)" -gt 6 ]
	diff theirs ours
}

@test "-s srcline and srcfile: lines are told apart by their place in the source, as in perf" {
	same_places flat.data -s srcline
	same_places flat.data -s srcfile
	same_places flat.data -s dso,sym,srcline,srcfile
	same_places flat.data -s srcline,sym
	same_places chains.data --no-children -g none -s sym,srcline
	grep -q 'inl.c:6' ours
}

@test "lines of equal share come in perf's order" {
	local earlier later
	objdump -d --no-show-raw-insn -j .text inl | awk -F: '/^ /{ print "0x" $1 }' | tr -d ' ' |
		addr2line -a -e inl | awk '/^0x/ { address = $1; next } { print $1, address }' >places
	# The earlier line at the higher address: it is the text that counts.
	earlier=$(awk '$1 ~ /inl.c:5$/ { last = $2 } END { print last }' places)
	later=$(awk '$1 ~ /inl.c:6$/ { print $2; exit }' places)
	[[ $earlier > $later ]]
	"$BATS_TEST_DIRNAME/known_recording.py" equal.data chains=1 shuffle=1 ./inl \
		"$earlier<main=1000000x20" "$later<main=1000000x20"
	same_inlined equal.data --no-children -s dso -g callee,srcline
	[ "$(grep -c -- '--50.00%--' ours)" = 2 ]
	same_inlined equal.data --no-children -s dso -g caller,srcline
}

@test "inlined functions are shown in copied stacks, as in perf" {
	same_inlined copied.data -d inl --no-children -s sym -g caller
	same_inlined copied.data -d inl --no-children -s sym -g callee
	same_inlined copied.data -d inl --no-children -s sym -g caller,address
	same_inlined copied.data -d inl -S outer --no-children -s sym -g callee,srcline
	grep -q 'leaf inl.c:[56] (inlined)' ours
	same_inlined copied.data -d inl -S outer --no-children -s srcline -g callee
}

@test "inlined functions have lines of their own with children" {
	same_inlined copied.data -s sym -g none --percent-limit 50
	grep -q '0.00%  \[.\] middle (inlined)' ours
}

@test "graphs by address and by place show it, where stacks were not copied too" {
	"$PERF" report --stdio -d inl -S outer -i chains.data --no-children -s sym -g caller,srcline 2>/dev/null |
		without_start >theirs
	"$BPFPROF" report --strict-perf -d inl -S outer -i chains.data --no-children -s sym -g caller,srcline |
		without_start >ours
	diff theirs ours
	grep -q 'outer inl.c:[56]' ours
}

@test "--inline shows inlined functions in all stacks, and --no-inline in none" {
	"$BPFPROF" report -i chains.data --no-children -s sym -g caller >ours
	run ! grep inlined ours
	"$BPFPROF" report -i chains.data --inline --no-children -s sym -g caller >ours
	# main has called from within an inlined function, though it goes on behind it
	tr -d ' \n' <ours | grep -q 'mainstart(inlined)outermiddle(inlined)leaf(inlined)'
	"$BPFPROF" report -i copied.data --no-inline --no-children -s sym -g caller >ours
	run ! grep inlined ours
	printf '[report]\ninline = true\n' >config
	PERF_CONFIG=config "$BPFPROF" report -i chains.data --no-children -s sym -g caller | grep -q 'leaf (inlined)'
}

@test "the line of a caller is that of its call; with --strict-perf where it goes on" {
	line=$(grep -n 'return outer(n);' inl.c | cut -d: -f1)
	"$BPFPROF" report -i chains.data --no-children -s sym -g caller,srcline | grep -q "main inl.c:$line\$"
	"$BPFPROF" report -i chains.data --no-children -s sym -g caller,srcline --strict-perf >ours
	run ! grep "main inl.c:$line\$" ours
}

@test "places in the source as JSON" {
	"$BPFPROF" report --json -d inl -S main,outer -i chains.data -s sym,srcline,srcfile -g caller,srcline --no-children |
		python3 -c '
import json, sys
entries = json.load(sys.stdin)["events"][0]["entries"]
assert {entry["source"].split(":")[0] for entry in entries} == {"inl.c"}, entries
assert {entry["source_file"] for entry in entries} == {"inl.c"}, entries
frames = entries[0]["call_graph"][0]["frames"]
assert any(frame.get("source", "").startswith("inl.c:") for frame in frames), frames
'
	"$BPFPROF" report --json -i copied.data -g caller | grep -q '"inlined": *true'
}

@test "without DWARF the place is ??:0, and behind no symbol the file and address, as in perf" {
	mkdir -p bare none
	mkdir -p "bare$PWD" "none$PWD"
	strip -g inl -o "bare$PWD/inl"
	strip inl -o "none$PWD/inl"
	# our functions alone: code that came with the compiler has a symbol table of its own to stand in
	same_table flat.data -s srcline,sym -S main,outer --symfs bare
	grep -q '??:0' ours
	"$BPFPROF" report --strict-perf -i flat.data -s srcline --symfs none | grep -q ' inl\[[0-9a-f]*\]'
	"$BPFPROF" report -i flat.data -s srcline --symfs none | grep -Eq '\[fn 0x[0-9a-f]+\]\+[0-9]+'
}

@test "DWARF of a separate debug file is found, of another build's is not" {
	mkdir -p "split$PWD/.debug" "other$PWD/.debug"
	objcopy --only-keep-debug inl "split$PWD/.debug/inl.debug"
	strip inl -o "split$PWD/inl"
	objcopy --add-gnu-debuglink="split$PWD/.debug/inl.debug" "split$PWD/inl"
	same=$("$BPFPROF" report -i flat.data -s srcline --symfs split)
	[[ $same == *inl.c:6* ]]
	sed 's/20000000/20000001/' inl.c >inl2.c
	gcc -O1 -g -fno-omit-frame-pointer -o inl2 inl2.c
	cp "split$PWD/inl" "other$PWD/inl"
	objcopy --only-keep-debug inl2 "other$PWD/.debug/inl.debug"
	other=$("$BPFPROF" report -i flat.data -s srcline --symfs other)
	[[ $other != *inl.c:* ]]
}

# Whether a command told once that the DWARF of our program is damaged.
told_damage() {
	[ "$(grep -cx "bpfprof: source lines of $PWD/inl are missing: its debug information could not be read; install or build it again" told)" = 1 ]
}

@test "DWARF that is damaged is told, and not taken for none" {
	head -c 64 /dev/zero >nothing
	mkdir -p "damaged$PWD"
	for section in .debug_line .debug_abbrev .debug_info; do
		objcopy --update-section "$section=nothing" inl "damaged$PWD/inl" 2>/dev/null
		"$BPFPROF" report -i chains.data -s srcline --symfs damaged >ours 2>told
		told_damage
		grep -q '??:0' ours
		"$BPFPROF" script -i chains.data -F ip,sym,srcline --symfs damaged >ours 2>told
		grep -q outer ours
		told_damage
		"$BPFPROF" report -q -i chains.data -s srcline --symfs damaged 2>told >/dev/null
		[ ! -s told ]
	done
	"$BPFPROF" report -i chains.data -s srcline >/dev/null 2>told
	[ ! -s told ]
}

# Frames by name and place alone; without the C library's, see without_start().
frames() {
	sed -E -e 's/^\t *[0-9a-f]+ /\t/' -e 's/__libc_start_main_impl \(inlined\)/__libc_start_main@@GLIBC_2.34/' |
		sed -E -e '/^  (\?\?:0|libc-start.c:[0-9]+|libc_start_call_main.h:[0-9]+)( \(inlined\))?$/d' \
			-e 's/__libc_start_main_impl/__libc_start_main@@GLIBC_2.34/'
}

@test "script -F srcline: each frame's place in the source, as perf script has it" {
	for fields in +srcline comm,ip,sym,srcline ip,srcline; do
		echo "fields: $fields"
		diff <("$PERF" script -i flat.data --dsos inl -S main,outer -F $fields 2>/dev/null) \
			<("$BPFPROF" script --strict-perf -i flat.data --dsos inl -S main,outer -F $fields)
		diff <("$PERF" script -i chains.data --dsos inl -S main,outer -F $fields 2>/dev/null | frames) \
			<("$BPFPROF" script --strict-perf -i chains.data --dsos inl -S main,outer -F $fields | frames)
	done
	"$BPFPROF" script -i flat.data -F +srcline | grep -q '^  inl.c:[56]$'
}

@test "script: inlined functions in copied stacks, as in perf script; with --inline in all" {
	for options in "-F comm,ip,sym,srcline" "-F ip,sym" "--no-inline -F comm,ip,sym,srcline"; do
		echo "options: $options"
		# shellcheck disable=SC2086
		diff <("$PERF" script -i copied.data --dsos inl -S outer $options 2>/dev/null | frames) \
			<("$BPFPROF" script -i copied.data --dsos inl -S outer $options | frames)
	done
	"$BPFPROF" script -i chains.data --inline >ours
	grep -q 'leaf+0x[0-9a-f]* (inlined)$' ours
	grep -q 'start+0x[0-9a-f]* (inlined)$' ours
	run ! grep inlined <("$BPFPROF" script -i chains.data)
	# a stream can be read only once, and holds the same
	"$BPFPROF" script -i - --inline <chains.data | diff ours -
}

@test "diff compares places in the source" {
	"$PERF" diff -s srcline flat.data copied.data 2>/dev/null | grep -o 'inl.c:[0-9]*' | sort >theirs
	"$BPFPROF" diff -s srcline flat.data copied.data | grep -o 'inl.c:[0-9]*' | sort >ours
	[ -s theirs ]
	diff theirs ours
}
