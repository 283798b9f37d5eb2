#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Branch stacks: what perf prints of them, we print to the byte. The files are made
# (branch_recording.py), for nothing here can record them.
#
# Runs beside others.

load common

setup_file() {
	MAKE_BRANCHES=$(realpath "$BATS_TEST_DIRNAME/branch_recording.py")
	PROGRAM=$WORKLOADS/nofp
	export MAKE_BRANCHES PROGRAM PERF_CONFIG=/dev/null PAGER=cat DEBUGINFOD_URLS=
	cd "$BATS_FILE_TMPDIR" || return
	mkdir nothing
	"$MAKE_BRANCHES" plain.data "$PROGRAM" odd=1
	"$MAKE_BRANCHES" types.data "$PROGRAM" bits=$((1 | 8 | 1 << 16))
	[ "$(id -u)" != 0 ] || "$MAKE_BRANCHES" kernel.data "$PROGRAM" kernel=1 odd=1
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
	need_perf
	need_root
}

# Kernel names need root; the table of symbols of perf is of this machine's kernel.
same_script() {
	diff <("$PERF" script -i "$@" 2>/dev/null) <("$BPFPROF" script -i "$@")
}

@test "script prints branch stacks as perf does: addresses, names, flags and types" {
	local fields file
	for fields in brstack brstacksym brstack,dso brstacksym,dso comm,brstack +brstack \
		comm,tid,ip,sym,brstacksym brstack,brstacksym; do
		echo "fields: $fields"
		for file in plain types kernel; do
			! is_its_turn 5 || same_script $file.data -F "$fields"
		done
	done
}

@test "script prints offsets in files and in the kernel, as perf does of files it has not loaded" {
	same_script kernel.data --symfs nothing -F brstackoff
	same_script kernel.data --symfs nothing -F brstackoff,dso
	[ "$("$BPFPROF" script -i plain.data -F brstackoff | grep -c 0x5555)" = 0 ]
}

@test "branch counters and the index of the newest register are stepped over" {
	"$MAKE_BRANCHES" counters.data "$PROGRAM" bits=$((2 | 8 | 1 << 17 | 1 << 19))
	"$MAKE_BRANCHES" without.data "$PROGRAM" bits=$((2 | 8))
	cmp <("$BPFPROF" script -i counters.data -F time,ip,brstack) \
		<("$BPFPROF" script -i without.data -F time,ip,brstack)
}

@test "branch stacks of a kind that is not known are refused by name, not misread" {
	"$MAKE_BRANCHES" future.data "$PROGRAM" bits=$((2 | 8 | 1 << 21))
	for command in report script; do
		run -1 --separate-stderr "$BPFPROF" "$command" -i future.data
		[ -z "$output" ]
		[[ $stderr == *"future.data: the branch stacks of event cycles are of a kind that is not known"* ]]
		[[ $stderr == *"branch_sample_type 0x200000"* ]]
	done
}

# With "symbol" in -s perf 6.1 adds a column that it has no figures for, and may crash; it takes
# "Symbol" for the same key.
@test "a recording of branches is reported by branches, to the byte as perf does it" {
	"$MAKE_BRANCHES" chains.data "$PROGRAM" chains=1 odd=1
	"$MAKE_BRANCHES" events.data "$PROGRAM" events=3
	for file in plain types kernel chains events; do
		same_table "$file.data"
		same_table "$file.data" -b
		same_table "$file.data" --no-branch-stack
	done
	our_table plain.data | grep -E "Source Shared Object  Source Symbol +Target Symbol +Basic Block Cycles"
}

@test "whatever the keys, branches are told apart and sorted as perf does it" {
	local options
	for options in "-F overhead,symbol_from" "-F overhead,symbol_from,symbol_to,cycles" \
		"-s comm,dso" "-s dso_from,dso_to" "-s cycles" "-n -s dso_to" "-s Symbol" \
		"-s comm,Symbol_from,Symbol_to,dso_to,cycles" "-F +symbol_from" "-s pid,dso_to" \
		"-t, -s dso_to,cycles" "-n --show-total-period --showcpuutilization" \
		"--percent-limit 0.05" "-s Symbol,cycles" "-s dso,cycles,Symbol_from"; do
		is_its_turn 3 || continue
		echo "options: $options"
		# shellcheck disable=SC2086
		same_table kernel.data $options
		# shellcheck disable=SC2086
		same_table plain.data $options
	done
}

@test "without the header's word on it, samples are counted unless -b is given" {
	"$MAKE_BRANCHES" unsaid.data "$PROGRAM" feature=0 odd=1
	same_table unsaid.data
	our_table unsaid.data | grep -E "Overhead  Command  Shared Object +Symbol"
	our_table unsaid.data -b | diff - <(our_table plain.data)
}

# perf's comparison of flags is no order (it says "different" both ways), so its tree has some lines
# twice, and of branches of which nothing is known it prints what it printed last.
sums() {
	awk '$1 ~ /%$/ { share = $1; $1 = ""; sum[$0] += share }
		END { for (key in sum) printf "%s %.1f\n", key, sum[key] }' | sort
}

@test "mispredicted, in a transaction, aborted: the sums of perf's lines" {
	local keys
	"$MAKE_BRANCHES" known.data "$PROGRAM" known=1
	for keys in mispredict in_tx abort mispredict,in_tx,abort dso_to,mispredict; do
		perf_table known.data -s "$keys" | sums >theirs
		our_table known.data -s "$keys" | sums >ours
		[ -s theirs ]
		diff theirs ours
	done
	[ "$(our_table plain.data -s mispredict | grep -Ec '% +(Y|N|N/A) *$')" = 3 ]
}

@test "JSON tells of a branch where it came from, where it went, and how" {
	"$BPFPROF" report -i plain.data --json -s symbol_from,dso_to,mispredict,in_tx,abort,cycles >json
	python3 - <<END
import json
report = json.load(open("json"))
event = report["events"][0]
entries = event["entries"]
assert report["recording"]["samples"] == 400
assert event["period"] == event["samples"] > 1000
assert sum(entry["self_samples"] for entry in entries) == event["samples"]
assert all(("symbol" in entry["from"]) != ("address" in entry["from"]) for entry in entries)
assert all(entry["to"].keys() == {"dso"} for entry in entries)
assert {entry["in_transaction"] for entry in entries} == {True, False}
assert {entry["aborted"] for entry in entries} == {True, False}
assert {entry.get("mispredicted") for entry in entries} == {True, False, None}
assert {entry.get("cycles") for entry in entries} == {None, 1, 2, 7, 300}
END
}

@test "filters leave the branches that one end of fits" {
	[ "$(our_table plain.data -s symbol_from,symbol_to -S leaf | grep '%' | grep -vc '\] leaf')" = 0 ]
	[ "$(our_table plain.data -s symbol_from,symbol_to -S leaf | grep -c '\] leaf .*%\|% .*\] leaf')" -gt 10 ]
}

@test "what branches are needed for is said where there are none" {
	"$MAKE_BRANCHES" unsaid.data "$PROGRAM" feature=0
	run -2 "$BPFPROF" report -i unsaid.data -s symbol_from
	[ "$output" = "bpfprof: a key of branches was given, and samples are counted; use -b with a recording of branches" ]
	"$PERF" record -q --no-bpf-event -e cpu-clock -o none.data -- true
	run -2 "$BPFPROF" report -i none.data -b
	[ "$output" = "bpfprof: the recording has no branch stacks; record with -b, or leave it out here" ]
}

# perf adds the place in the source to each frame; where there is none, "??:0" or "+offset", and ours
# always the latter. Where frames of call chains and of branches meet in one, it counts the ways out of loops differently.
# perf keeps copies of what it recorded, with their lines, at home.
perf_history() {
	HOME=$BATS_TEST_TMPDIR perf_table "$@" --branch-history -s Symbol,dso |
		sed -E 's/ (\?\?:0|\+[0-9]+)( \(.*\))?$/\2/'
}

our_history() {
	our_table "$@" --branch-history -s Symbol,dso | sed -E 's/ \+[0-9]+( \(.*\))?$/\1/'
}

without_loops() {
	sed -E 's/ ?iter:[0-9]+ avg_cycles:[0-9]+//; s/ \(\)$//'
}

@test "--branch-history: the way through the branches, as perf draws it" {
	local options
	cp "$PROGRAM" bare
	strip -g bare
	"$MAKE_BRANCHES" loops.data "$PWD/bare" loops=1 depth=14 samples=100 kernel=1 odd=1
	"$MAKE_BRANCHES" again.data "$PWD/bare" again=1 depth=6 samples=50
	"$MAKE_BRANCHES" calls.data "$PWD/bare" chains=1 depth=8 samples=100 odd=1
	for options in "" "--no-children" "-G" "-g callee"; do
		echo "options: $options"
		# shellcheck disable=SC2086
		diff <(perf_history loops.data $options) <(our_history loops.data $options)
		# shellcheck disable=SC2086
		diff <(perf_history again.data $options) <(our_history again.data $options)
		# shellcheck disable=SC2086
		diff <(perf_history calls.data $options | without_loops) \
			<(our_history calls.data $options | without_loops)
	done
	our_table loops.data --branch-history | grep -E '\(cycles:[0-9]+\)$'
	our_table calls.data --branch-history | grep -E '\(calltrace\)$'
}

@test "--branch-history as JSON tells the sums of each frame, and needs branches" {
	"$BPFPROF" report -i plain.data --branch-history --json -g graph,0 | python3 -c '
import json, sys
event = json.load(sys.stdin)["events"][0]
def all_frames(nodes):
    for node in nodes:
        yield from node["frames"]
        yield from all_frames(node["nodes"])
frames = [frame for entry in event["entries"] for frame in all_frames(entry["call_graph"])]
assert any(frame.get("branches_to", {}).get("count") for frame in frames)
assert any(frame.get("branches_from", {}).get("cycles") for frame in frames)'
	"$PERF" record -q --no-bpf-event -e cpu-clock -o none.data -- true
	run -2 "$BPFPROF" report -i none.data --branch-history
	[ "$output" = "bpfprof: the recording has no branch stacks; record with -b, or leave it out here" ]
}

@test "branches by their places in the source, as in perf; and in --branch-history" {
	export HOME=$BATS_TEST_TMPDIR
	"$MAKE_BRANCHES" sources.data "$PROGRAM" odd=1
	same_table sources.data -s srcline_to,dso_from
	# perf 6.1 leaves some places out, and with functions among the keys crashes
	same_table sources.data -s srcline_from,srcline_to >differences || true
	[ "$(grep '^<' differences | grep -cv '(null)')" = 0 ]
	[ "$(wc -l <ours)" = "$(wc -l <theirs)" ]
	grep -q 'nofp.c:[1-9]' ours
	"$PERF" report --stdio --no-inline -i sources.data --branch-history -s sym,dso 2>/dev/null |
		grep -o ' [^ ]* nofp.c:[0-9]*' | sort -u >theirs
	our_table sources.data --branch-history -s sym,dso | grep -o ' [^ ]* nofp.c:[0-9]*' | sort -u >ours
	[ "$(wc -l <theirs)" -gt 20 ]
	diff theirs ours
}

# The end of perf's report, which lacks the last new line.
perf_kinds() {
	"$PERF" report --stdio -q -i "$@" 2>/dev/null | sed -n '/^# Branch Statistics/,$p'
}

our_kinds() {
	"$BPFPROF" report -q -i "$@" | sed -n '/^# Branch Statistics/,$p'
}

@test "the kinds of branches stand behind the tables, as in perf" {
	local kind
	for kind in 1 5 10; do
		"$MAKE_BRANCHES" kind.data "$PROGRAM" bits=$((1 | 8 | 1 << 16)) "kind=$kind"
		diff <(perf_kinds kind.data && echo) <(our_kinds kind.data)
		[ "$(our_kinds kind.data | wc -l)" -gt 2 ]
	done
	# nothing is known of others
	[ -z "$(our_kinds plain.data)" ]
}

@test "each branch counts for its own kind" {
	# perf takes the kind of the first branch for all that share a line
	our_kinds types.data | awk '/%$/ { sub(":", ""); print $1, $2 }' | sort >kinds
	"$BPFPROF" script -i types.data -F brstack | tr ' ' '\n' | awk -F/ '
		/^0x/ && $7 != "" && $1 != "0x0" {
			count[$7]++
			all += $7 !~ /^(FAULT|ARCH)_/
		}
		END { for (kind in count) printf "%s %.1f%%\n", kind, 100 * count[kind] / all }' |
		sort >true
	diff <(grep -Ev '^(COND_[FB]WD|CROSS_)' kinds) true
	[ "$(wc -l <true)" -gt 10 ]
}
