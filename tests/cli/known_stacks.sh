#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Runs workloads with known stacks, two at a time; before that each once for a moment, so that their
# unwind tables have been read when they are judged.
#
# usage: known_stacks.sh SECONDS PROGRAM.MODE...      in the folder $WORKLOADS; SECONDS of CPU each
seconds=$1
shift
run_all() {
	for name; do
		echo "${name%%.*} ${name#*.} $seconds"
	done | xargs -P 2 -L 1 sh -c 'exec "$WORKLOADS/$0" "$@"'
}
(seconds=0.02 WARM_UP=1 && export WARM_UP && run_all "$@")
run_all "$@"
