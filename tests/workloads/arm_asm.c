/* CFLAGS: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions of Arm written in assembly, without call frame information, called from code without
 * frame pointers (see known.h).
 *
 * stacks bare: _start * main bare outer says_nothing
 * stacks room: _start * main room outer has_room
 * stacks framed: _start * main framed outer has_frame
 * stacks inner: _start * main inner outer calls_inner says_nothing|has_room
 * stacks called: _start * main called outer calls_back called_back leaf
 * stacks astray: _start * main astray outer goes_round
 * stacks between: _start * main between sort_numbers * never_tells
 *
 * cut astray: no unwind table
 *
 * says_nothing() and has_room() have their caller in the link register, has_frame() in a record in
 * the middle of its frame. calls_inner() has a record, and the function in which it spends its time
 * has none, so that the frame pointer leads past calls_inner(); after the call the link register
 * leads to calls_inner() itself. The code of goes_round() and of never_tells() does not come to an
 * end in one direction; what calls never_tells() is the C library, which keeps frame pointers.
 */
#include "known.h"

void says_nothing(void);
void has_room(void);
void has_frame(void);
void calls_inner(void);
void calls_back(void);
void goes_round(void);
int never_tells(const void *left, const void *right);

FRAME static void leaf(void)
{
	burn(20000);
}

__attribute__((used)) FRAME void called_back(void);
void called_back(void)
{
	SPOIL_REGISTERS();
	leaf();
	AFTER_CALL();
}

#define FUNCTION(name) ".globl " #name "\n.type " #name ", @function\n" #name ":\n"
#define END(name)      ".size " #name ", . - " #name "\n"
#define LOOP	       "	mov x9, #0x20000\n1:	subs x9, x9, #1\n	b.ne 1b\n"

__asm__(".text\n" FUNCTION(says_nothing) LOOP "	ret\n" END(says_nothing)

		FUNCTION(
			has_room) "	sub sp, sp, #96\n"
				  "	stp x19, x20, [sp, #16]\n" LOOP
				  "	ldp x19, x20, [sp, #16]\n"
				  "	add sp, sp, #96\n"
				  "	ret\n" END(has_room)

					  FUNCTION(
						  has_frame) "	sub sp, sp, #112\n"
							     "	stp x29, x30, [sp, #32]\n"
							     "	add x29, sp, #32\n"
							     "	stp x19, x20, [sp, #64]\n" LOOP
							     "	ldp x19, x20, [sp, #64]\n"
							     "	ldp x29, x30, [sp, #32]\n"
							     "	add sp, sp, #112\n"
							     "	ret\n" END(has_frame)

								     FUNCTION(
									     calls_inner) "	stp"
											  " x29, "
											  "x30, "
											  "[sp, "
											  "#-64]!\n"
											  "	mov"
											  " x29, "
											  "sp\n"
											  "	bl "
											  "says_"
											  "nothing"
											  "\n" LOOP
											  "	bl "
											  "has_"
											  "room\n"
											  "	ldp"
											  " x29, "
											  "x30, "
											  "[sp], "
											  "#64\n"
											  "	ret"
											  "\n" END(
												  calls_inner)

												  FUNCTION(
													  calls_back) "	stp x29, x30, [sp, #-48]!\n"
														      "	mov x29, sp\n"
														      "	bl called_back\n" LOOP
														      "	mov sp, x29\n"
														      "	ldp x29, x30, [sp], #48\n"
														      "	ret\n" END(
															      calls_back)

															      FUNCTION(
																      goes_round) "	mov x9, #0x20000\n"
																		  "1:	subs x9, x9, #1\n"
																		  "	b.eq 2f\n"
																		  "	b 1b\n"
																		  "2:	ret\n" END(
																			  goes_round)

																			  FUNCTION(
																				  never_tells) "	stp x29, x30, [sp, #-80]!\n"
																					       "	mov x29, sp\n"
																					       "	ldr w10, [x0]\n"
																					       "	ldr w11, [x1]\n"
																					       "	mov x9, #40\n"
																					       "1:	subs x9, x9, #1\n"
																					       "	b.eq 2f\n"
																					       "	b 1b\n"
																					       "2:	sub w0, w10, w11\n"
																					       "	ldp x29, x30, [sp], #80\n"
																					       "	ret\n" END(
																						       never_tells));

FRAME static void outer(void (*work)(void))
{
	SPOIL_REGISTERS();
	work();
	AFTER_CALL();
}

FRAME static void bare(void)
{
	while (!is_over())
		outer(says_nothing);
}

FRAME static void room(void)
{
	while (!is_over())
		outer(has_room);
}

FRAME static void framed(void)
{
	while (!is_over())
		outer(has_frame);
}

FRAME static void inner(void)
{
	while (!is_over())
		outer(calls_inner);
}

FRAME static void called(void)
{
	while (!is_over())
		outer(calls_back);
}

FRAME static void astray(void)
{
	while (!is_over())
		outer(goes_round);
}

static int numbers[4096];

FRAME static void sort_numbers(void)
{
	SPOIL_REGISTERS();
	qsort(numbers, 4096, sizeof(numbers[0]), never_tells);
	AFTER_CALL();
}

FRAME static void between(void)
{
	unsigned int number = 1;

	while (!is_over()) {
		for (int i = 0; i < 4096; i++) {
			number = number * 1103515245 + 12345;
			numbers[i] = (int)(number >> 8);
		}
		sort_numbers();
	}
}

int main(int argc, char **argv)
{
	static const struct mode modes[] = {
		{"bare", bare},	    {"room", room},	{"framed", framed},   {"inner", inner},
		{"called", called}, {"astray", astray}, {"between", between},
	};

	(void)argc;
	return run_mode(modes, sizeof(modes) / sizeof(modes[0]), argv);
}
