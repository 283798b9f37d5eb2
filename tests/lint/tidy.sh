#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# clang-tidy over some files: prints findings only, without the counts of what it suppressed.
#
# usage: tests/lint/tidy.sh COMPILER-FLAGS... -- FILE...
flags=()
while [ "$1" != -- ]; do
	flags+=("$1")
	shift
done
shift
if ! findings=$(clang-tidy --quiet "$@" -- "${flags[@]}" 2>&1); then
	# The analyzer's path to a finding is long: TIDY_NOTES=1 shows it.
	printf '%s\n' "$findings" | awk -v all="${TIDY_NOTES:-}" '
		/: note: / { show = all != "" || !is_path }
		/: (error|warning): / { show = 1; is_path = /\[clang-analyzer/ }
		show' >&2
	exit 1
fi
