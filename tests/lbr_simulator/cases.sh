# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What the simulator runs: NAME PERIOD COMMAND..., a case a line. Sourced; $WORKLOADS, $INPUTS (made by
# make_inputs) and $HERE are folders.
#
# Calls and returns balance in all but jump, throw, signals and coroutines.

list_cases() {
	cat <<-END
		chain 15000 $WORKLOADS/lbr_chain
		tree 15000 $WORKLOADS/lbr_tree
		tree_nofp 15000 $WORKLOADS/lbr_tree_nofp
		mutual 15000 $WORKLOADS/lbr_mutual
		shared 15000 $WORKLOADS/lbr_shared
		leafy 15000 $WORKLOADS/lbr_leafy
		parser 15000 $WORKLOADS/lbr_parser
		tail 15000 $WORKLOADS/lbr_tail
		retpoline 15000 $WORKLOADS/x86_lbr_retpoline
		jump 10000 $WORKLOADS/lbr_jump
		throw 15000 $WORKLOADS/lbr_throw
		signals 15000 $WORKLOADS/lbr_signals
		coroutines 15000 $WORKLOADS/lbr_coroutines
		threads 15000 $WORKLOADS/lbr_threads
		python3 40000 /usr/bin/python3 -I $HERE/inputs/work.py
		sort 30000 /usr/bin/sort -k2n $INPUTS/numbers
		cc1 60000 $(gcc -print-prog-name=cc1) -quiet -O2 $INPUTS/source.i -o /dev/null
		perl 30000 /usr/bin/perl $HERE/inputs/work.pl
		bash 30000 /bin/bash $HERE/inputs/work.bash
	END
}

make_inputs() {
	mkdir -p "$INPUTS" || return 1
	[ -s "$INPUTS/numbers" ] || awk 'BEGIN {
		for (i = 1; i <= 40000; i++) {
			x = (x * 1103515245 + 12345) % 2147483648
			print "line", x % 10007, x
		}
	}' >"$INPUTS/numbers"
	[ -s "$INPUTS/source.i" ] || gcc -E "$HERE/../workloads/lbr_parser.c" -o "$INPUTS/source.i"
}
