/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Work that falls into independent pieces, on all CPUs; and work that goes on beside the caller's.
 */
#ifndef BASE_PARALLEL_H
#define BASE_PARALLEL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* How many threads parallel_run() has for work of many pieces. */
size_t parallel_width(void);

/* Does piece `index` of the work. */
typedef void parallel_work(void *context, size_t index);

/*
 * Does the pieces 0 … count - 1, each once, in any order, and returns when all are done.
 *
 * The caller's thread works too, with one more for each further CPU that is online; where no thread
 * is to be had, it does everything. `context` is shared: pieces must not write the same things.
 */
void parallel_run(size_t count, parallel_work *work, void *context);

/* Work beside the caller's, of which the result will be wanted later. Zeroed: none. */
struct parallel_task {
	pthread_t thread;
	bool is_running;
};

/* Begins `work`, as for pthread_create(), on a thread of its own. False: none is to be had, or
 * there is but one CPU. */
bool parallel_begin(struct parallel_task *task, void *(*work)(void *context), void *context);
/* Waits until it is done; nothing, if it was never begun or has been waited for. */
void parallel_wait(struct parallel_task *task);

#endif
