/* CFLAGS: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Code made while running, which has no call frame information, between code without frame pointers
 * (see known.h): with a frame pointer of its own, and without.
 *
 * stacks framed: _start * main framed run_code ? called_back leaf
 * stacks bare: _start * main bare run_code ?
 *
 * cut bare: no unwind table
 */
#include "known.h"

#include <sys/mman.h>

FRAME static void leaf(void)
{
	burn(20000);
}

FRAME static void called_back(void)
{
	SPOIL_REGISTERS();
	leaf();
	AFTER_CALL();
}

/* A loop of a million turns, then a call of the address that is written behind it: all of it
 * between making and removing a frame, or a loop alone. */
#if defined(__x86_64__)
static const unsigned char framed_code[] = {
	0x55,				    /* push %rbp */
	0x48, 0x89, 0xe5,		    /* mov %rsp,%rbp */
	0xb9, 0x40, 0x42, 0x0f, 0x00,	    /* mov $1000000,%ecx */
	0xff, 0xc9,			    /* dec %ecx */
	0x75, 0xfc,			    /* jnz the instruction before */
	0xff, 0x15, 0x02, 0x00, 0x00, 0x00, /* call *the address behind */
	0x5d, 0xc3,			    /* pop %rbp; ret */
};
static const unsigned char bare_code[] = {
	0xb9, 0x40, 0x42, 0x0f, 0x00, /* mov $1000000,%ecx */
	0xff, 0xc9, 0x75, 0xfc,	      /* dec %ecx; jnz */
	0xc3,			      /* ret */
};
#elif defined(__aarch64__)
static const unsigned int framed_code[] = {
	0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
	0x910003fd, /* mov x29, sp */
	0xd2a001e9, /* mov x9, #0xf0000 */
	0xf1000529, /* subs x9, x9, #1 */
	0x54ffffe1, /* b.ne the instruction before */
	0x58000089, /* ldr x9, the address behind */
	0xd63f0120, /* blr x9 */
	0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
	0xd65f03c0, /* ret */
};
static const unsigned int bare_code[] = {
	0xd2a001e9, /* mov x9, #0xf0000 */
	0xf1000529, /* subs x9, x9, #1 */
	0x54ffffe1, /* b.ne the instruction before */
	0xd65f03c0, /* ret */
};
#endif

static void (*code)(void);

/* Writes the code and, behind it, the address of what it calls. */
static void make_code(const void *bytes, size_t count)
{
	void (*target)(void) = called_back;
	char *room = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (room == MAP_FAILED)
		abort();
	memcpy(room, bytes, count);
	memcpy(room + count, &target, sizeof(target));
	__builtin___clear_cache(room, room + 4096);
	if (mprotect(room, 4096, PROT_READ | PROT_EXEC))
		abort();
	*(void **)&code = room;
}

FRAME static void run_code(void)
{
	SPOIL_REGISTERS();
	code();
	AFTER_CALL();
}

FRAME static void framed(void)
{
	make_code(framed_code, sizeof(framed_code));
	while (!is_over())
		run_code();
}

FRAME static void bare(void)
{
	make_code(bare_code, sizeof(bare_code));
	while (!is_over())
		run_code();
}

int main(int argc, char **argv)
{
	static const struct mode modes[] = {
		{"framed", framed},
		{"bare", bare},
	};

	(void)argc;
	return run_mode(modes, sizeof(modes) / sizeof(modes[0]), argv);
}
