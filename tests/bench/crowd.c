/* CFLAGS: -O2 -g */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Many processes that each work a little, again and again, until a signal or their parent's end.
 *
 * usage: crowd COUNT      prints "ready" when all of them run
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) static void work_a_little(void)
{
	for (int turn = 0; turn < 1000000; turn++)
		__asm__ volatile("" ::: "memory");
}

static void member(long number)
{
	struct timespec pause = {.tv_nsec = 40000000 + number % 10 * 1000000};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		work_a_little();
		nanosleep(&pause, NULL);
	}
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? strtol(argv[1], NULL, 10) : 300;

	for (long number = 0; number < count; number++) {
		pid_t pid = fork();

		if (pid == 0)
			member(number);
		if (pid < 0) {
			perror("crowd");
			return 1;
		}
	}
	puts("ready");
	fflush(stdout);
	while (wait(NULL) > 0)
		;
	return 0;
}
