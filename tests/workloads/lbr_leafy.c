/* CFLAGS: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Many short calls at the end of long stacks: a recursion that goes 20 to 60 deep, and stays there
 * while leaves of leaves are called from all over.
 *
 * usage: lbr_leafy [ROUNDS]
 */
#include "lbr.h"

FRAME static unsigned long leaf(unsigned long number)
{
	burn(8);
	return number * 3;
}

FRAME static unsigned long twig(unsigned long number)
{
	return leaf(number) + leaf(number + 1) + 1;
}

FRAME static unsigned long branch(unsigned long number)
{
	unsigned long sum = 0;

	for (int i = 0; i < 4; i++)
		sum += i % 2 ? twig(number) : leaf(sum);
	return sum;
}

/* NOLINTNEXTLINE(misc-no-recursion): recursion is what it is for */
FRAME static unsigned long climb(unsigned long height)
{
	unsigned long sum = 0;

	if (height)
		return climb(height - 1) + twig(height);
	for (unsigned long work = 400 + pick(800); work; work--)
		sum += branch(work);
	return sum;
}

int main(int argc, char **argv)
{
	for (unsigned long round = rounds(argc, argv, 600); round; round--)
		climb(20 + pick(40));
	return 0;
}
