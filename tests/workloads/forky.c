/* CFLAGS: -O2 -g -fno-omit-frame-pointer */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A storm of short-lived processes: forks children that rename themselves child-N, work for a
 * moment and exit; with a program to run, each child becomes that program instead.
 *
 * usage: forky COUNT [TURNS [program args...]]      prints how many children it made
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static void child_work(unsigned long turns)
{
	for (unsigned long turn = 0; turn < turns; turn++)
		__asm__ volatile("" ::: "memory");
}

static void child(unsigned long number, unsigned long turns, char **program)
{
	char name[16];

	if (program) {
		execvp(program[0], program);
		_exit(127);
	}
	snprintf(name, sizeof(name), "child-%lu", number % 1000000);
	prctl(PR_SET_NAME, name);
	child_work(turns);
	_exit(0);
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	unsigned long turns = argc > 2 ? strtoul(argv[2], NULL, 10) : 100000;
	unsigned long made = 0;

	for (unsigned long number = 0; number < count; number++) {
		pid_t pid = fork();

		if (pid == 0)
			child(number, turns, argc > 3 ? argv + 3 : NULL);
		if (pid < 0)
			break;
		made++;
		waitpid(pid, NULL, 0);
	}
	printf("%lu\n", made);
	return made == count ? 0 : 1;
}
