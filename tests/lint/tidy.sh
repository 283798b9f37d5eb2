#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# clang-tidy over one file: prints findings only, without the counts of what it suppressed.
#
# usage: tests/lint/tidy.sh FILE COMPILER-FLAGS...
file=$1
shift
if ! findings=$(clang-tidy --quiet "$file" -- "$@" 2>&1); then
	printf '%s\n' "$findings" | grep -v -e 'warnings generated' -e '^Suppressed' >&2
	exit 1
fi
