#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Long output goes through a pager when a person is looking, and only then.
#
# Runs beside others.

load common

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	unset BPFPROF_PAGER PAGER LESS NO_COLOR COLUMNS
	export TERM=xterm
	printf '#!/bin/sh\nsed s/^/paged:/\n' >pager
	chmod +x pager
}

# Runs a command line on a terminal of 24 × 90 and prints what the terminal saw.
on_terminal() {
	script -qec "stty rows 24 cols 90; $1" /dev/null </dev/null | tr -d '\r'
}

@test "on a terminal, help goes through the pager" {
	run on_terminal 'PAGER=./pager "$BPFPROF" record --help'
	[[ $output == *"paged:Usage: bpfprof record"* ]]
}

@test "our own variable wins over the common one" {
	run on_terminal 'PAGER=false BPFPROF_PAGER=./pager "$BPFPROF" record --help'
	[[ $output == *"paged:Usage: bpfprof record"* ]]
}

@test "an empty pager, cat, one that is not there, a dumb terminal, --no-pager: straight output" {
	for line in 'PAGER= "$BPFPROF"' 'PAGER=cat "$BPFPROF"' 'PAGER=/no/such "$BPFPROF"' \
		'PAGER=./pager TERM=dumb "$BPFPROF"' 'PAGER=./pager "$BPFPROF" --no-pager'; do
		run on_terminal "$line record --help"
		[[ $output == *"Usage: bpfprof record"* ]]
		[[ $output != *paged:* ]]
	done
}

@test "a pipe and a file get straight output" {
	PAGER=./pager "$BPFPROF" record --help >file
	[ "$(grep -c paged: file)" -eq 0 ]
	run on_terminal 'PAGER=./pager "$BPFPROF" record --help | cat'
	[[ $output != *paged:* ]]
	run on_terminal 'PAGER=./pager "$BPFPROF" record --help </dev/null'
	[[ $output != *paged:* ]]
}

@test "less gets the settings that let short output stand" {
	printf '#!/bin/sh\necho "LESS=$LESS COLUMNS=$COLUMNS"\ncat >/dev/null\n' >pager
	run on_terminal 'PAGER=./pager "$BPFPROF" record --help'
	[[ $output == *"LESS=FRSX COLUMNS=90"* ]]
	run on_terminal 'LESS=S PAGER=./pager "$BPFPROF" record --help'
	[[ $output == *"LESS=S COLUMNS=90"* ]]
}

@test "a pager that is closed at once is met with silence" {
	printf '#!/bin/sh\nexit 0\n' >pager
	run on_terminal 'PAGER=./pager "$BPFPROF" record --help'
	[ -z "$output" ]
}

@test "closing the pager before the end is no failure" {
	"$BATS_TEST_DIRNAME/known_recording.py" perf.data "$WORKLOADS/spin" spin:main=1x5000
	[ "$("$BPFPROF" script | wc -c)" -gt 100000 ] # more than a pipe holds
	printf '#!/bin/sh\nread -r line\necho "first: $line"\n' >pager
	run on_terminal 'PAGER=./pager "$BPFPROF" script; echo "status=$?"'
	[[ $output == "first: spin"*"status=0" ]]
}

@test "the status stays the command's" {
	run on_terminal 'PAGER=./pager "$BPFPROF" record --help; echo "status=$?"'
	[[ $output == *"status=0"* ]]
}
