/* CFLAGS: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Exceptions through frames without frame pointers (see known.h): the work is done where they are
 * thrown, in the destructors on their way, where they are caught, and in the unwinding itself.
 *
 * stacks throw: _start * main exceptions catches passes throws before_throw
 * stacks throw: _start * main exceptions catches passes Guard::~Guard in_destructor
 * stacks throw: _start * main exceptions catches in_handler
 * stacks throw: _start * main exceptions catches catches|.
 *
 * The last line is passes() that resumes the unwinding: nothing returns from there, and the return
 * address is already that of what stands behind it.
 */
#include "known.h"

#include <stdexcept>

extern "C" {

FRAME static void before_throw()
{
	burn(20000);
}

FRAME static void in_destructor()
{
	SPOIL_REGISTERS();
	burn(20000);
}

FRAME static void in_handler()
{
	SPOIL_REGISTERS();
	burn(20000);
}

FRAME static void throws(int number)
{
	SPOIL_REGISTERS();
	before_throw();
	throw std::out_of_range(number & 1 ? "odd" : "even");
}
}

struct Guard {
	__attribute__((noinline)) ~Guard()
	{
		in_destructor();
		AFTER_CALL();
	}
};

extern "C" {

FRAME static void passes(int number)
{
	char room[500];
	Guard guard;

	KEEP(room);
	SPOIL_REGISTERS();
	throws(number);
	KEEP(room);
}

FRAME static void catches(int number)
{
	try {
		SPOIL_REGISTERS();
		passes(number);
	} catch (const std::out_of_range &) {
		in_handler();
		AFTER_CALL();
	}
}

FRAME static void exceptions()
{
	for (int number = 0; !is_over(); number++)
		catches(number);
}
}

int main(int argc, char **argv)
{
	static const struct mode modes[] = {{"throw", exceptions}};

	(void)argc;
	return run_mode(modes, sizeof(modes) / sizeof(modes[0]), argv);
}
