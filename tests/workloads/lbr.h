/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the workloads of the LBR simulator share: functions that stay functions, work, and chance
 * that is the same in every run. Each takes the number of rounds as its argument, so that a test
 * can be short.
 */
#ifndef TESTS_WORKLOADS_LBR_H
#define TESTS_WORKLOADS_LBR_H

#include <stdlib.h>

/* A frame of its own, whatever the optimizer would like. */
#define FRAME __attribute__((noipa, noinline))

#define INLINE static inline __attribute__((always_inline))

/* Keeps a call from being the last thing that a function does. */
#define AFTER_CALL() __asm__ volatile("" ::: "memory")

/* Work that no compiler can shorten; a turn is two instructions. */
INLINE void burn(unsigned long turns)
{
	for (unsigned long turn = 0; turn < turns; turn++)
		__asm__ volatile("" ::: "memory");
}

static unsigned long lbr_chance = 88172645463325252UL;

/* A number from 0 to `limit` - 1. */
INLINE unsigned long pick(unsigned long limit)
{
	lbr_chance ^= lbr_chance << 13;
	lbr_chance ^= lbr_chance >> 7;
	lbr_chance ^= lbr_chance << 17;
	return (lbr_chance >> 11) % limit;
}

/* The only argument, or what is usual. */
INLINE unsigned long rounds(int argc, char **argv, unsigned long usual)
{
	return argc > 1 ? strtoul(argv[1], NULL, 10) : usual;
}

#endif
