/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One job after the other: the windows of a quarter of an hour. The store is only touched by who
 * writes windows; the thread gets a list of files.
 */
#include "cmd/daemon_sums.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "cmd/windows_read.h"
#include "cmd/windows_sums.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>

enum {
	LOWEST_PRIORITY = 19,
	/* To make sums costs as much as to record: after a quarter whose sums save little as many
	 * are passed over. */
	PASSED_OVER = 7,
};

enum job_state { JOB_NONE, JOB_WAITS, JOB_DONE };

struct daemon_sums {
	char *directory;
	pthread_t thread;
	atomic_bool ends;
	pthread_mutex_t mutex; /* of all below */
	pthread_cond_t changed;
	enum job_state state;
	u32 passes;   /* quarters that are to be passed over */
	double share; /* daemon_sums_limit() */
	u64 start_ns;
	struct asked_windows windows; /* the thread's while it waits */
	/* The thread's: when it began what it makes, and its own CPU time then. */
	u64 begun_ns, begun_cpu_ns;
};

/* When what was spent so far is no more than may be. To be called with the mutex. */
static u64 may_go_on_at(const struct daemon_sums *sums)
{
	u64 spent_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - sums->begun_cpu_ns;

	return sums->share > 0 ? sums->begun_ns + (u64)((double)spent_ns / sums->share) : 0;
}

/* Between two windows: a quarter of an hour at once would be more than a minute's worth of the
 * limit. */
static bool keep_pace(void *context)
{
	struct daemon_sums *sums = context;
	u64 until_ns;

	pthread_mutex_lock(&sums->mutex);
	while (!atomic_load(&sums->ends) &&
	       (until_ns = may_go_on_at(sums)) > clock_ns(CLOCK_MONOTONIC)) {
		struct timespec until = clock_timespec(until_ns);

		pthread_cond_timedwait(&sums->changed, &sums->mutex, &until);
	}
	pthread_mutex_unlock(&sums->mutex);
	return !atomic_load(&sums->ends);
}

/* Windows that cannot be read to their end get no sums: whoever asks is told so by themselves.
 * Returns how many quarters are to be passed over. */
static u32 make_sums(struct daemon_sums *sums)
{
	struct asked_windows *windows = &sums->windows;
	const struct windows_reading how = {
		.builder = &windows_sums_settings,
		.filter = &(struct filter_settings){0},
		.goes_on = keep_pace,
		.context = sums,
	};
	struct windows_run run = {windows->directory, windows->windows.items,
				  windows->windows.count};
	struct profile *profile = NULL;
	bool little = false;

	sums->begun_ns = clock_ns(CLOCK_MONOTONIC);
	sums->begun_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (!windows_read(windows, how, &profile) && !windows->damaged && !atomic_load(&sums->ends))
		windows_sums_write(&run, profile, &little);
	fail_clear();
	profile_free(profile);
	/* what it took is not needed for another quarter of an hour */
	malloc_trim(0);
	return little ? PASSED_OVER : 0;
}

static void *work(void *context)
{
	struct daemon_sums *sums = context;
	u32 passes;

	setpriority(PRIO_PROCESS, 0, LOWEST_PRIORITY); /* of this thread */
	pthread_mutex_lock(&sums->mutex);
	while (!atomic_load(&sums->ends)) {
		if (sums->state != JOB_WAITS) {
			pthread_cond_wait(&sums->changed, &sums->mutex);
			continue;
		}
		pthread_mutex_unlock(&sums->mutex);
		passes = make_sums(sums);
		pthread_mutex_lock(&sums->mutex);
		sums->passes = passes;
		sums->state = JOB_DONE;
	}
	pthread_mutex_unlock(&sums->mutex);
	return NULL;
}

int daemon_sums_open(const char *directory, struct daemon_sums **ret_sums)
{
	struct daemon_sums *sums = must_alloc(sizeof(*sums));
	pthread_condattr_t by_clock;
	int error;

	sums->directory = must_copy(directory);
	pthread_mutex_init(&sums->mutex, NULL);
	pthread_condattr_init(&by_clock);
	pthread_condattr_setclock(&by_clock, CLOCK_MONOTONIC);
	pthread_cond_init(&sums->changed, &by_clock);
	pthread_condattr_destroy(&by_clock);
	error = -pthread_create(&sums->thread, NULL, work, sums);
	if (error) {
		free(sums->directory);
		free(sums);
		return fail(error, NULL, "cannot start a thread");
	}
	*ret_sums = sums;
	return 0;
}

void daemon_sums_limit(struct daemon_sums *sums, double share)
{
	if (!sums)
		return;
	pthread_mutex_lock(&sums->mutex);
	sums->share = share;
	pthread_cond_signal(&sums->changed);
	pthread_mutex_unlock(&sums->mutex);
}

void daemon_sums_close(struct daemon_sums *sums)
{
	if (!sums)
		return;
	pthread_mutex_lock(&sums->mutex);
	atomic_store(&sums->ends, true);
	pthread_cond_signal(&sums->changed);
	pthread_mutex_unlock(&sums->mutex);
	pthread_join(sums->thread, NULL);
	asked_windows_release(&sums->windows);
	pthread_mutex_destroy(&sums->mutex);
	pthread_cond_destroy(&sums->changed);
	free(sums->directory);
	free(sums);
}

static int take_window(void *context, const struct store_window *window, const char *path)
{
	struct daemon_sums *sums = context;

	if (store_sums_start(window->start_ns) == sums->start_ns)
		*vec_add(&sums->windows.windows) = (struct asked_window){.facts = *window,
									 .path = must_copy(path)};
	return 0;
}

static void give_next(struct daemon_sums *sums, struct store *store)
{
	asked_windows_release(&sums->windows);
	if (!store_sums_wanted(store, &sums->start_ns))
		return;
	if (sums->passes) {
		sums->passes--;
		store_sums_made(store, sums->start_ns);
		return;
	}
	sums->windows.directory = must_copy(sums->directory);
	if (store_each(store, sums->start_ns, sums->start_ns + STORE_SUMS_NS, take_window, sums)) {
		fail_clear(); /* a later window is told of the same */
		return;
	}
	sums->state = JOB_WAITS;
	pthread_cond_signal(&sums->changed);
}

void daemon_sums_go_on(struct daemon_sums *sums, struct store *store)
{
	if (!sums)
		return;
	pthread_mutex_lock(&sums->mutex);
	if (sums->state == JOB_DONE) {
		store_sums_made(store, sums->start_ns);
		sums->state = JOB_NONE;
	}
	if (sums->state == JOB_NONE)
		give_next(sums, store);
	pthread_mutex_unlock(&sums->mutex);
}
