#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Whole user stacks as a person sees them: in perf, in the report, in script, at the end.
#
# Runs beside others.

load common

setup_file() {
	[ "$(id -u)" = 0 ] || return 0
	bind_early
	cd "$BATS_FILE_TMPDIR" || return 1
	"$PERF" record -q --no-bpf-event -e cpu-clock -F 999 -g -o perf.data -- "$WORKLOADS/nofp" plain 0.6 \
		>/dev/null 2>&1
	"$BPFPROF" record -e cpu-clock -F 999 -o plain.data -- "$WORKLOADS/nofp" plain 0.6 2>said
	"$BPFPROF" record -q -e cpu-clock -F 999 -o mixed.data -- sh -c \
		"'$WORKLOADS/nofp' sys 0.3; '$WORKLOADS/nofp' sort 0.3; '$WORKLOADS/jit' framed 0.3"
}

setup() {
	need_root
	cd "$BATS_FILE_TMPDIR" || return 1
}

# hot_without_main FILE: functions with 2% of the samples or more that do not show main as a caller, nor that the
# process ends, which can take the kernel long where its CPUs are taken away.
hot_without_main() {
	"$PERF" report -i "$1" --stdio --no-children -s sym -g caller,0.5,callee --percent-limit 2 \
		2>/dev/null >shown
	awk '/^ +[0-9.]+%.*\[[.k]\]/ { if (name && !seen) print name; name = $NF; seen = 0 }
	     /(^|[^_a-z])(main|do_exit)$/ { seen = 1 }
	     END { if (name && !seen) print name }' shown
}

# marks FILE: how often each mark of a stack is in the recording. A process that ends has none any more.
marks() {
	"$BPFPROF" script -i "$1" -F comm,ip,sym,provenance | awk '
		/\]$/ && /^[^\t]/ { mark = $0; sub(/.*\[/, "", mark); sub(/\]$/, "", mark); ends = 0 }
		$2 == "do_exit" { ends = 1 }
		/^$/ { if (!ends || mark != "no user stack") count[mark]++ }
		END { for (mark in count) print mark ": " count[mark] }' | sort
}

# mostly MARK PERMILLE <marks: so many of 1,000 stacks have the mark, or as many fewer as happens less than
# once in a million times (five standard deviations, and what small numbers need)
mostly() {
	awk -F': ' -v mark="$1" -v permille="$2" '{ all += $2 } $1 == mark { these = $2 }
		END {
			others = all * (1 - permille / 1000)
			exit !(all > 100 && all - these <= others + 5 * sqrt(others) + 4)
		}'
}

@test "perf report shows main under every hot function of a program without frame pointers" {
	[ -z "$(hot_without_main plain.data)" ]
	grep -q leaf shown
	# which is not so in what perf itself has recorded
	[ -n "$(hot_without_main perf.data)" ]
}

@test "perf reads whole stacks without a warning, frame by frame as we do" {
	for file in plain.data mixed.data; do
		"$PERF" script -i "$file" >perf.txt 2>perf.err
		[ ! -s perf.err ]
		"$BPFPROF" script --strict-perf -i "$file" >ours.txt
		[ "$(grep -c '^$' ours.txt)" -gt 300 ]
		diff perf.txt ours.txt >differences || { head -5 differences; return 1; }
	done
}

@test "perf report and perf diff of whole stacks warn of nothing" {
	"$PERF" report -i mixed.data --stdio -g caller >perf.txt 2>perf.err
	[ ! -s perf.err ]
	"$PERF" diff plain.data mixed.data >perf.txt 2>perf.err
	[ ! -s perf.err ]
	grep -q leaf perf.txt
}

@test "each stack is marked by how it was walked and why it ended" {
	marks plain.data | tee said.marks
	mostly "eh_frame, complete" 990 <said.marks
	"$BPFPROF" record -q -F 999 -o deep.data -- "$WORKLOADS/nofp" toodeep 0.3
	marks deep.data | tee said.marks
	mostly "eh_frame, too deep" 900 <said.marks
}

@test "stacks of more frames than perf takes are whole, and perf shows them" {
	"$BPFPROF" record -q -F 999 --max-stack 512 -o deep.data -- "$WORKLOADS/deep" 300 0.3
	marks deep.data | tee said.marks
	mostly "eh_frame, complete" 980 <said.marks
	"$PERF" script -i deep.data --max-stack 512 -F ip,sym 2>perf.err |
		awk 'BEGIN { RS = ""; FS = "\n" } NF > 300 { deep++ } END { exit deep < 0.9 * NR }'
	[ ! -s perf.err ]
}

@test "by frame pointers alone no table is used, by tables alone no frame pointer" {
	"$BPFPROF" record -q -F 999 --call-graph fp -o fp.data -- "$WORKLOADS/nofp" plain 0.3
	marks fp.data | tee said.marks
	run ! grep eh_frame said.marks
	"$BPFPROF" record -q -F 999 --call-graph dwarf -o dwarf.data -- "$WORKLOADS/jit" framed 0.3
	marks dwarf.data | tee said.marks
	run ! grep "frame pointers" said.marks
	grep -q "eh_frame, no table" said.marks
}

@test "the report sums up what the marks say" {
	"$BPFPROF" report -i mixed.data --json >report.json
	[ "$(jq .recording.user_stacks.count report.json)" -eq \
		"$("$BPFPROF" script -i mixed.data -F comm,provenance | grep -vc 'no user stack')" ]
	[ "$(jq .recording.user_stacks.ended.complete report.json)" -eq \
		"$("$BPFPROF" script -i mixed.data -F comm,provenance | grep -c ', complete\]$')" ]
	[ "$(jq .recording.user_stacks.walked.eh_frame report.json)" -eq \
		"$("$BPFPROF" script -i mixed.data -F comm,provenance | grep -c '\[eh_frame, ')" ]
	[ "$(jq '.recording.user_stacks | (.walked | add) == .count and (.ended | add) == .count' \
		report.json)" = true ]
	"$BPFPROF" report -i mixed.data | tail -15 | grep -E '^# [0-9 ]+ user stacks, [0-9.]+% whole$'
}

@test "at the end of a recording it is said how many stacks are whole" {
	[[ $(<said) =~ bpfprof:\ [0-9\ ]+\ of\ [0-9\ ]+\ user\ stacks\ whole\ \((100|99)\.[0-9]%\) ]]
}

@test "stacks that met a file before its table are told as they were finished" {
	cp "$WORKLOADS/nofp" never-seen
	"$BPFPROF" record -v -F 4999 -o late.data -- "$WORKLOADS/forky" 1 0 ./never-seen plain 0.05 2>said.late
	"$BPFPROF" script -i late.data -F comm,provenance >marked.late
	grep -q '^ *never-seen .*\[eh_frame, complete\]$' marked.late
	[ "$(counter user_stacks_whole said.late)" -eq "$(grep -c ', complete\]$' marked.late)" ]
	[ "$(counter user_stack_not_analysed said.late)" -eq "$(grep -c ', not yet analysed\]$' marked.late)" ]
	[ "$(counter stack_not_kept said.late)" -eq 0 ]
}
