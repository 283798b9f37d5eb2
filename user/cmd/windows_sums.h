/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the windows of a quarter of an hour count together, in a file beside them: what processes
 * ran is no more told apart, so where they live for seconds it is a small part of the windows, and
 * read at once.
 *
 * The file says of which windows it is. Whoever reads it has those, and else reads the windows.
 */
#ifndef CMD_WINDOWS_SUMS_H
#define CMD_WINDOWS_SUMS_H

#include "cmd/asked_windows.h"
#include "event/event.h"
#include "profile/profile.h"

/* Windows that follow each other in a list. */
struct windows_run {
	const char *directory; /* of the store */
	const struct asked_window *windows;
	size_t count; /* not 0; they begin within one STORE_SUMS_NS */
};

/* Larger ones are hardly read faster than the windows, and what they take comes on top. */
enum { WINDOWS_SUMS_PART = 4 };

/* How samples are counted for sums. */
extern const struct builder_settings windows_sums_settings;
/* Whether who counts so can begin with sums; who skips chains, with what profile_keep_leaves()
 * leaves of them. */
bool windows_sums_do(const struct builder_settings *builder, const struct filter_settings *filter);

/* The sums of exactly these windows. Returns 0, or a negative errno without a sentence: there are
 * none, or of others. ret_profile: as profile_unpack() gives it. */
int windows_sums_read(const struct windows_run *run, struct profile **ret_profile);
/*
 * Writes them, durable, if their file is no larger than a WINDOWS_SUMS_PART of the windows'.
 *
 * ret_little  that it would be larger
 * Returns 0 or a negative errno without a sentence. After an error, and if they save little,
 * nothing is there, also of what was there before.
 */
int windows_sums_write(const struct windows_run *run, const struct profile *profile,
		       bool *ret_little);

#endif
