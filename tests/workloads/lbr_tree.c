/* CFLAGS: -O2 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recursion up to 200 calls deep: a walk through a lopsided tree that is not there, a node of which
 * is its depth and chance. Each function is entered from two places in itself.
 *
 * usage: lbr_tree [ROUNDS]
 */
#include "lbr.h"

enum { DEPTH_MAX = 200 };

FRAME static unsigned long look_at(unsigned long depth)
{
	burn(100 + depth);
	return depth;
}

/* NOLINTNEXTLINE(misc-no-recursion): recursion is what it is for */
FRAME static unsigned long visit(unsigned long depth)
{
	unsigned long seen = look_at(depth);

	if (depth < DEPTH_MAX && pick(20) < 19)
		seen += visit(depth + 1);
	if (depth < DEPTH_MAX && pick(100) < 5)
		seen += visit(depth + 1);
	burn(200);
	return seen;
}

int main(int argc, char **argv)
{
	for (unsigned long round = rounds(argc, argv, 500); round; round--)
		visit(1);
	return 0;
}
