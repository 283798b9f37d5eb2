/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Threads for one call: they take the next piece until none is left. They live for milliseconds, so
 * nothing has to be kept, woken or ended; making one costs some 20 us.
 */
#include "base/parallel.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

enum { MOST_THREADS = 64 };

struct crew {
	atomic_size_t next;
	size_t count;
	parallel_work *work;
	void *context;
};

static void *take_pieces(void *argument)
{
	struct crew *crew = argument;
	size_t index;

	while ((index = atomic_fetch_add(&crew->next, 1)) < crew->count)
		crew->work(crew->context, index);
	return NULL;
}

size_t parallel_width(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t threads = cpus > 0 ? (size_t)cpus : 1;

	return threads < MOST_THREADS ? threads : MOST_THREADS;
}

static size_t wanted_helpers(size_t pieces)
{
	size_t threads = parallel_width();

	if (threads > pieces)
		threads = pieces;
	return threads ? threads - 1 : 0;
}

/* Starts as many threads as it can, and returns their number. Signals stay with the caller's
 * thread, as without us. */
static size_t start_threads(pthread_t *threads, size_t wanted, void *(*work)(void *), void *context)
{
	sigset_t all, before;
	size_t count = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (count < wanted && !pthread_create(&threads[count], NULL, work, context))
		count++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return count;
}

void parallel_run(size_t count, parallel_work *work, void *context)
{
	struct crew crew = {.count = count, .work = work, .context = context};
	pthread_t helpers[MOST_THREADS];
	size_t wanted = wanted_helpers(count);
	size_t helper_count = wanted ? start_threads(helpers, wanted, take_pieces, &crew) : 0;

	take_pieces(&crew);
	for (size_t i = 0; i < helper_count; i++)
		pthread_join(helpers[i], NULL);
}

bool parallel_begin(struct parallel_task *task, void *(*work)(void *), void *context)
{
	task->is_running = parallel_width() > 1 &&
			   start_threads(&task->thread, 1, work, context) == 1;
	return task->is_running;
}

void parallel_wait(struct parallel_task *task)
{
	if (task->is_running)
		pthread_join(task->thread, NULL);
	task->is_running = false;
}
