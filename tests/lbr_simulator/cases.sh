# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What the simulator runs: NAME PERIOD COMMAND..., a case a line. Sourced; $WORKLOADS, $INPUTS (made by
# make_inputs) and $HERE are folders. With SHORT set, our own workloads run for a tenth of the time.
#
# Calls and returns balance in all but jump, throw, signals and coroutines.

turns() {
	echo $((SHORT ? $1 / 10 : $1))
}

list_cases() {
	cat <<-END
		chain 15000 $WORKLOADS/lbr_chain $(turns 300)
		tree 15000 $WORKLOADS/lbr_tree $(turns 500)
		tree_nofp 15000 $WORKLOADS/lbr_tree_nofp $(turns 500)
		mutual 15000 $WORKLOADS/lbr_mutual $(turns 700)
		shared 15000 $WORKLOADS/lbr_shared $(turns 3000)
		phases 3000 $WORKLOADS/lbr_phases $(turns 10000)
		alternate 10000 $WORKLOADS/lbr_alternate $(turns 8000)
		unseen 3000 $WORKLOADS/x86_lbr_unseen $(turns 4000)
		tables 3000 $WORKLOADS/x86_lbr_tables $(turns 20000)
		copies 5000 $WORKLOADS/lbr_plugins copies $(turns 1000)
		moved 5000 $WORKLOADS/lbr_plugins moved $(turns 1000)
		leafy 15000 $WORKLOADS/lbr_leafy $(turns 600)
		parser 15000 $WORKLOADS/lbr_parser $(turns 150)
		tail 15000 $WORKLOADS/lbr_tail $(turns 100)
		retpoline 15000 $WORKLOADS/x86_lbr_retpoline $(turns 100)
		events 15000 $WORKLOADS/lbr_events $(turns 1500)
		visitor 15000 $WORKLOADS/lbr_visitor $(turns 30)
		search 15000 $WORKLOADS/lbr_search $(turns 120)
		jump 10000 $WORKLOADS/lbr_jump $(turns 1200)
		throw 15000 $WORKLOADS/lbr_throw $(turns 400)
		signals 15000 $WORKLOADS/lbr_signals $(turns 2500)
		coroutines 15000 $WORKLOADS/lbr_coroutines $(turns 200)
		threads 15000 $WORKLOADS/lbr_threads $(turns 80)
		python3 40000 /usr/bin/python3 -s $HERE/inputs/work.py
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
