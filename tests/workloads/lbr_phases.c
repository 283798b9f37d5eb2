/* CFLAGS: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads its settings many times, and then serves for ever, as programs do that go on for long. Both
 * stand below the same 40 calls. Who serves is always deep, so no sample shows that the calls have
 * another caller than was seen while settings were read: whoever takes what was seen for all there
 * is says that it still reads them.
 *
 * usage: lbr_phases [ROUNDS]
 */
#include "lbr.h"

FRAME static void deep0(unsigned long turns)
{
	burn(turns);
}

#define DEEP(number, next)                                  \
	FRAME static void deep##number(unsigned long turns) \
	{                                                   \
		if (turns < 100)                            \
			burn(turns);                        \
		deep##next(turns);                          \
		if (turns < 100)                            \
			burn(turns);                        \
		AFTER_CALL();                               \
	}
#define DEEP4(fourth, third, second, first, next) \
	DEEP(first, next)                         \
	DEEP(second, first)                       \
	DEEP(third, second)                       \
	DEEP(fourth, third)

DEEP4(4, 3, 2, 1, 0)
DEEP4(8, 7, 6, 5, 4)
DEEP4(12, 11, 10, 9, 8)
DEEP4(16, 15, 14, 13, 12)
DEEP4(20, 19, 18, 17, 16)
DEEP4(24, 23, 22, 21, 20)
DEEP4(28, 27, 26, 25, 24)
DEEP4(32, 31, 30, 29, 28)
DEEP4(36, 35, 34, 33, 32)
DEEP4(40, 39, 38, 37, 36)

FRAME static void read_settings(void)
{
	deep40(20);
	AFTER_CALL();
}

FRAME static void serve(unsigned long turns)
{
	deep40(turns);
	AFTER_CALL();
}

int main(int argc, char **argv)
{
	unsigned long count = rounds(argc, argv, 10000);

	for (unsigned long round = 0; round < count; round++)
		read_settings();
	serve(count * 1000);
	return 0;
}
