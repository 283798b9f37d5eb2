/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * --cgroup, --container and --unit: whose samples are wanted.
 */
#ifndef CMD_CGROUP_CHOICE_H
#define CMD_CGROUP_CHOICE_H

#include <stdbool.h>

/* The arguments as typed, lists with commas; NULL: not given. */
struct cgroup_choice {
	const char *paths, *containers, *units;
};

/* Whether any of them was given. */
bool cgroup_choice_is_made(const struct cgroup_choice *choice);

/*
 * Whether samples of the cgroup of this path are wanted: by every list that was given, one of its
 * words fits.
 *
 * chosen  a struct cgroup_choice
 */
bool cgroup_choice_takes(const void *chosen, const char *path);

#endif
