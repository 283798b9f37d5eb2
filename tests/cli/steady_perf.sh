#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The perf that tests compare with ($PERF of common.bash): $REAL_PERF, but reports and diffs on a heap
# that only grows (workloads/growing_heap.c), so that ties come out the same in every environment.
#
# usage: REAL_PERF=perf WORKLOADS=folder tests/cli/steady_perf.sh [perf's arguments]
case ${1-} in
report | diff)
	[ ! -e "$WORKLOADS/growing_heap" ] || export LD_PRELOAD="$WORKLOADS/growing_heap"
	;;
esac
exec "$REAL_PERF" "$@"
