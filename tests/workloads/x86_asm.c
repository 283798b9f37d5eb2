/* CFLAGS: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions written in assembly, called from code without frame pointers (see known.h).
 *
 * stacks cfi: _start * main with_cfi outer pushes_and_pops
 * stacks nocfi: _start * main without_cfi outer says_nothing
 * stacks nocfifp: _start * main without_cfi_but_frame outer has_frame
 * stacks hidden: _start * main hidden with_room hides says_nothing
 *
 * cut nocfi: no unwind table
 * cut hidden: no unwind table
 *
 * pushes_and_pops has call frame information for each of its instructions. The other two have none:
 * says_nothing() cannot be left, has_frame() can, by its frame pointer. In "hidden" the frame
 * pointer is that of with_room(), whose record leads past it and past hides().
 */
#include "known.h"

#include <alloca.h>

void pushes_and_pops(void);
void says_nothing(void);
void has_frame(void);

__asm__(".text\n"
	".type pushes_and_pops, @function\n"
	"pushes_and_pops:\n"
	"	.cfi_startproc\n"
	"	push %rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset %rbx, 0\n"
	"	push %rbp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset %rbp, 0\n"
	"	mov $5000, %ebx\n"
	"1:	push %rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	push $0\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	lea 0x123(%rbx), %rbp\n"
	"	sub $72, %rsp\n"
	"	.cfi_adjust_cfa_offset 72\n"
	"	pause\n"
	"	add $72, %rsp\n"
	"	.cfi_adjust_cfa_offset -72\n"
	"	pop %rax\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	pop %rax\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	dec %ebx\n"
	"	jnz 1b\n"
	"	pop %rbp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_restore %rbp\n"
	"	pop %rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_restore %rbx\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size pushes_and_pops, . - pushes_and_pops\n"

	".type says_nothing, @function\n"
	"says_nothing:\n"
	"	push %rbx\n"
	"	mov $100000, %ebx\n"
	"1:	dec %ebx\n"
	"	jnz 1b\n"
	"	pop %rbx\n"
	"	ret\n"
	".size says_nothing, . - says_nothing\n"

	".type has_frame, @function\n"
	"has_frame:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	push %rbx\n"
	"	mov $1000000, %ebx\n"
	"1:	dec %ebx\n"
	"	jnz 1b\n"
	"	pop %rbx\n"
	"	pop %rbp\n"
	"	ret\n"
	".size has_frame, . - has_frame\n");

FRAME static void outer(void (*work)(void))
{
	SPOIL_REGISTERS();
	work();
	AFTER_CALL();
}

FRAME static void with_cfi(void)
{
	while (!is_over())
		outer(pushes_and_pops);
}

FRAME static void without_cfi(void)
{
	while (!is_over())
		outer(says_nothing);
}

FRAME static void without_cfi_but_frame(void)
{
	while (!is_over())
		outer(has_frame);
}

FRAME static void hides(void)
{
	says_nothing();
	AFTER_CALL();
}

FRAME static void with_room(size_t bytes)
{
	char *room = alloca(bytes);

	KEEP(room);
	hides();
	KEEP(room);
}

FRAME static void hidden(void)
{
	while (!is_over())
		with_room(100);
}

int main(int argc, char **argv)
{
	static const struct mode modes[] = {
		{"cfi", with_cfi},
		{"nocfi", without_cfi},
		{"nocfifp", without_cfi_but_frame},
		{"hidden", hidden},
	};

	(void)argc;
	return run_mode(modes, sizeof(modes) / sizeof(modes[0]), argv);
}
