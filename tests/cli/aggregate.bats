#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Recordings that count samples in the kernel: whole sums, read by perf as any other.
#
# Runs beside others.

load common

# Page faults of a fixed work: samples enough that are alike, whatever the machine does besides. By frame
# pointers, so that none waits for an unwind table.
record_counted() {
	need_root
	"$BPFPROF" record --aggregate -e page-faults -c 1 --call-graph fp -v "$@" -- "$WORKLOADS/forky" 60 >/dev/null 2>said
}

@test "samples are counted, the sums hold, and the file has them all" {
	record_counted
	counted=$(counter samples_counted said) sent=$(counter samples_sent said)
	[ "$counted" -gt "$sent" ]
	[ "$(counter overflows said)" -eq "$(sum_of said SENT SKIPPED LOST)" ]
	[ "$(counter overflows said)" -eq "$(counter overflows_expected said)" ]
	"$BPFPROF" report --json >report.json
	[ "$(jq .recording.samples report.json)" -eq $((counted + sent)) ]
}

@test "perf reads it without a word and sees the same events" {
	need_perf
	record_counted -z0
	expected=$(($(counter samples_counted said) + $(counter samples_sent said)))
	"$PERF" script -F period -G >periods 2>perf.err
	"$PERF" report --stdio >report.txt 2>>perf.err
	"$PERF" diff perf.data perf.data >diff.txt 2>>perf.err
	[ ! -s perf.err ]
	[ "$(awk '{ sum += $1 } END { print sum }' periods)" -eq "$expected" ]
	[ "$(wc -l <periods)" -lt "$expected" ]
	grep "^# Event count (approx.): $expected$" report.txt
}

@test "perf and we show the same shares of it" {
	need_perf
	record_counted -z0
	"$PERF" report --stdio -F overhead,dso --no-children -g none 2>/dev/null | grep "^ .*%" | sort >theirs
	"$BPFPROF" report --stdio -F overhead,dso --no-children -g none | grep "^ .*%" | sort >ours
	grep kernel ours
	diff theirs ours
}

@test "script tells for how many a sample stands" {
	record_counted
	"$BPFPROF" script -F period,provenance -G >periods
	grep -E '^ +[0-9]+ .*, [0-9]+ samples\]$' periods
	awk '{ count = match($0, /, [0-9]+ samples\]/) ? substr($0, RSTART + 2) + 0 : 1; if (count != $1) exit 1 }' periods
}

@test "stacks of 512 frames are counted" {
	need_root
	"$BPFPROF" record --aggregate --max-stack 512 -F 499 -e cpu-clock -v -- "$WORKLOADS/deep" 600 0.5 >/dev/null 2>said
	[ "$(counter samples_counted said)" -gt 0 ]
	"$BPFPROF" script -F ip | awk -v RS= 'NF > most { most = NF } END { print most }' >deepest
	[ "$(cat deepest)" -ge 512 ] # those of the kernel come on top
}

# Two libraries take turns at one address, and each has the thread another name: the pages that each touches are as
# many samples of one place.
build_turns() {
	for name in one two; do
		cat >"$name.c" <<-END
			void touch_$name(char *pages, int count)
			{
				for (int i = 0; i < count; i++)
					pages[4096 * i] = 1;
			}
		END
		gcc -O1 -shared -fPIC -o "lib$name.so" "$name.c"
	done
	cat >turns.c <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <stdio.h>
		#include <sys/mman.h>
		#include <sys/prctl.h>

		static const char *const paths[] = {"./libone.so", "./libtwo.so"};
		static const char *const functions[] = {"touch_one", "touch_two"};
		static const char *const names[] = {"w16", "w107"};

		int main(void)
		{
			char *pages = mmap(NULL, 4096 * 3, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			void *last = NULL;

			for (int i = 0; i < 1000; i++) {
				void *library = dlopen(paths[i % 2], RTLD_NOW);
				void (*touch)(char *, int) = (void (*)(char *, int))dlsym(library, functions[i % 2]);

				if (last && touch != last)
					return 1; /* they do not lie at one address */
				last = touch;
				prctl(PR_SET_NAME, names[i % 2]);
				touch(pages, 3 - i % 2);
				prctl(PR_SET_NAME, "turns");
				madvise(pages, 4096 * 3, MADV_DONTNEED);
				dlclose(library);
			}
		}
	END
	gcc -O1 -o turns turns.c -ldl
}

@test "files that take turns at one address, and names of one thread, have their own samples" {
	need_root
	build_turns
	for graph in dwarf fp none; do
		"$BPFPROF" record --aggregate -e page-faults:u -c 1 --call-graph "$graph" -v -- ./turns 2>said
		[ "$(counter samples_counted said)" -gt 0 ]
		"$BPFPROF" report --stdio -F sample -s comm,sym --no-children -g none >shown
		awk '/touch_/ { print $2, $1, $4 }' shown | sort >seen
		diff seen <(printf 'w107 1000 touch_two\nw16 1500 touch_one\n')
	done
}

@test "what cannot be counted is refused in one line" {
	for words in "-b" "-j any_call" "--call-graph lbr"; do
		# shellcheck disable=SC2086
		run "$BPFPROF" record --aggregate $words -- true
		[ "$status" = 2 ]
		[ "${#lines[@]}" = 1 ]
		[[ $output == *"--aggregate counts samples that are alike"* ]]
	done
	run "$BPFPROF" record --window 10s -- true
	[ "$status" = 2 ]
	[[ $output == *"add --aggregate"* ]]
}
