/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Work that falls into independent pieces, on all CPUs; and work that goes on beside the caller's.
 */
#ifndef BASE_PARALLEL_H
#define BASE_PARALLEL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* How many threads parallel_run() has for work of many pieces. */
size_t parallel_width(void);

/* Does piece `index` of the work. */
typedef void parallel_work(void *context, size_t index);

/*
 * Does the pieces 0 … count - 1, each once, in any order, and returns when all are done.
 *
 * The caller's thread works too, with one more for each further CPU that it may use; where no
 * thread is to be had, it does everything. `context` is shared: pieces must not write the same
 * things.
 */
void parallel_run(size_t count, parallel_work *work, void *context);

/* Makes a mutex for what is mostly held for a microsecond: who finds it taken looks again before it
 * sleeps, as sleeping and being woken takes several. */
void parallel_mutex_init(pthread_mutex_t *mutex);

enum { PARALLEL_MOST_THREADS = 64 };

/* Pieces that other threads do while the caller goes on with something else. Zeroed: none. */
struct parallel_crew {
	atomic_size_t next;
	size_t count;
	parallel_work *work;
	void *context;
	pthread_t helpers[PARALLEL_MOST_THREADS];
	size_t helper_count;
};

/* Begins the pieces, as parallel_run(), but for the caller's share of them. `crew` stays where it
 * is until parallel_finish(). */
void parallel_start(struct parallel_crew *crew, size_t count, parallel_work *work, void *context);
/* Does what nobody has begun yet, and returns when all is done; then the crew has no more to do. */
void parallel_finish(struct parallel_crew *crew);

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
