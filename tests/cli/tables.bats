#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# perf's own tests of reports (hists_cumulate, hists_output, hists_filter, hists_link) as recordings:
# their tables, and what perf report prints of the same files. The machine is made up
# (machine_recording.py), so that keys can be shown that no recording of this machine has.
#
# Runs beside others.

load common

setup_file() {
	export PERF_CONFIG=/dev/null PAGER=cat DEBUGINFOD_URLS=
	cd "$BATS_FILE_TMPDIR" || return
	"$BATS_TEST_DIRNAME/machine_recording.py" .
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

report() {
	"$BPFPROF" report "$@"
}

# The lines of the report as "a b c", without comments.
lines_of() {
	report -q -g none "$@" | sed -e 's/^ *//' -e 's/  */ /g' -e 's/ $//' -e '/^$/d'
}

# same_as_perf FILE OPTIONS...: to the byte
same_as_perf() {
	echo "options: $*"
	diff <("$PERF" report --stdio -i "$@" 2>/dev/null | sed '/^# (Tip/,$d') \
		<(report --stdio -i "$@" | sed '/^# [0-9 ]* samples/,$d')
}

@test "hists_cumulate: shares without children" {
	diff - <(lines_of -i cumulate.data --no-children -F period,comm,dso,sym) <<-END
		2000 perf perf [.] main
		1000 bash [kernel] [.] page_fault
		1000 bash bash [.] main
		1000 bash bash [.] xmalloc
		1000 perf [kernel] [.] page_fault
		1000 perf [kernel] [.] schedule
		1000 perf libc [.] free
		1000 perf libc [.] malloc
		1000 perf perf [.] cmd_record
	END
}

@test "hists_cumulate: shares with children" {
	diff - <(lines_of -i cumulate.data) <<-END
		70.00% 20.00% perf perf [.] main
		50.00% 0.00% perf perf [.] run_command
		30.00% 10.00% bash bash [.] main
		30.00% 10.00% perf perf [.] cmd_record
		20.00% 0.00% bash libc [.] malloc
		10.00% 10.00% bash [kernel] [.] page_fault
		10.00% 10.00% bash bash [.] xmalloc
		10.00% 10.00% perf [kernel] [.] page_fault
		10.00% 10.00% perf [kernel] [.] schedule
		10.00% 10.00% perf libc [.] free
		10.00% 10.00% perf libc [.] malloc
		10.00% 0.00% perf [kernel] [.] sys_perf_event_open
	END
}

@test "hists_cumulate: with call chains, callers of equal share stand above what they call" {
	report -q -i cumulate.data -g callee | grep -n '^ *[0-9.]*%' >order
	awk -F: '/sys_perf_event_open/ { open = $1 } /perf .*page_fault/ { fault = $1 }
		END { exit !(open && open < fault) }' order
}

@test "hists_output: fields and keys" {
	diff - <(lines_of -i output.data) <<-END
		20.00% perf perf [.] main
		10.00% bash [kernel] [.] page_fault
		10.00% bash bash [.] main
		10.00% bash bash [.] xmalloc
		10.00% perf [kernel] [.] page_fault
		10.00% perf [kernel] [.] schedule
		10.00% perf libc [.] free
		10.00% perf libc [.] malloc
		10.00% perf perf [.] cmd_record
	END
	diff - <(lines_of -i output.data -F overhead,cpu -s pid) <<-END
		30.00% 001 100:perf
		10.00% 000 100:perf
		10.00% 002 100:perf
		20.00% 002 200:perf
		10.00% 000 300:bash
		10.00% 001 300:bash
		10.00% 003 300:bash
	END
	diff - <(lines_of -i output.data -F comm,overhead,dso) <<-END
		bash 20.00% bash
		bash 10.00% [kernel]
		perf 30.00% perf
		perf 20.00% [kernel]
		perf 20.00% libc
	END
	diff - <(lines_of -i output.data -F dso,sym,comm,overhead,dso -s sym) <<-END
		perf [.] cmd_record perf 10.00%
		libc [.] free perf 10.00%
		bash [.] main bash 10.00%
		perf [.] main perf 20.00%
		libc [.] malloc perf 10.00%
		[kernel] [.] page_fault bash 10.00%
		[kernel] [.] page_fault perf 10.00%
		[kernel] [.] schedule perf 10.00%
		bash [.] xmalloc bash 10.00%
	END
	diff - <(lines_of -i output.data -F cpu,pid,comm,dso,sym -s dso,pid) <<-END
		000 100:perf perf [kernel] [.] schedule
		002 200:perf perf [kernel] [.] page_fault
		001 300:bash bash [kernel] [.] page_fault
		000 300:bash bash bash [.] xmalloc
		003 300:bash bash bash [.] main
		001 100:perf perf libc [.] malloc
		002 100:perf perf libc [.] free
		001 100:perf perf perf [.] cmd_record
		001 100:perf perf perf [.] main
		002 200:perf perf perf [.] main
	END
}

# filtered ENTRIES SAMPLES PERIOD OPTIONS...: of each of the two events
filtered() {
	local entries=$1 samples=$2 period=$3
	shift 3
	report -i filter.data --json --percentage relative "$@" >out.json
	echo "options: $*"
	[ "$(jq -c '.events | map([(.entries | length), ([.entries[].self_samples] | add),
		.whole_period])' out.json)" = "[[$entries,$samples,$period],[$entries,$samples,$period]]" ]
}

@test "hists_filter: what the filters leave" {
	filtered 9 10 1000
	filtered 4 4 400 --tid 300
	filtered 3 3 300 -d '[kernel]'
	filtered 2 3 300 --symbol-filter main
	# perf leaves both samples of "main" to the thread that came first
	filtered 1 1 100 --tid 100 -d perf --symbol-filter main
}

@test "hists_link: two events side by side have 14 lines, 5 of both" {
	report -i link.data --group --json -s comm,dso,sym >out.json
	[ "$(jq '.events | length' out.json)" = 1 ]
	[ "$(jq '.events[0].entries | length' out.json)" = 14 ]
	[ "$(jq '[.events[0].entries[] | select(.self_period > 0)] | length' out.json)" = 10 ]
	[ "$(jq '[.events[0].entries[] | select(.members[0].self_period > 0)] | length' out.json)" = 9 ]
	[ "$(jq '[.events[0].entries[] | select(.self_period > 0 and .members[0].self_period > 0)] |
		length' out.json)" = 5 ]
	jq -r '.events[0].entries[] | select(.self_period == 0) | .comm + " " + .symbol' out.json |
		sort >only_other
	printf '%s\n' "bash page_fault" "bash realloc" "bash xfree" "perf free" | diff - only_other
	# recorded as a group they are shown so without being asked to
	diff <(lines_of -i link.data --group) <(lines_of -i group.data)
	[ "$(lines_of -i group.data --no-group | wc -l)" = 19 ]
}

@test "of all these files perf prints the same, to the byte" {
	need_perf
	local file options
	for file in cumulate output link group details parts; do
		for options in "" "-g none" "--no-children" "--hierarchy" "--group" "-n --group" \
			"-s pid,sym" "-s sym" "-s dso,comm --hierarchy" "-q" "--percent-limit 15" \
			"--group --hierarchy --show-total-period" "-s {comm,dso},sym --hierarchy" "-w 9,9,4"; do
			is_its_turn 5 || continue
			# shellcheck disable=SC2086
			same_as_perf "$file.data" $options
		done
	done
	same_as_perf output.data -F overhead,cpu -s pid
	same_as_perf output.data -F comm,overhead,dso
	same_as_perf output.data -F dso,sym,comm,overhead,dso -s sym
	same_as_perf output.data -F cpu,pid,comm,dso,sym -s dso,pid
	same_as_perf filter.data -c bash
	same_as_perf filter.data -d '[kernel]'
	same_as_perf filter.data -c bash --percentage relative
	same_as_perf group.data --group-sort-idx 1
	same_as_perf group.data -t,
	same_as_perf group.data --no-group
	same_as_perf group.data -F overhead,sample,sym
}

@test "keys of samples are printed as perf does it: cgroup, weights, sockets, time" {
	need_perf
	local keys
	for keys in cgroup cgroup,sym weight,sym local_weight,sym weight,local_weight ins_lat,sym \
		local_ins_lat,comm transaction,dso code_page_size,sym socket socket,sym cpu,socket \
		time time,sym; do
		same_as_perf details.data --no-children -g none -s "$keys"
		same_as_perf details.data --no-children -g none -s "$keys" --hierarchy
		same_as_perf details.data --no-children -g none -s "$keys" -t+
	done
	same_as_perf details.data --no-children -g none -s time --ns
	same_as_perf details.data --no-children -g none -s time --time-quantum 1s
	same_as_perf details.data --no-children -g none -s time --time-quantum 10ms
	same_as_perf details.data -s parent -p '^main'
	same_as_perf details.data -s parent,sym --no-children -p '^main' -x
	same_as_perf details.data -s parent,comm -p 'malloc|cmd' -g none
	same_as_perf details.data --no-children --ignore-callees cmd
	same_as_perf details.data -U
}

@test "a sample counts once for the callers of a line, whatever the keys" {
	# perf: 160.00% of /system.slice/ssh.service
	diff - <(lines_of -i details.data -s cgroup) <<-END
		40.00% 40.00% /system.slice/ssh.service
		20.00% 20.00% N/A
		20.00% 20.00% /
		20.00% 20.00% unknown
	END
}

@test "a socket can be chosen" {
	[ "$(lines_of -i details.data --no-children -s socket --socket-filter 1)" = "40.00% 001" ]
}

@test "the size of functions is a key" {
	[ "$(lines_of -i output.data -s symbol_size)" = "100.00% 100" ]
}

@test "JSON has the keys of samples" {
	report -i details.data --no-children --json -s cgroup,weight,socket,time,parent -p '^main' >out.json
	jq -c '.events[0].entries[] | select(.cgroup == "/") |
		[.weight, .socket, .time_ns, .parent]' out.json | sort | head -2 >ssh
	diff - ssh <<-END
		[7,0,1000000000000,"main"]
		[7,0,1000300000000,"main"]
	END
	# the ids of cgroups without name are not made up
	[ "$(jq '[.events[0].entries[] | select(.cgroup)] | length' out.json)" = 18 ]
}

@test "a pattern that is none, and one without call chains, are refused in one line" {
	run "$BPFPROF" report -i details.data -s parent -p '('
	[ "$status" = 2 ]
	[ "${#lines[@]}" = 1 ]
	run "$BPFPROF" report -i output.data -s parent
	[ "$status" = 2 ]
	[ "$output" = "bpfprof: -s parent: the recording has no call chains; record with -g, or leave it out here" ]
	run "$BPFPROF" report -i details.data -x
	[ "$status" = 2 ]
	[ "${#lines[@]}" = 1 ]
	run "$BPFPROF" report -i details.data --hierarchy -F sym
	[ "$status" = 2 ]
	[ "${#lines[@]}" = 1 ]
}
