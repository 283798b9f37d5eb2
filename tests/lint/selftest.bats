#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Each check of `make lint`, and the runner of the tests, can fail: every one is shown a small tree
# that breaks its rule, and the same tree mended.
#
# Runs beside others.

setup() {
	lint=$BATS_TEST_DIRNAME
	tests=$BATS_TEST_DIRNAME/..
	tree=$BATS_TEST_TMPDIR/tree
	mkdir -p "$tree"/user/base "$tree"/user/event "$tree"/user/profile "$tree"/include/bpfprof
}

# write FILE LINE...
write() {
	local file=$tree/$1
	shift
	printf '%s\n' "$@" >"$file"
}

@test "layers: an include from a higher folder is refused" {
	write user/event/tee.c '#include "profile/profile.h"'
	run "$lint/layers.sh" "$tree"
	[ "$status" != 0 ]
	[[ $output == *"user/event/tee.c:1: event is below profile/"* ]]
}

@test "layers: another folder's private header is refused, its face is not" {
	write user/profile/a.c '#include "event/tee.h"'
	run "$lint/layers.sh" "$tree"
	[ "$status" != 0 ]
	[[ $output == *"event/tee.h is private"* ]]
	write user/profile/a.c '#include "event/event.h"' '#include "base/text.h"' '#include "profile/b.h"'
	run "$lint/layers.sh" "$tree"
	[ "$status" = 0 ]
}

@test "layers: libbpf and libelf stay in their folders" {
	write user/event/a.c '#include <bpf/libbpf.h>' '#include <elfutils/libdw.h>' '#include "x.skel.h"'
	run "$lint/layers.sh" "$tree"
	[ "$status" != 0 ]
	[ "${#lines[@]}" = 3 ]
}

@test "layers: a folder without a place is refused" {
	mkdir "$tree/user/misc"
	write user/misc/a.c '#include "base/text.h"'
	run "$lint/layers.sh" "$tree"
	[ "$status" != 0 ]
	[[ $output == *"user/misc has no place"* ]]
}

@test "headers: a header that needs another one first is refused" {
	write user/base/a.h 'struct a { u32 count; };'
	run "$lint/headers.sh" "$tree"
	[ "$status" != 0 ]
	[[ $output == *"user/base/a.h: does not compile alone"* ]]
	write user/base/a.h 'typedef unsigned u32; struct a { u32 count; };'
	run "$lint/headers.sh" "$tree"
	[ "$status" = 0 ]
}

@test "headers: a BPF header that needs another one first is refused" {
	mkdir "$tree/bpf"
	write bpf/a.bpf.h 'static u32 a;'
	run "$lint/headers.sh" "$tree"
	[ "$status" != 0 ]
	[[ $output == *"bpf/a.bpf.h: does not compile alone for BPF"* ]]
}

@test "contracts: a prototype without a comment directly above is refused" {
	write user/base/a.h '/* Does a. */' 'int a(void);' 'int b(int one,' '      int two);'
	run "$lint/contracts.sh" "$tree"
	[ "$status" != 0 ]
	[ "${#lines[@]}" = 1 ]
	[[ $output == *"user/base/a.h:3:"* ]]
}

@test "contracts: a comment with a blank line below it is no contract" {
	write user/base/a.h '/* About the file. */' '' 'int a(void);'
	run "$lint/contracts.sh" "$tree"
	[ "$status" != 0 ]
}

@test "contracts: macros, members, inline functions and types need none" {
	write user/base/a.h "#define A(x) \\" '	b(x);' 'struct ops {' '	int (*run)(void);' '};' \
		'struct ops;' 'static inline int two(void)' '{' '	return one();' '}' \
		'/* Says' ' * three. */' 'int three(void);'
	run "$lint/contracts.sh" "$tree"
	[ "$status" = 0 ]
}

@test "spdx: a file without licence, or without purpose, is refused" {
	write user/base/a.c 'int a;'
	write user/base/b.c '/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */' '#include <stdio.h>'
	run "$lint/spdx.sh" "$tree"
	[ "$status" != 0 ]
	[[ $output == *"user/base/a.c: the first line"* ]]
	[[ $output == *"user/base/b.c: no comment"* ]]
}

@test "spdx: a file with both passes" {
	write user/base/a.c '/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */' '/*' ' * Adds numbers.' ' */'
	run "$lint/spdx.sh" "$tree"
	[ "$status" = 0 ]
}

@test "size: a file of 501 lines and a header of 201 are refused" {
	yes '' | head -n 501 >"$tree/user/base/a.c"
	yes '' | head -n 201 >"$tree/user/base/a.h"
	yes '' | head -n 500 >"$tree/user/base/b.c"
	run "$lint/size.sh" "$tree"
	[ "$status" != 0 ]
	[ "${#lines[@]}" = 2 ]
}

@test "tidy: too many parameters, too deep, a leak, and what the compiler warns of are refused" {
	cp "$lint/../../.clang-tidy" "$tree/"
	write user/base/a.c 'int a(int b, int c, int d, int e, int f, int g);' \
		'int a(int b, int c, int d, int e, int f, int g) { return b+c+d+e+f+g; }'
	FLAGS=-std=gnu11 run "$lint/tidy.sh" "" "$tree/user/base/a.c"
	[ "$status" != 0 ]
	[[ $output == *"6 parameters"* ]]
	write user/base/a.c '#include <stdlib.h>' 'int a(int b);' \
		'int a(int b) { char *c = malloc(9); if (b) return 1; free(c); return 0; }'
	FLAGS=-std=gnu11 run "$lint/tidy.sh" "" "$tree/user/base/a.c"
	[ "$status" != 0 ]
	[[ $output == *"memory"* ]]
	write user/base/a.c 'int a(int b);' 'int a(int b) { int c; return b; }'
	FLAGS="-std=gnu11 -Wall -Werror" run "$lint/tidy.sh" "" "$tree/user/base/a.c"
	[ "$status" != 0 ]
	[[ $output == *"unused variable"* ]]
}

@test "count: a failure, a test that never reported, and a silent crash are each counted" {
	printf '%s\n' '#file one' 1..3 'ok 1 - a' 'not ok 2 - b' 'ok 3 - c # SKIP no root' '#exit 1' \
		'#file two' 1..2 'ok 1 - d' '#exit 139' '#file three' '#exit 0' >"$BATS_TEST_TMPDIR/tap"
	run awk -f "$tests/count.awk" -v expected=3 "$BATS_TEST_TMPDIR/tap"
	[ "$status" != 0 ]
	[[ $output == *"skipped: one: c: no root"* ]]
	[[ $output == *"failed:  one: b"* ]]
	[[ $output == *"failed:  two: 1 of 2 tests never reported, exit status 139"* ]]
	[[ $output == *"failed:  three: ran no test"* ]]
	[ "${lines[-1]}" = "2 passed, 3 failed, 1 skipped" ]
}

@test "count: a file that fails after its last test is counted" {
	printf '%s\n' '#file one' 1..1 'ok 1 - a' '#exit 23' >"$BATS_TEST_TMPDIR/tap"
	run awk -f "$tests/count.awk" -v expected=1 "$BATS_TEST_TMPDIR/tap"
	[ "$status" != 0 ]
	[ "${lines[-1]}" = "1 passed, 1 failed, 0 skipped" ]
}

@test "count: nothing that ran is not a success" {
	run awk -f "$tests/count.awk" -v expected=0 /dev/null
	[ "$status" != 0 ]
	[ "${lines[-1]}" = "0 passed, 0 failed, 0 skipped" ]
}

@test "run: passes and skips are a success, and the last line counts them" {
	printf '%s\n' '#!/bin/sh' 'echo 1..2' 'echo ok 1 - a' 'echo "not ok 2 # SKIP b"' >"$tree/cmocka_test"
	chmod +x "$tree/cmocka_test"
	BUILD=$BATS_TEST_TMPDIR run "$tests/run.sh" "$tree/cmocka_test"
	[ "$status" = 0 ]
	[ "${lines[-1]}" = "1 passed, 0 failed, 1 skipped" ]
}

@test "run: a failing test fails the run" {
	printf '%s\n' '#!/bin/sh' 'echo 1..1' 'echo not ok 1 - a' >"$tree/cmocka_test"
	chmod +x "$tree/cmocka_test"
	BUILD=$BATS_TEST_TMPDIR run "$tests/run.sh" "$tree/cmocka_test"
	[ "$status" != 0 ]
	[ "${lines[-1]}" = "0 passed, 1 failed, 0 skipped" ]
}

# fake_test KIND/NAME FIRST SECOND: a test file that reports "a" and FIRST, and "a" and SECOND when it runs again
fake_test() {
	local file=$BATS_TEST_TMPDIR/tests/$1
	mkdir -p "${file%/*}"
	printf '%s\n' '#!/bin/sh' 'printf "1..2\nok 1 - a\n"' "said=\$([ -e $file.runs ] && echo '$3' || echo '$2')" \
		"echo >>$file.runs" 'echo "$said"' 'case $said in not*) echo "# why"; exit 1 ;; esac' >"$file"
	chmod +x "$file"
}

# run_fakes KIND/NAME...: runs such files
run_fakes() {
	BUILD=$BATS_TEST_TMPDIR run "$tests/run.sh" "${@/#/$BATS_TEST_TMPDIR/tests/}"
}

runs() {
	wc -l <"$BATS_TEST_TMPDIR/tests/$1.runs"
}

@test "run: a live test that fails twice fails the run" {
	fake_test kernel/x_test 'not ok 2 - b' 'not ok 2 - b'
	run_fakes kernel/x_test
	[ "$status" != 0 ]
	[ "$(runs kernel/x_test)" = 2 ]
	[ "${lines[-2]}" = "failed:  tests/kernel/x_test: b" ]
	[ "${lines[-1]}" = "1 passed, 1 failed, 0 skipped" ]
}

@test "run: a live test that passes the second time is told and named, and does not fail the run" {
	fake_test kernel/x_test 'not ok 2 - b' 'ok 2 - b'
	fake_test kernel/y_test 'ok 2 - b' 'not ok 2 - b'
	run_fakes kernel/x_test kernel/y_test
	[ "$status" = 0 ]
	[ "$(runs kernel/y_test)" = 1 ]
	[[ $output == *"not ok 2 - b"*"# why"*"Once more"* ]]
	[ "${lines[-2]}" = "unsteady: tests/kernel/x_test: b (failed, then passed alone)" ]
	[ "${lines[-1]}" = "4 passed, 0 failed, 0 skipped" ]
}

@test "run: a live test that is skipped, not reported, or cut off the second time has failed" {
	local second
	for second in 'ok 2 - b # SKIP no root' '' 'ok 2 - c'; do
		rm -rf "$BATS_TEST_TMPDIR/tests"
		fake_test kernel/x_test 'not ok 2 - b' "$second"
		run_fakes kernel/x_test
		[ "$status" != 0 ]
		[[ $output == *"failed:  tests/kernel/x_test: b"* ]]
	done
}

@test "run: what fails only the second time has failed, too" {
	fake_test kernel/x_test 'not ok 2 - b' 'not ok 2 - c'
	run_fakes kernel/x_test
	[ "$status" != 0 ]
	[[ $output == *"failed:  tests/kernel/x_test: b"*"failed:  tests/kernel/x_test: c"* ]]
}

@test "run: a live file that ended too early passes if all of it passes the second time" {
	fake_test kernel/x_test '' 'ok 2 - b'
	run_fakes kernel/x_test
	[ "$status" = 0 ]
	[[ ${lines[-2]} == "unsteady: tests/kernel/x_test: 1 of 2 tests never reported"* ]]
	[ "${lines[-1]}" = "2 passed, 0 failed, 0 skipped" ]
}

@test "run: where four files fail, none is run again" {
	local name
	for name in w x y z; do
		fake_test "kernel/${name}_test" 'not ok 2 - b' 'ok 2 - b'
	done
	run_fakes kernel/{w,x,y,z}_test
	[ "$status" != 0 ]
	[ "$(runs kernel/w_test)" = 1 ]
	[ "${lines[-1]}" = "4 passed, 4 failed, 0 skipped" ]
}

@test "run: a unit test or a replay that fails is not run again, and fails the run beside an unsteady one" {
	fake_test unit/x_test 'not ok 2 - b' 'ok 2 - b'
	fake_test fuzz/x_replay 'not ok 2 - b' 'ok 2 - b'
	fake_test kernel/x_test 'not ok 2 - b' 'ok 2 - b'
	run_fakes unit/x_test fuzz/x_replay kernel/x_test
	[ "$status" != 0 ]
	[ "$(runs unit/x_test) $(runs fuzz/x_replay) $(runs kernel/x_test)" = "1 1 2" ]
	[[ $output == *"unsteady: tests/kernel/x_test: b"*"failed:  tests/fuzz/x_replay: b"* ]]
	[ "${lines[-1]}" = "4 passed, 2 failed, 0 skipped" ]
}

# Stand-ins for apt and dpkg that know one installed package, and write down what they are asked.
fake_apt() {
	mkdir -p "$tree/bin"
	write bin/dpkg-query '#!/bin/sh' 'for p; do [ "$p" = there ] && echo "installed there"; done; true'
	write bin/apt-cache '#!/bin/sh' '[ "$1" = policy ] && [ "$2" != nowhere ] && echo "  Candidate: 1"; true'
	write bin/apt-get '#!/bin/sh' 'echo "apt-get $*" >>"$ASKED"'
	write bin/id '#!/bin/sh' 'echo "$FAKE_ID"'
	chmod +x "$tree"/bin/*
	export ASKED=$BATS_TEST_TMPDIR/asked PATH=$tree/bin:$PATH FAKE_ID=0
	: >"$ASKED"
}

@test "deps: nothing missing is silent and asks apt for nothing" {
	fake_apt
	run "$lint/../../.ci/deps" there 'missing|there'
	[ "$status" = 0 ]
	[ -z "$output" ]
	[ ! -s "$ASKED" ]
}

@test "deps: root installs what is missing, the first that apt offers" {
	fake_apt
	run "$lint/../../.ci/deps" there 'nowhere|second' third '?nowhere'
	[ "$status" = 0 ]
	[ "$(cat "$ASKED")" = "apt-get install -qq -y --no-install-recommends second third" ]
}

@test "deps: a package that apt does not know is named after an update" {
	fake_apt
	run "$lint/../../.ci/deps" nowhere
	[ "$status" = 1 ]
	[ "$(cat "$ASKED")" = "apt-get update -qq" ]
	[ "${#lines[@]}" = 1 ]
	[[ $output == *"no package nowhere"* ]]
}

@test "deps: others are told in one line what to run" {
	fake_apt
	FAKE_ID=1000 run "$lint/../../.ci/deps" there missing
	[ "$status" = 1 ]
	[ "${#lines[@]}" = 1 ]
	[[ $output == *"missing packages: missing; run: sudo make deb-deps"* ]]
	[ ! -s "$ASKED" ]
}

@test "deps: without apt, what is not there is named in one line" {
	mkdir -p "$tree/bin"
	for tool in bash cut sed id; do
		ln -s "$(command -v "$tool")" "$tree/bin/$tool"
	done
	unset CC CLANG BPFTOOL
	PATH=$tree/bin run "$(command -v bash)" "$lint/../../.ci/deps" gcc
	[ "$status" = 1 ]
	[ "${#lines[@]}" = 1 ]
	[[ $output == *"gcc,clang,bpftool,pkg-config,libbpf headers"*"no apt here"* ]]
}

@test "changed: what differs from a commit, is new, or includes such a header; all where git cannot tell" {
	cd "$tree"
	mkdir tests
	write user/base/a.h 'int a(void);'
	write user/base/a.c '#include "base/a.h"'
	write user/base/b.c '#include "base/b.h"'
	write user/event/c.c '#include "base/a.h"'
	git init -q . && git add . && git -c user.name=x -c user.email=x@x commit -qm x
	[ -z "$("$lint/changed.sh" HEAD)" ]
	write user/base/b.c 'int b;'
	write user/base/d.c 'int d;'
	[ "$("$lint/changed.sh" HEAD | sort | tr '\n' ' ')" = "user/base/b.c user/base/d.c " ]
	write user/base/a.h 'int a(int);'
	[ "$("$lint/changed.sh" HEAD | grep -c 'user/base/a\.[ch]$\|user/event/c\.c$')" = 3 ]
	[ "$("$lint/changed.sh" none)" = % ]
}
