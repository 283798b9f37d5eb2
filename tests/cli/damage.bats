#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Recordings of many versions of perf, cut short and with single bits turned over: no command crashes,
# hangs, takes all memory or ends without a word. Some of the damage here, all of it with TEST_ALL=1
# (200 cuts and 1,000 bits a file).
#
# Runs beside others.

load common

setup_file() {
	CORPUS=$(realpath "$BATS_TEST_DIRNAME/../../../shared/perf-corpus" 2>/dev/null) || CORPUS=
	DAMAGE=$(realpath "$BATS_TEST_DIRNAME/../fuzz/corpus/perfdata")
	export CORPUS DAMAGE
}

# The files: those beside the project, if they are there, and always those of the fuzzer.
recordings() {
	ls -d "$CORPUS"/perf.data.* "$DAMAGE"/* 2>/dev/null
}

# damage COMMAND [CUTS BITS]: of each file, unless all of it is wanted
damage() {
	local amount=(-c "${2:-2}" -f "${3:-4}")
	[ -z "${TEST_ALL:-}" ] || amount=(-c 200 -f 1000)
	mapfile -t files < <(recordings)
	[ "${#files[@]}" -gt 10 ]
	"$(dirname "$WORKLOADS")/damage/damage" "${amount[@]}" -j "$(nproc)" "$1" "${files[@]}" >found ||
		{ cat found; return 1; }
	awk '{ runs += $2 } END { exit runs < 100 }' found
}

@test "report bears recordings that were cut or changed anywhere" {
	damage report
}

@test "script bears recordings that were cut or changed anywhere" {
	damage script
}

@test "a dump bears recordings that were cut or changed anywhere" {
	damage dump 2 3
}

@test "diff bears recordings that were cut or changed anywhere" {
	damage diff 2 3
}

@test "a recording that was cut is said in one line, and what is whole is shown" {
	local file bytes command
	while read -r file; do
		bytes=$(stat -c %s "$file")
		head -c $((bytes * 2 / 3)) "$file" >cut.data
		for command in report script; do
			echo "$command of two thirds of $file"
			run -1 --separate-stderr "$BPFPROF" "$command" -q -i cut.data
			# shellcheck disable=SC2154
			[ "${#stderr_lines[@]}" = 1 ]
			[[ ${stderr_lines[0]} == "bpfprof: cut.data is cut"* ]] ||
				[[ ${stderr_lines[0]} == "bpfprof: cut.data"*" shown" ]]
		done
	done < <(recordings)
}

@test "a compressed recording that lost its end keeps the samples of all that is there" {
	local file whole
	"$PERF" record -q --no-bpf-event -z -F 2000 -o theirs.data -- "$WORKLOADS/spin" 0.2
	"$BPFPROF" record -q -F 2000 -o ours.data -- "$WORKLOADS/spin" 0.2
	for file in theirs ours; do
		whole=$("$BPFPROF" script -q -F time -i "$file.data" | wc -l)
		[ "$whole" -gt 10 ]
		head -c -1 "$file.data" >cut.data
		run -1 --separate-stderr "$BPFPROF" script -q -F time -i cut.data
		[ "${#lines[@]}" = "$whole" ]
		# shellcheck disable=SC2154
		[[ ${stderr_lines[0]} == *"the features behind the records are gone; $whole samples before that are shown" ]]
	done
}
