/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether there is anything in windows of what was asked for.
 */
#ifndef CMD_WINDOWS_FOUND_H
#define CMD_WINDOWS_FOUND_H

#include "cmd/name_list.h"
#include "cmd/sample_choice.h"
#include "profile/profile.h"

/* Which samples of windows are wanted: as typed, and the same as it was read. Borrowed. */
struct wanted_samples {
	const struct sample_choice *choice;
	const struct filter_settings *chosen;
	const char *comms;		    /* NULL: not asked for */
	const struct name_list *comm_names; /* NULL: all */
};

/*
 * Says that none of so many windows has samples that are wanted.
 * Returns -ENODATA with a sentence.
 */
int windows_refuse_empty(const struct wanted_samples *wanted, size_t windows);

/*
 * Whether windows have samples that are wanted, so that a name that is written wrong is not
 * answered by an empty table.
 *
 * profile  of all of them, with the pids or tids (KEEP_PID, KEEP_TID) that are filtered by
 * windows  how many there are
 * Returns 0, or -ENODATA with a sentence.
 */
int windows_check_found(const struct wanted_samples *wanted, const struct profile *profile,
			size_t windows);

#endif
