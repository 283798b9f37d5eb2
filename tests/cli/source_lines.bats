#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Source lines and inlined functions are those that llvm-symbolizer finds.

load common

setup() {
	LINES_TOOL="$BUILD/tests/dwarf/lines"
	count=${TEST_ALL:+10000}
	count=${count:-1000}
}

# Holds a file against llvm-symbolizer at addresses spread over its code.
same() {
	run python3 "$BATS_TEST_DIRNAME/../dwarf/compare.py" -n "$count" "$LINES_TOOL" "$@"
	echo "$output"
	[ "$status" = 0 ]
}

@test "a program with inlined functions, ours" {
	same "$BPFPROF"
}

@test "libc, whose DWARF is compressed and in a separate file" {
	libc=$(ldd /bin/true | awk '/libc\.so/ { print $3 }')
	id=$(readelf -n "$libc" | awk '/Build ID/ { print $3 }')
	[ -e "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" ] || skip "libc6-dbg is not installed"
	same "$libc"
}

@test "a library that has no DWARF" {
	library=$(ldd "$(command -v llvm-symbolizer)" | awk '/libLLVM/ { print $3 }')
	[ -n "$library" ] || skip "llvm-symbolizer is not linked with libLLVM"
	same "$library"
}
