/* CFLAGS: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls -no-pie */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A process that becomes another program, and that one this one again (see known.h): both lie at
 * the same addresses, with frames of other sizes.
 *
 * stacks exec: _start * main execs a_leaf
 * stacks exec: _start * main execs b_leaf
 *
 * whole exec: 90%
 *
 * Between exec and the first instruction of the new program there is no user stack.
 *
 * usage: becomes_a exec [SECONDS]      SECONDS of CPU time over all programs
 */
#include "known.h"

#include <unistd.h>

/* The names of this one; the other one has defined its own. */
#ifndef LEAF
#define OTHER "becomes_b"
#define LEAF  a_leaf
#define ROOM  40
#endif

FRAME static void LEAF(void)
{
	char room[ROOM];

	KEEP(room);
	SPOIL_REGISTERS();
	burn(10000000);
}

static const char *self;

FRAME static void execs(void)
{
	char path[4096], left[32];

	SPOIL_REGISTERS();
	LEAF();
	if (is_over())
		return;
	snprintf(path, sizeof(path), "%.*s/%s", (int)(strrchr(self, '/') - self), self, OTHER);
	/* CPU time goes on over an exec. */
	snprintf(left, sizeof(left), "%f", known_end_seconds - known_seconds());
	execl(path, path, "exec", left, NULL);
}

int main(int argc, char **argv)
{
	static const struct mode modes[] = {{"exec", execs}};

	(void)argc;
	self = argv[0];
	return run_mode(modes, sizeof(modes) / sizeof(modes[0]), argv);
}
