/* CFLAGS: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls -shared -fPIC */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A library for lbr_plugins.c.
 */
#include "lbr_deep.h"

/* Called by lbr_plugins.c. */
void enter(unsigned long turns);
void call_back(void (*function)(unsigned long turns), unsigned long turns);

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
