/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One job after the other: the windows of a quarter of an hour. The store is only touched by who
 * writes windows; the thread gets a list of files.
 */
#include "cmd/daemon_sums.h"

#include "base/fail.h"
#include "base/memory.h"
#include "cmd/windows_read.h"
#include "cmd/windows_sums.h"

#include <malloc.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>

enum { LOWEST_PRIORITY = 19 };

enum job_state { JOB_NONE, JOB_WAITS, JOB_DONE };

struct daemon_sums {
	char *directory;
	pthread_t thread;
	atomic_bool ends;
	pthread_mutex_t mutex; /* of all below */
	pthread_cond_t changed;
	enum job_state state;
	u64 start_ns;
	struct asked_windows windows; /* the thread's while it waits */
};

/* Windows that cannot be read to their end get no sums: whoever asks is told so by themselves. */
static void make_sums(struct daemon_sums *sums)
{
	struct asked_windows *windows = &sums->windows;
	const struct windows_reading how = {
		.builder = &windows_sums_settings,
		.filter = &(struct filter_settings){0},
		.ends = &sums->ends,
	};
	struct windows_run run = {windows->directory, windows->windows.items,
				  windows->windows.count};
	struct profile *profile = NULL;

	if (!windows_read(windows, how, &profile) && !windows->damaged && !atomic_load(&sums->ends))
		windows_sums_write(&run, profile);
	fail_clear();
	profile_free(profile);
	/* what it took is not needed for another quarter of an hour */
	malloc_trim(0);
}

static void *work(void *context)
{
	struct daemon_sums *sums = context;

	setpriority(PRIO_PROCESS, 0, LOWEST_PRIORITY); /* of this thread */
	pthread_mutex_lock(&sums->mutex);
	while (!atomic_load(&sums->ends)) {
		if (sums->state != JOB_WAITS) {
			pthread_cond_wait(&sums->changed, &sums->mutex);
			continue;
		}
		pthread_mutex_unlock(&sums->mutex);
		make_sums(sums);
		pthread_mutex_lock(&sums->mutex);
		sums->state = JOB_DONE;
	}
	pthread_mutex_unlock(&sums->mutex);
	return NULL;
}

int daemon_sums_open(const char *directory, struct daemon_sums **ret_sums)
{
	struct daemon_sums *sums = must_alloc(sizeof(*sums));
	int error;

	sums->directory = must_copy(directory);
	pthread_mutex_init(&sums->mutex, NULL);
	pthread_cond_init(&sums->changed, NULL);
	error = -pthread_create(&sums->thread, NULL, work, sums);
	if (error) {
		free(sums->directory);
		free(sums);
		return fail(error, NULL, "cannot start a thread");
	}
	*ret_sums = sums;
	return 0;
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
