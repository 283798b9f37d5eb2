/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The windows of a store that somebody asks for: --store, --since, --until, --at, --today,
 * --yesterday.
 */
#ifndef CMD_ASKED_WINDOWS_H
#define CMD_ASKED_WINDOWS_H

#include "cmd/option_rows.h"
#include "continuous/continuous.h"
#include "symbolize/symbolize.h"

#include "base/vec.h"

/* As typed; NULL and false: not given. */
struct window_choice {
	const char *store, *configured_store;
	const char *since, *until, *at;
	const char *at_option; /* that gave `at`; NULL: --at */
	bool today, yesterday;
};

/* The rows of options, where FIELD(choice) is a struct window_choice of the settings. */
#define STORE_ROW(choice)                                                              \
	TEXT(0, "store", choice.store, "DIRECTORY",                                    \
	     "the store of the daemon; without a file, and if a time is given, it is " \
	     "/var/lib/bpfprof"),                                                      \
	{                                                                              \
		.kind = OPTION_TEXT, .offset = FIELD(choice.configured_store),         \
		.argument = "DIRECTORY", .help = "config only", .hidden = true,        \
		.config = "store.dir",                                                 \
	}
#define STORE_TIME_ROWS(choice)                                                                   \
	TEXT(0, "since", choice.since, "TIME",                                                    \
	     "from then on: 10m (ago), 14:00, '2026-11-21 14:00', 2026-11-21T14:00Z, yesterday"), \
		TEXT(0, "until", choice.until, "TIME", "until then"),                             \
		TEXT(0, "at", choice.at, "TIME..TIME",                                            \
		     "between these times, or in that minute or day"),                            \
		FLAG(0, "today", choice.today, "since midnight"),                                 \
		FLAG(0, "yesterday", choice.yesterday,                                            \
		     "the day before, from midnight to midnight")

struct asked_window {
	struct store_window facts;
	char *path; /* owned */
};

/* Windows in the order of their starts. */
struct asked_windows {
	char *directory; /* of the store; owned */
	bool has_times;
	struct time_span asked; /* if has_times */
	VEC(struct asked_window) windows;
	u64 samples, bytes, lost;
	u64 damaged; /* of those that were read: cut, gone or not readable */
};

/* Whether a store is asked for, and not a recording. */
bool window_choice_is_made(const struct window_choice *choice);

/*
 * Finds the windows. What the store has to say of its state goes to stderr.
 *
 * A window is in a range if its middle is; so two ranges next to each other share none. If there is
 * none, those that the range touches are taken.
 * now_ns  CLOCK_REALTIME
 * ret     asked_windows_release() it, also after an error
 * Returns 0, or a negative errno with a sentence: -EINVAL (times), -ENODATA (no window), or of
 * store_open().
 */
int asked_windows_find(const struct window_choice *choice, u64 now_ns, struct asked_windows *ret);
/* The same for "A..B", which `option` gave, of the store that is chosen. */
int asked_windows_find_at(const struct window_choice *choice, const char *option, const char *range,
			  u64 now_ns, struct asked_windows *ret);
/* Frees the contents. For CLEANUP too. */
void asked_windows_release(struct asked_windows *windows);

/* The names that the daemon kept of what it saw; NULL: there are none. names_cache_close() it after
 * the symbolizer that looks into it. */
struct names_cache *asked_windows_names(const struct asked_windows *windows);

/* Comment lines: from when to when, how much there is, and what is missing in between. */
void asked_windows_describe(const struct asked_windows *windows, u64 now_ns, FILE *out);
/* How long a window is; 0: its end is told as before its start. */
u64 asked_window_length_ns(const struct store_window *window);
/* Samples that a window lost, of any reason. */
u64 asked_window_lost(const struct store_window *window);

/* Why there is nothing between two windows that follow each other, or a window and an end of what
 * was asked for. */
struct window_gap {
	u64 from_ns, to_ns;
	const char *why; /* "the daemon was not running" … */
	u32 windows;	 /* that could not be written; 0: no telling */
};

/* The gap in front of a window (`index` < count), or behind the last; false: there is none. */
bool asked_windows_gap(const struct asked_windows *windows, size_t index, u64 now_ns,
		       struct window_gap *ret_gap);

#endif
