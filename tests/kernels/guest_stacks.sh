#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Records, inside a guest, the workloads whose stacks are known, and prints the samples packed, between
# "#data" and "#end of data": run.sh on the host judges them.
file=/tmp/stacks.data

# Once each for a moment, so that their unwind tables have been read when they are judged; that of the
# C library takes longer here.
run_all() {
	WARM_UP=1 "$WORKLOADS/nofp" plain 3
	sh /known_names.sh "$(uname -m)" | while read -r name; do
		WARM_UP=1 "$WORKLOADS/${name%%.*}" "${name#*.}" 0.05
		"$WORKLOADS/${name%%.*}" "${name#*.}" 0.4
	done
}

[ "$1" != run ] || { run_all; exit; }
timeout 100 bpfprof record -F 299 -e cpu-clock -o "$file" -- "$0" run
echo '#data'
bpfprof script -i "$file" -F comm,pid,tid,ip,sym,dso,provenance 2>/dev/null | gzip | base64
echo '#end of data'
