/* CFLAGS: -O2 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Coroutines by swapcontext(), eight of them, each on a stack of its own, that stop anywhere in
 * their recursions: the registers hold a mixture of stacks.
 *
 * usage: lbr_coroutines [ROUNDS]
 */
#include "lbr.h"

#include <sys/mman.h>
#include <ucontext.h>

enum { COROUTINES = 8, STACK_BYTES = 1 << 16, GUARD_BYTES = 1 << 12 };

static ucontext_t scheduler, coroutines[COROUTINES];
static unsigned long running;

FRAME static void work(unsigned long turns)
{
	burn(turns);
}

FRAME static void yield(void)
{
	swapcontext(&coroutines[running], &scheduler);
	AFTER_CALL();
}

/* NOLINTNEXTLINE(misc-no-recursion): recursion is what it is for */
FRAME static void wander(unsigned long depth)
{
	work(200);
	if (depth < 45 && pick(30))
		wander(depth + 1);
	if (!pick(12))
		yield();
	work(200);
}

static void live(void)
{
	for (;;) {
		wander(0);
		yield();
	}
}

static void create(ucontext_t *context)
{
	char *stack = mmap(NULL, STACK_BYTES + GUARD_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (stack == MAP_FAILED)
		abort();
	mprotect(stack, GUARD_BYTES, PROT_NONE);
	getcontext(context);
	context->uc_stack.ss_sp = stack + GUARD_BYTES;
	context->uc_stack.ss_size = STACK_BYTES;
	makecontext(context, live, 0);
}

FRAME static void schedule(unsigned long turns)
{
	for (; turns; turns--) {
		running = pick(COROUTINES);
		swapcontext(&scheduler, &coroutines[running]);
		work(100);
	}
}

/* NOLINTNEXTLINE(misc-no-recursion): recursion is what it is for */
FRAME static void outer(unsigned long depth, unsigned long turns)
{
	if (depth)
		outer(depth - 1, turns);
	else
		schedule(turns);
	AFTER_CALL();
}

int main(int argc, char **argv)
{
	for (int i = 0; i < COROUTINES; i++)
		create(&coroutines[i]);
	for (unsigned long round = rounds(argc, argv, 200); round; round--)
		outer(pick(20), 50);
	return 0;
}
