/* CFLAGS: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * C++ exceptions out of recursions, caught some calls further out or at the bottom: calls that are
 * over without a return. Without frame pointers.
 *
 * usage: lbr_throw [ROUNDS]
 */
#include "lbr.h"

#include <stdexcept>

FRAME static void work(unsigned long turns)
{
	burn(turns);
}

struct Guard {
	~Guard()
	{
		work(20);
	}
};

/* NOLINTBEGIN(misc-no-recursion): recursion is what it is for */
FRAME static void descend(unsigned long depth)
{
	Guard guard;

	work(200);
	if (!depth)
		throw std::runtime_error("the end");
	descend(depth - 1);
	work(100);
}

FRAME static void protect(unsigned long depth)
{
	work(100);
	try {
		if (depth > 8 && pick(3))
			protect(depth - 4);
		descend(pick(depth + 1));
	} catch (const std::runtime_error &) {
		work(500);
		if (pick(4) == 0)
			throw;
	}
	work(500);
}
/* NOLINTEND(misc-no-recursion) */

int main(int argc, char **argv)
{
	for (unsigned long round = rounds(argc, argv, 400); round; round--) {
		try {
			protect(10 + pick(40));
		} catch (const std::runtime_error &) {
			work(100);
		}
	}
	return 0;
}
