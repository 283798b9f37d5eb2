/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Processes that burn CPU, and recordings of them, for the tests of who is profiled.
 */
#ifndef TESTS_KERNEL_BURNING_H
#define TESTS_KERNEL_BURNING_H

#include "kernel/recording.h"

#include <unistd.h>

enum { ENOUGH = 60 };

static inline void burn(void)
{
	for (;;)
		__asm__ volatile("" ::: "memory");
}

/* A process that burns CPU until end_process(). `prepare` runs in it first, and has done so when
 * this returns. */
static inline pid_t start_burning(void (*prepare)(const void *argument), const void *argument)
{
	int ready[2];
	char byte = 0;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		if (prepare)
			prepare(argument);
		if (write(ready[1], &byte, 1) == 1)
			burn();
		_exit(1);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static inline void end_process(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static inline void record_enough(struct capture_settings settings, struct recording *recording)
{
	assert_int_equal(recording_start(recording, &settings), 0);
	recording_run(recording, ENOUGH);
	recording_stop(recording);
	assert_true(recording->samples.count >= ENOUGH);
	assert_adds_up(recording);
}

#endif
