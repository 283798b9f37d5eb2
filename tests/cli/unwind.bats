#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Whole user stacks of code without frame pointers: what bpfprof and stock perf read from a recording
# is held against what is true, frame by frame (tests/workloads/known.h, true_stacks.py).
#
# Runs beside others.

load common

setup_file() {
	export TESTS="$BATS_TEST_DIRNAME" FIELDS=comm,pid,tid,ip,sym,dso
	cd "$BATS_FILE_TMPDIR" || return 1
	mapfile -t all < <(sh "$BATS_TEST_DIRNAME/known_names.sh" "$(uname -m)" |
		if runs_32_bits; then cat; else grep -v '^x86_bits32'; fi)
	"$BPFPROF" record -q -F 1999 -e cpu-clock -o known.data -- \
		sh "$TESTS/known_stacks.sh" 0.15 "${all[@]}" >record.txt 2>&1 || return 0
	"$BPFPROF" script -i known.data -F "$FIELDS" >ours.txt
	"$PERF" script -i known.data -F "$FIELDS" >perf.txt 2>/dev/null
	python3 "$TESTS/true_stacks.py" ours.txt ours "${all[@]}" becomes_b.exec
	python3 "$TESTS/true_stacks.py" perf.txt perf "${all[@]}" becomes_b.exec
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	need_root
}

# are_true NAME...: the stacks of these workloads, as bpfprof script and perf script show them
are_true() {
	local name
	for name; do
		cat "ours/$name" "perf/$name"
		grep -q ': true$' "ours/$name"
		grep -q ': true$' "perf/$name"
	done
}

# on_x86 NAME...: the same, where they exist
on_x86() {
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	are_true "$@"
}

@test "functions without frame pointers have their callers" {
	are_true nofp.plain
}

@test "frames of any size, by alloca and variable-length arrays" {
	are_true nofp.alloca
}

@test "deep recursion is whole, one that is too deep is right as far as it goes" {
	are_true nofp.deep nofp.toodeep
}

@test "in a system call, a page fault and the vDSO" {
	are_true nofp.sys nofp.fault nofp.vdso
}

@test "called back by the C library" {
	are_true nofp.sort
}

@test "in PLT stubs, bound late and early" {
	are_true nofp.plt nopie.plt
}

@test "behind a call that does not return" {
	are_true nofp.noret nopie.noret
}

@test "in signal handlers, also on another stack and one in another" {
	are_true signals.sig signals.altsig signals.nestsig
}

@test "while an exception is thrown through frames" {
	are_true cxx.throw
}

@test "threads begin where the C library starts them" {
	are_true threads.work threads.pipe threads.short
}

@test "libraries that are loaded and unloaded while sampled" {
	are_true loader.dlopen
}

@test "a process that becomes another program at the same addresses" {
	are_true becomes_a.exec becomes_b.exec
}

@test "processes that share or copy the memory of their parent" {
	are_true spawns.vfork spawns.spawn spawns.fork
}

@test "static and static-pie programs, no .eh_frame_hdr" {
	are_true static.plain static.sort spie.sort spie.sys hdrless.plain hdrless.sort
}

@test "code made while running goes on by its frame pointer, or ends" {
	are_true jit.framed jit.bare
}

@test "with marks for indirect branches, in PLT stubs too" {
	on_x86 x86_cet.plt x86_cet.plain
}

@test "stacks that are aligned anew" {
	on_x86 x86_align.drap
}

@test "assembly with call frame information for each instruction, and without any" {
	on_x86 x86_asm.cfi x86_asm.nocfi x86_asm.nocfifp x86_asm.hidden
}

@test "32-bit programs are told apart" {
	need_32_bits
	are_true x86_bits32
}

@test "Rust" {
	rustc --version >/dev/null 2>&1 || skip "no rustc"
	rustc --edition 2021 -C opt-level=2 -o rusty "$TESTS/../workloads/rusty.rs"
	WORKLOADS=$PWD "$BPFPROF" record -q -F 1999 -e cpu-clock -o rust.data -- \
		sh "$TESTS/known_stacks.sh" 0.15 rusty.panics
	"$BPFPROF" script -i rust.data -F "$FIELDS" >rust.txt
	python3 "$TESTS/true_stacks.py" rust.txt ours rusty.panics
	cat ours/rusty.panics
	grep -q ': true$' ours/rusty.panics
}

# below FILE: the tree that stock perf report draws for the hot function of nofp.plain
below() {
	"$PERF" report -i "$1" --stdio --no-children -g caller,0.5,callee -S leaf --comm nofp.plain \
		2>/dev/null | grep -v '^#'
}

@test "perf report -g shows main under the hot function, which it does not for perf record -g" {
	"$BPFPROF" record -q -F 999 -e cpu-clock -o ours.data -- "$WORKLOADS/nofp" plain 0.4
	"$PERF" record -q --no-bpf-event -F 999 -e cpu-clock -g -o perfs.data -- "$WORKLOADS/nofp" plain 0.4 \
		>/dev/null 2>&1
	below ours.data | grep -w leaf
	below perfs.data | grep -w leaf
	below ours.data | grep -w main
	run ! grep -w main <(below perfs.data)
}
