/* CFLAGS: -m32 -O1 -fno-omit-frame-pointer -fno-pic -no-pie -static -nostdlib */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A 32-bit program with frame pointers, without a C library. Its 64-bit registers mean nothing: it
 * must be told apart (how to read the stacks: known.h).
 *
 * stacks x86_bits32: _start start outer middle leaf
 * stacks x86_bits32: _start outer
 * stacks x86_bits32: _start start middle
 * stacks x86_bits32: _start start outer leaf
 *
 * The frame pointer passes over the caller of a function that has not set up its own yet.
 *
 * usage: x86_bits32      half a second or so
 */
#define FRAME __attribute__((noipa, noinline))

/* Called by _start(). */
void start(void);

/* Where the kernel starts: no frame pointer yet, nothing to return to. */
__asm__(".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	"	xor %ebp, %ebp\n"
	"	call start\n"
	"	hlt\n"
	".size _start, . - _start\n");

FRAME static void leaf(void)
{
	volatile int kept = 0;

	for (int turn = 0; turn < 1000000; turn++)
		kept = turn;
	(void)kept;
}

FRAME static void middle(void)
{
	leaf();
	__asm__ volatile("" ::: "memory");
}

FRAME static void outer(void)
{
	for (int turn = 0; turn < 10; turn++)
		middle();
}

void start(void)
{
	for (int turn = 0; turn < 100; turn++)
		outer();
	__asm__ volatile("int $0x80" ::"a"(1), "b"(0)); /* exit(0) */
	__builtin_unreachable();
}
