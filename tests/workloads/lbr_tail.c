/* CFLAGS: -O2 -g -fomit-frame-pointer */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A machine of states that hand over to each other by tail calls, through a table and directly, and
 * call themselves for a part of the work: most functions are not the ones that were called.
 *
 * usage: lbr_tail [ROUNDS]
 */
#include "lbr.h"

typedef unsigned long state_function(unsigned long fuel, unsigned long depth);

state_function state_read, state_add, state_jump, state_call;
static state_function *const states[] = {state_read, state_add, state_jump, state_call};

/* NOLINTBEGIN(misc-no-recursion): recursion is what it is for */
FRAME unsigned long state_read(unsigned long fuel, unsigned long depth)
{
	burn(30);
	return fuel ? states[pick(4)](fuel - 1, depth) : 1;
}

FRAME unsigned long state_add(unsigned long fuel, unsigned long depth)
{
	burn(20);
	return fuel ? state_jump(fuel - 1, depth) : 2;
}

FRAME unsigned long state_jump(unsigned long fuel, unsigned long depth)
{
	burn(40);
	return fuel ? states[pick(4)](fuel - 1, depth + pick(2)) : 3;
}

FRAME unsigned long state_call(unsigned long fuel, unsigned long depth)
{
	unsigned long inner = 0;

	burn(10);
	if (depth < 200 && fuel)
		inner = states[pick(4)](fuel - 1, depth + 1);
	return fuel ? state_read(fuel / 3, depth + inner % 2) : 4;
}
/* NOLINTEND(misc-no-recursion) */

int main(int argc, char **argv)
{
	unsigned long sum = 0;

	for (unsigned long round = rounds(argc, argv, 100); round; round--)
		sum += state_read(180 + pick(160), 0);
	return sum == 42;
}
