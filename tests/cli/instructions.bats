#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Instructions: of samples, and between the branches of made branch stacks. To the byte what perf prints,
# but for bytes that are no instruction (branches that are made up lead into the midst of some).
#
# Runs beside others.

load common

setup_file() {
	export PERF_CONFIG=/dev/null PAGER=cat DEBUGINFOD_URLS=
	[ "$(uname -m)" = x86_64 ] || return 0
	HERE=$(realpath "$BATS_TEST_DIRNAME")
	export HERE
	cd "$BATS_FILE_TMPDIR" || return
	cat >steps.s <<-'END'
		.section .note.GNU-stack,"",@progbits
		.text
		.type main, @function
		.globl main
		main:
		xor %eax, %eax
		call step
		ret
		.size main, .-main
		.type step, @function
		step:
		add $1, %eax
		cmp $9, %eax
		jne step
		ret
		.size step, .-step
	END
	gcc -o steps steps.s
	"$HERE/block_recording.py" -s steps.data steps \
		'step+0x8>main+0x7:3,step+0x6>step:2,step+0x6>step:5,main+0x2>step:7' \
		'step+0x8>main+0x7:3,step+0x1>step:2,step+0x6>step:0'
	"$HERE/branch_recording.py" many.data "$WORKLOADS/mainbarfoo" known=1 odd=1
}

setup() {
	[ "$(uname -m)" = x86_64 ] || skip "the instructions are those of x86"
	cd "$BATS_FILE_TMPDIR" || return
}

@test "what ran between branches is printed, block by block" {
	"$BPFPROF" script -i steps.data -F comm,brstackinsn | cut -f 2- | sed -n '1,/^$/p' | sed 's/[0-9a-f]*\([0-9a-f]\{2\}\)\t/\1\t/' >said
	cut -f 2 said | sed 's/ *$//' | tr '\n' '|' >instructions
	[ "$(cat instructions)" = "          blocks|main+2:|insn: e8 01 00 00 00|step:|insn: 83 c0 01|insn: 83 f8 09|insn: 75 f8|insn: 83 c0 01|insn: 83 f8 09|insn: 75 f8|insn: 83 c0 01|insn: 83 f8 09|insn: 75 f8|insn: c3|main+7:|insn: c3||" ]
	grep -q 'insn: 75 f8 .*# PRED 5 cycles \[12\] 0.60 IPC$' said
}

@test "branches and blocks are perf's, with lengths and without" {
	local fields
	need_perf
	for fields in ip,brstackinsn brstackinsnlen comm,brstackinsn,brstackinsnlen brstacksym,brstackinsn insn,insnlen \
		ip,insn insnlen; do
		echo "fields: $fields"
		"$PERF" script -i steps.data -F "$fields" 2>/dev/null >theirs
		[ -s theirs ]
		"$BPFPROF" script --strict-perf -i steps.data -F "$fields" | diff theirs -
	done
	"$PERF" script --max-blocks 1 -i steps.data -F brstackinsn 2>/dev/null >theirs
	"$BPFPROF" script --strict-perf --max-blocks 1 -i steps.data -F brstackinsn | diff theirs -
	grep -q 'mismatch of LBR data and executable' <("$BPFPROF" script -i steps.data -F brstackinsn)
}

@test "many samples have perf's blocks wherever all bytes are instructions" {
	need_perf
	"$PERF" script -i many.data -F time,brstackinsn,brstackinsnlen 2>/dev/null >theirs
	"$BPFPROF" script --strict-perf -i many.data -F time,brstackinsn,brstackinsnlen >ours
	python3 - <<-'END'
		def samples(name):
		    return [text for text in open(name).read().split("\n\n") if text.strip()]
		theirs, ours = samples("theirs"), samples("ours")
		sure = [pair for pair in zip(theirs, ours) if "<bad>" not in "".join(pair)]
		different = [pair for pair in sure if pair[0] != pair[1]]
		print(len(theirs), len(ours), len(sure), different[:1])
		assert len(theirs) == len(ours) and len(sure) > 20 and not different
	END
}

@test "without the program there are samples, and no instructions" {
	mkdir -p nothing
	"$BPFPROF" script --symfs nothing -i steps.data -F ip,insnlen,brstackinsn >said
	grep -q '^ .* ilen: 0$' said
	lacks insn: said
}

@test "more programs than files may be open: each has its instructions" {
	local number
	need_perf
	cat >leave.s <<-'END'
		.text
		.globl _start
		_start:
		mov $60, %eax
		xor %edi, %edi
		syscall
	END
	gcc -nostdlib -static -o leave leave.s
	mkdir -p programs
	for number in {1..320}; do
		cp leave "programs/$number"
	done
	perf_records -e page-faults:u -c 1 -o programs.data -- find programs -type f -exec {} \;
	"$BPFPROF" script -i programs.data -F comm,ip,insn >all
	[ "$(grep -c 'insn: b8 3c 00 00 00' all)" -ge 320 ]
	(ulimit -n 300 && "$BPFPROF" script -i programs.data -F comm,ip,insn) | diff all -
}

@test "instructions of branches are refused where there are no branches" {
	"$HERE/known_recording.py" plain.data "$WORKLOADS/mainbarfoo" 'main=3'
	fails_with 2 "the samples hold no 'brstackinsn'; leave it out of -F" "$BPFPROF" script -i plain.data -F brstackinsn
}

@test "... and where only some kinds of branches were recorded, as in perf" {
	"$HERE/branch_recording.py" calls.data "$WORKLOADS/mainbarfoo" known=1 bits=17
	"$BPFPROF" script -i calls.data -F brstacksym | grep -q "bar+0x"
	fails_with 2 "the samples hold no 'brstackinsn'; leave it out of -F" "$BPFPROF" script -i calls.data -F brstackinsn
	"$PERF" --version >/dev/null 2>&1 || return 0
	run ! "$PERF" script -i calls.data -F brstackinsn
}
