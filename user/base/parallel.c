/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Threads for one call: they take the next piece until none is left. They live for milliseconds, so
 * nothing has to be kept, woken or ended; making one costs some 20 us.
 */
#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

static void *take_pieces(void *argument)
{
	struct parallel_crew *crew = argument;
	size_t index;

	while ((index = atomic_fetch_add(&crew->next, 1)) < crew->count)
		crew->work(crew->context, index);
	return NULL;
}

void parallel_mutex_init(pthread_mutex_t *mutex)
{
	pthread_mutexattr_t kind;

	pthread_mutexattr_init(&kind);
	pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ADAPTIVE_NP);
	pthread_mutex_init(mutex, &kind);
	pthread_mutexattr_destroy(&kind);
}

size_t parallel_width(void)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	size_t cpus = online > 0 ? (size_t)online : 1;
	cpu_set_t allowed;

	/* A machine of more CPUs than a cpu_set_t holds does not say. */
	if (!sched_getaffinity(0, sizeof(allowed), &allowed) && CPU_COUNT(&allowed) > 0)
		cpus = (size_t)CPU_COUNT(&allowed);
	return cpus < PARALLEL_MOST_THREADS ? cpus : PARALLEL_MOST_THREADS;
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

static void start(struct parallel_crew *crew, size_t wanted)
{
	crew->helper_count = wanted ? start_threads(crew->helpers, wanted, take_pieces, crew) : 0;
}

void parallel_run(size_t count, parallel_work *work, void *context)
{
	struct parallel_crew crew = {.count = count, .work = work, .context = context};

	start(&crew, wanted_helpers(count));
	parallel_finish(&crew);
}

void parallel_start(struct parallel_crew *crew, size_t count, parallel_work *work, void *context)
{
	size_t others = parallel_width() - 1;

	crew->next = 0;
	crew->count = count;
	crew->work = work;
	crew->context = context;
	start(crew, count < others ? count : others);
}

void parallel_finish(struct parallel_crew *crew)
{
	take_pieces(crew);
	for (size_t i = 0; i < crew->helper_count; i++)
		pthread_join(crew->helpers[i], NULL);
	crew->helper_count = 0;
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
