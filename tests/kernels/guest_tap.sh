#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests inside a guest: busybox is all there is, so this prints TAP by itself. To be read by a file whose
# tests are functions named after what they hold, of two words or more; a helper's name is one word. A
# test fails with its first command that does.

SKIP=77 # a test's status where there is not what it needs
export SKIP
PATH=$PATH:$WORKLOADS

# Whether $2 lines of stdin or more match $1.
atleast() {
	found=$(grep -c "$1") || :
	echo "$found lines with $1, $2 expected"
	[ "$found" -ge "$2" ]
}

# Whether the daemon said so, into the file log.
says() {
	cat log
	grep -q "$1" log
}

# Until the command succeeds, for two minutes at most.
await() {
	tries=600
	until "$@" >/tmp/awaited 2>&1; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || { echo "never happened: $*"; tail -n 20 /tmp/awaited; return 1; }
		usleep 200000
	done
}

run_test() { # NAME NUMBER
	(set -e; "$1") >/tmp/output 2>&1 # not as a condition: -e would not hold there
	status=$?
	if [ $status = 0 ]; then
		echo "ok $2 - $1"
	elif [ $status = $SKIP ]; then
		echo "ok $2 - $1 # SKIP not on this machine"
	else
		echo "not ok $2 - $1"
		tail -n 30 /tmp/output | sed 's/^/# /'
	fi
}

# Runs each test of the file.
run_tests() {
	number=0
	tests=$(sed -n 's/^\([a-z]*_[a-z_]*\)() {$/\1/p' "$1")
	for test in $tests; do
		number=$((number + 1))
		run_test "$test" "$number"
	done
	echo "1..$number"
}
