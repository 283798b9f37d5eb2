#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A file is read at one sitting: .c files have at most 500 lines, headers 200. (vmlinux.h is a list of
# the kernel's structs and exempt.)
#
# usage: tests/lint/size.sh TREE
cd "${1:-.}" || exit 2
find user include bpf tests -name '*.[ch]' 2>/dev/null | sort | xargs wc -l | awk '
$2 == "total" { next }
{ limit = $2 ~ /\.h$/ ? 200 : 500 }
$1 > limit {
	printf "%s: %d lines, at most %d\n", $2, $1, limit
	bad = 1
}
END { exit bad }'
