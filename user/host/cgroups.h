/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cgroups: from a path to what the kernel knows them by, and back.
 */
#ifndef HOST_CGROUPS_H
#define HOST_CGROUPS_H

#include "bpfprof/types.h"

#include <stdbool.h>

struct cgroup {
	bool is_v2;
	u64 id; /* of the v2 cgroup, or inode of the v1 perf_event one */
	int fd; /* open directory; close with closep() */
};

/* Opens a cgroup by its path below the mount of cgroup v2 or of v1's perf_event hierarchy, or by an
 * absolute path. Returns 0 or a negative errno with a sentence. */
int cgroup_open(const char *path, struct cgroup *ret_cgroup);

#endif
