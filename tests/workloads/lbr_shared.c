/* CFLAGS: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whoever guesses is wrong here: the same 40 calls stand below four different callers, and by the
 * time the work begins the LBR has forgotten which of them it was.
 *
 * usage: lbr_shared [ROUNDS]
 */
#include "lbr.h"

FRAME static void shared0(unsigned long turns)
{
	burn(turns * 8);
}

#define SHARED(number, next)                                  \
	FRAME static void shared##number(unsigned long turns) \
	{                                                     \
		burn(turns / 8);                              \
		shared##next(turns);                          \
		AFTER_CALL();                                 \
	}
#define SHARED4(fourth, third, second, first, next) \
	SHARED(first, next)                         \
	SHARED(second, first)                       \
	SHARED(third, second)                       \
	SHARED(fourth, third)

SHARED4(4, 3, 2, 1, 0)
SHARED4(8, 7, 6, 5, 4)
SHARED4(12, 11, 10, 9, 8)
SHARED4(16, 15, 14, 13, 12)
SHARED4(20, 19, 18, 17, 16)
SHARED4(24, 23, 22, 21, 20)
SHARED4(28, 27, 26, 25, 24)
SHARED4(32, 31, 30, 29, 28)
SHARED4(36, 35, 34, 33, 32)
SHARED4(40, 39, 38, 37, 36)

#define WAY(name)                                           \
	FRAME static void name##_inner(unsigned long turns) \
	{                                                   \
		burn(turns);                                \
		shared40(turns);                            \
		AFTER_CALL();                               \
	}                                                   \
	FRAME static void name(unsigned long turns)         \
	{                                                   \
		burn(turns);                                \
		name##_inner(turns);                        \
		AFTER_CALL();                               \
	}

WAY(north)
WAY(east)
WAY(south)
WAY(west)

int main(int argc, char **argv)
{
	void (*const ways[])(unsigned long turns) = {north, east, south, west};

	for (unsigned long round = rounds(argc, argv, 3000); round; round--)
		ways[pick(4)](400 + pick(1200));
	return 0;
}
