#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Names in a store of what is gone when somebody asks: replaced, written over, deleted, of another mount
# namespace, made by a process at run time. They are those that were true then, or there are none.
#
# Runs beside others.

load common
load daemons

# What a program looks like whose time is spent in one function of this name, forever or until something
# wants no more of it. All of them have it at the same place.
program() {
	cat >"$1.c" <<-END
		#include <stdlib.h>
		static __attribute__((noinline)) long $1(long n)
		{
			long sum = 0;
			for (volatile long i = 0; i < n; i++)
				sum += i ^ $2;
			return sum;
		}
		long work(void) { return $1(100000) + 1; }
		#ifndef SHARED
		int main(int argc, char **argv)
		{
			for (long i = argc > 1 ? atol(argv[1]) : 1L << 40; i > 0; i--)
				work();
		}
		#endif
	END
}

build_programs() {
	for name in first_version second_version in_container soon_gone; do
		program "$name" 0x1234
		gcc -O1 -o "$name" "$name.c"
	done
	for name in old_library new_library; do
		program "$name" 0x1${#name}$((calls += 1))1
		gcc -O1 -DSHARED -shared -fPIC -o "$name.so" "$name.c"
	done
	cp old_library.so liblibrary.so
	printf 'long work(void); int main(void) { for (;;) work(); }\n' >user.c
	gcc -O1 -o library_user user.c ./liblibrary.so
	cat >maker.c <<-'END'
		#include <stdio.h>
		#include <string.h>
		#include <sys/mman.h>
		#include <unistd.h>
		/* A loop of a million turns at two places, and a map that names them, if that is wanted. */
		int main(int argc, char **argv)
		{
			static const unsigned char loop[] = {
		#if defined(__x86_64__)
				0xb9, 0x40, 0x42, 0x0f, 0x00, 0xff, 0xc9, 0x75, 0xfc, 0xc3,
		#else
				0x09, 0x02, 0xa0, 0xd2, 0x29, 0x05, 0x00, 0xf1, 0xe1, 0xff, 0xff, 0x54,
				0xc0, 0x03, 0x5f, 0xd6,
		#endif
			};
			char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
					  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			char path[64];
			FILE *map;

			(void)argv;
			memcpy(code, loop, sizeof(loop));
			memcpy(code + 1024, loop, sizeof(loop));
			__builtin___clear_cache(code, code + 4096);
			snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
			map = fopen(argc > 1 ? "/dev/null" : path, "w");
			fprintf(map, "%lx 20 made_here\n%lx 20 made_there\n%lx 20 never_run\n",
				(long)code, (long)code + 1024, (long)code + 2048);
			fclose(map);
			for (;;) {
				((void (*)(void))code)();
				((void (*)(void))(code + 1024))();
			}
		}
	END
	gcc -O1 -o maker maker.c
}

# Until two windows have ended, the second of which has begun meanwhile.
wait_for_a_window() {
	wait_for has_windows $(($(windows | wc -l) + 2))
}

# Whether each of these processes is in a window that has ended.
are_sampled() {
	local pid
	"$BPFPROF" script --store store --since 1h -F pid -G 2>/dev/null | sort -u >sampled
	for pid; do
		grep -qw "$pid" sampled || return 1
	done
}

is_program() {
	[ "$(cat "/proc/$1/comm")" = "$2" ]
}

# shown FILE [OPTION...]: process, binary and function of all that was sampled
shown() {
	local file=$1
	shift
	"$BPFPROF" report --store store -s pid,dso,symbol -g none --no-children "$@" 2>errors |
		grep '\[\.\]' | sed 's/ *$//' >"$file"
}

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	need_root
	export PERF_CONFIG=$PWD/config
	: >config
	bind_early # what is told of a program is its functions, and not a table's beginning
	build_programs
	start "$BPFPROF" daemon --store store --window 1s -F 499 --max-cpu none 2>log
	daemon=$!
	wait_for grep -q "sampling at" log

	cp first_version service
	start_low ./service && before=$!
	start_low ./library_user && library_user=$!
	start_low ./maker && maker=$!
	start_low ./maker silent && silent=$!
	mkdir inside
	start_low unshare -m sh -c 'mount -t tmpfs none inside && cp in_container inside/program &&
		exec inside/program' && contained=$!
	wait_for is_program "$contained" program
	wait_for are_sampled "$before" "$library_user" "$maker" "$silent" "$contained"
	wait_for_a_window

	cp second_version new
	mv new service
	start_low ./service && after=$!
	cp soon_gone program
	start_low ./program 2000 && gone=$!
	wait_for is_program "$gone" program
	rm program
	wait "$gone"
	kill "$maker" "$silent" "$contained"
	dd if=new_library.so of=liblibrary.so conv=notrunc status=none
	overwritten=$(date +%s)
	wait_for are_sampled "$after"
	wait_for_a_window
	kill "$before" "$after" "$library_user"
	kill -INT "$daemon"
	wait "$daemon"
	while read -r variable; do echo "$variable=${!variable}"; done >pids <<-END
		before
		after
		library_user
		maker
		silent
		contained
		gone
		overwritten
	END

	shown at_once --since 1h
	cp in_container service
	for pid in "$maker" "$silent"; do
		printf '0 ffffffffffffffff wrong_name\n' >"/tmp/perf-$pid.map"
	done
	shown replaced --since 1h
	rm -f service liblibrary.so first_version second_version in_container soon_gone ./*.so "/tmp/perf-$maker.map" \
		"/tmp/perf-$silent.map"
	shown deleted --since 1h
	shown after_overwriting --at "@$((overwritten + 1))..now"
}

teardown_file() {
	[ -z "${maker:-}" ] || rm -f "/tmp/perf-$maker.map" "/tmp/perf-${silent:-$maker}.map"
	end_background
}

setup() {
	need_root
	cd "$BATS_FILE_TMPDIR" || return
	# shellcheck source=/dev/null
	. ./pids
}

# only_as NAME PID BINARY [FILE]: all that ran of the binary in that process has this name
only_as() {
	grep -E "% +$2:[^ ]+ +$3 .*\[\.\]" "${4:-deleted}" | grep -Ev '\] (main|work|_start)$' >of_it
	grep -q "\[\.\] $1\$" of_it
	lacks -v "\[\.\] $1\$" of_it
}

@test "a new binary in the place of a running one: each process has its own names" {
	only_as first_version "$before" service
	only_as second_version "$after" service
}

@test "a program of another mount namespace has its names when both are gone" {
	only_as in_container "$contained" program
}

@test "a program that is deleted and ends before it is counted has its names" {
	only_as soon_gone "$gone" program
}

@test "a library that is written over in its place has the names of what ran, or none" {
	lacks new_library at_once
	only_as 0x0.* "$library_user" liblibrary.so after_overwriting
}

@test "the file of a window has the names of its store" {
	for file in store/windows/*/*.data; do
		"$BPFPROF" report -i "$file" -s pid,dso,sym -g none --no-children 2>/dev/null || true
	done >by_file
	only_as first_version "$before" service by_file
	only_as second_version "$after" service by_file
	for file in store/windows/*/*.data; do "$BPFPROF" script -i "$file" -F ip,sym || true; done >by_script
	grep -q second_version by_script
}

@test "code that a process made has the names of its map when both are gone" {
	only_as 'made_t*here' "$maker" '.JIT. tid [0-9]+'
	grep -q made_here deleted
	grep -q made_there deleted
}

@test "code of which nobody told when it ran has no name of a map that came later" {
	only_as '0x.*' "$silent" '.JIT. tid [0-9]+' replaced
}

@test "what had a name has the same one when its file has been replaced, and deleted" {
	diff at_once replaced
	diff at_once deleted
	lacks wrong_name replaced
}

@test "perf reads such windows" {
	need_perf
	for window in $(windows); do
		"$PERF" report --stdio --no-inline -i "$window" >/dev/null
	done
}
