/* CFLAGS: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads its settings often and serves seldom, but for long. Both stand below the same 40 calls, one
 * after the other again and again. Who serves is deep at once, so no sample shows its CALL, which
 * is there in the code: whoever takes the callers that were seen for all there are is wrong.
 *
 * usage: lbr_alternate [ROUNDS]
 */
#include "lbr_deep.h"

FRAME static void read_settings(void)
{
	for (int i = 0; i < 9; i++)
		burn(600);
	deep40(600);
	burn(600);
	AFTER_CALL();
}

FRAME static void serve(void)
{
	deep40(900000);
	AFTER_CALL();
}

int main(int argc, char **argv)
{
	unsigned long left = rounds(argc, argv, 8000);

	while (left--)
		if (pick(400) == 0)
			serve();
		else
			read_settings();
}
