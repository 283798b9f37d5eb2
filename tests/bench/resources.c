/* CFLAGS: -O2 -g */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs a command and appends what it used to a file, as one line: user seconds, system seconds,
 * largest resident set in KiB, wall seconds. Exits with the command's status.
 *
 * usage: resources FILE COMMAND [ARGS...]
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static double now_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double start = now_seconds();
	struct rusage used;
	FILE *file;
	pid_t pid;
	int status;

	if (argc < 3) {
		fprintf(stderr, "usage: resources FILE COMMAND [ARGS...]\n");
		return 2;
	}
	pid = fork();
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &used) != pid) {
		perror("resources");
		return 1;
	}
	file = fopen(argv[1], "a");
	if (!file) {
		perror(argv[1]);
		return 1;
	}
	fprintf(file, "%.6f %.6f %ld %.3f\n", seconds(used.ru_utime), seconds(used.ru_stime),
		used.ru_maxrss, now_seconds() - start);
	fclose(file);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
