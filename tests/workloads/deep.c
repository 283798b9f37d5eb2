/* CFLAGS: -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A stack of known depth: main calls down() DEPTH times into itself, and the innermost one calls
 * at_the_bottom(), which burns CPU for SECONDS. Above main lies what the C library put there.
 *
 * usage: deep DEPTH [SECONDS]      1 second of CPU time by default
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

__attribute__((noinline)) static void at_the_bottom(double seconds)
{
	double end = cpu_seconds() + seconds;

	while (cpu_seconds() < end)
		for (int turn = 0; turn < 1000000; turn++)
			__asm__ volatile("" ::: "memory");
}

/* NOLINTNEXTLINE(misc-no-recursion): recursion is what it is for */
__attribute__((noinline)) static void down(int depth, double seconds)
{
	if (depth > 1)
		down(depth - 1, seconds);
	else
		at_the_bottom(seconds);
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	int depth = argc > 1 ? atoi(argv[1]) : 0;

	if (depth < 1) {
		fprintf(stderr, "usage: deep DEPTH [SECONDS]\n");
		return 2;
	}
	down(depth, argc > 2 ? strtod(argv[2], NULL) : 1);
	return 0;
}
