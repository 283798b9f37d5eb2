#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Recordings of many versions of perf, of x86-64, i686 and ARM, in files and out of pipes: script and
# its dumps are perf 6.1's to the byte. What differs:
#
# difference                                    perf                      here         who is right
# ---------------------------------------------------------------------------------------------------
# chains of more than 127 frames                cut there                 whole        we: nothing is
#                                                                                      hidden; perf's
#                                                                                      with --strict-perf
# user addresses in the branch stack of a       in [kernel.kallsyms]      in the file  we: the address
# kernel sample (callgraph_and_branch-3.8)                                that is there says where it is
# records of an event without CPUs, shown       "[-01]"                   no column    we: it was not
# beside samples (hybrid_topology)                                                     recorded
# the vDSO in a dump                            a file of perf's in /tmp  [vdso]       we: as recorded
# compressed records in a dump                  left out, too             left out     (both: what is in
#                                                                                      them follows)
#
# Runs beside others.

load common

setup_file() {
	CORPUS=$(realpath "$BATS_TEST_DIRNAME/../../../shared/perf-corpus" 2>/dev/null) || CORPUS=
	export CORPUS PERF_CONFIG=/dev/null PAGER=cat DEBUGINFOD_URLS=
}

setup() {
	need_perf
	[ -d "$CORPUS" ] || skip "the corpus is not beside the project"
	cd "$BATS_TEST_TMPDIR" || return
}

# A few of the files, or with TEST_ALL=1 all of them.
recordings() {
	if [ -n "${TEST_ALL:-}" ]; then
		ls "$CORPUS"/perf.data.*
	else
		for name in armv7-3.4 branch-4.14 callgraph-3.4 ctx_switch_namespaces-4.14 group_desc-4.14 \
			i686-3.4 piped.header_features-4.16 piped.lost_samples-4.4 raw-3.4 systemwide.1-3.8; do
			echo "$CORPUS/perf.data.$name"
		done
	fi
}

known_differences() {
	sed -e 's|dso: /tmp/perf-vdso.so-.*|dso: [vdso]|' -e 's/ \[-01\]//'
}

# same FILE OPTION...: both print the same
same() {
	local file=$1
	shift
	"$PERF" script -i "$file" "$@" 2>/dev/null | known_differences >theirs
	"$BPFPROF" script --strict-perf -i "$file" "$@" 2>said | known_differences >ours
	echo "$file $*"
	cat said
	cmp theirs ours || { diff theirs ours | head -5; return 1; }
}

@test "samples of every recording look as perf's" {
	local file
	for file in $(recordings); do
		same "$file"
		[ -s ours ]
	done
}

@test "chosen fields of every recording look as perf's" {
	local file
	for file in $(recordings); do
		same "$file" -G -F comm,pid,tid,misc,time,event,ip,sym,symoff,dso
		same "$file" --ns --deltatime -F comm,time,period
	done
}

@test "records beside the samples of every recording look as perf's" {
	local file
	for file in $(recordings); do
		same "$file" --show-task-events --show-mmap-events --show-switch-events \
			--show-namespace-events --show-lost-events
	done
}

@test "dumps of every recording look as perf's" {
	local file
	for file in $(recordings); do
		same "$file" -D
		[ -s ours ]
	done
}

@test "report dumps what perf report dumps" {
	local file=$CORPUS/perf.data.ctx_switch_namespaces-4.14
	# perf counts the records behind it; what it cannot handle it says differently than in script
	"$PERF" report -D -i "$file" 2>/dev/null | sed -e '/^Aggregated stats/,$d' -e '/^#/d' -e '/unhandled!/d' |
		grep . >theirs
	"$BPFPROF" report -D -i "$file" | sed '/unhandled!/d' | grep . >ours
	[ "$(wc -l <ours)" -gt 200 ]
	diff theirs ours
}

@test "branch stacks look as perf's" {
	same "$CORPUS/perf.data.branch-4.14" -F +brstack
	same "$CORPUS/perf.data.branch-4.14" -F +brstacksym
	same "$CORPUS/perf.data.branch-4.14" -F +brstackoff,-dso
	same "$CORPUS/perf.data.callgraph_and_branch-3.8" -F ip,brstack
}
