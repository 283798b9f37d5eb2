#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Which files a linter that reads each by itself has to read anew: those that changed since a commit or
# are new to git, and the sources that include a header of them. If git does not tell: %, which to make is all.
#
# usage: tests/lint/changed.sh COMMIT
changed=$(git diff --relative --name-only "$1" -- 2>/dev/null && git ls-files -o --exclude-standard) || {
	echo %
	exit
}
printf '%s\n' "$changed"
printf '%s\n' "$changed" | sed -n 's|^[a-z]*/\(.*\.h\)$|"\1"|p' | grep -rlF -f - --include='*.c' user tests
exit 0
