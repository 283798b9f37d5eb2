/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cgroups: from a path to what the kernel knows them by, and back.
 */
#ifndef HOST_CGROUPS_H
#define HOST_CGROUPS_H

#include "bpfprof/settings.h"

#include <stdbool.h>

struct cgroup {
	bool is_v2;
	u64 id; /* of the v2 cgroup, or inode of the v1 perf_event one */
	int fd; /* open directory; close with closep() */
};

/* Opens a cgroup by its path below the mount of cgroup v2 or of v1's perf_event hierarchy, or by an
 * absolute path. Returns 0 or a negative errno with a sentence. */
int cgroup_open(const char *path, struct cgroup *ret_cgroup);

/* Which tree perf_event groups tasks by, and the folder that it is mounted on: the caller's to
 * free, untouched if there is none. */
enum cgroup_tree cgroup_tree_find(char **ret_folder);

/* Calls for each cgroup of the tree that is mounted on `folder`, with its id and its path from
 * there on: "/" is the topmost one's. Both are borrowed; what cannot be read is passed over. */
void cgroups_walk(const char *folder, void (*take)(void *context, u64 id, const char *path),
		  void *context);

#endif
