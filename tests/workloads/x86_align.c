/* CFLAGS: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls -mstackrealign */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames that are aligned anew (see known.h): the caller's stack pointer is kept in a register or
 * in memory, and the call frame information says so with expressions.
 *
 * stacks drap: _start * main realigns outer aligned aligned_alloca takes_many leaf
 */
#include "known.h"

#include <alloca.h>

FRAME static void leaf(void)
{
	char room[64] __attribute__((aligned(64)));

	KEEP(room);
	burn(20000);
}

/* Arguments on the stack are reached through the register that keeps the caller's stack pointer. */
FRAME static long takes_many(long a, long b, long c, long d, long e, long f, long g, long h)
{
	char room[128] __attribute__((aligned(128)));

	room[0] = (char)(a + b + c + d + e + f);
	leaf();
	return g + h + room[0];
}

FRAME static long aligned_alloca(size_t bytes)
{
	char room[64] __attribute__((aligned(64)));
	char *more = alloca(bytes);

	room[0] = more[0] = 1;
	return takes_many(1, 2, 3, 4, 5, 6, 7, room[0]) + more[0];
}

FRAME static long aligned(size_t bytes)
{
	char room[64] __attribute__((aligned(64)));

	KEEP(room);
	return aligned_alloca(bytes) + room[0];
}

FRAME static long outer(size_t bytes)
{
	SPOIL_REGISTERS();
	return aligned(bytes) + 1;
}

FRAME static void realigns(void)
{
	for (size_t bytes = 10; !is_over(); bytes = bytes * 7 % 3001 + 10)
		outer(bytes);
}

int main(int argc, char **argv)
{
	static const struct mode modes[] = {{"drap", realigns}};

	(void)argc;
	return run_mode(modes, sizeof(modes) / sizeof(modes[0]), argv);
}
