#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# clang-tidy over files: prints findings only, without the counts of what it suppressed.
#
# usage: FLAGS=… tests/lint/tidy.sh CHECKS FILE...      CHECKS: what .clang-tidy's are changed by
checks=$1
shift
# shellcheck disable=SC2086 # flags are words
if ! findings=$(clang-tidy --quiet --checks="$checks" "$@" -- $FLAGS 2>&1); then
	# The analyzer's path to a finding is long: TIDY_NOTES=1 shows it.
	printf '%s\n' "$findings" | awk -v all="${TIDY_NOTES:-}" '
		/: note: / { show = all != "" || !is_path }
		/: (error|warning): / { show = 1; is_path = /\[clang-analyzer/ }
		show' >&2
	exit 1
fi
