/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The cgroups of a window's samples. Private to window*.c.
 *
 * Of each the producer tells again in every window that has samples of it, so that a path is kept
 * for this window and the next.
 */
#ifndef CONTINUOUS_WINDOW_CGROUPS_H
#define CONTINUOUS_WINDOW_CGROUPS_H

#include "base/idmap.h"
#include "base/vec.h"
#include "event/event.h"

struct window_cgroup {
	u64 id;
	char *path;	 /* NULL: not told yet */
	bool is_told;	 /* in this window */
	bool has_sample; /* in this window */
};

struct window_cgroups {
	struct idmap row_of; /* id: row, from 1 */
	VEC(struct window_cgroup) rows;
	u64 path_bytes;
};

/* Takes in the path of one. */
void window_cgroups_tell(struct window_cgroups *cgroups, const struct cgroup_name *name);
/* Notes that the window has a sample of it. Returns its row, from 1; 0 for no cgroup. */
u32 window_cgroups_need(struct window_cgroups *cgroups, u64 id);
/* The id of a row that window_cgroups_need() gave in this window. */
u64 window_cgroups_id(const struct window_cgroups *cgroups, u32 row);

/* Forgets those of which nothing was told in this window; rows are others then. */
void window_cgroups_turn(struct window_cgroups *cgroups);
/* About so much memory is in use. */
u64 window_cgroups_bytes(const struct window_cgroups *cgroups);
/* Frees all; it is empty again. */
void window_cgroups_release(struct window_cgroups *cgroups);

#endif
