#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Runs one test file for prove and keeps its TAP for the count at the end (tests/count.awk).
#
# usage: tests/run-one.sh FILE
set -u
case $1 in
*.bats) command=(bats --tap "$1") ;;
*) command=("$1") ;;
esac
# /work/x/build/tests/unit/base/text_test is unit/base/text_test to people
name=${1#"${BUILD:-build}/"}
tap=${TAP_FOLDER:?}/$(tr / - <<<"${name#tests/}").tap

# A cmocka test that skips itself says "not ok 2 # SKIP name", which TAP reads as a failure.
echo "#file $name" >"$tap"
CMOCKA_MESSAGE_OUTPUT=TAP timeout -k 5 "${TEST_SECONDS:-600}" "${command[@]}" |
	sed -u 's/^not ok \([0-9]*\) # SKIP \(.*\)/ok \1 - \2 # SKIP/' | tee -a "$tap"
status=${PIPESTATUS[0]}
[ "$status" != 124 ] || echo "# stopped after ${TEST_SECONDS:-600} s" | tee -a "$tap"
# prove shows no comments of a test: say here what failed and why.
sed -n '/^not ok/,/^ok/ { /^ok/!p }' "$tap" >&2
echo "#exit $status" >>"$tap"
exit "$status"
