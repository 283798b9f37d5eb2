/* CFLAGS: -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * 43 functions that call each other in a row, each from one place: more than an LBR has registers.
 * Most of the work is done at the end, some on the way.
 *
 * usage: lbr_chain [ROUNDS]
 */
#include "lbr.h"

FRAME static void link43(unsigned long turns)
{
	burn(turns * 300);
}

#define LINK(number, next)                                  \
	FRAME static void link##number(unsigned long turns) \
	{                                                   \
		burn(turns);                                \
		link##next(turns);                          \
		AFTER_CALL();                               \
	}

LINK(42, 43)
LINK(41, 42)
LINK(40, 41)
LINK(39, 40)
LINK(38, 39)
LINK(37, 38)
LINK(36, 37)
LINK(35, 36)
LINK(34, 35)
LINK(33, 34)
LINK(32, 33)
LINK(31, 32)
LINK(30, 31)
LINK(29, 30)
LINK(28, 29)
LINK(27, 28)
LINK(26, 27)
LINK(25, 26)
LINK(24, 25)
LINK(23, 24)
LINK(22, 23)
LINK(21, 22)
LINK(20, 21)
LINK(19, 20)
LINK(18, 19)
LINK(17, 18)
LINK(16, 17)
LINK(15, 16)
LINK(14, 15)
LINK(13, 14)
LINK(12, 13)
LINK(11, 12)
LINK(10, 11)
LINK(9, 10)
LINK(8, 9)
LINK(7, 8)
LINK(6, 7)
LINK(5, 6)
LINK(4, 5)
LINK(3, 4)
LINK(2, 3)
LINK(1, 2)

int main(int argc, char **argv)
{
	for (unsigned long round = rounds(argc, argv, 300); round; round--)
		link1(200 + pick(400));
	return 0;
}
