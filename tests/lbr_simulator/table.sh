#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Simulates the cases of cases.sh and prints a table: how much of the true stacks is seen by plain LBR,
# by perf --stitch-lbr and by bpfprof, and how much of it is wrong. A cell is
#
#   complete / to main / wrong, in percent of the samples / right callers of a sample
#
# usage: table.sh [SETTING]...       32 and 16 by default
#
# A setting is a number of registers, and variants of recording.py behind commas: 32,arch 16,wipe=0.02.
# CASES="chain tree" picks cases, SHORT=1 makes them short, JOBS says how many run at a time. The files
# stay in LBR_FOLDER ($BUILD/lbr) as CASE-SETTING.*; KEEP=1 takes the logs that are there already.
set -u
HERE=$(cd "$(dirname "$0")" && pwd)
export BUILD=${BUILD:-$HERE/../../build} LC_ALL=C PYTHONHASHSEED=0 SHORT=${SHORT:-0}
PERF=${PERF:-perf}
WORKLOADS=${WORKLOADS:-$BUILD/tests/workloads}
FOLDER=${LBR_FOLDER:-$BUILD/lbr}
INPUTS=$FOLDER/inputs
# shellcheck source=tests/lbr_simulator/cases.sh
. "$HERE/cases.sh"

# simulate NAME PERIOD COMMAND...
simulate() {
	[ -z "${KEEP-}" ] || [ ! -s "$FOLDER/$1.log" ] || return 0
	"$HERE/simulate.sh" "$FOLDER/$1.log" "${@:2}" >"$FOLDER/$1.out" 2>&1 </dev/null || {
		echo "bpfprof: $1 failed under the simulator; see $FOLDER/$1.out" >&2
		return 1
	}
}

# perf_chains NAME [OPTION]...
perf_chains() {
	"$PERF" script -i "$1.perf.data" -F tid,time,ip,dso --no-inline "${@:2}" 2>>"$1.stderr" |
		"$HERE/chains.py" "$1"
}

# our_chains NAME TIER
our_chains() {
	"$BUILD/tests/lbr/chains" "$1.perf.data" "$2" 2>"$1.$2.stderr"
}

# score_setting CASE SETTING: a line of the table, into CASE-SETTING.row
score_setting() {
	local name=$FOLDER/$1-$2 setting=$2 variants=() variant cells
	for variant in ${setting//,/ }; do
		[ "$variant" = "${setting%%,*}" ] || variants+=(--variant "$variant")
	done
	"$HERE/recording.py" "$FOLDER/$1.log" "$name" --registers "${setting%%,*}" "${variants[@]}" \
		--no-symbols || return 1
	rm -f "$name.row" && : >"$name.stderr"
	perf_chains "$name" >"$name.plain"
	perf_chains "$name" --stitch-lbr >"$name.stitched"
	our_chains "$name" certain >"$name.certain"
	our_chains "$name" likely >"$name.likely"
	cells=$("$HERE/score.py" "$name" "$name".{plain,stitched,certain,likely}) || return 1
	echo "| $1 | $cells |" >"$name.row"
	# Of lost samples perf has to warn.
	! grep -qvE '^$|^Warning:$|^Processed .* lost .* chunks!$|^Check IO/CPU' "$name.stderr" ||
		echo "bpfprof: perf is not content with $name.perf.data: see $name.stderr" >&2
}

# run_case NAME PERIOD COMMAND...: all settings
run_case() {
	local setting
	simulate "$@" || return 1
	for setting in $SETTINGS; do
		score_setting "$1" "$setting" || return 1
	done
}

# Called by itself, for a case.
if [ "${1-}" = --case ]; then
	run_case "${@:2}"
	exit
fi

[ $# -gt 0 ] || set -- 32 16
make_inputs || exit 1
list_cases | while read -r name rest; do
	case " ${CASES:-$name} " in
	*" $name "*) echo "$name $rest" ;;
	esac
done >"$FOLDER/cases"
status=0
SETTINGS=$* xargs -P "${JOBS:-$(nproc)}" -L 1 "$0" --case <"$FOLDER/cases" || status=1

for setting; do
	printf '\n#### %s registers\n\n' "$setting"
	echo "| workload | samples | depth p10/50/90/max | plain | perf --stitch-lbr | certain | likely |"
	echo "|---|---|---|---|---|---|---|"
	while read -r name _; do
		cat "$FOLDER/$name-$setting.row" || status=1
	done <"$FOLDER/cases"
done
exit $status
