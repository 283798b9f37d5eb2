/* CFLAGS: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls -shared -fPIC */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A library for lbr_plugins.c.
 */
#include "lbr.h"

/* Called by lbr_plugins.c. */
void enter(unsigned long turns);
void call_back(void (*function)(unsigned long turns), unsigned long turns);

FRAME static void deep0(unsigned long turns)
{
	burn(turns);
}

#define DEEP(number, next)                                  \
	FRAME static void deep##number(unsigned long turns) \
	{                                                   \
		deep##next(turns);                          \
		AFTER_CALL();                               \
	}
DEEP40()

FRAME void enter(unsigned long turns)
{
	burn(turns & 0xffff);
	deep40(turns >> 16);
	AFTER_CALL();
}

FRAME void call_back(void (*function)(unsigned long turns), unsigned long turns)
{
	function(turns);
	AFTER_CALL();
}
