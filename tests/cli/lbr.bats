#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# LBR call stacks in report and script: without --stitch-lbr what perf shows, to the byte; with it
# more, and told where it comes from. The recordings are made (branch_recording.py): a stack of
# calls, deep and shallow, seen through 16 registers.
#
# Runs beside others.

load common

setup_file() {
	MAKE_BRANCHES=$(realpath "$BATS_TEST_DIRNAME/branch_recording.py")
	PROGRAM=$WORKLOADS/nofp
	export MAKE_BRANCHES PROGRAM PERF_CONFIG=/dev/null PAGER=cat DEBUGINFOD_URLS=
	cd "$BATS_FILE_TMPDIR" || return
	"$MAKE_BRANCHES" lbr.data "$PROGRAM" calls=1
	"$MAKE_BRANCHES" kernel.data "$PROGRAM" calls=1 in_kernel=1
	"$MAKE_BRANCHES" empty.data "$PROGRAM" calls=1 odd=1
	"$MAKE_BRANCHES" branches.data "$PROGRAM" chains=1
	cp "$PROGRAM" ./gone # without its code nothing is certain but what was recorded
	"$MAKE_BRANCHES" gone.data "$PWD/gone" calls=1
	rm gone
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
	need_perf
	need_root
}

@test "report: call graphs of LBR call stacks are perf's to the byte" {
	local options
	for options in "" "-G" "--no-children" "-g none" "-s dso" "-s sym" "-g callee" "-g fractal" \
		"-n -s pid"; do
		echo "options: $options"
		# shellcheck disable=SC2086
		same_table lbr.data $options
		# shellcheck disable=SC2086
		same_table kernel.data $options
	done
}

@test "script: LBR call stacks are perf's to the byte, and the branches if they are asked for" {
	diff <("$PERF" script -i lbr.data) <("$BPFPROF" script -i lbr.data)
	diff <("$PERF" script -i kernel.data 2>/dev/null) <("$BPFPROF" script -i kernel.data)
	diff <("$PERF" script -i lbr.data -F +brstack) <("$BPFPROF" script -i lbr.data -F +brstack)
}

@test "script --stitch-lbr prints the branches, too, if they are asked for" {
	diff <("$PERF" script -i lbr.data -F comm,brstack --stitch-lbr) \
		<("$BPFPROF" script -i lbr.data -F comm,brstack --stitch-lbr)
}

# perf 6.1 takes the leaf of a sample without entries from what lies behind it in the file.
@test "a sample without an entry has no user frame; perf's has none either, callers first" {
	same_table empty.data
	"$BPFPROF" script -i empty.data -F ip,sym >ours.txt
	"$PERF" script -i empty.data -F ip,sym 2>/dev/null >theirs.txt
	[ "$(grep -c . theirs.txt)" -gt "$(grep -c . ours.txt)" ]
	[ "$(diff theirs.txt ours.txt | grep -c '^>')" = 0 ]
}

# perf 6.1 with --stitch-lbr writes past the end of an array here.
@test "more entries than registers are read, and none is made up" {
	"$MAKE_BRANCHES" overlong.data "$PROGRAM" calls=1 overlong=1
	for tier in "" --stitch-lbr --stitch-lbr=likely; do
		# shellcheck disable=SC2086
		"$BPFPROF" report -i overlong.data $tier | grep -E "^# 400 LBR call stacks"
		# shellcheck disable=SC2086
		[ "$("$BPFPROF" script -i overlong.data -F comm $tier | grep -c branchy)" = 400 ]
	done
}

@test "the footer says that there is more to be had" {
	"$BPFPROF" report -i lbr.data | grep -x "# 400 LBR call stacks as the hardware cut them; --stitch-lbr goes on from there"
	"$BPFPROF" report -i branches.data | lacks LBR
}

@test "--stitch-lbr tells what became of each stack, as text and as JSON" {
	"$BPFPROF" report -i lbr.data --stitch-lbr >text
	grep -E "^# 400 LBR call stacks, [0-9]+ whole by hardware, [0-9]+ cut by it$" text
	"$BPFPROF" report -i lbr.data --stitch-lbr=likely --json >json
	python3 - <<END
import json
stacks = json.load(open("json"))["recording"]["lbr_stacks"]
assert stacks["stitched"] and stacks["count"] == 400
assert stacks["whole_by_hardware"] + stacks["cut_by_hardware"] == 400
assert sum(stacks["ended"].values()) == 400
assert stacks["became_whole"] <= stacks["cut_by_hardware"]
END
	run -2 "$BPFPROF" report -i lbr.data --stitch-lbr=guess
	[[ $output == *"guess: give certain or likely"* ]]
}

@test "--stitch-lbr counts the binaries that it could not look into" {
	cp "$PROGRAM" ./leaving
	"$MAKE_BRANCHES" left.data "$PWD/leaving" calls=1
	"$BPFPROF" report -i left.data --stitch-lbr | lacks "binaries could not be read"
	rm leaving
	"$BPFPROF" report -i left.data --stitch-lbr |
		grep -E "^#  +1 binaries could not be read: calls in them were not checked$"
}

@test "stitching a stream tells the same as stitching the file" {
	diff <("$BPFPROF" report -i lbr.data --stitch-lbr) \
		<("$BPFPROF" report -i - --stitch-lbr < <(cat lbr.data))
}

@test "where there is nothing to stitch, one line says so, and the report goes on" {
	for command in report script; do
		run -0 --separate-stderr "$BPFPROF" "$command" -i branches.data --stitch-lbr
		[ "$stderr" = "bpfprof: there are no LBR call stacks to stitch; record with --call-graph lbr" ]
		[ "$output" = "$("$BPFPROF" "$command" -i branches.data)" ]
	done
}

# Behind the CALL, where it would return to, there is another function. Both names are of the CALL, by
# report and by script, with the places in the source and without.
@test "a caller whose last instruction is its CALL is named, not what is behind it" {
	local tier fields
	gcc -g -nostdlib -static -x assembler -o last - <<-'END'
		.macro function name
		.globl \name
		.type \name, @function
		\name:
		.cfi_startproc
		.endm
		.macro end name
		.cfi_endproc
		.size \name, . - \name
		.endm
		function _start
		.cfi_undefined rip
		call calls_last
		ud2
		end _start
		function calls_last
		nop
		call never_returns
		end calls_last
		function not_called
		ret
		end not_called
		function never_returns
		jmp never_returns
		end never_returns
	END
	"$MAKE_BRANCHES" last.data "$PWD/last" calls=1
	for tier in --stitch-lbr --stitch-lbr=likely; do
		"$BPFPROF" report -i last.data "$tier" -g none >text
		grep -Eq '^ +100.00%.* calls_last$' text
		lacks not_called <text
		for fields in ip,sym,symoff ip,sym,srcline; do
			"$BPFPROF" script -i last.data "$tier" -F "$fields" >text
			grep -Eq '^\s+[0-9a-f]+ calls_last' text
			lacks not_called <text
		done
	done
	# Without stitching the CALLs themselves are shown, as perf does.
	diff <("$PERF" script -i last.data) <("$BPFPROF" script -i last.data)
}

@test "where call stacks of the LBR are not stitched, one line says so" {
	"$MAKE_BRANCHES" chainless.data "$PROGRAM" calls=1 chains=0
	for command in report script; do
		run -0 --separate-stderr "$BPFPROF" "$command" -i chainless.data --stitch-lbr
		[ "$stderr" = "bpfprof: there are no LBR call stacks to stitch; record with --call-graph lbr" ]
	done
	"$MAKE_BRANCHES" counted.data "$PROGRAM" calls=1 feature=1
	run -0 --separate-stderr "$BPFPROF" report -i counted.data --stitch-lbr
	[ "$stderr" = "bpfprof: branches are counted here, and no LBR call stacks stitched; use --no-branch-stack" ]
	run -0 --separate-stderr "$BPFPROF" report -i counted.data --stitch-lbr --no-branch-stack
	[ "$stderr" = "" ]
	[ "$output" = "$("$BPFPROF" report -i lbr.data --stitch-lbr)" ]
}

@test "script -F +provenance says of each frame where it comes from" {
	"$BPFPROF" script -i lbr.data --stitch-lbr -F comm,ip,provenance >out
	grep -Ec '^\s+[0-9a-f]+ \[LBR\]$' out
	[ "$(grep -c '^branchy \[LBR.*, ' out)" = 400 ]
	"$BPFPROF" script -i lbr.data --stitch-lbr -F comm,ip | lacks '\['
	run -2 "$BPFPROF" script -i lbr.data -F +provenance
}

@test "frames that are only likely are marked, in as many stacks as the footer says" {
	local said
	"$BPFPROF" report -i gone.data --stitch-lbr=likely -g caller >text
	"$BPFPROF" script -i gone.data --stitch-lbr=likely -F comm,ip,sym >stacks
	said=$(sed -n 's/^# *\([0-9]*\) have frames marked \[likely\]: not certain$/\1/p' text)
	[ "$said" -gt 0 ]
	[ "$(awk -v RS= '/ \[likely\]/ { marked++ } END { print marked }' stacks)" = "$said" ]
	grep -v '^#' text | grep ' \[likely\]$'
}

@test "a stack that has likely frames is counted as what it has become" {
	"$BPFPROF" report -i gone.data --stitch-lbr=likely --json >json
	python3 - <<END
import json
stacks = json.load(open("json"))["recording"]["lbr_stacks"]
assert stacks["likely"] > 0
assert stacks["became_whole"] + stacks["became_longer"] >= stacks["likely"]
END
}

@test "diff --children counts the callers that report shows, stitched or as perf shows them" {
	local tier
	for tier in "" --stitch-lbr; do
		echo "tier: $tier"
		# shellcheck disable=SC2086
		"$BPFPROF" report -q -i lbr.data -s sym -g none $tier 2>report.err |
			awk 'NF { print $1, $NF }' | sort >report.txt
		# shellcheck disable=SC2086
		"$BPFPROF" diff -q --children -s sym $tier lbr.data lbr.data |
			awk 'NF { print $1, $(NF) }' | sort >diff.txt
		[ -s diff.txt ]
		diff report.txt diff.txt
	done
	[ "$("$BPFPROF" diff -q --children lbr.data kernel.data)" != \
		"$("$BPFPROF" diff -q --children --stitch-lbr lbr.data kernel.data)" ]
	fails_with 2 "--stitch-lbr: without callers there is nothing to stitch; use it with --children or --paths" \
		"$BPFPROF" diff --stitch-lbr lbr.data kernel.data
}
