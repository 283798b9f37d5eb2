/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a window of the store to profiles for a server, one for each unit and container.
 *
 * Names are those that the daemon keeps in its store: no file of a stranger is opened for it.
 */
#include "cmd/daemon_push.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "cmd/daemon_names.h"
#include "cmd/pushed_profiles.h"
#include "continuous/continuous.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <string.h>

/* New binaries of a window are read when it ends: half its length is waited for their names, but at
 * most so long, and so long when everything ends. */
static const u64 names_max_ns = 20000000000, last_names_max_ns = 1000000000;
static const u64 ending_ns = 5000000000;

struct daemon_push {
	struct push *push;
	struct push_origin origin;
	struct daemon_names *names;
	char *store;
	struct push_state state; /* as it was written last */
	bool cannot_write;
	atomic_bool ends;
};

static int make(void *context, const struct push_window *window, push_take *take, void *taker)
{
	struct daemon_push *push = context;
	u64 most_ns = atomic_load(&push->ends) ? last_names_max_ns : names_max_ns;
	u64 half_ns = (window->end_ns - window->start_ns) / 2;
	int error;

	daemon_names_settle(push->names, half_ns < most_ns ? half_ns : most_ns);
	error = pushed_profiles_make(&push->origin, window, take, taker);
	/* Tables of names are large, and not needed until the next window. */
	malloc_trim(0);
	return error;
}

static void say(void *context, bool is_warning, const char *sentence)
{
	(void)context;
	daemon_log(is_warning ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO, "%s", sentence);
}

static const char *url_of(const struct daemon *daemon)
{
	const char *url = daemon->session->settings.push_url;

	return url && strcmp(url, "none") != 0 ? url : NULL;
}

bool daemon_push_is_wanted(const struct daemon *daemon)
{
	return url_of(daemon) != NULL;
}

static struct push_settings settings_of(const struct daemon *daemon)
{
	const struct daemon_settings *settings = &daemon->session->settings;

	return (struct push_settings){
		.url = url_of(daemon),
		.ca = settings->push_ca,
		.token_file = settings->push_token_file,
		.spool_bytes = settings->push_spool_bytes,
	};
}

int daemon_push_check(const struct daemon *daemon)
{
	const struct push_settings settings = settings_of(daemon);

	return push_check(&settings);
}

static int open_push(struct daemon *daemon, struct daemon_push *push)
{
	const struct push_settings settings = settings_of(daemon);
	const struct push_callbacks callbacks = {.make = make, .say = say, .context = push};
	const char *named = daemon->session->settings.push_spool;
	CLEANUP(freep)
	char *spool = named ? must_copy(named) : must_format("%s/push", store_path(daemon->store));

	push_origin_init(&push->origin, store_names_path(daemon->store));
	push->names = daemon->names;
	push->store = must_copy(store_path(daemon->store));
	snprintf(push->state.url, sizeof(push->state.url), "%s", settings.url);
	return push_open(spool, &settings, &callbacks, &push->push);
}

int daemon_push_start(struct daemon *daemon)
{
	struct daemon_push *push;
	int error;

	if (!url_of(daemon))
		return 0;
	if (!daemon->may_connect)
		return fail_plain(-EPERM, "restart the daemon",
				  "it gave up connections when it started without "
				  "--push and --metrics");
	push = must_alloc(sizeof(*push));
	error = open_push(daemon, push);
	if (error)
		daemon_push_stop(push);
	else
		daemon->push = push;
	return error;
}

void daemon_push_reload(struct daemon *daemon)
{
	const struct push_settings settings = settings_of(daemon);
	int error = daemon->push ? push_set(daemon->push->push, &settings)
				 : daemon_push_start(daemon);

	if (error)
		daemon_log(LOG_LEVEL_WARNING, "pushing is as before: %s", fail_sentence());
}

/* For who lists windows; without it they are pushed all the same. */
static void write_state(struct daemon_push *push, const struct push_totals *totals)
{
	int error;

	push->state.time_ns = clock_ns(CLOCK_REALTIME);
	push->state.totals = *totals;
	error = push_state_write(push->store, &push->state);
	if (error && !push->cannot_write)
		daemon_log(LOG_LEVEL_WARNING, "%s", fail_sentence());
	push->cannot_write = error;
}

/* The store knows what it has called the file. */
void daemon_push_window(struct daemon *daemon, const struct store_window *window)
{
	struct daemon_push *push = daemon->push;
	CLEANUP(freep) char *path = NULL;
	struct push_totals totals;

	if (!push)
		return;
	path = store_newest_path(daemon->store);
	if (url_of(daemon) && window->samples && path)
		push_add(push->push, path, window->start_ns, window->end_ns);
	snprintf(push->state.url, sizeof(push->state.url), "%s",
		 url_of(daemon) ? url_of(daemon) : "none");
	totals = push_totals(push->push);
	write_state(push, &totals);
}

bool daemon_push_totals(struct daemon *daemon, struct push_totals *ret_totals)
{
	if (!daemon->push)
		return false;
	*ret_totals = push_totals(daemon->push->push);
	return true;
}

const char *daemon_push_status(struct daemon *daemon, char text[static 96])
{
	struct push_totals totals;
	u64 lost = 0;

	*text = 0;
	if (!daemon_push_totals(daemon, &totals))
		return text;
	for (size_t i = 0; i < PUSH_LOSS_COUNT; i++)
		lost += totals.lost[i];
	snprintf(text, 96, "; push: %llu sent, %llu wait, %llu lost",
		 (unsigned long long)totals.sent, (unsigned long long)totals.waiting,
		 (unsigned long long)lost);
	return text;
}

void daemon_push_stop(struct daemon_push *push)
{
	if (!push)
		return;
	atomic_store(&push->ends, true);
	if (push->push) {
		struct push_totals totals = push_close(push->push, ending_ns);

		write_state(push, &totals);
	}
	free(push->store);
	push_origin_release(&push->origin);
	free(push);
}
