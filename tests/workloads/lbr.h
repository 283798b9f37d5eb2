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

/* 40 functions of which each calls the next, the last one deep0(); x is in front of their numbers.
 * DEEP(number, next) makes one. */
#define DEEP4(fourth, third, second, first, next) \
	DEEP(first, next)                         \
	DEEP(second, first)                       \
	DEEP(third, second)                       \
	DEEP(fourth, third)
#define DEEP40(x)                                \
	DEEP4(x##4, x##3, x##2, x##1, 0)         \
	DEEP4(x##8, x##7, x##6, x##5, x##4)      \
	DEEP4(x##12, x##11, x##10, x##9, x##8)   \
	DEEP4(x##16, x##15, x##14, x##13, x##12) \
	DEEP4(x##20, x##19, x##18, x##17, x##16) \
	DEEP4(x##24, x##23, x##22, x##21, x##20) \
	DEEP4(x##28, x##27, x##26, x##25, x##24) \
	DEEP4(x##32, x##31, x##30, x##29, x##28) \
	DEEP4(x##36, x##35, x##34, x##33, x##32) \
	DEEP4(x##40, x##39, x##38, x##37, x##36)

/* The only argument, or what is usual. */
INLINE unsigned long rounds(int argc, char **argv, unsigned long usual)
{
	return argc > 1 ? strtoul(argv[1], NULL, 10) : usual;
}

#endif
