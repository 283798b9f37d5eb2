/* CFLAGS: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recursions with several ways in: Fibonacci by two calls of itself, an even and an odd function
 * that call each other, and a search that puts queens on a board and asks both for advice.
 *
 * usage: lbr_search [ROUNDS]
 */
#include "lbr.h"

enum { BOARD = 36 };

static unsigned long column_of[BOARD];

/* NOLINTBEGIN(misc-no-recursion): recursion is what it is for */
FRAME static unsigned long fibonacci(unsigned long number)
{
	burn(12);
	if (number < 2)
		return number;
	return fibonacci(number - 1) + fibonacci(number - 2) + 1;
}

FRAME static unsigned long is_odd(unsigned long number);

FRAME static unsigned long is_even(unsigned long number)
{
	burn(50);
	return number ? is_odd(number - 1) + 1 : 0;
}

FRAME static unsigned long is_odd(unsigned long number)
{
	burn(50);
	return number ? is_even(number - 1) + 1 : 0;
}

FRAME static unsigned long advise(unsigned long row)
{
	switch (pick(4)) {
	case 0:
		return fibonacci(2 + row % 10);
	case 1:
		return is_even(pick(24)) + 1;
	case 2:
		return is_odd(pick(24)) + 1;
	default:
		burn(400);
		return row;
	}
}

FRAME static unsigned long is_attacked(unsigned long row, unsigned long column)
{
	unsigned long attacks = 0;

	for (unsigned long i = 0; i < row; i++)
		attacks += column_of[i] == column || column_of[i] + row == column + i;
	burn(10);
	return attacks;
}

FRAME static unsigned long place(unsigned long row, unsigned long *fuel)
{
	unsigned long sum = advise(row);

	for (unsigned long tries = 3; row < BOARD && tries && *fuel; tries--) {
		column_of[row] = pick(BOARD);
		--*fuel;
		if (is_attacked(row, column_of[row]) < 3)
			sum += place(row + 1, fuel);
	}
	return sum + 1;
}
/* NOLINTEND(misc-no-recursion) */

int main(int argc, char **argv)
{
	unsigned long sum = 0;

	for (unsigned long round = rounds(argc, argv, 120); round; round--) {
		unsigned long fuel = 300;

		sum += place(0, &fuel);
	}
	return sum == 42;
}
