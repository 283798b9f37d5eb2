/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a process's virtual address to a location (binary and address in it) in a profile's tables,
 * as of the point of the event stream that has been reached.
 */
#ifndef PROFILE_LOCATOR_H
#define PROFILE_LOCATOR_H

#include "profile/tables.h"

struct locator;
struct process_watcher;

/* Whether mappings of that name have no file behind them; code there was made at run time. */
bool path_is_anonymous(const char *path);

/* Free with locator_free(). It keeps a process table of its own. */
struct locator *locator_new(void);
/* Frees; NULL is fine. */
void locator_free(struct locator *locator);

/* The sink that follows processes; feed it every event before asking. Ignores samples. */
struct event_sink *locator_sink(struct locator *locator);

/* From now on `watcher` hears what events are about to change; see process_table_watch(). */
void locator_watch(struct locator *locator, struct process_watcher *watcher);

/* Rows are made in `profile`, which may be another one than in the last call (then everything
 * cached is found anew). Cheap for addresses seen before: one hash look-up. */
location_id locator_find(struct locator *locator, struct profile *profile, u32 pid, u64 address,
			 u8 space);

/* An address as a process has it. */
struct virtual_place {
	u64 address;
	u32 pid;
	u8 space; /* enum frame_space */
};

/* The same for who knows the locator_generation() of process and space. */
location_id locator_find_in_state(struct locator *locator, struct profile *profile,
				  const struct virtual_place *place, u64 generation);

/* What tells one location from another without a row for it. */
struct place_identity {
	u64 address; /* in the file, or virtual */
	u64 part;    /* what it is of, if a name of a file stands for several */
	u32 file;    /* id of the mapped file; 0: nothing is mapped there */
	u8 space;
};

/* The same for all locators that have followed the same events. */
struct place_identity locator_identify(struct locator *locator, const struct virtual_place *place);

/* It will be asked for soon. */
void locator_expect(const struct locator *locator, const struct profile *profile,
		    const struct virtual_place *place);

/* Where data is: a location_id, with PLACE_IS_SHARED if it is in memory that was mapped shared. */
u64 locator_find_data(struct locator *locator, struct profile *profile,
		      const struct virtual_place *place);

/* As locator_find(), neither asking what was found before nor keeping it; and the location's
 * binary.
 */
location_id locator_find_anew(struct locator *locator, struct profile *profile,
			      const struct virtual_place *place, binary_id *ret_binary);

/* What the row of a location would be, without making it: only its binary is in the profile. */
struct location_row locator_row(struct locator *locator, struct profile *profile,
				const struct virtual_place *place);

/* The binary that holds the address, without a row for the address itself; 0 if none does. */
binary_id locator_binary(struct locator *locator, struct profile *profile, u32 pid, u64 address,
			 u8 space);

/* A number that stays the same while answers for this process and space do; see
 * process_table_generation(). */
u64 locator_generation(const struct locator *locator, u32 pid, u8 space);

/* Which rows `known` has for the files that `next` has rows for, in their profiles: those of the
 * same process table's files, which both followed from the start.
 *
 * binaries  by row of the profile of `next`: the row in that of `known`, left alone if unknown */
void locator_match(const struct locator *known, const struct locator *next, binary_id *binaries);
/* From then on files that were unknown have those rows. */
void locator_continue(struct locator *known, const struct locator *next, const binary_id *binaries);

/* The thread's name now; see process_table_name(). */
const char *locator_thread_name(struct locator *locator, u32 tid);

#endif
