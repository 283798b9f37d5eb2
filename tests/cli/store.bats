# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# Windows of a store: listed, summed, compared. The store is made by hand out of two recordings, without
# an index, which is made of them then.
#
# Runs beside others.

load common

setup_file() {
	need_root
	cd "$BATS_FILE_TMPDIR" || return
	# Two loads that anybody can tell apart.
	"$BPFPROF" record -q -F 499 -o bar.data -- "$WORKLOADS/mainbarfoo" 200
	"$BPFPROF" record -q -F 499 -o shares.data -- "$WORKLOADS/shares" 20000
	mkdir -p store/windows/20261121
	echo "bpfprof store 1" >store/format
	local minute
	for minute in 0 1 2; do cp bar.data "store/windows/20261121/140${minute}00.data"; done
	for minute in 0 1 2; do cp shares.data "store/windows/20261121/150${minute}00.data"; done
}

setup() {
	export TZ=UTC
	cd "$BATS_FILE_TMPDIR" || return
}

counted() {
	"$BPFPROF" report "$@" -g none -q 2>/dev/null
}

# Samples of a report's footer.
samples_of() {
	"$BPFPROF" report "$@" -g none 2>/dev/null | sed -n 's/^# \([0-9 ]*\) samples.* lost.*/\1/p' |
		tail -n 1 | tr -d ' '
}

@test "the windows of a store are listed, with what became of its index" {
	run --separate-stderr "$BPFPROF" list --store store
	[ "$status" = 0 ]
	[ "$(grep -c '^2026-11-21 1[45]:0[012]:00 ' <<<"$output")" = 6 ]
	grep '^# 6 windows' <<<"$output"
	# shellcheck disable=SC2154
	grep 'the index did not know 6 windows' <<<"$stderr"
	run "$BPFPROF" list --store store --at '2026-11-21 14:01' -q
	[[ "${lines[-1]}" == "2026-11-21 14:01:00"*"499 Hz"* ]]
}

@test "a list by days adds their windows up" {
	run --separate-stderr "$BPFPROF" list --store store --days -q
	[ "${#lines[@]}" = 1 ]
	[[ "$output" == "2026-11-21 "*" 6 "* ]]
	run --separate-stderr "$BPFPROF" list --store store --days --json
	[ "$status" != 0 ]
	[[ "$stderr" == *"--days is a layout of text"* ]]
}

@test "a list as JSON says what is missing in between" {
	"$BPFPROF" list --store store --json 2>/dev/null >list.json
	run python3 -c '
import json
store = json.load(open("list.json"))
assert store["version"] == 1, store
assert len(store["windows"]) == 6
assert all(window["samples"] > 0 and window["rate_hz"] == 499 for window in store["windows"])
long_ones = [gap for gap in store["gaps"] if gap["to_ns"] - gap["from_ns"] > 50 * 60e9]
assert len(long_ones) == 1, store["gaps"]
'
	echo "$output"
	[ "$status" = 0 ]
}

@test "a report of a time sums its windows" {
	local one all
	one=$(samples_of -i bar.data)
	all=$(samples_of --store store --at '2026-11-21 14:00..14:03')
	echo "$one $all"
	[ "$all" = $((3 * one)) ]
	"$BPFPROF" report --store store --at '2026-11-21 14:00..14:03' -g none 2>/dev/null >shown
	grep '^# 2026-11-21 14:00:00 to .*: 3 windows, .* samples, .* lost$' shown
	grep '^# no data 2026-11-21 14:00' shown
	grep -w foo shown
	lacks -w part_0 <shown
}

@test "a report of a time has the lines of the windows one by one" {
	# Not the file itself: one recording shows an address without a name where it was mapped, as perf
	# does; windows know it by its place in the binary, as every process has it elsewhere.
	counted --store store --at '2026-11-21 14:00' >one
	counted --store store --at '2026-11-21 14:00..14:03' >three
	grep -w foo one
	diff one three
}

@test "sums of windows stand for them, line by line, and go when one of them does" {
	local file pid
	"$BUILD/tests/bench/store" summed 33 1795269600 bar.data shares.data
	"$BPFPROF" report --store summed >windows.txt
	"$BPFPROF" report --store summed --no-children -g none >flat.txt
	"$BUILD/tests/bench/store" sums summed
	# 14:00, 14:15; the three windows behind are of a time that goes on
	[ "$(find summed -name '*.sums' | wc -l)" = 2 ]
	"$BPFPROF" report --store summed >sums.txt
	diff windows.txt sums.txt
	"$BPFPROF" report --store summed --no-children -g none >flat_sums.txt
	diff flat.txt flat_sums.txt
	# They were read: but for the first, which says what all are like, their windows are not there.
	cp -r summed emptied
	for file in emptied/windows/*/14{0[1-9],1,2}*.data; do
		truncate -s 0 "$file"
		truncate -s "$(stat -c %s "${file/emptied/summed}")" "$file"
	done
	"$BPFPROF" report --store emptied >emptied.txt
	diff windows.txt emptied.txt
	"$BPFPROF" report --store emptied --no-children -g none >flat_emptied.txt
	diff flat.txt flat_emptied.txt
	# Others than asked for do not count, nor do damaged ones.
	"$BPFPROF" report --store summed --at '2026-11-21 14:05..14:10' >part.txt
	pid=$("$BPFPROF" script -i bar.data -F pid --hide-call-graph 2>/dev/null | awk 'NF { print $1; exit }')
	"$BPFPROF" report --store summed --at '2026-11-21 14:05..14:10' --pid "$pid" | grep 'samples' >/dev/null
	for file in summed/windows/*/*.sums; do
		printf 'x' | dd of="$file" bs=1 seek=100 conv=notrunc status=none
	done
	"$BPFPROF" report --store summed >damaged.txt
	diff windows.txt damaged.txt
	rm summed/windows/*/*.sums
	diff part.txt <("$BPFPROF" report --store summed --at '2026-11-21 14:05..14:10')
}

@test "two times of the store are compared" {
	"$BPFPROF" diff --store store --before '2026-11-21 14:00..14:03' \
		--after '2026-11-21 15:00..15:03' 2>/dev/null >changes
	cat changes
	grep '\[.\] foo .*gone' changes
	grep '\[.\] part_0 .*new' changes
	grep '^#  \[1\] 2026-11-21 15:00:00 to .* (3 windows)' changes
}

@test "script prints all windows of a time" {
	local one
	one=$("$BPFPROF" script -i bar.data -F comm,time --hide-call-graph 2>/dev/null | grep -c mainbarfoo)
	[ "$("$BPFPROF" script --store store --at '2026-11-21 14:00..14:02' -F comm,time --hide-call-graph \
		2>/dev/null | grep -c mainbarfoo)" = $((2 * one)) ]
}

@test "what cannot be asked is answered in one line" {
	run "$BPFPROF" report --store store --at noon
	[ "$status" = 2 ]
	[[ "$output" == *"--at 'noon' is not a time; give 14:00"* ]]
	run "$BPFPROF" diff --store store --before '2026-11-21 14:00..14:02' --after noon
	[ "$status" = 2 ]
	[[ "$output" == *"--after 'noon' is not a time; give 14:00"* ]]
	run --separate-stderr "$BPFPROF" report --store store --at '2026-11-22 10:00..11:00'
	[ "$status" = 1 ]
	[[ "$stderr" == *"has no windows from 2026-11-22 10:00:00"*"it has some from 2026-11-21 14:00:00"* ]]
	run "$BPFPROF" report --since 10m bar.data
	[ "$status" = 2 ]
	run "$BPFPROF" diff --before 14:00..14:01 --after 15:00..15:01 bar.data
	[ "$status" = 2 ]
	run "$BPFPROF" diff --store store
	[ "$status" = 2 ]
	run "$BPFPROF" report --store store --unit nginx.service
	[ "$status" = 2 ]
	[[ "$output" == *"do not say of which cgroup"* ]]
}

@test "an end may be still to come, and a day that never was is refused" {
	run "$BPFPROF" list --store store --since "$(date -d '2 minutes ago' +%H:%M)" --until "$(date -d '58 minutes' +%H:%M)"
	[ "$status" = 1 ]
	[[ "$output" == *"has no windows from"* ]]
	run "$BPFPROF" list --store store --since 2026-02-30
	[ "$status" = 2 ]
	[[ "$output" == *"--since '2026-02-30' is not a time"* ]]
}

@test "a store of a newer format is refused" {
	cp -r store newer
	echo "bpfprof store 2" >newer/format
	run "$BPFPROF" list --store newer
	[ "$status" = 1 ]
	[[ "$output" == *"newer is of format 2, and this version knows up to 1"* ]]
}

@test "a window that cannot be read is told, and the others are shown" {
	cp -r store damaged
	echo damaged >damaged/windows/20261121/140100.data
	"$BPFPROF" report --store damaged --at '2026-11-21 14:00..14:03' -g none >shown 2>said
	grep '140100.data cannot be read' said
	grep 'of them could not be read' shown
	grep -w foo shown
}

@test "windows at the ends of a time that cannot be read are passed over" {
	local format
	rm -rf ends
	cp -r store ends
	"$BPFPROF" list --store ends >/dev/null 2>&1
	: >ends/windows/20261121/140000.data
	echo damaged >ends/windows/20261121/150200.data
	"$BPFPROF" report --store ends -g none >shown 2>said
	grep '^# 2 of them could not be read' shown
	grep -w foo shown
	for format in folded pprof perfdata; do
		"$BPFPROF" export --store ends --format "$format" -o "ends.$format" 2>said
		grep -x 'bpfprof: 2 windows could not be read, or not to their end' said
	done
	diff <(sort ends.folded) <("$BPFPROF" export --store ends --at '2026-11-21 14:01..15:02' 2>/dev/null | sort)
	"$BPFPROF" diff --store ends --before '2026-11-21 14:00..14:03' --after '2026-11-21 15:00..15:03' \
		>changes 2>said
	grep '\[.\] foo .*gone' changes
	# the newest that can be read says whether cgroups were recorded
	run "$BPFPROF" report --store ends --unit nginx
	[ "$status" = 2 ]
	[[ "$output" == *"do not say of which cgroup"* ]]
	# that of them all is told of which none can be read
	run --separate-stderr "$BPFPROF" export --store ends --at '2026-11-21 14:00'
	[ "$status" = 1 ]
	[[ "$stderr" == *"140000.data"* ]]
}

# each_reads STORE WORDS: list and report come to an end, and say that
each_reads() {
	local command
	for command in list report; do
		run --separate-stderr timeout 20 "$BPFPROF" "$command" --store "$1"
		[ "$status" -le 1 ]
		[[ "$stderr" == *"$2"* ]]
	done
}

@test "what is no file in the place of one is not waited for" {
	local file
	for file in lock windows/index windows/20261121/140100.data; do
		rm -rf pipes
		cp -r store pipes
		"$BPFPROF" list --store pipes >/dev/null 2>&1
		rm -f "pipes/$file"
		mkfifo "pipes/$file"
		each_reads pipes ''
		[ "$status" = 0 ]
	done
	# shellcheck disable=SC2154
	grep '140100.data' <<<"$stderr"
	ln -sf /dev/zero pipes/windows/index
	each_reads pipes 'pipes/windows/index is no file'
	[ "$status" = 0 ]
	# nor is it read
	"$BPFPROF" list --store pipes >listed 2>/dev/null
	[ -n "${SANITIZE:-}" ] || (ulimit -v 1500000 && "$BPFPROF" list --store pipes 2>/dev/null) | cmp - listed
	ln -sf index pipes/windows/index
	each_reads pipes 'pipes/windows/index is no file'
	[ "$status" = 0 ]
	fails_with 1 'reading pipes/windows: pipes/windows/index is no file; remove it' \
		"$BPFPROF" daemon --store pipes --once --window 1s
}

@test "a store whose windows are no folder is refused for that" {
	mkdir flat
	echo "bpfprof store 1" >flat/format
	: >flat/windows
	fails_with 1 'flat/windows is no folder; give another --store, or remove it' "$BPFPROF" list --store flat
	fails_with 1 'flat/windows is no folder; give another --store, or remove it' \
		"$BPFPROF" daemon --store flat --once --window 1s
}

@test "a day that is no folder is told in a line, and the others are listed" {
	cp -r store hidden
	: >hidden/windows/20261120
	run --separate-stderr "$BPFPROF" list --store hidden
	[ "$status" = 0 ]
	grep '^# 6 windows' <<<"$output"
	grep -x 'bpfprof: hidden/windows/20261120 is no folder: nothing of that day is read; remove or rename it' <<<"$stderr"
}

@test "a day that may not be opened is told in a line, and the others are listed" {
	cp -r store closed
	mkdir -m 0 closed/windows/20261120
	run --separate-stderr setpriv --bounding-set=-all --inh-caps=-all "$BPFPROF" list --store closed
	[ "$status" = 0 ]
	grep '^# 6 windows' <<<"$output"
	grep -x 'bpfprof: closed/windows/20261120 may not be opened: nothing of that day is read; run as root, or give its group r-x' <<<"$stderr"
}
