#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Runs a program under the LBR simulator: its calls, returns and samples go to a log, of which
# recording.py makes perf.data files and the true stacks.
#
# usage: simulate.sh LOG PERIOD PROGRAM [ARGUMENT]...
#
# PERIOD is the mean number of instructions from sample to sample, SEED (1) decides the jitter around
# it, and BUILD (build) is the folder that `make lbr-simulator` filled.
set -eu
log=$1 period=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
folder=$(cd "${BUILD:-$here/../../build}" && pwd)/tests/lbr_simulator
[ -x "$folder/lbr-amd64-linux" ] || {
	echo "bpfprof: the LBR simulator is not built; run: make lbr-simulator" >&2
	exit 1
}
VALGRIND_LIB=$folder exec valgrind -q --tool=lbr --lbr-log="$log" --lbr-period="$period" \
	--lbr-seed="${SEED:-1}" "$@"
