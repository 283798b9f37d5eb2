/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a child process does, and how that ends.
 */
#ifndef TESTS_KERNEL_CHILD_H
#define TESTS_KERNEL_CHILD_H

#include "unit/unit.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BY_SIGNAL = 128 };

/* Runs there; its exit status, or BY_SIGNAL and the signal. */
static inline int status_of_child(int (*run)(const void *context), const void *context)
{
	struct rlimit no_core = {0, 0};
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		setrlimit(RLIMIT_CORE, &no_core);
		_exit(run(context));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? BY_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

#endif
