#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What perf record --call-graph dwarf has recorded, walked by report and script: held against what is
# true (tests/workloads/known.h, true_stacks.py), and against perf where perf is right.
#
# Runs beside others.

load common

setup_file() {
	export TESTS="$BATS_TEST_DIRNAME" FIELDS=comm,pid,tid,ip,sym,dso,provenance
	[ "$(id -u)" = 0 ] || return 0
	cd "$BATS_FILE_TMPDIR" || return 1
	# What perf is too slow for (many processes) or copies too little of has no part in it.
	mapfile -t all < <(sh "$TESTS/known_names.sh" "$(uname -m)" |
		grep -Ev '^(spawns\..*|threads\.short|nofp\.toodeep|x86_bits32|signals\.altsig)$')
	copy_stacks 16384 known.data sh "$TESTS/known_stacks.sh" 0.15 "${all[@]}"
	"$BPFPROF" script --no-inline -i known.data -F "$FIELDS" >known.txt
	LEAST_WHOLE="99 cxx.throw=95" python3 "$TESTS/true_stacks.py" known.txt known "${all[@]}" becomes_b.exec
	bind_early
	copy_stacks 8192 plain.data "$WORKLOADS/nofp" plain 0.5
}

setup() {
	need_root
	cd "$BATS_FILE_TMPDIR" || return 1
}

# copy_stacks BYTES FILE COMMAND...: perf records it with that much of the stack
copy_stacks() {
	local bytes=$1 file=$2
	shift 2
	perf_records -e cpu-clock -F 997 -m 2048 --call-graph "dwarf,$bytes" -o "$file" -- "$@"
}

# ends FILE: how often each way in which stacks end is in the recording, as "WORDS: COUNT"
ends() {
	"$BPFPROF" script -i "$1" -F comm,provenance | sed -n 's/.*\[\(.*\)\]$/\1/p' | sort | uniq -c |
		awk '{ count = $1; $1 = ""; print substr($0, 2) ": " count }'
}

# most_end FILE WORDS: nine of ten user stacks end that way
most_end() {
	ends "$1" | tee said.ends | awk -F': ' -v words="$2" '
		$1 !~ /no user stack/ { all += $2 } index($1, ", " words) { these += $2 }
		END { exit !(these > 0 && these >= 0.9 * all) }'
}

# are_true NAME...: so many stacks of these workloads are whole as their sources say, and none is wrong
are_true() {
	local name
	for name; do
		cat "known/$name"
		grep -q ': true$' "known/$name"
	done
}

@test "functions without frame pointers, in every state of their stack" {
	are_true nofp.plain nofp.alloca nofp.deep nofp.sort nofp.plt nofp.noret
}

@test "in system calls, page faults and the vDSO" {
	are_true nofp.sys nofp.fault nofp.vdso
}

@test "through signal handlers and thrown exceptions" {
	are_true signals.sig signals.nestsig cxx.throw
}

@test "threads, libraries that come and go, programs that become others" {
	are_true threads.work threads.pipe loader.dlopen becomes_a.exec becomes_b.exec
}

@test "static programs, and code made while running" {
	are_true static.plain static.sort spie.sort spie.sys hdrless.plain hdrless.sort jit.framed jit.bare
}

@test "stacks that are aligned anew, and assembly with and without call frame information" {
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	are_true x86_align.drap x86_asm.cfi x86_asm.nocfi x86_asm.nocfifp x86_asm.hidden x86_cet.plt \
		x86_cet.plain
}

@test "report shows callers above functions without frame pointers, and says how many stacks are whole" {
	"$BPFPROF" report --no-inline -i plain.data --no-children -g caller,0.5,callee -S leaf >report.txt
	grep -q 'main' report.txt
	"$BPFPROF" report --no-inline -i plain.data | tail -15 >footer.txt
	grep -E '^# [0-9 ]+ user stacks, (9[89]\.[0-9]+|100\.00)% whole$' footer.txt
	grep '^#   walked by eh_frame' footer.txt
}

@test "report has the time that perf counts inside of each function, with its callers and without" {
	for sort in comm,dso,sym dso comm; do
		python3 "$TESTS/compare_report.py" "$PERF" "$BPFPROF" plain.data --no-inline \
			--no-children -g none -s "$sort"
	done
	# _start to leaf are right in perf, too
	for name in main plain outer middle leaf; do
		"$BPFPROF" report --no-inline -i plain.data -g none -s sym | awk -v name="$name" '$NF == name { print $1, $2 }'
	done >ours.txt
	for name in main plain outer middle leaf; do
		"$PERF" report --no-inline -i plain.data --stdio --no-inline --children -g none -s sym 2>/dev/null |
			awk -v name="$name" '$NF == name { print $1, $2 }'
	done >perfs.txt
	[ "$(wc -l <ours.txt)" = 5 ]
	diff perfs.txt ours.txt
}

@test "script prints what perf script prints, kernel first, callers where their calls are" {
	# before the thread has its name the dynamic linker runs, which perf does not get through
	"$PERF" script -i plain.data --no-inline --comms nofp.plain 2>/dev/null >perfs.txt
	"$BPFPROF" script -i plain.data --no-inline --comms nofp.plain >ours.txt
	[ "$(grep -c ' main+0x' ours.txt)" -gt 100 ]
	diff perfs.txt ours.txt
}

@test "a stack that is deeper than its copy says that the copy ends" {
	copy_stacks 1024 cut.data "$WORKLOADS/nofp" deep 0.3
	most_end cut.data "copy ends"
	"$BPFPROF" script --no-inline -i cut.data -F comm,pid,tid,ip,sym,dso >cut.txt
	python3 "$TESTS/true_stacks.py" cut.txt cut nofp.deep
	cat cut/nofp.deep
	grep -q ' 0 wrong: ' cut/nofp.deep
	"$BPFPROF" report -i cut.data | grep '^#   [0-9 ]* end early: no more of the stack was copied'
}

@test "a binary that has been replaced since is not unwound by the other one's tables" {
	export HOME="$PWD/home"
	mkdir "$HOME"
	cp "$WORKLOADS/nofp" replaced
	copy_stacks 8192 replaced.data ./replaced plain 0.3
	most_end replaced.data complete
	cp "$WORKLOADS/static" other
	mv other replaced
	# perf has kept a copy
	most_end replaced.data complete
	HOME=$PWD/elsewhere
	most_end replaced.data "no file"
	rm replaced
	most_end replaced.data "no file"
	"$BPFPROF" report -i replaced.data |
		grep '^#   [0-9 ]* end early: the binary is gone, or replaced since recording, all in replaced'
	# and it is the file that ran that is found elsewhere
	mkdir -p "symfs$PWD" symfs/usr
	cp "$WORKLOADS/nofp" "symfs$PWD/replaced"
	"$BPFPROF" script --no-inline -i replaced.data --symfs symfs -F ip,sym,dso | grep -A1 ' leaf ' | grep ' middle '
}

@test "code of 32 bits says that it is" {
	need_32_bits
	copy_stacks 8192 bits32.data "$WORKLOADS/x86_bits32" 0.3
	"$BPFPROF" script -i bits32.data -F comm,provenance | grep -q '32-bit code\]'
	"$BPFPROF" report -i bits32.data | grep '^#   [0-9 ]* end early: code of 32 bits$'
}

@test "the copy of a signal handler's own stack ends where the handler does" {
	copy_stacks 8192 altsig.data "$WORKLOADS/signals" altsig 0.3
	"$BPFPROF" script --no-inline -i altsig.data -F "$FIELDS" >altsig.txt
	python3 "$TESTS/true_stacks.py" altsig.txt altsig signals.altsig
	cat altsig/signals.altsig
	grep -q ' 0 wrong: ' altsig/signals.altsig
	ends altsig.data | grep 'copy ends'
}

@test "a stream and a choice of samples are walked, too" {
	"$PERF" record -q --no-bpf-event -e cpu-clock -F 997 --call-graph dwarf -o - -- "$WORKLOADS/nofp" plain 0.2 2>record.txt |
		"$BPFPROF" report --no-inline -i - --no-children -g caller,0.5,callee -S leaf >report.txt
	grep -q main report.txt
	"$BPFPROF" report --no-inline -i plain.data --time 10%-20% --no-children -g caller,0.5,callee -S leaf >report.txt
	grep -q main report.txt
	"$BPFPROF" script --no-inline -i plain.data --max-stack 2 -F ip,sym >script.txt
	grep -q leaf script.txt
	lacks __libc_start script.txt
}

@test "diff --children has the callers, too" {
	"$BPFPROF" diff --children -s symbol plain.data plain.data >diff.txt
	"$BPFPROF" report -i plain.data -s symbol -g none >report.txt
	for name in main plain outer middle; do
		[ "$(awk -v name=$name '$NF == name { print $1 }' diff.txt)" = \
			"$(awk -v name=$name '$NF == name { print $1 }' report.txt)" ]
	done
	grep -q ' main$' report.txt
}
