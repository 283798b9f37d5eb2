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
DEEP40()

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
