/* CFLAGS: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls -no-pie */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions that one CALL in the code leads to, and others that are hard to see: through a pointer
 * in a packed table, to a second entry of assembly, from a function to its own inner part. All
 * stand above 40 calls, so what the code proves is all that says who called.
 *
 * usage: x86_lbr_unseen [ROUNDS]
 */
#include "lbr.h"

FRAME static void deep0(unsigned long turns)
{
	burn(turns);
}

#define DEEP(number, next)                                  \
	FRAME static void deep##number(unsigned long turns) \
	{                                                   \
		burn(turns);                                \
		deep##next(turns);                          \
		AFTER_CALL();                               \
	}

#define BELOW(x)                                                       \
	DEEP40(x)                                                      \
	FRAME __attribute__((used)) void below##x(unsigned long turns) \
	{                                                              \
		deep##x##40(turns);                                    \
		AFTER_CALL();                                          \
	}

/* The same 40 calls below each of three functions: they have one caller, too. */
BELOW(1)
BELOW(2)
BELOW(3)

/* --- a pointer in a packed table --- */

struct __attribute__((packed)) command {
	char key;
	void (*run)(unsigned long turns);
};

static struct command commands[] = {{'c', below1}};

FRAME static void test_command(void)
{
	below1(20);
	AFTER_CALL();
}

FRAME static void run_command(const volatile struct command *command)
{
	command->run(20);
	AFTER_CALL();
}

/* --- assembly: `second` lies in `first`; `twice` calls a part of itself, and falls into it --- */

void first(unsigned long turns);
void second(unsigned long turns);
void twice(unsigned long turns);

__asm__(".text\n"
	".type first,@function\n"
	"first:\n"
	"	.cfi_startproc\n"
	"	add	$1, %rdi\n"
	"second:\n"
	"	sub	$8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call	below2\n"
	"	add	$8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size first, .-first\n"
	".type twice,@function\n"
	"twice:\n"
	"	.cfi_startproc\n"
	"	push	%rdi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call	1f\n"
	"	pop	%rdi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"1:	sub	$8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call	below3\n"
	"	add	$8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size twice, .-twice\n");

FRAME static void test_entry(void)
{
	first(20);
	AFTER_CALL();
}

FRAME static void use_entry(void)
{
	second(20);
	AFTER_CALL();
}

FRAME static void use_part(void)
{
	twice(20);
	AFTER_CALL();
}

int main(int argc, char **argv)
{
	unsigned long count = rounds(argc, argv, 1000);

	for (unsigned long round = 0; round < count; round++) {
		if (round % 64 == 0) {
			test_command();
			test_entry();
		}
		run_command(commands);
		use_entry();
		use_part();
	}
	return 0;
}
