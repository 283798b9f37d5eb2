# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# export: all formats hold the same samples.
#
# Runs beside others.

load common

setup_file() {
	need_root
	cd "$BATS_FILE_TMPDIR" || return
	"$BPFPROF" record -q -F 499 -o one.data -- "$WORKLOADS/mainbarfoo" 200
	mkdir -p store/windows/20261121
	echo "bpfprof store 1" >store/format
	cp one.data store/windows/20261121/140000.data
	cp one.data store/windows/20261121/140100.data
}

setup() {
	export TZ=UTC
	cd "$BATS_FILE_TMPDIR" || return
	one=$("$BPFPROF" script -i one.data -F comm,ip --hide-call-graph 2>/dev/null | grep -c .)
}

@test "folded stacks are a line each, and all samples" {
	"$BPFPROF" export --store store 2>/dev/null >folded
	[ "$(awk '{ sum += $NF } END { print sum }' folded)" = $((2 * one)) ]
	grep '^mainbarfoo;_start;.*;main;bar;foo [0-9]*$' folded
	[ "$(cut -d' ' -f1 folded | sort | uniq -d | wc -l)" -lt "$(wc -l <folded)" ]
}

@test "perf reads the windows as one recording" {
	need_perf
	"$BPFPROF" export --store store --format perfdata -o all.data -q 2>/dev/null
	[ "$(samples all.data)" = $((2 * one)) ]
	"$PERF" report -i all.data --stdio -s sym -g none 2>/dev/null | grep -w foo
	"$BPFPROF" report -i all.data -s sym -g none -q 2>/dev/null >merged
	"$BPFPROF" report --store store -s sym -g none -q 2>/dev/null >summed
	diff <(grep -v 0x merged) <(grep -v 0x summed)
}

@test "perf reads windows of several events as one recording that has them all" {
	need_perf
	rm -rf events
	mkdir -p events/windows/20261121
	cp store/format events
	"$BPFPROF" record -q -F 499 -e task-clock -o two.data -- "$WORKLOADS/mainbarfoo" 200
	"$BPFPROF" record -q -F 499 -e cpu-clock -o three.data -- "$WORKLOADS/mainbarfoo" 200
	cp three.data events/windows/20261121/140000.data
	cp two.data events/windows/20261121/140100.data
	cp three.data events/windows/20261121/140200.data
	"$BPFPROF" export --store events --format perfdata -o events.data 2>said
	lacks 'could not be read' <said
	"$PERF" script -i events.data -F event -G 2>/dev/null | grep . | sort | uniq -c | tr -s ' :' ' ' >counts
	cat counts
	diff -w counts - <<-END
		$(($(samples three.data) * 2)) cpu-clock
		$(samples two.data) task-clock
	END
}

@test "pprof holds the same samples, named" {
	"$BPFPROF" export --store store --format pprof -o all.pb.gz -q 2>/dev/null
	python3 "$BATS_TEST_DIRNAME/read_pprof.py" all.pb.gz >told
	cat told
	grep "^samples count $((2 * one))$" told
	grep '^cpu nanoseconds [1-9]' told
	grep '^leaf foo ' told
}

@test "a recording is exported as well, and binary formats not to a terminal" {
	[ "$("$BPFPROF" export one.data 2>/dev/null | awk '{ sum += $NF } END { print sum }')" = "$one" ]
	run "$BPFPROF" export --format svg one.data
	[ "$status" = 2 ]
	run script -qec "$BPFPROF export --format pprof one.data" /dev/null
	[ "$status" = 2 ]
	[[ "$output" == *"name a file with -o"* ]]
}
