#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Source lines in a store, of binaries that have gone since: those that the binaries told while they were there,
# if the daemon was asked to keep them.
#
# Runs beside others.

load common
load daemons

# What calls through an inlined function into one that takes all the time; all of NAME.c.
program() {
	cat >"$1.c" <<-END
		#include <stdlib.h>
		static inline __attribute__((always_inline)) long $1_leaf(long n)
		{
			volatile long sum = 0;
			for (long i = 0; i < n; i++)
				sum += i ^ ${#1};
			return sum;
		}
		static __attribute__((noinline)) long $1_outer(long n)
		{
			long sum = $1_leaf(n);
			return sum + $1_leaf(n / 2);
		}
		int main(int argc, char **argv)
		{
			long sum = 0;
			for (long i = argc > 1 ? atol(argv[1]) : 1L << 40; i > 0; i--)
				sum += $1_outer(100000) + 1;
			return sum == 3;
		}
	END
	gcc -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls "${@:2}" -o "$1" "$1.c"
}

build_programs() {
	program whole
	program apart
	objcopy --only-keep-debug apart apart.debug
	objcopy --strip-debug --add-gnu-debuglink=apart.debug apart
	program bare -g0
}

is_sampled() {
	"$BPFPROF" script --store "$1" --since 1h -F comm -G 2>/dev/null | grep -qw "$2"
}

# lines_of STORE FILE: the lines where our programs were sampled, as report shows them
lines_of() {
	local name
	for name in whole apart; do
		"$BPFPROF" report --store "$1" --since 1h -d "$name" -s symbol,srcline -g none --no-children
	done 2>errors | grep -v '^#' >"$2"
}

# of_store STORE FILE: the lines and callers of all that was sampled of our programs, as report and script
# show them
of_store() {
	local name
	for name in whole apart; do
		"$BPFPROF" report --store "$1" --since 1h -c "$name" --inline -s symbol,srcline -g caller
		"$BPFPROF" script --store "$1" --since 1h -c "$name" -F comm,ip,sym,dso,srcline
	done 2>errors | grep -v '^#' >"$2"
}

# id_of FILE: its build id, as it is in the names of files of a store
id_of() {
	readelf -n "$1" | awk '/Build ID/ { print substr($3, 1, 2) "/" substr($3, 3) }'
}

# places STORE: files of lines that it keeps
places() {
	find "$1/names" -name '*.places'
}

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	need_root
	export PERF_CONFIG=$PWD/config
	printf '[daemon]\n\tmax-cpu = none\n\tfreq = 499\n' >config
	bind_early
	build_programs
	for name in whole apart bare; do
		start_low "./$name"
		wait_for grep -qx "$name" "/proc/$!/comm"
	done
	"$BPFPROF" daemon --once --window 2s --store plain 2>log
	"$BPFPROF" daemon --once --window 2s --store kept --keep-lines 2>>log
	end_background

	id_of whole >id_of_whole
	id_of bare >id_of_bare
	cp -r kept without_places
	places without_places | xargs rm
	of_store without_places live
	lines_of plain plain_live
	cp bare whole
	of_store kept replaced
	rm whole apart apart.debug
	of_store kept gone
	lines_of plain plain_gone
}

setup() {
	need_root
	cd "$BATS_FILE_TMPDIR" || return
}

teardown_file() {
	end_background
}

@test "lines of what was replaced or has gone are those that the file told" {
	for line in whole.c:6 whole_leaf apart.c:6 apart_leaf whole.c:18 apart.c:18; do
		grep -q "$line" live
	done
	diff live replaced
	diff live gone
}

@test "without --keep-lines none are kept" {
	grep -q 'whole.c:6' plain_live
	[ -z "$(places plain)" ]
	[ -n "$(places kept)" ]
	lacks '\(whole\|apart\).c:[0-9]' plain_gone
	grep -q whole_outer plain_gone
}

# Whether a window tells that lines were not kept for this reason.
tells() {
	"$BPFPROF" report --store lossy --since 1h -s comm -g none >told 2>/dev/null
	grep -q "source lines of a binary were not kept: $1" told
}

# Runs a program that is deleted, and has ended, when its window ends; then as tells().
tells_of_brief() {
	cp lasting brief
	./brief 500 &
	rm brief
	wait "$!"
	tells 'it was gone when the window ended'
}

@test "lines that are in other files, are damaged, or of what has gone too soon, are counted" {
	program split -gsplit-dwarf
	program lasting
	program torn
	head -c 64 /dev/zero >nothing
	objcopy --update-section .debug_abbrev=nothing torn
	start_low ./split
	start_low ./torn
	start "$BPFPROF" daemon --store lossy --window 1s --keep-lines 2>log
	wait_for tells 'they are in more files than its debug file'
	[ ! -e "lossy/names/$(id_of split).places" ]
	wait_for tells 'its debug information could not be read'
	wait_for tells_of_brief
}

@test "of a program without debug information nothing is kept" {
	[ -s "kept/names/$(cat id_of_whole).places" ]
	[ -s "kept/names/$(cat id_of_bare).names" ]
	[ ! -e "kept/names/$(cat id_of_bare).places" ]
}

@test "a file of lines that is damaged costs its lines, and is told" {
	cp -r kept damaged
	for file in $(places damaged); do
		truncate -s -1 "$file"
	done
	lines_of damaged of_damaged
	lacks '\(whole\|apart\).c:[0-9]' of_damaged
	grep -q whole_outer of_damaged
	"$BPFPROF" report --store damaged --since 1h -d whole -s srcline 2>&1 >/dev/null | grep -c damaged
}

@test "a daemon keeps lines from the moment that its config file says so" {
	for name in whole apart; do
		program "$name"
	done
	start_low ./whole
	printf '[daemon]\n\tmax-cpu = none\n\tfreq = 499\n\twindow = 1s\n' >config
	start "$BPFPROF" daemon --store later 2>log
	daemon=$!
	wait_for is_sampled later whole
	[ -z "$(places later)" ]
	printf '\tkeep-lines\n' >>config
	kill -HUP "$daemon"
	has_places() { [ -n "$(places later)" ]; }
	wait_for has_places
	kill -INT "$daemon"
	wait "$daemon"
}

@test "what is lost after the last window is in the log" {
	program split -gsplit-dwarf
	start_low ./split
	"$BPFPROF" daemon --store last --window 1s --once --keep-lines 2>last_log
	grep 'after the last window: [1-9][0-9]* times: source lines .* they are in more files than its debug file' last_log
}

# reader_of PID: the process that starts those who read names
reader_of() {
	pgrep -P "$1" -x bpfprof-reader
}

@test "at its end the daemon does not wait for ever for names and lines to be read" {
	local daemon reader
	start "$BPFPROF" daemon --store ending --window 1s --keep-lines 2>ending_log
	daemon=$!
	wait_for grep -q 'sampling at' ending_log
	wait_for reader_of "$daemon"
	reader=$(reader_of "$daemon")
	kill -STOP "$reader" # and nobody lets it go on
	program unread
	start_low ./unread
	wait_for is_sampled ending unread
	kill -TERM "$daemon"
	wait_for grep -q 'after the last window: .* to read it took too long' ending_log
	wait "$daemon"
	[ ! -d "/proc/$reader" ]
}
