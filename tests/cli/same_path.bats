#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Files of one path without build ids: of two containers, or of a program and its next version. Each
# has its own names, and never the other's.
#
# Runs beside others.

load common

setup() {
	export HOME=$BATS_TEST_TMPDIR
	cd "$BATS_TEST_TMPDIR" || return
	need_root
	compile alpha
	compile omega
	PIDS=()
}

teardown() {
	[ "${#PIDS[@]}" = 0 ] || kill "${PIDS[@]}" 2>/dev/null || true
}

# Programs whose functions lie at the same place.
compile() {
	cat >"$1.c" <<-END
		#include <unistd.h>
		volatile unsigned long sum;
		__attribute__((noinline)) void $1_work(void) { for (int i = 0; i < 1000000; i++) sum += i; }
		int main(void) { for (alarm(100);;) $1_work(); }
	END
	gcc -O1 -Wl,--build-id=none -o "$1" "$1.c"
}

# start COMMAND...: leaves the pid in $STARTED, once ./app runs under it.
start() {
	"$@" 3>&- &
	STARTED=$!
	PIDS+=("$STARTED")
	until grep -q "$PWD/app" "/proc/$STARTED/maps"; do sleep 0.01; done
}

start_in_container() {
	start unshare -m bash -c "mount --bind $PWD/$1 $PWD/app && exec $PWD/app"
}

# Lines "PID FUNCTION" of what took more than a little.
names() {
	"$@" -q --no-children -g none -s pid,sym --percent-limit 5 2>/dev/null |
		awk '/%/ { pid = $2; sub(/:.*/, "", pid); print pid, $NF }' | sort
}

our_names() {
	names "$BPFPROF" report --stdio -i "$1"
}

perf_names() {
	names "$PERF" report --stdio -i "$1"
}

# The inodes of a file and of mappings cannot be compared on all file systems.
need_plain_inodes() {
	local mapped
	mapped=$(awk -v path="$PWD/app" '$6 == path { print $4, $5; exit }' "/proc/$1/maps")
	[ "$mapped" = "$(stat -c '%Hd %Ld %i' app | awk '{ printf "%02x:%02x %s\n", $1, $2, $3 }')" ] ||
		skip "stat() tells another inode than /proc/PID/maps"
}

@test "programs of one path in two containers have their own names, as in perf" {
	local inside outside recording
	need_perf
	cp alpha app
	start_in_container omega
	inside=$STARTED
	start ./app
	outside=$STARTED
	need_plain_inodes "$outside"
	printf '%s\n' "$inside omega_work" "$outside alpha_work" | sort >true
	timeout 60 "$BPFPROF" record -F 199 -o ours.data -p "$inside,$outside" -- sleep 1
	timeout 60 "$PERF" record -q --no-bpf-event -e cpu-clock -F 199 -o perfs.data -p "$inside,$outside" -- sleep 1
	for recording in ours.data perfs.data; do
		diff true <(our_names "$recording")
		diff true <(perf_names "$recording")
		# Told apart by their names alone, though both lie at the same place.
		[ "$("$BPFPROF" report --stdio -q -i "$recording" -g none --no-children -s dso,sym |
			grep -c '_work')" = 2 ]
	done
	kill "$inside"
	wait "$inside" || true
	for recording in ours.data perfs.data; do
		[ "$(our_names "$recording" | grep "^$outside")" = "$outside alpha_work" ]
		run ! grep -q "^$inside .*_work" <(our_names "$recording")
		"$BPFPROF" report --stdio -i "$recording" >text
		grep "$PWD/app: replaced since recording" text
	done
}

@test "a program and the next version, built while the first runs, have their own names" {
	local old new
	cp alpha app
	timeout 60 "$BPFPROF" record -F 199 -a -o ours.data 3>&- &
	PIDS+=("$!")
	local recorder=$!
	until [ -s ours.data ]; do sleep 0.01; done
	start ./app
	old=$STARTED
	need_plain_inodes "$old"
	rm app
	cp omega app
	start ./app
	new=$STARTED
	sleep 1
	kill -INT "$recorder"
	wait "$recorder" || true
	our_names ours.data | grep -E "^($old|$new) " >ours
	diff <(printf '%s\n' "$old alpha_work" "$new omega_work" | sort) ours
	kill "$old"
	wait "$old" || true
	run ! grep -q "^$old .*_work" <(our_names ours.data)
	our_names ours.data | grep -x "$new omega_work"
}

@test "files that differ in their inodes alone are one program in a call graph and in a comparison" {
	local first second
	cp alpha app
	cp alpha copy
	start_in_container copy
	first=$STARTED
	start ./app
	second=$STARTED
	need_plain_inodes "$second"
	timeout 60 "$BPFPROF" record -F 199 -o both.data -p "$first,$second" -- sleep 1
	"$BPFPROF" report --stdio -q -i both.data -s comm --no-children -g caller,10 >graph
	cat graph
	[ "$(grep -c alpha_work graph)" = 1 ]
	timeout 60 "$BPFPROF" record -F 199 -o first.data -p "$first" -- sleep 1
	timeout 60 "$BPFPROF" record -F 199 -o second.data -p "$second" -- sleep 1
	"$BPFPROF" diff --csv first.data second.data >difference
	cat difference
	[ "$(grep -c alpha_work difference)" = 1 ]
}
