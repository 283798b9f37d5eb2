#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# script -F srccode: the line of the source below samples and instructions, to the byte as perf prints it,
# and source files that are not what they were.
#
# Runs beside others.

load common

setup_file() {
	export PERF_CONFIG=/dev/null PAGER=cat DEBUGINFOD_URLS=
	HERE=$(realpath "$BATS_TEST_DIRNAME")
	export HERE
	cd "$BATS_FILE_TMPDIR" || return
	mkdir -p code
	cat >code/steps.c <<-'END'
		/* The first line. */
		int down(int count);

		int main(void)
		{
			int sum = 0;	/* a tab, and Ünï — */
			for (int i = 0; i < 5; i++)
				sum += down(i);
			return sum == 3;
		}

		int down(int count)
		{
			return count ? down(count - 1) + 1 : 0;
		}
	END
	gcc -O0 -g -o steps code/steps.c
	cp code/steps.c good.c
	"$HERE/known_recording.py" plain.data "$PWD/steps" down=3 down=3 main=2 down=1 9:down=3 9:main=1
	"$HERE/known_recording.py" chains.data chains=1 "$PWD/steps" 'down<main=3' main=2 '9:down<main=3'
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
	rm -f code/steps.c
	cp good.c code/steps.c
}

teardown_file() {
	rm -f "$BATS_FILE_TMPDIR/code/steps.c"
}

# same FILE OPTION...: perf prints the same, and something.
same() {
	echo "options: $*"
	"$PERF" script -i "$@" 2>/dev/null >theirs
	[ -s theirs ]
	"$BPFPROF" script --strict-perf -i "$@" | diff theirs -
}

@test "each sample has its line, unless its thread was shown it last" {
	"$BPFPROF" script -i plain.data -F tid,sym,ip,srccode >said
	[ "$(grep -c '^|13       {$' said)" -eq 3 ]
	[ "$(grep -c '^|5        {$' said)" -eq 2 ]
}

@test "samples and stacks have perf's lines, and places with folders" {
	need_perf
	same plain.data -F comm,ip,sym,srccode
	same plain.data -F +srccode
	same plain.data --full-source-path -F ip,sym,srcline,srccode
	grep -q "^  $PWD/code/steps.c:13$" theirs
	same chains.data -F +srccode
	same chains.data --full-source-path -F +srcline,+srccode
}

@test "instructions between branches have perf's lines and places" {
	[ "$(uname -m)" = x86_64 ] || skip "the instructions are those of x86"
	"$HERE/block_recording.py" -s blocks.data steps 'main+0x8>down:3,down+0x4>main:2' 'main+0x4>main+0x4:3,down+0x4>main:2'
	"$BPFPROF" script -i blocks.data -F ip,brstackinsn,srcline,srccode >said
	cat said
	grep -q '^	down+4:	steps.c:13$' said
	grep -q '^	main:	steps.c:5$' said
	grep -q '^|5        {$' said
	need_perf
	for options in srccode srcline srcline,srccode brstackinsnlen,srccode; do
		same blocks.data -F "ip,brstackinsn,$options"
	done
	same blocks.data --full-source-path -F ip,brstackinsn,srcline
}

@test "a source that changed is shown as it is now: shorter, or without a last line's end" {
	need_perf
	head -n 6 good.c >code/steps.c
	same plain.data -F +srccode
	lacks '^|13' theirs
	: >code/steps.c
	same plain.data -F +srccode
	rm code/steps.c
	same plain.data -F +srccode
	lacks '^|' theirs
	# perf crashes
	head -n 13 good.c | head -c -1 >code/steps.c
	"$BPFPROF" script -i plain.data -F +srccode >said
	[ "$(grep -c '^|13       {$' said)" -eq 3 ]
}

@test "what is no source file is not opened, and no huge one read" {
	local kind
	"$BPFPROF" script -i plain.data >without
	for kind in fifo folder link huge; do
		echo "kind: $kind"
		rm -rf code/steps.c
		case $kind in
		fifo) mkfifo code/steps.c ;;
		folder) mkdir code/steps.c ;;
		link) ln -s /dev/zero code/steps.c ;;
		huge) truncate -s 20G code/steps.c ;;
		esac
		timeout 20 "$BPFPROF" script -i plain.data -F +srccode | diff without -
	done
	rm -rf code/steps.c
}

@test "a source cannot steer the terminal, and lines of any length are whole" {
	printf '\e[2J\t\r\x9f\0behind\n%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 >code/steps.c
	printf '%0100000d\n' 7 >>code/steps.c
	"$BPFPROF" script -i plain.data -F +srccode >said
	awk 'length() == 100010 && /^[|]13       0*7$/ { found++ } END { exit found != 3 }' said
	grep -q "^|5        \\\\x1b\[2J	\\\\x0d\\\\x9f$" said
}
