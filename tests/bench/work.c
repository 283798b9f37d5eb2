/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fixed amount of work at the bottom of a stack of known depth; prints the CPU time that its one
 * thread needed for it, in ns. What interrupts it (samples!) is in that time.
 *
 * usage: work DEPTH MILLIONS      frames above the work, millions of turns of its loop
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static unsigned long long thread_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (unsigned long long)now.tv_sec * 1000000000ull + (unsigned long long)now.tv_nsec;
}

__attribute__((noinline)) static unsigned long work(unsigned long turns)
{
	unsigned long state = 1;

	while (turns--) {
		state = state * 6364136223846793005ul + 1;
		__asm__ volatile("" : "+r"(state));
	}
	return state;
}

/* One frame a level: the asm keeps the call from being a jump. */
__attribute__((noinline)) static unsigned long descend(unsigned long depth, unsigned long turns)
{
	unsigned long state = depth ? descend(depth - 1, turns) : work(turns);

	__asm__ volatile("" : "+r"(state));
	return state;
}

int main(int argc, char **argv)
{
	unsigned long depth = argc > 1 ? strtoul(argv[1], NULL, 10) : 40;
	unsigned long millions = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
	unsigned long long start_ns = thread_cpu_ns();
	unsigned long state = descend(depth, millions * 1000000);

	printf("%llu\n", thread_cpu_ns() - start_ns);
	return state == 0;
}
