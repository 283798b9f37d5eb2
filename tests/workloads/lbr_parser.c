/* CFLAGS: -O2 -g -fomit-frame-pointer */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A parser that descends by recursion through random expressions, (a + b * (c - d)), and sorts the
 * numbers it found with qsort(): calls back from the C library. Without frame pointers.
 *
 * usage: lbr_parser [ROUNDS]
 */
#include "lbr.h"

#include <ctype.h>

enum { TEXT_MAX = 4096, NUMBERS_MAX = 2048 };

static char text[TEXT_MAX];
static size_t text_length;
static const char *next;
static long numbers[NUMBERS_MAX];
static size_t number_count;

long parse_sum(void);

/* NOLINTBEGIN(misc-no-recursion): recursion is what it is for */
static void write_expression(unsigned long depth)
{
	if (depth && text_length < TEXT_MAX - 200 && pick(8)) {
		text[text_length++] = '(';
		write_expression(depth - 1);
		text[text_length++] = "+-*/"[pick(4)];
		write_expression(pick(depth));
		text[text_length++] = ')';
	} else {
		text[text_length++] = (char)('1' + pick(9));
		text[text_length++] = (char)('0' + pick(10));
	}
}

FRAME static void skip_number(long *ret_number)
{
	long number = 0;

	for (; isdigit((unsigned char)*next); next++)
		number = number * 10 + (*next - '0');
	burn(200);
	*ret_number = number;
}

FRAME static long parse_atom(void)
{
	long value = 0;

	if (*next != '(') {
		skip_number(&value);
		if (number_count < NUMBERS_MAX)
			numbers[number_count++] = value;
		return value;
	}
	next++;
	value = parse_sum();
	next++;
	burn(30);
	return value;
}

FRAME static long parse_product(void)
{
	long value = parse_atom();

	while (*next == '*' || *next == '/') {
		char sign = *next++;
		long factor = parse_atom();

		value = sign == '*' ? value * factor % 99991 : value / (factor ? factor : 1);
	}
	return value;
}

FRAME long parse_sum(void)
{
	long value = parse_product();

	while (*next == '+' || *next == '-') {
		char sign = *next++;
		long other = parse_product();

		value += sign == '+' ? other : -other;
	}
	burn(20);
	return value;
}
/* NOLINTEND(misc-no-recursion) */

FRAME static int compare(const void *left, const void *right)
{
	long difference = *(const long *)left - *(const long *)right;

	burn(10);
	return (difference > 0) - (difference < 0);
}

int main(int argc, char **argv)
{
	long sum = 0;

	for (unsigned long round = rounds(argc, argv, 150); round; round--) {
		text_length = 0;
		write_expression(8 + pick(24));
		text[text_length] = 0;
		for (int again = 0; again < 5; again++) {
			next = text;
			number_count = 0;
			sum += parse_sum();
			qsort(numbers, number_count, sizeof(numbers[0]), compare);
		}
	}
	return sum == 42;
}
