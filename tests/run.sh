#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Runs tests under prove and closes with one line that counts them.
#
# usage: BUILD=folder tests/run.sh KIND...      KIND: lint unit kernel cli, or a test file
#
# Unit tests run two at a time, and so do files with the line "# Runs beside others." at their head (three at a time
# take as long on two CPUs, and more of them are unsteady); then everything else alone, as it measures the machine.
# Files of kernel/ and cli/ that failed are run once more, each alone, if no more than three files failed: what
# passes then is named as unsteady, for a person to mend.
# What was skipped is named. The status is 0 only if something ran and nothing failed.
set -u
cd "$(dirname "$0")/.." || exit 1
: "${BUILD:=$PWD/build}"
export BUILD BPFPROF="${BPFPROF:-$BUILD/bpfprof}" WORKLOADS="$BUILD/tests/workloads"
export TAP_FOLDER="$BUILD/tests/tap" XDG_CACHE_HOME=/dev/null
rm -rf "$TAP_FOLDER" && mkdir -p "$TAP_FOLDER" || exit 1

# The tests of one kind. Folders that do not exist (yet) have none.
list_tests() {
	case $1 in
	lint) ls tests/lint/*.bats ;;
	unit)
		for source in tests/unit/*_test.c tests/unit/*/*_test.c; do
			[ -e "$source" ] && echo "$BUILD/${source%.c}"
		done
		for source in tests/fuzz/*_fuzz.c; do
			[ -e "$source" ] && echo "$BUILD/${source%_fuzz.c}_replay"
		done
		;;
	kernel)
		for source in tests/kernel/*_test.c; do
			[ -e "$source" ] && echo "$BUILD/${source%.c}"
		done
		ls tests/kernel/*.bats
		;;
	cli) ls tests/cli/*.bats ;;
	*) echo "$1" ;;
	esac 2>/dev/null
}

tests=()
for kind in "$@"; do
	mapfile -t found < <(list_tests "$kind")
	tests+=("${found[@]}")
done
[ ${#tests[@]} -gt 0 ] || { echo "0 passed, 0 failed, 0 skipped"; exit 1; }

cat >"$TAP_FOLDER/rules.yml" <<END
---
seq:
  - par: '$BUILD/tests/unit/**'
  - par: '$BUILD/tests/fuzz/**'
  - par:
$(grep -lx '# Runs beside others\.' tests/*/*.bats | sed "s/.*/    - '&'/")
  - seq: '**'
END
HARNESS_RULESFILE=$TAP_FOLDER/rules.yml \
	prove -j2 --failures -e tests/run-one.sh "${tests[@]}"
status=$?

shopt -s nullglob
count() {
	awk -f tests/count.awk -v expected=${#tests[@]} /dev/null "$TAP_FOLDER"/*.tap again=1 "$again_folder"/*.tap
}

# The files with failures that may come of what a live test meets on this machine, if only few have any.
again_folder=$TAP_FOLDER/again
mapfile -t failed < <(count | sed -n 's/^failed:  \([^ ]*\): .*/\1/p' | uniq)
again=()
for file in "${failed[@]}"; do
	case $file in
	tests/kernel/*.bats | tests/cli/*.bats) again+=("$file") ;;
	tests/kernel/*) again+=("$BUILD/$file") ;;
	esac
done
if [ ${#failed[@]} -le 3 ] && [ ${#again[@]} -gt 0 ]; then
	echo "Once more, alone: ${again[*]}"
	mkdir "$again_folder"
	TAP_FOLDER=$again_folder prove -j1 --failures -e tests/run-one.sh "${again[@]}"
	status=$?
fi

count || status=1
exit $status
