/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Many windows into one profile, on all CPUs.
 */
#ifndef CMD_WINDOWS_READ_H
#define CMD_WINDOWS_READ_H

#include "cmd/asked_windows.h"
#include "cmd/sample_choice.h"
#include "event/event.h"
#include "perfdata/perfdata.h"
#include "profile/profile.h"

struct windows_reading {
	/* `names` is not used; `details.read` gets the window's perfdata as its context. */
	const struct builder_settings *builder;
	const struct filter_settings *filter; /* its times are CLOCK_REALTIME */
	bool shows_progress;
	bool by_window; /* samples are of the moment in which their window began */
	/* Asked before each window, which it may let wait; false: what was read so far will do.
	 * NULL: all are read. */
	bool (*goes_on)(void *context);
	void *context;
};

/*
 * Reads all windows; samples have CLOCK_REALTIME. Windows that cannot be read are counted in
 * windows->damaged, and what can be read of them is there.
 *
 * ret_profile  with the events of all windows, equal ones as one source; profile_free() it
 * Returns 0, or a negative errno with a sentence: no window could be read. -ECANCELED: it went
 * on with none.
 */
int windows_read(struct asked_windows *windows, struct windows_reading how,
		 struct profile **ret_profile);

/*
 * Opens the first window that can be opened: it says what all are like. Those in front of it are
 * counted with the other damaged ones, by who reads all.
 *
 * open      perfdata_open_window(), or another of its kind
 * ret_data  perfdata_close() it
 * ret_path  of that window, borrowed from `windows`
 * Returns 0, or a negative errno with a sentence: none can be opened (-ENODATA: there is none).
 */
int windows_open_first(const struct asked_windows *windows,
		       int (*open)(const char *path, struct perfdata **ret_data),
		       struct perfdata **ret_data, const char **ret_path);

/* Whether the windows say what is chosen by: the newest that can be opened, as older ones may be of
 * a daemon that did not record it. Returns 0 or a negative errno with a sentence. */
int windows_check_choice(const struct asked_windows *windows, const struct sample_choice *choice);

/* Whether the windows can be summed: not with copied stacks, LBR call stacks or branches, which are
 * of one recording. Returns 0 or -EINVAL with a sentence; `data` is one of them. */
int windows_can_be_summed(const struct perfdata *data);

#endif
