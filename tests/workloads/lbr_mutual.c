/* CFLAGS: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Three functions that call each other, about 200 deep, which of them by chance: a stretch of such
 * a stack looks like any other. Without frame pointers.
 *
 * usage: lbr_mutual [ROUNDS]
 */
#include "lbr.h"

unsigned long red(unsigned long depth);
unsigned long green(unsigned long depth);
unsigned long blue(unsigned long depth);

/* NOLINTBEGIN(misc-no-recursion): recursion is what it is for */
INLINE unsigned long next(unsigned long depth)
{
	unsigned long steps = 0;

	burn(60);
	for (unsigned long turn = pick(50) ? 1 : 2; turn && depth && pick(100); turn--) {
		switch (pick(3)) {
		case 0:
			steps += red(depth - 1);
			break;
		case 1:
			steps += green(depth - 1);
			break;
		default:
			steps += blue(depth - 1);
			break;
		}
	}
	burn(60);
	return steps + 1;
}

FRAME unsigned long red(unsigned long depth)
{
	return next(depth);
}

FRAME unsigned long green(unsigned long depth)
{
	return next(depth);
}

FRAME unsigned long blue(unsigned long depth)
{
	return next(depth);
}
/* NOLINTEND(misc-no-recursion) */

int main(int argc, char **argv)
{
	for (unsigned long round = rounds(argc, argv, 700); round; round--)
		red(200 + pick(40));
	return 0;
}
