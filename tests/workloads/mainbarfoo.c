/* CFLAGS: -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -fno-inline */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * main calls bar, bar calls foo; of the work 40% is bar's own and 60% is foo's, by count and not by
 * clock, so that a profile must show main 0% self, bar 40% self and 100% with children, foo 60%.
 *
 * usage: mainbarfoo [rounds]      1000 rounds are about a second; prints a checksum
 */
#include <stdio.h>
#include <stdlib.h>

enum { UNIT = 180000 }; /* turns of the loop for one fifth of a round */

/* Work that no compiler can shorten: each turn needs the one before. The same instructions stand in
 * bar and in foo, so that equal counts are equal times. */
#define WORK(turns, state)                                             \
	do {                                                           \
		for (unsigned long turn = 0; turn < (turns); turn++) { \
			(state) = (state)*6364136223846793005ul + 1;   \
			__asm__ volatile("" : "+r"(state));            \
		}                                                      \
	} while (0)

__attribute__((noinline)) unsigned long foo(unsigned long state);
__attribute__((noinline)) unsigned long bar(unsigned long state);

/* gcc gives a function that does not touch the stack no frame, whatever the flags say (x86
 * ix86_finalize_stack_frame_flags), and then its caller is missing from the chain: so foo keeps
 * something there. */
unsigned long foo(unsigned long state)
{
	volatile unsigned long kept = state;

	WORK(3ul * UNIT, state);
	return state ^ (kept & 0);
}

unsigned long bar(unsigned long state)
{
	WORK(2ul * UNIT, state);
	state = foo(state);
	return state ^ 1;
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	unsigned long state = 1;

	while (rounds--)
		state = bar(state);
	printf("%lx\n", state);
	return 0;
}
