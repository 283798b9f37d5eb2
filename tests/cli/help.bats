#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Help and manual: what a person reads first.
#
# Runs beside others.

load common

commands=(record report diff script check)

setup() {
	export COLUMNS=80
}

@test "the first help names every command, fits a screen, and shows examples" {
	run "$BPFPROF" --help
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -ge 8 ]
	[ "${#lines[@]}" -le 22 ]
	for command in "${commands[@]}"; do
		[[ $output == *$'\n'"  $command "* ]]
	done
	[[ $output == *Examples:*"bpfprof -a -F 99"* ]]
}

@test "help, -h and --help say the same" {
	[ -n "$("$BPFPROF" help report)" ]
	[ "$("$BPFPROF" help)" = "$("$BPFPROF" --help)" ]
	[ "$("$BPFPROF" -h)" = "$("$BPFPROF" --help)" ]
	for command in "${commands[@]}"; do
		[ "$("$BPFPROF" help "$command")" = "$("$BPFPROF" "$command" --help)" ]
		[ "$("$BPFPROF" "$command" -h)" = "$("$BPFPROF" "$command" --help)" ]
	done
}

@test "help goes to standard output, and nothing to standard error" {
	for command in "${commands[@]}"; do
		[ -z "$("$BPFPROF" "$command" --help 2>&1 >/dev/null)" ]
	done
}

@test "help keeps to the width of the terminal" {
	for COLUMNS in 80 60; do
		for command in "${commands[@]}"; do
			"$BPFPROF" "$command" --help | awk -v width="$COLUMNS" '
				/^Usage|^  [^ ]*bpfprof/ { next } # what one may copy is not wrapped
				length($0) > width { print "too wide: " $0; wide = 1 }
				END { exit wide }'
		done
	done
}

@test "help has a usage line, options and an example for every command" {
	for command in "${commands[@]}"; do
		run "$BPFPROF" "$command" --help
		[[ ${lines[0]} == "Usage: bpfprof $command "* ]]
		[[ $output == *--json* || $output == *-[a-zA-Z],* ]]
		[[ $output == *Examples:* ]]
	done
}

@test "the version is one line" {
	run "$BPFPROF" --version
	[ "$status" -eq 0 ]
	[[ $output =~ ^bpfprof\ [0-9]+\.[0-9]+[^[:space:]]*$ ]]
}

@test "help for an unknown command suggests the nearest" {
	run "$BPFPROF" help recrod
	[ "$status" -eq 2 ]
	[ "$output" = "bpfprof: unknown command 'recrod'; did you mean record?" ]
}

@test "a full disk behind standard output is told" {
	run bash -c '"$0" --help >/dev/full' "$BPFPROF"
	[ "$status" -eq 1 ]
	[ "$output" = 'bpfprof: cannot write to standard output: No space left on device' ]
}

@test "a closed standard output is told" {
	run bash -c '"$0" --help >&-' "$BPFPROF"
	[ "$status" -eq 1 ]
	[ "$output" = 'bpfprof: cannot write to standard output: Bad file descriptor' ]
}

@test "a reader that goes away is met with silence" {
	run bash -c '"$0" record --help | true' "$BPFPROF"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	run bash -c 'trap "" PIPE; "$0" record --help | true' "$BPFPROF"
	[ -z "$output" ]
}

# `make tests-built` made them: nothing may make the program anew while other tests run it.
enter_manual() {
	export MANWIDTH=80
	cd "${BUILD:-$BATS_TEST_DIRNAME/../../build}/man" || return
}

@test "every manual page renders without a warning" {
	enter_manual
	for page in bpfprof bpfprof-{record,report,diff,script,check}; do
		run man --warnings -l "$page.1"
		[ "$status" -eq 0 ]
		run bash -c 'man --warnings -l "$0" 2>&1 >/dev/null' "$page.1"
		[ -z "$output" ]
	done
}

@test "every manual page has its sections" {
	enter_manual
	for page in bpfprof bpfprof-{record,report,diff,script,check}; do
		man -l "$page.1" >"$BATS_TEST_TMPDIR/page"
		for section in NAME SYNOPSIS DESCRIPTION OPTIONS EXAMPLES 'EXIT STATUS' 'SEE ALSO'; do
			grep -qx "$section" "$BATS_TEST_TMPDIR/page"
		done
		[ "$(grep -c @ "$BATS_TEST_TMPDIR/page")" -eq 0 ]
	done
}

@test "every option of the help is in the manual" {
	enter_manual
	for command in "${commands[@]}"; do
		man -l "bpfprof-$command.1" >"$BATS_TEST_TMPDIR/page"
		"$BPFPROF" "$command" --help | grep -oE -- '^ +(-., )?--[][a-z-]+' |
			grep -oE -- '--.*' >"$BATS_TEST_TMPDIR/options"
		[ -s "$BATS_TEST_TMPDIR/options" ]
		while read -r option; do
			grep -qF -- "$option" "$BATS_TEST_TMPDIR/page"
		done <"$BATS_TEST_TMPDIR/options"
	done
}

@test "the manual lists every reason for a loss" {
	enter_manual
	MANWIDTH=200 man -l bpfprof.1 >"$BATS_TEST_TMPDIR/page"
	grep -qF 'ring buffer full; raise --ring-size' "$BATS_TEST_TMPDIR/page"
	reasons=$(grep -cE '^\s+X\([a-z_]+, (LOST|CUT|SKIPPED|OTHER),' \
		"$BATS_TEST_DIRNAME/../../include/bpfprof/counters.h")
	[ "$(grep -c '•' "$BATS_TEST_TMPDIR/page")" -eq "$reasons" ]
}
