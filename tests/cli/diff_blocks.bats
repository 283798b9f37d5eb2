#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# bpfprof diff -c cycles and --stream: what blocks of code took, and the ways through it, of made
# recordings (block_recording.py); to the byte what perf diff prints (of blocks under --strict-perf).
# And report --total-cycles of the same: what perf report prints, but for blocks whose begin is not
# known, where perf tells the source of the function's begin, and we only that it is its begin.
#
# Runs beside others.

load common

setup_file() {
	export PERF_CONFIG=/dev/null PAGER=cat DEBUGINFOD_URLS=
	cd "$BATS_FILE_TMPDIR" || return
	local make program number
	make=$(realpath "$BATS_TEST_DIRNAME/block_recording.py")
	{
		for number in $(seq 300); do echo "int f$number(int n) { return n * $number; }"; done
		echo 'int leaf(int n) { int s = 0; for (int i = 0; i < n; i++) s += i * i; return s; }'
		echo 'int work(int n) {'
		echo '	int s = 0;'
		echo '	for (int i = 0; i < n; i++)'
		echo '		s += leaf(i);'
		echo '	return s;'
		echo '}'
		echo 'int main(void) { return work(3); }'
	} >blocks.c
	gcc -O0 -o plain blocks.c
	gcc -O0 -g -o lines blocks.c
	for program in plain lines; do
		# loops that got slower; blocks of the same end; blocks that only one of them has
		"$make" "$program.1" "$program" "leaf+0x2a>leaf+0x17:10,leaf+0x2a>leaf+0x17:12*3" \
			"work+0x20>leaf:5,leaf+0x30>work+0x10:7,leaf+0x15>leaf+0x24:100,leaf+0x10>leaf:9" \
			"work+0x30>work+0x18:3,work+0x30>work+0x1c:5,work+0x30>work+0x20:9" \
			"f7+0x8>f7:4,f7+0x8>f7+0x4:6"
		"$make" "$program.2" "$program" "leaf+0x2a>leaf+0x17:20,leaf+0x2a>leaf+0x17:22*2" \
			"leaf+0x2a>leaf+0x17:25,leaf+0x2a>leaf+0x17:31" \
			"work+0x20>leaf:5,leaf+0x30>work+0x10:70,leaf+0x15>leaf+0x24:101,leaf+0x10>leaf:9" \
			"work+0x32>work+0x18:3,work+0x32>work+0x18:5" "work+0x30>work+0x18:13,work+0x30>work+0x1c:15" \
			"f8+0x8>f8:4,f8+0x8>f8+0x4:6"
	done
	"$make" -s stream.1 lines "leaf+0x2a>leaf+0x17:10,leaf+0x2a>leaf+0x17:12,work+0x20>leaf:5*30" \
		"work+0x30>work+0x18:3,work+0x30>work+0x18:5*20" "f7+0x8>f7:4,f7+0x8>f7+0x4:6*10" \
		"f8+0x8>f8:4,f7+0x8>f8+0x4:6*5" "f9+0x8>f9:4*4" "f10+0x8>f10:4*3"
	"$make" -s stream.2 lines "leaf+0x2a>leaf+0x17:20,leaf+0x2a>leaf+0x17:22,work+0x20>leaf:5*20" \
		"work+0x30>work+0x18:3,work+0x30>work+0x18:5*30" "f7+0x8>f7:4,f7+0x8>f7+0x4:6*10" \
		"f8+0x8>f8:4,f7+0x8>f8+0x4:6*5" "f11+0x8>f11:4*4" "f10+0x8>f10:4*3"
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

# Lines without comments; blanks as one.
lines() {
	"$BPFPROF" diff -q -c cycles "$@" | sed 's/  */ /g; s/ $//'
}

same_as_perf() {
	"$PERF" diff -c cycles "$@" >expected
	grep -q '\[.* -> .*\]' expected
	"$BPFPROF" diff --strict-perf -c cycles "$@" >shown
	diff expected shown
}

@test "a block that both have is a line of its function, with the change of its average" {
	[ "$(lines plain.1 plain.2)" = " 1.31% [ 24 -> 30] 63 plain [.] leaf
 1.31% [ 17 -> 2a] 12 plain [.] leaf
 1.31% [ 0 -> 15] 1 plain [.] leaf
 0.33% [ 1c -> 30] 9 plain [.] work
 0.33% [ 10 -> 20] 0 plain [.] work" ]
	[ "$(lines -b -S leaf plain.2 plain.1 | head -n 1)" = " 1.30% [ 24 -> 30] -63 plain" ]
}

@test "with debug information a block says from which line to which it goes" {
	lines lines.1 lines.2 | grep -F '[blocks.c:301 -> blocks.c:301] 63 lines [.] leaf'
	lines lines.1 lines.2 | grep -F '[blocks.c:305 -> blocks.c:304] 9 lines [.] work'
}

@test "what only one of them has is counted below, and the formula says what was divided" {
	run "$BPFPROF" diff -c cycles -F plain.1 plain.2
	[ "$status" = 0 ]
	[[ $output == *"(70 / 1) - (7 / 1)"* ]]
	[ "${lines[-1]}" = "# Blocks that both have; left out: 1 only in plain.1, 2 only in plain.2" ]
}

@test "as JSON there are the sums of both" {
	"$BPFPROF" diff -c cycles --json plain.1 plain.2 >blocks.json
	python3 - <<-'EOF'
		import json
		lines = json.load(open("blocks.json"))["events"][0]["lines"]
		blocks = {line["symbol"]: line["others"][0]["blocks"] for line in lines}
		assert set(blocks) == {"leaf", "work"}, blocks
		block = blocks["leaf"][1]
		assert (block["start"], block["end"]) == (0x17, 0x2a), block
		assert (block["baseline_cycles"], block["baseline_times"]) == (66, 6), block
		assert (block["cycles"], block["times"], block["change"]) == (140, 6, 12), block
	EOF
}

@test "--strict-perf prints what perf prints: columns, places, changes, bars" {
	need_perf
	local options
	for options in "" "-b" "-p" "-F" "-o 0" "-s symbol" "--cycles-hist" "-p --cycles-hist"; do
		echo "options: $options"
		# shellcheck disable=SC2086
		same_as_perf $options plain.1 plain.2
	done
	same_as_perf plain.2 plain.1
	same_as_perf plain.1 plain.2 plain.1
	# but for where a block begins of which that is not known: perf has the line of the function
	"$PERF" diff -c cycles --cycles-hist lines.1 lines.2 | grep -v ' 0  ' >expected
	grep -q '\[blocks.c:.* -> .*\] *63 ' expected
	"$BPFPROF" diff --strict-perf -c cycles --cycles-hist lines.1 lines.2 | grep -v ' 0  ' >shown
	diff expected shown
}

@test "--stream: what both have stands side by side, with what it took" {
	run "$BPFPROF" diff --stream stream.1 stream.2
	[ "$status" = 0 ]
	[[ $output == *"cycles: 15, hits: 41.67%"*"cycles: 25, hits: 27.78%"* ]]
	[[ $output == *"old perf data only ]"*"f9 blocks.c:9"*"new perf data only ]"*"f11 blocks.c:11"* ]]
}

@test "--stream prints what perf prints" {
	need_perf
	local files
	for files in "stream.1 stream.2" "stream.2 stream.1" "stream.1 stream.1"; do
		# shellcheck disable=SC2086
		"$PERF" diff --stream $files >expected
		grep -q 'hot chain pair 2' expected
		# shellcheck disable=SC2086
		"$BPFPROF" diff --stream $files >shown
		diff expected shown
	done
}

@test "what cannot be is answered in one line" {
	fails_with 2 "--stream and --json: streams are no lines; leave one of them out" \
		"$BPFPROF" diff --stream --json stream.1 stream.2
	fails_with 2 "--stream compares two recordings; name two" \
		"$BPFPROF" diff --stream stream.1 stream.2 stream.1
	fails_with 2 "-c cycles and --paths: blocks of code are lines of functions; leave one of them out" \
		"$BPFPROF" diff -c cycles --paths plain.1 plain.2
	fails_with 2 "-c cycles: blocks of code are lines of functions; let symbol be among the keys of -s" \
		"$BPFPROF" diff -c cycles -s dso plain.1 plain.2
	fails_with 2 "--cycles-hist is about the cycles of blocks; give -c cycles, too" \
		"$BPFPROF" diff --cycles-hist plain.1 plain.2
}

# A report of blocks without comments.
total() {
	"$BPFPROF" report --total-cycles -q -i "$@" | sed -e 's/  */ /g' -e 's/^ //'
}

@test "report --total-cycles is perf's" {
	need_perf
	for file in plain.1 plain.2 lines.1 lines.2; do
		"$PERF" report --total-cycles --stdio -i "$file" 2>/dev/null | sed '/^# (Tip/,$d' >expected
		[ "$(grep -c -- ' -> ' expected)" -ge 7 ]
		"$BPFPROF" report --total-cycles --strict-perf -i "$file" | sed '/^# [0-9 ]* samples/,$d' >shown
		# the one block whose begin is not known
		diff <(sed '/ 9 .*\[.*301.*\]/d; /\[      0 ->      10\]/d' expected) \
			<(sed '/\[      0 ->      10\]/d' shown)
	done
}

@test "report --total-cycles tells the function, and shares that add up" {
	[ "$(total plain.1 | head -n 2)" = "46.73% 100 70.42% 100 [ 0 -> 15] plain leaf
30.84% 66 7.75% 11 [ 17 -> 2a] plain leaf" ]
	total plain.1 | awk '{ sum += $3 } END { exit !(sum > 99.9 && sum < 100.1) }'
	[ "$(total plain.1 --percent-limit 5 | wc -l)" = 3 ]
	[ "$(total lines.1 -t ';' | head -n 1)" = "46.73%;100;70.42%;100;[blocks.c:301 -> blocks.c:301];lines;leaf" ]
	"$BPFPROF" report --total-cycles --json -i lines.1 |
		jq -e '.events[0].blocks[0] | .symbol == "leaf" and .cycles == 100 and .end == 21 and .end_source == "blocks.c:301"'
}

@test "what --total-cycles does not go with is one line" {
	run "$BPFPROF" report --total-cycles -i plain.1 -s dso
	[ "$status" = 2 ]
	[ "$output" = "bpfprof: --total-cycles is of blocks of code, and -s of lines of samples or branches; leave out one of them" ]
	"$BATS_TEST_DIRNAME/known_recording.py" samples.data ./plain main=1x5
	run "$BPFPROF" report --total-cycles -i samples.data
	[ "$status" = 2 ]
	[ "$output" = "bpfprof: the recording has no branch stacks; record with -b, or leave it out here" ]
}
