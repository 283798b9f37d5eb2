/* CFLAGS: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls -shared -fPIC */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A library for loader.c. plugin_b is the same with larger frames: as it often comes to lie where
 * plugin_a was, a table that is not forgotten with its mapping gives wrong callers.
 */
#include "known.h"

#include <ctype.h>

/* The names of this one; the other one has defined its own. */
#ifndef LEAF
#define ENTER a_enter
#define LEAF  a_leaf
#define ROOM  40
#endif

/* Called by loader.c. */
int enter(void);

FRAME static void LEAF(void)
{
	char room[ROOM];

	KEEP(room);
	SPOIL_REGISTERS();
	burn(200000);
}

FRAME static int ENTER(void)
{
	char room[ROOM];

	room[0] = (char)((toupper)('a') + (isalpha)('b')); /* bound at the first call */
	SPOIL_REGISTERS();
	LEAF();
	return room[0];
}

FRAME int enter(void)
{
	int sum = 0;

	for (int i = 0; i < 10; i++)
		sum += ENTER();
	return sum;
}
