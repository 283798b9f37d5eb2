/* CFLAGS: -O2 -g -fno-omit-frame-pointer -pthread */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Threads that only burn CPU in spin_here(), for a CPU time that is given, then end.
 *
 * usage: spin [SECONDS [THREADS]]      SECONDS of CPU time for each thread, 1 and 1 by default
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double thread_cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

__attribute__((noinline)) static void spin_here(void)
{
	for (int turn = 0; turn < 1000000; turn++)
		__asm__ volatile("" ::: "memory");
}

static void *spin(void *seconds)
{
	while (thread_cpu_seconds() < *(double *)seconds)
		spin_here();
	return NULL;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
	long threads = argc > 2 ? strtol(argv[2], NULL, 10) : 1;
	pthread_t last;

	if (threads < 1 || threads > 4096 || !(seconds >= 0)) {
		fprintf(stderr, "usage: spin [SECONDS [THREADS]]\n");
		return 2;
	}
	for (long thread = 1; thread < threads; thread++) {
		if (pthread_create(&last, NULL, spin, &seconds)) {
			perror("spin: cannot make a thread");
			return 1;
		}
	}
	spin(&seconds);
	pthread_exit(NULL);
}
