/* CFLAGS: -O2 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -fno-inline */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ten functions with known shares of the time, by count and not by clock: of 100 chunks of work
 * part_0 has 30, then 20, 15, 10, 8, 7, 5, 3, 1 and 1. Which one is next is drawn by lot, always by
 * the same one, so that no sampler falls into step with it.
 *
 * usage: shares CHUNKS [MORE]     a chunk is about 10 us; MORE chunks of 100 go to part_6 on top of
 *                                 its 5, so that its share grows
 */
#include <stdio.h>
#include <stdlib.h>

enum { PARTS = 10, TURNS = 30000 };

/* Turns that each need the one before, without touching memory. */
#define PART(number)                                                      \
	__attribute__((noinline)) void part_##number(unsigned long turns) \
	{                                                                 \
		for (unsigned long turn = 0; turn < turns; turn++)        \
			__asm__ volatile("" : "+r"(turn));                \
		__asm__ volatile("" ::"i"(number));                       \
	}

void part_0(unsigned long), part_1(unsigned long), part_2(unsigned long), part_3(unsigned long),
	part_4(unsigned long), part_5(unsigned long), part_6(unsigned long), part_7(unsigned long),
	part_8(unsigned long), part_9(unsigned long);
PART(0)
PART(1)
PART(2)
PART(3)
PART(4)
PART(5)
PART(6)
PART(7)
PART(8)
PART(9)

static void (*const parts[PARTS])(unsigned long) = {part_0, part_1, part_2, part_3, part_4,
						    part_5, part_6, part_7, part_8, part_9};
static const unsigned shares[PARTS] = {30, 20, 15, 10, 8, 7, 5, 3, 1, 1};

/* xorshift64 (Marsaglia 2003). */
static unsigned draw(unsigned below)
{
	static unsigned long state = 88172645463325252ul;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state % below);
}

int main(int argc, char **argv)
{
	unsigned long chunks = argc > 1 ? strtoul(argv[1], NULL, 10) : 25000;
	unsigned more = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;

	for (unsigned long chunk = 0; chunk < chunks; chunk++) {
		unsigned lot = draw(100 + more), part = 0, until = shares[0];

		while (part < PARTS - 1 && lot >= until)
			until += shares[++part];
		parts[lot < 100 ? part : 6](TURNS);
	}
	return 0;
}
