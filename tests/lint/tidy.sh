#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# clang-tidy over one file: prints findings only, without the counts of what it suppressed.
#
# usage: tests/lint/tidy.sh FILE COMPILER-FLAGS...
file=$1
shift
if ! findings=$(clang-tidy --quiet "$file" -- "$@" 2>&1); then
	# The analyzer's path to a finding is long: TIDY_NOTES=1 shows it.
	printf '%s\n' "$findings" | awk -v all="${TIDY_NOTES:-}" '
		/: note: / { show = all != "" || !is_path }
		/: (error|warning): / { show = 1; is_path = /\[clang-analyzer/ }
		show' >&2
	exit 1
fi
