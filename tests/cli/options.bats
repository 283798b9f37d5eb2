#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What is typed wrong is answered by one line that helps, and exit status 2.
#
# Runs beside others.

load common

# refused SENTENCE ARGUMENTS...: that one line, alone, on standard error
refused() {
	fails_with 2 "$1" "$BPFPROF" "${@:2}"
}

@test "an unknown command is answered with the nearest" {
	refused "unknown command 'reocrd'; did you mean record?" reocrd
	refused "unknown command 'reports'; did you mean report?" reports
}

@test "a command that is far from all is answered with the way to help" {
	refused "unknown command 'frobnicate'; bpfprof --help lists them; to profile a program: bpfprof -- PROGRAM" frobnicate
}

@test "an unknown option is answered with the nearest" {
	refused 'check: unknown option --josn; did you mean --json?' check --josn
	refused 'record: unknown option --frequency; did you mean --freq?' record --frequency 99
	refused 'report: unknown option --no-childern; did you mean --no-children?' report --no-childern
}

@test "an option that is far from all is answered with the way to help" {
	refused 'check: unknown option --qqqqqq; see bpfprof check --help' check --qqqqqq
	refused 'check: unknown option -Q; see bpfprof check --help' check -Q
}

@test "without a command, the options are those of a recording" {
	refused 'unknown option --frequency; did you mean --freq?' --frequency 99
}

@test "a missing argument and a wrong value are named" {
	refused 'record: -F needs an argument: HZ' record -F
	run "$BPFPROF" record -F fast
	[ "$status" -eq 2 ]
	[[ $output == "bpfprof: record: -F fast: "* ]]
	run "$BPFPROF" report --percent-limit=200
	[ "$status" -eq 2 ]
	[[ $output == "bpfprof: report: --percent-limit 200: "* ]]
}

@test "a limit of nothing is refused, as it could mean no limit" {
	refused 'daemon: --max-cpu 0%: give a share of one CPU such as 0.5%, or none' daemon --max-cpu 0%
	refused 'daemon: --keep-size 0: give a size of 1M or more, such as 2G, or none' daemon --keep-size 0
	refused 'daemon: --keep-size 2: give a size of 1M or more, such as 2G, or none' daemon --keep-size 2
	refused 'daemon: --keep-time 0: give a time such as 30d or 12h, or none' daemon --keep-time 0
	refused 'daemon: --max-memory 0: give a size such as 128M' daemon --max-memory 0
}

@test "a flag with a value and a beginning of several names are refused" {
	refused 'check: --json takes no argument' check --json=1
	run "$BPFPROF" report --c
	[ "$status" -eq 2 ]
	[[ $output == "bpfprof: report: option --c could be "*"; type more of it" ]]
}

@test "nothing that was typed steers the terminal" {
	refused 'check: unknown option --\x1b[2Jx; see bpfprof check --help' check $'--\e[2Jx'
	refused "unknown command 'x\\x0ay'; bpfprof --help lists them; to profile a program: bpfprof -- PROGRAM" $'x\ny'
}

@test "what fingers know from perf record is understood" {
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	while read -r -a options; do
		run "$BPFPROF" record -q "${options[@]}" -o out -- true </dev/null
		echo "${options[*]}: $status $output"
		[ "$status" -eq 0 ]
		[ -z "$output" ]
	done <<-END
		-F99 -a
		-ag -F 99
		--freq=99 --call-graph=fp
		--call-graph fp -z3
		--call-graph dwarf,8192
		-g --call-graph dwarf
		-z -c 1000000
		--compression-level=3 -e cpu-clock:u,page-faults
		--no-inherit -N
	END
}

@test "what fingers know from perf report is understood" {
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	"$BPFPROF" record -q -F 999 -- "${WORKLOADS:-$BATS_TEST_DIRNAME/../../build/tests/workloads}/spin" 0.1
	while read -r -a options; do
		run "$BPFPROF" report "${options[@]}" </dev/null
		echo "${options[*]}: $status $output"
		[ "$status" -eq 0 ]
		[ -n "$output" ]
	done <<-END
		--stdio
		-g caller --stdio
		-gcaller
		-g graph,0.5,caller -n
		--call-graph=fractal,1 --no-children
		-g
		-G -i perf.data
		-s comm,dso
		--sort=dso --percent-limit=1
		-F overhead,sym -t,
		perf.data --no-children
	END
}

@test "a command of its own keeps its options" {
	[ "$(id -u)" = 0 ] || skip "recording needs root"
	run "$BPFPROF" record -q echo -F --help
	[ "$status" -eq 0 ]
	[ "$output" = '-F --help' ]
	run "$BPFPROF" record -q -- sh -c 'exit 7'
	[ "$status" -eq 7 ]
}
