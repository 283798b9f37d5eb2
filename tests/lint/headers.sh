#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Every header compiles alone: those of user/ and include/ with CC and FLAGS, those of bpf/ and, once
# more, those of include/ that BPF programs share, with CLANG and BPF_FLAGS.
#
# usage: CC=… FLAGS=… CLANG=… BPF_FLAGS=… tests/lint/headers.sh TREE
cd "${1:-.}" || exit 2
status=0
for header in $(find user include tests/unit -name '*.h' 2>/dev/null | sort); do
	# shellcheck disable=SC2086 # flags are words
	printf '#include "%s"\n' "$header" |
		${CC:-gcc} ${FLAGS:--Iinclude -Iuser} -I. -Itests -Wno-unused -fsyntax-only -x c - || {
		echo "$header: does not compile alone"
		status=1
	}
done
for header in $(find bpf vmlinux -name '*.h' 2>/dev/null | sort); do
	# shellcheck disable=SC2086
	printf '#include "%s"\n' "$header" |
		${CLANG:-clang} ${BPF_FLAGS:--target bpf -Iinclude -Ivmlinux -Ibpf} -I. -Wno-unused \
			-fsyntax-only -x c - || {
		echo "$header: does not compile alone for BPF"
		status=1
	}
done
exit $status
