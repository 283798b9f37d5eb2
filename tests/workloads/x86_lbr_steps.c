/* CFLAGS: -O1 -g -static -nostdlib -fno-omit-frame-pointer -fno-stack-protector */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Some 100,000 instructions without a library, the same in every run: recursion, calls through a
 * pointer, a return that takes arguments off the stack, a call to the next instruction, a jump out
 * of a recursion, and a signal. What steps through it and what translates it must see the same.
 */
#include <asm/signal.h>
#include <asm/unistd.h>
#include <stdint.h>

#define FRAME __attribute__((noipa, noinline))

typedef long worker(long depth);

static void *way_out[5];
static volatile long signals;

FRAME static long syscall4(long number, long first, long second, long third, long fourth)
{
	register long r10 __asm__("r10") = fourth;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(first), "S"(second), "d"(third), "r"(r10)
			 : "rcx", "r11", "memory");
	return result;
}

FRAME static long burn(long turns)
{
	for (long turn = 0; turn < turns; turn++)
		__asm__ volatile("" ::: "memory");
	return turns;
}

/* NOLINTNEXTLINE(misc-no-recursion): recursion is what it is for */
FRAME static long dig(long depth)
{
	return burn(10) + (depth ? dig(depth - 1) : 0);
}

FRAME static long where_am_i(long unused)
{
	long address;

	__asm__ volatile("call 1f\n1:\tpop %0" : "=r"(address));
	return address + unused;
}

FRAME static long copy(long bytes)
{
	char from[64] = {1}, to[64];
	void *source = from, *target = to;
	long count = bytes % 64;

	__asm__ volatile("rep movsb" : "+S"(source), "+D"(target), "+c"(count)::"memory");
	return to[0];
}

/* Its return takes eight bytes of its caller's with it. */
__asm__(".text\n.type takes_one, @function\n"
	"takes_one:\n\tpush %rbp\n\tmov %rsp, %rbp\n\tmov 16(%rbp), %rax\n\tpop %rbp\n\tret $8\n"
	".size takes_one, . - takes_one\n");

FRAME static long give_one(long value)
{
	__asm__ volatile(
		"sub $128, %%rsp\n\tpush %0\n\tcall takes_one\n\tmov %%rax, %0\n\tadd $128, %%rsp"
		: "+r"(value)::"rax", "memory");
	return value;
}

/* NOLINTNEXTLINE(misc-no-recursion): recursion is what it is for */
FRAME static long jump_out(long depth)
{
	burn(5);
	if (!depth)
		__builtin_longjmp(way_out, 1);
	return jump_out(depth - 1) + 1;
}

FRAME static long try(long depth)
{
	if (!__builtin_setjmp(way_out))
		return jump_out(depth);
	return burn(20);
}

static void on_signal(int number)
{
	signals += dig(number);
}

__asm__(".text\n.type restore, @function\nrestore:\n\tmov $15, %eax\n\tsyscall\n"
	".size restore, . - restore\n");
void restore(void);

/* What the kernel calls a struct sigaction. */
struct kernel_action {
	void (*handler)(int number);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};

FRAME static long be_interrupted(long depth)
{
	struct kernel_action action = {on_signal, SA_RESTORER, restore, 0};

	syscall4(__NR_rt_sigaction, SIGUSR1, (long)&action, 0, sizeof(action.mask));
	syscall4(__NR_kill, syscall4(__NR_getpid, 0, 0, 0, 0), SIGUSR1, 0, 0);
	return burn(depth);
}

FRAME void work(void)
{
	static worker *const workers[] = {dig, where_am_i, copy, give_one, try, be_interrupted};
	long sum = 0;

	for (long round = 0; round < 12; round++)
		for (unsigned int i = 0; i < sizeof(workers) / sizeof(workers[0]); i++)
			sum += workers[i](round * 12);
	syscall4(__NR_exit_group, sum == 42, 0, 0, 0);
}

__asm__(".text\n.global _start\n.type _start, @function\n"
	"_start:\n\txor %ebp, %ebp\n\tand $-16, %rsp\n\tcall work\n\thlt\n.size _start, . - "
	"_start\n");
