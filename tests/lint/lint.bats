#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `make lint`, one test a rule, so that the count and the report name the rule that was broken. What takes
# long is done for files that changed in the last commits (all of them if git does not tell), and the analyzer
# of clang-tidy not at all: unless TEST_ALL is set.
#
# Runs beside others.

setup() {
	cd "$BATS_TEST_DIRNAME/../.." || return
	unset MAKEFLAGS MAKELEVEL MFLAGS
	LINT_SINCE=
	[ -n "${TEST_ALL:-}" ] || LINT_SINCE=$(git rev-parse -q --verify HEAD~12 2>/dev/null) || true
}

holds() {
	make -s --no-print-directory -j"$(nproc)" BUILD="${BUILD:-build}" LINT_SINCE="$LINT_SINCE" "lint-$1"
}

@test "every C file is laid out by clang-format" { holds format; }
@test "clang-tidy finds nothing, and clang warns of nothing" { holds tidy; }
@test "the analyzer of clang-tidy finds nothing" {
	[ -n "${TEST_ALL:-}" ] || skip "it takes minutes: make lint, make test-all"
	holds analyzer
}
@test "cppcheck finds nothing" { holds cppcheck; }
@test "shellcheck finds nothing" { holds shell; }
@test "folders include only what is below them" { holds layers; }
@test "every header compiles alone" { holds headers; }
@test "every prototype in a header has its contract" { holds contracts; }
@test "every file has its licence and says what it is for" { holds spdx; }
@test "no file is too long to be read at one sitting" { holds size; }
