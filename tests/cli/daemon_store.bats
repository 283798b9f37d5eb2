#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# bpfprof daemon on a store that it did not make, or that somebody takes away from it.
#
# Runs beside others.

load common
load daemons

setup() {
	enter_with_config
	printf '[daemon]\n\tmax-cpu = none\n' >config
}

# windows_of_before COUNT: of a quarter of an hour yesterday, a minute each, as a version without sums,
# names and index left them.
windows_of_before() {
	local minute day
	noon=$(date -u -d 'yesterday 12:00' +%s) # asked for once: it may become midnight
	"$BPFPROF" record -q -F 999 -o before.data -- "$WORKLOADS/mainbarfoo" 300
	day=$(date -u -d "@$noon" +%Y%m%d)
	mkdir -p "store/windows/$day"
	echo "bpfprof store 1" >store/format
	for ((minute = 0; minute < $1; minute++)); do
		cp before.data "$(printf 'store/windows/%s/12%02d00.data' "$day" "$minute")"
	done
}

start_daemon() {
	start "$BPFPROF" daemon --store store --window 1s "$@" 2>log
	daemon=$!
	wait_for says "sampling at"
}

stop_daemon() {
	kill -TERM "$daemon"
	wait "$daemon"
}

@test "a store of a newer version is left as it is" {
	mkdir store
	echo "bpfprof store 2" >store/format
	fails_with 1 "store is of format 2, and this version knows up to 1; use the version of bpfprof that wrote it" \
		"$BPFPROF" daemon --store store --window 1s
	[ "$(find store -mindepth 1)" = store/format ]
}

@test "no store is begun in a file, nor among the files of others, and both stay as they were" {
	mkdir -m 755 home
	touch home/thesis
	echo text >file
	chmod 644 file
	fails_with 1 "home is no store, and has other files; give an empty folder, or one that is not there, with --store" \
		"$BPFPROF" daemon --store home --window 1s
	fails_with 1 "file is no folder; give another --store, or remove it" "$BPFPROF" daemon --store file --window 1s
	[ "$(stat -c %a home file | tr '\n' ' ')" = '755 644 ' ]
	[ "$(find home -mindepth 1)" = home/thesis ]
}

@test "a store of an older version goes on, with its windows and the new ones" {
	windows_of_before 3
	chmod -R a+rX store
	start_daemon
	wait_for has_windows 4
	stop_daemon
	grep -x 'bpfprof: the index did not know 3 windows; their files tell of them' log
	[ "$(grep -c '^[0-9-]* 12:0[012]:00 ' < <(TZ=UTC "$BPFPROF" list --store store))" = 3 ]
	"$BPFPROF" report --store store --since 48h -g none --no-children 2>/dev/null | grep -q '\] foo$'
}

# bytes_of PATTERN: of the files of the store whose path is like that
bytes_of() {
	find store -path "store/$1" -printf '%s\n' | awk '{ sum += $1 } END { print sum + 0 }'
}

is_summed() {
	find store -name '*.sums' | grep -q .
}

@test "quarters of an hour that are over are summed beside it, and reports are the same without" {
	windows_of_before 14 # of the same stacks, so that sums are a small part
	start_daemon
	wait_for is_summed
	stop_daemon
	"$BPFPROF" report --store store --at "@$noon..@$((noon + 3600))" >by_sums
	[ -n "$(find store -name '*.sums' -size +0 -perm 600)" ]
	[ "$(bytes_of '*.sums')" -le $(("$(bytes_of '*/12*.data')" / 4)) ]
	find store -name '*.sums' -delete
	"$BPFPROF" report --store store --at "@$noon..@$((noon + 3600))" >by_windows
	diff by_sums by_windows
	grep -q '\] foo$' by_windows
}

tells_of_lost() {
	awk '$1 == "bpfprof_windows_lost_total" && $2 >= 2 { found = 1 } END { exit !found }' metrics
}

@test "a store that cannot be written any more costs windows while it is so, which is said once" {
	start_daemon --metrics-file metrics
	wait_for has_windows 1
	# the daemon has given up writing what its owner may not
	chmod 500 store/windows store/windows/*
	wait_for tells_of_lost
	[ "$(grep -c 'a window is lost: ' log)" = 1 ]
	chmod 700 store/windows store/windows/*
	wait_for says 'windows can be written again; lost since the start: [1-9]'
	before=$(windows | wc -l)
	wait_for has_windows $((before + 1))
	stop_daemon
	[ "$(grep -c 'a window is lost: ' log)" = 1 ]
	"$BPFPROF" list --store store | grep -q '[1-9][0-9]* windows before it could not be written'
	"$BPFPROF" report --store store --since 1h -g none >/dev/null
}

cannot_write_names() {
	awk '/^bpfprof_losses_total\{reason="names_not_written"\}/ && $2 { found = 1 } END { exit !found }' metrics
}

@test "names that cannot be written are counted, said once, and written when they can be" {
	start_daemon --metrics-file metrics
	wait_for has_windows 1
	rm -rf store/names/* && chmod 500 store/names
	start_low "$WORKLOADS/spin" 60
	wait_for says 'names of functions cannot be written: Permission denied; going on without'
	wait_for cannot_write_names
	chmod 700 store/names
	wait_for says 'names of functions can be written again'
	stop_daemon
	[ "$(grep -c 'names of functions cannot be written' log)" = 1 ]
}
