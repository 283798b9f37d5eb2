/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Containers and units of folded rows, by the paths of their cgroups.
 */
#ifndef PROFILE_CGROUP_PARTS_H
#define PROFILE_CGROUP_PARTS_H

#include "profile/fold.h"

/* What a path says; "" for none. Borrowed until the next call. */
struct cgroup_parts {
	const char *container, *unit;
};

typedef struct cgroup_parts cgroup_parts_of(void *context, const char *path);

/*
 * Gives each row a DETAIL_CONTAINER and a DETAIL_UNIT by its DETAIL_CGROUP; "unknown" where that
 * has no path.
 *
 * profile  what was folded; it gets new labels and details
 */
void cgroup_parts_set(struct fold *fold, struct profile *profile, cgroup_parts_of *parts_of,
		      void *context);

#endif
