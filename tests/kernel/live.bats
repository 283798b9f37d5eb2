#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The stacks of programs as distributions build them, walked in the kernel, are those that libdw finds
# with the same registers and the same bytes of stack (live_check.c).

load ../cli/common

setup_file() {
	local build="${BUILD:-$PWD/build}"
	export LIVE_CHECK="$build/tests/kernel/live_check" WORKLOADS="${WORKLOADS:-$build/tests/workloads}"
	export PROGRAM="$BATS_TEST_DIRNAME/live_program.sh" TABLE="$BATS_FILE_TMPDIR/table"
	export SIZE=1
	export LEAST=100 WHOLE=99
	[ -z "$TEST_ALL" ] || { SIZE=6 && LEAST=1000; }
	sh "$PROGRAM" "$BATS_FILE_TMPDIR" prepare "$SIZE"
}

setup() {
	need_root
	cd "$BATS_TEST_TMPDIR" || return
}

# equals_libdw PROGRAM...: libdw finds the same stacks, in 1,000 samples if there is time for it
equals_libdw() {
	local program
	for program; do
		"$LIVE_CHECK" -n "$LEAST" -w "$WHOLE" -N "$program" -F 1999 \
			sh "$PROGRAM" "$BATS_FILE_TMPDIR" "$program" "$SIZE" >>"$TABLE" ||
			{ cat "$TABLE" && return 1; }
	done
}

@test "programs as the distribution builds them" {
	local programs=(python3 perl sort)
	[ -z "$TEST_ALL" ] || programs+=(xz openssl git sqlite3 cc1 cc1plus clang c++)
	[ -z "$TEST_ALL" ] || ! command -v node >/dev/null || programs+=(node)
	equals_libdw "${programs[@]}"
	[ -z "$TEST_ALL" ] || sed 's/^/# /' "$TABLE" >&3
}

# The copies end where they end: how much is whole says nothing.
@test "what perf has copied is walked as libdw walks it" {
	need_perf
	for program in python3 perl sort; do
		perf_records -e cpu-clock -F 1999 -m 2048 --call-graph dwarf,16384 -o copied.data -- \
			sh "$PROGRAM" "$BATS_FILE_TMPDIR" "$program" "$SIZE"
		"$LIVE_CHECK" -n "$LEAST" -w 0 -N "$program" -i copied.data
	done
}
