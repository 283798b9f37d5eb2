/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the workloads with known stacks share: functions that keep a frame of their own, registers
 * that are no frame pointers, and a table of modes.
 *
 * Such a workload says in its first comment which stacks are true, outermost function first:
 *
 *   stacks MODE: _start * main outer leaf
 *
 * A sample may be taken on the way: its stack is true if it is the beginning of such a line, with
 * or without functions that the comment does not name (a library's) below it. In the line stand
 *
 *   NAME    a function of the program; NAME|NAME: one or the other
 *   NAME+   one or more frames of it; NAME{N}: N of them before anything that stands behind
 *   *       any functions that the comment does not name; .: one of them
 *   ?       code that belongs to no file (JIT)
 *   ~       what stands before may be cut anywhere: a signal handler follows
 *
 * Whole stacks are expected, unless there is a line "cut MODE: REASON". The mode becomes the name
 * of the thread: PROGRAM.MODE, at most 15 characters. tests/cli/true_stacks.py holds samples
 * against it.
 */
#ifndef TESTS_WORKLOADS_KNOWN_H
#define TESTS_WORKLOADS_KNOWN_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

/* A frame of its own, whatever the optimizer would like. */
#define FRAME __attribute__((noipa, noinline))

/* Code in the middle of a function, without a frame. */
#define INLINE static inline __attribute__((always_inline))

/* Takes all registers that a function must keep for its caller, so that it saves them on its stack,
 * and leaves an odd number where a frame pointer would be. */
#if defined(__x86_64__)
#define SPOIL_REGISTERS()                            \
	__asm__ volatile("mov $0x5a5a5a5b, %%ebp" :: \
				 : "rbx", "rbp", "r12", "r13", "r14", "r15", "memory")
#elif defined(__aarch64__)
#define SPOIL_REGISTERS()                                                                         \
	__asm__ volatile("mov x28, #0x5a5b" ::                                                    \
				 : "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", \
				   "x28", "memory")
#endif

/* Work that no compiler can shorten; a turn is about a cycle. */
INLINE void burn(unsigned long turns)
{
	for (unsigned long turn = 0; turn < turns; turn++)
		__asm__ volatile("" ::: "memory");
}

/* Makes the compiler believe that memory is used here: an array needs room on the stack, and before
 * a call and after it. */
#define KEEP(room) __asm__ volatile("" ::"r"(room) : "memory")

/* Keeps a call from being the last thing that a function does. */
#define AFTER_CALL() __asm__ volatile("" ::: "memory")

static double known_end_seconds;

/* By CPU time, so that a busy machine gives no fewer samples. */
INLINE double known_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

INLINE bool is_over(void)
{
	return known_seconds() >= known_end_seconds;
}

struct mode {
	const char *name;
	void (*run)(void);
};

/* Runs the mode that the command line names: MODE [SECONDS of CPU time]. For main(), which returns
 * what this returns. With WARM_UP in the environment the thread is called so: whoever records gets
 * to know the program, and nobody judges the stacks. */
INLINE int run_mode(const struct mode *modes, size_t count, char **argv)
{
	char name[32];

	for (size_t i = 0; i < count; i++) {
		if (!argv[1] || strcmp(argv[1], modes[i].name))
			continue;
		snprintf(name, sizeof(name), "%s.%s", strrchr(argv[0], '/') + 1, argv[1]);
		prctl(PR_SET_NAME, getenv("WARM_UP") ? "WARM_UP" : name);
		known_end_seconds = known_seconds() + (argv[2] ? strtod(argv[2], NULL) : 0.5);
		modes[i].run();
		return 0;
	}
	fprintf(stderr, "usage: %s MODE [SECONDS]\n", argv[0]);
	for (size_t i = 0; i < count; i++)
		fprintf(stderr, "  %s\n", modes[i].name);
	return 2;
}

#endif
