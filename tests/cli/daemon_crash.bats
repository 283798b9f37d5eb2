#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What may happen to a daemon: it is killed at any moment, its disk is full, somebody sets the clock. What
# is lost is the window that is open, and no other.
#
# Runs beside others.

load common
load daemons

setup() {
	enter_with_config
	mkdir store
}

# start_daemon [COMMAND...]: windows of a second; started by the command, if there is one
start_daemon() {
	start "$@" "$BPFPROF" daemon --store store --window 1s --max-cpu none 2>>log
	daemon=$!
	wait_for says "sampling at"
}

end_daemon() {
	kill -INT "$daemon"
	wait "$daemon"
}

# all_are_whole [COMMAND...]: each window is read to its end without a word, and the list has all of them
all_are_whole() {
	for window in $("$@" find store/windows -name '*.data'); do
		"$@" "$BPFPROF" script -i "$window" >/dev/null 2>errors
		[ ! -s errors ]
	done
	"$@" "$BPFPROF" list --store store >listed 2>errors
	[ "$(grep -c '^20' listed)" = "$("$@" find store/windows -name '*.data' | wc -l)" ]
}

@test "a daemon that is killed at any moment has lost the window that was open, and no other" {
	kills=1
	[ -z "${TEST_ALL:-}" ] || kills=100
	RANDOM=1
	for ((i = 0; i < kills; i++)); do
		: >log
		start_daemon
		[ ! -e before ] || xargs -r ls -d <before >/dev/null
		wait_for has_windows $(($(windows | wc -l) + 1))
		read -rt "0.$((RANDOM % 900 + 100))" -u "$nothing" || true
		windows >before
		kill -KILL "$daemon"
		wait "$daemon" || true
		xargs ls -d <before >/dev/null
	done
	: >log
	start_daemon
	end_daemon
	xargs ls -d <before >/dev/null
	all_are_whole
	[ -z "$(find store -name '*.open')" ]
}

@test "a full disk costs windows while it is full, and says so" {
	# somebody else keeps the namespace when the daemon has ended
	start unshare -m sh -c 'mount -t tmpfs -o size=4m none store && mkdir store/lost+found && exec sleep infinity'
	there=(nsenter -m -w -t "$!")
	wait_for "${there[@]}" [ -e store/lost+found ]
	start_daemon "${there[@]}"
	has_one() {
		[ -n "$("${there[@]}" find store/windows -name '*.data')" ]
	}
	wait_for has_one
	"${there[@]}" find store/windows -name '*.data' >before
	"${there[@]}" dd if=/dev/zero of=store/filler bs=64k status=none 2>/dev/null || true
	wait_for says "a window is lost: .*No space left on device"
	"${there[@]}" rm store/filler
	wait_for says "windows can be written again; lost since the start: [1-9]"
	xargs "${there[@]}" ls -d <before >/dev/null
	end_daemon
	all_are_whole "${there[@]}"
	[ "$(grep -c 'a window is lost' log)" = 1 ]
}

@test "a daemon of one window fails if it could not be written" {
	run -1 --separate-stderr unshare -m sh -c 'mkdir -p store && mount -t tmpfs -o size=8m none store &&
		{ dd if=/dev/zero of=store/push bs=4k 2>/dev/null; truncate -s -64k store/push; } &&
		exec "$1" daemon --store store --window 1s --once' sh "$BPFPROF"
	# shellcheck disable=SC2154
	[[ $stderr == *"a window is lost: "*"No space left on device"* ]]
	[[ ${stderr_lines[-1]} == "bpfprof: no window was written" ]]
}

# A clock that is as far off as $CLOCK says, in seconds.
build_clock() {
	cat >clock.c <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <fcntl.h>
		#include <stdlib.h>
		#include <sys/mman.h>
		#include <sys/timerfd.h>
		#include <time.h>

		static const volatile int *seconds;

		__attribute__((constructor)) static void open_clock(void)
		{
			seconds = mmap(NULL, 4096, PROT_READ, MAP_SHARED, open(getenv("CLOCK"), O_RDONLY), 0);
		}

		int clock_gettime(clockid_t clock, struct timespec *time)
		{
			static int (*real)(clockid_t, struct timespec *);
			int error;

			if (!real)
				*(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
			error = real(clock, time);
			if (clock == CLOCK_REALTIME && seconds)
				time->tv_sec += *seconds;
			return error;
		}

		int timerfd_settime(int fd, int flags, const struct itimerspec *time, struct itimerspec *old)
		{
			static int (*real)(int, int, const struct itimerspec *, struct itimerspec *);
			struct itimerspec moved = *time;

			if (!real)
				*(void **)&real = dlsym(RTLD_NEXT, "timerfd_settime");
			if (moved.it_value.tv_sec > 1000000000)
				moved.it_value.tv_sec -= *seconds;
			return real(fd, flags, &moved, old);
		}
	END
	gcc -O1 -shared -fPIC -o clock.so clock.c -ldl
}

# set_clock SECONDS: as far off from now on
set_clock() {
	python3 -c 'import struct, sys; open("clock", "r+b").write(struct.pack("i", int(sys.argv[1])))' "$1"
}

@test "windows are kept when somebody sets the clock forward, and back over them" {
	if ldd "$BPFPROF" | grep -q libasan; then skip "a sanitizer has to be loaded first"; fi
	build_clock
	truncate -s 4096 clock
	start_daemon env CLOCK="$PWD/clock" LD_PRELOAD="$PWD/clock.so"
	wait_for has_windows 1
	jumps=(3600 -1)
	[ -z "${TEST_ALL:-}" ] || jumps=(3600 -3600 -1 -2 0 86400 0)
	for seconds in "${jumps[@]}"; do
		windows >before
		set_clock "$seconds"
		wait_for has_windows $(($(wc -l <before) + 2))
		xargs ls -d <before >/dev/null
	done
	end_daemon
	all_are_whole
	lacks "lost" log
}
