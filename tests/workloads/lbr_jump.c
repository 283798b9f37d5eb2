/* CFLAGS: -O2 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * longjmp() out of recursions of 5 to 50 calls: the LBR keeps calls that are over.
 *
 * usage: lbr_jump [ROUNDS]
 */
#include "lbr.h"

#include <setjmp.h>

static jmp_buf way_out;

FRAME static void work(unsigned long turns)
{
	burn(turns);
}

FRAME static void leave(void)
{
	work(20);
	longjmp(way_out, 1);
}

/* NOLINTNEXTLINE(misc-no-recursion): recursion is what it is for */
FRAME static void dive(unsigned long depth)
{
	work(500);
	if (!depth) {
		leave();
		return;
	}
	if (pick(3))
		dive(depth - 1);
	else
		dive(depth > 3 ? depth - 3 : 0);
	AFTER_CALL();
}

/* NOLINTNEXTLINE(misc-no-recursion): recursion is what it is for */
FRAME static void attempt(unsigned long depth)
{
	if (depth) {
		attempt(depth - 1);
		work(500);
		return;
	}
	if (!setjmp(way_out))
		dive(5 + pick(45));
	else
		work(1000);
}

int main(int argc, char **argv)
{
	for (unsigned long round = rounds(argc, argv, 1200); round; round--)
		attempt(pick(25));
	return 0;
}
