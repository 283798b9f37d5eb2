/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Several recordings in one profile.
 */
#ifndef PROFILE_JOIN_H
#define PROFILE_JOIN_H

#include "profile/tables.h"

/*
 * Adds what another recording's profile holds: its sources come behind those that are there, its
 * threads stay apart, and all else that is equal is one row. Neither may have been named yet.
 *
 * Returns the row of the other one's first source.
 */
u32 profile_join(struct profile *profile, const struct profile *other);

/* Adds it as more of the same: a source of the other one that is here already (by type, config and
 * name) is the same one, and so is a thread with the same ids and name. */
void profile_merge(struct profile *profile, const struct profile *other);

/* Adds the rows of the other one's binaries. `binaries`, by their rows, says which are known to be
 * which (0: not known), and then says it of all. */
void profile_join_binaries(struct profile *profile, const struct profile *other,
			   binary_id *binaries);
/* What is left to be added of another profile. */
struct joining;

/* Adds what was counted of the very same sources, of which `binaries` and `threads` (both handed
 * over) say which of the other one's are which; but for stacks and what was counted at them, which
 * profile_continue() adds. Neither that nor the other one's rows are of matter to who gives names.
 */
struct joining *profile_continue_places(struct profile *profile, const struct profile *other,
					binary_id *binaries, thread_id *threads);
/* Adds the rest, in the order of profile_continue_places() if there are several. Meanwhile the
 * profile may get names. Frees `joining`. */
void profile_continue(struct joining *joining);

#endif
