#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Recordings with branch stacks, as perf reads them: scripted ones that went the way of a recording
# (branch_file.c): 43 functions deep, with 32 branch records.
#
# Runs beside others.

bats_require_minimum_version 1.5.0

setup_file() {
	local build="${BUILD:-$PWD/build}"
	export PERF="${PERF:-perf}" BPFPROF="${BPFPROF:-$build/bpfprof}" FILES="$BATS_FILE_TMPDIR"
	[ "$(id -u)" = 0 ] && [ "$(uname -m)" = x86_64 ] || return 0
	for kind in raw stitched plain; do
		"$build/tests/kernel/branch_file" $kind "$FILES/$kind"
	done
	"$build/tests/kernel/branch_file" stitched - | cat >"$FILES/stream"
}

setup() {
	[ "$(id -u)" = 0 ] || skip "not root"
	[ "$(uname -m)" = x86_64 ] || skip "the script takes x86 instructions apart"
	"$PERF" --version >/dev/null 2>&1 || skip "no perf"
}

# perf on the file $1, which may not have anything to complain about.
quiet_perf() {
	local file=$1
	shift
	"$PERF" "$@" -i "$FILES/$file" 2>"$BATS_TEST_TMPDIR/complaint" || return
	cat "$BATS_TEST_TMPDIR/complaint" >&2
	[ ! -s "$BATS_TEST_TMPDIR/complaint" ]
}

# The stacks of the file $1, a line each, innermost first; what follows goes to perf script.
stacks() {
	local file=$1
	shift
	quiet_perf "$file" script -F ip,sym "$@" |
		awk 'NF { printf "%s ", $2; frames++ } !NF && frames { print ""; frames = 0 }'
}

@test "perf reads every kind of recording with branch stacks without a complaint" {
	for kind in raw stitched plain; do
		quiet_perf $kind script >/dev/null
		quiet_perf $kind report --stdio >/dev/null
		quiet_perf $kind report --header-only >/dev/null
		quiet_perf $kind evlist -v >/dev/null
	done
}

@test "raw call stacks are marked as perf marks them" {
	header=$(quiet_perf raw report --header-only)
	[[ $header == *"branch_sample_type = USER|CALL_STACK|NO_FLAGS|NO_CYCLES|HW_INDEX"* ]]
	[[ $header == *"cpu pmu capabilities: branches=32"* ]]
	[[ $header != *"contains samples with branch stack"* ]]
}

@test "perf shows the call stacks of a raw recording, and stitches them" {
	deepest=$(stacks raw | awk '{ print NF }' | sort -n | tail -n 1)
	[ "$deepest" = 33 ] # the leaf and 32 calls
	deepest=$(stacks raw --stitch-lbr | awk '{ print NF }' | sort -n | tail -n 1)
	[ "$deepest" -ge 43 ]
	quiet_perf raw report --stdio --stitch-lbr >/dev/null
}

@test "perf finds the true leaf where the registers hold nothing" {
	run ! grep -q unknown < <(stacks raw)
	[ "$(stacks raw | awk 'NF == 1' | wc -l)" -gt 50 ]
}

@test "perf shows all 43 functions of stitched stacks, which are ordinary call chains" {
	[[ $(quiet_perf stitched evlist -v) != *BRANCH* ]]
	stacks stitched >"$BATS_TEST_TMPDIR/stacks"
	whole=note_calls
	for level in {0..42}; do
		whole+=" level_$level"
	done
	[ "$(grep -c "^$whole main" "$BATS_TEST_TMPDIR/stacks")" -ge 10 ]
	# Nothing else is in them, at any depth.
	run ! grep -vE "^(note_calls )?(level_[0-9]+ )*(main .*)?$" "$BATS_TEST_TMPDIR/stacks"
	awk '/level_0/ { levels = gsub(/level_/, ""); if (levels != 43) bad++; all++ }
		END { print all + 0 " with level_0, " bad + 0 " cut"; exit !(all > 20 && !bad) }' \
		"$BATS_TEST_TMPDIR/stacks"
}

@test "a raw recording that is stitched when it is read has the stacks of the stitched one" {
	"$BPFPROF" script -i "$FILES/raw" -F sym --stitch-lbr >"$BATS_TEST_TMPDIR/raw"
	"$BPFPROF" script -i "$FILES/stitched" -F sym >"$BATS_TEST_TMPDIR/stitched"
	diff "$BATS_TEST_TMPDIR/raw" "$BATS_TEST_TMPDIR/stitched"
}

@test "killed before the stacks were put together: the branch records are there" {
	run "$BUILD/tests/kernel/branch_file" killed "$FILES/killed"
	[ "$status" = 137 ]
	"$BPFPROF" script -i "$FILES/stitched" -F sym >"$BATS_TEST_TMPDIR/stitched"
	"$BPFPROF" script -i "$FILES/killed" -F sym --stitch-lbr >"$BATS_TEST_TMPDIR/killed"
	diff "$BATS_TEST_TMPDIR/killed" "$BATS_TEST_TMPDIR/stitched"
	[ ! -e "$FILES/killed.stitched" ]
}

@test "a stitched stream has no branch stacks, and no frame that the stitched file has not" {
	stacks stream >"$BATS_TEST_TMPDIR/stream"
	stacks stitched >"$BATS_TEST_TMPDIR/stitched"
	paste -d '|' "$BATS_TEST_TMPDIR/stream" "$BATS_TEST_TMPDIR/stitched" |
		awk -F '|' 'index($2, $1) != 1 { bad++ } END { exit NR != 1024 || bad }'
}

@test "perf sees a recording of branches as one" {
	[[ $(quiet_perf plain report --header-only) == *"contains samples with branch stack"* ]]
	[[ $(quiet_perf plain report --stdio) == *"Source Symbol"*"level_31"* ]]
	[ "$(quiet_perf plain script -F brstack | awk 'NF { print NF }' | sort -n | tail -n 1)" = 32 ]
}
