/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * New settings between two windows. Where they change what is sampled, the new capture runs before
 * the old one ends.
 */
#include "base/clock.h"
#include "base/fail.h"
#include "cmd/daemon.h"
#include "cmd/daemon_metrics.h"
#include "cmd/daemon_names.h"
#include "cmd/daemon_push.h"

#include <string.h>

/* Takes what can be changed without a new capture. */
static void take_limits(struct daemon *daemon, struct session *fresh)
{
	struct session old = *daemon->session;

	daemon->session->settings = fresh->settings;
	daemon->session->line = fresh->line;
	daemon->session->left = fresh->left;
	fresh->settings = old.settings;
	fresh->line = old.line;
	fresh->left = old.left;
}

/* The open window ends where the new capture begins. Samples are counted, so they have no times by
 * which they could be parted: what both captures have counted in the moment between counts twice.
 */
static int change_over(struct daemon *daemon, struct session *fresh)
{
	struct session *old = daemon->session;
	int error = capture_stop(old->capture);
	struct moment now = moment_now();

	window_end_at(old->window, ~0ULL);
	daemon->end_ns = now.clock_ns;
	daemon_write_window(daemon);
	session_free(old);
	daemon->session = fresh;
	daemon_limit_cpu(daemon);
	if (!error)
		error = daemon_watch_capture(daemon);
	return error ? error : daemon_begin_window(daemon, now);
}

static int start_beside(struct daemon *daemon, struct session *fresh)
{
	int error;

	fresh->names = daemon->names;
	fresh->file_reader = daemon->file_reader;
	error = session_open(fresh);
	if (error)
		return error;
	return session_start(fresh);
}

int daemon_sample_anew(struct daemon *daemon, struct session *fresh)
{
	int error = start_beside(daemon, fresh);

	if (!error)
		return change_over(daemon, fresh);
	daemon_log(LOG_LEVEL_WARNING, "cannot sample anew: %s; going on as before",
		   fail_sentence());
	session_free(fresh);
	return 0;
}

static int take_settings(struct daemon *daemon, struct session *fresh)
{
	if (!session_samples_alike(daemon->session, fresh))
		return daemon_sample_anew(daemon, fresh);
	take_limits(daemon, fresh);
	daemon_limit_change(daemon);
	session_free(fresh);
	return 0;
}

int daemon_reload(struct daemon *daemon)
{
	struct session *fresh;
	int error = session_read(&fresh);

	if (error) {
		daemon_log(LOG_LEVEL_WARNING,
			   "settings were not read again: %s; going on as before", fail_sentence());
		return 0;
	}
	for (size_t i = 0; i < fresh->left.warnings.count; i++)
		daemon_log(LOG_LEVEL_WARNING, "%s", fresh->left.warnings.items[i]);
	if (strcmp(fresh->settings.store, store_path(daemon->store)) != 0)
		daemon_log(LOG_LEVEL_WARNING, "another store needs a restart; going on with %s",
			   store_path(daemon->store));
	store_limit(daemon->store, session_limits(fresh));
	daemon_names_limit(daemon->names, session_names_limit(fresh));
	daemon_log(LOG_LEVEL_INFO, "settings were read again");
	error = take_settings(daemon, fresh);
	daemon_push_reload(daemon);
	daemon_metrics_reload(daemon);
	return error;
}
