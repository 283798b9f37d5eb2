/* CFLAGS: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Processes that share their parent's memory until they become another program, and ones that copy
 * it (see known.h).
 *
 * stacks vfork: _start * main vforks outer in_vforked
 * stacks spawn: _start * main spawns outer one_spawn
 * stacks fork: _start * main forks outer in_forked
 *
 * whole vfork: 90%
 * whole spawn: 80%
 * whole fork: 90%
 *
 * Between exec and the first instruction of the new program there is no user stack.
 */
#include "known.h"

#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whether the time is over that this process and its children may use together. */
INLINE bool are_over(void)
{
	struct rusage children;

	getrusage(RUSAGE_CHILDREN, &children);
	return known_seconds() + (double)children.ru_utime.tv_sec +
		       (double)children.ru_utime.tv_usec / 1e6 >=
	       known_end_seconds;
}

FRAME static void in_vforked(void)
{
	pid_t pid = vfork();

	SPOIL_REGISTERS();
	if (pid == 0) {
		burn(100000);
		_exit(0);
	}
	burn(10000);
	waitpid(pid, NULL, 0);
}

FRAME static void in_forked(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		burn(500000);
		_exit(0);
	}
	burn(10000);
	waitpid(pid, NULL, 0);
}

FRAME static void one_spawn(void)
{
	static char path[] = "/bin/true";
	char *arguments[] = {path, NULL};
	pid_t pid;

	if (!posix_spawn(&pid, path, NULL, NULL, arguments, NULL))
		waitpid(pid, NULL, 0);
}

FRAME static void outer(void (*work)(void))
{
	SPOIL_REGISTERS();
	work();
	AFTER_CALL();
}

FRAME static void vforks(void)
{
	while (!are_over())
		outer(in_vforked);
}

FRAME static void forks(void)
{
	while (!are_over())
		outer(in_forked);
}

FRAME static void spawns(void)
{
	while (!is_over()) /* of its own time: what it starts takes most of the other */
		outer(one_spawn);
}

int main(int argc, char **argv)
{
	static const struct mode modes[] = {
		{"vfork", vforks},
		{"spawn", spawns},
		{"fork", forks},
	};

	(void)argc;
	return run_mode(modes, sizeof(modes) / sizeof(modes[0]), argv);
}
