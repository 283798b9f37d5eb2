/* CFLAGS: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions that one CALL in the code leads to, and distances of 32 bits: in a table from where it
 * begins, behind keys, each from where it stands. All stand above 40 calls, so what the code proves
 * is all that says who called: both were seen.
 *
 * usage: x86_lbr_tables [ROUNDS]
 */
#include "lbr_deep.h"

#define BELOW(name, deep)                                                         \
	FRAME __attribute__((used)) static void below_##name(unsigned long turns) \
	{                                                                         \
		burn(600);                                                        \
		deep(turns);                                                      \
		AFTER_CALL();                                                     \
	}                                                                         \
	/* The CALL that is seen; it is seldom made. */                           \
	FRAME static void call_##name(unsigned long turns)                        \
	{                                                                         \
		below_##name(turns);                                              \
		AFTER_CALL();                                                     \
	}

/* Each has 40 of its own below it: they have one caller, too. */
DEEP40(7)
DEEP40(8)
BELOW(table, deep40)
BELOW(key, deep740)
BELOW(itself, deep840)

__asm__(".pushsection .rodata\n"
	"	.balign 4\n"
	"	.type table, @object\n"
	"table:	.long main - table, below_table - table\n"
	"	.type keys, @object\n"
	"keys:	.long 1, main - keys, 2, below_key - keys\n"
	"	.type itself, @object\n"
	"itself: .long 3, below_itself - .\n"
	"	.balign 8\n"
	".popsection\n");

struct row {
	int key, distance;
};

__attribute__((visibility("hidden"))) extern const int table[];
__attribute__((visibility("hidden"))) extern const struct row keys[], itself[];

typedef void function(unsigned long turns);

/* Which no compiler knows the value of. */
INLINE int hidden(int value)
{
	__asm__("" : "+r"(value));
	return value;
}

/* What `distance` leads to from an address. */
INLINE function *from(const void *start, int distance)
{
	return (function *)((unsigned long)start + (unsigned long)(long)distance);
}

FRAME static void look_up(unsigned long turns)
{
	const struct row *row = &itself[hidden(0)];

	from(table, table[hidden(1)])(turns);
	from(keys, keys[hidden(1)].distance)(turns);
	from(&row->distance, row->distance)(turns);
	AFTER_CALL();
}

int main(int argc, char **argv)
{
	unsigned long left = rounds(argc, argv, 20000);

	while (left--) {
		if (pick(50) == 0) {
			call_table(20);
			call_key(20);
			call_itself(20);
		}
		look_up(500);
	}
	return 0;
}
