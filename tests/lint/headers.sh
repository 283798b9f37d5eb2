#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Every header compiles alone: those of user/ and include/ with CC and FLAGS, those of bpf/ with CLANG and
# BPF_FLAGS. A header that its source file includes before all else was compiled alone with that.
#
# usage: CC=… FLAGS=… CLANG=… BPF_FLAGS=… tests/lint/headers.sh TREE
cd "${1:-.}" || exit 2
status=0

list_headers() {
	{
		find "$@" -name '*.h'
		find "$@" -name '*.c' -exec awk '/^#include/ {
			header = FILENAME
			sub(/c$/, "h", header)
			gsub(/"/, "", $2)
			if (substr(header, length(header) - length($2)) == "/" $2)
				print header
			nextfile
		}' {} +
	} 2>/dev/null | sort | uniq -u
}

# compile_alone WHERE COMPILER FLAG...: each of the headers that are read
compile_alone() {
	# shellcheck disable=SC2016 # the shell that is started expands
	xargs -r -P "$(nproc)" -I HEADER sh -c '
		header=$1 where=$2
		shift 2
		printf "#include \"%s\"\n" "$header" | "$@" -I. -Wno-unused -fsyntax-only -x c - && exit
		echo "$header: does not compile alone$where"
		exit 1' sh HEADER "$@"
}

# shellcheck disable=SC2086 # flags are words
list_headers user include tests/unit | compile_alone "" ${CC:-gcc} ${FLAGS:--Iinclude -Iuser} -Itests || status=1
# shellcheck disable=SC2086
list_headers bpf vmlinux |
	compile_alone " for BPF" ${CLANG:-clang} ${BPF_FLAGS:--target bpf -Iinclude -Ivmlinux -Ibpf} || status=1
exit $status
