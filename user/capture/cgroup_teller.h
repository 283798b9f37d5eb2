/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Paths of the cgroups that samples are of. Private to this folder.
 *
 * The kernel tells of a cgroup when it is made; those that were there before are found in the tree
 * that is mounted. One that is gone keeps its path as long as samples of it can come.
 */
#ifndef CAPTURE_CGROUP_TELLER_H
#define CAPTURE_CGROUP_TELLER_H

#include "bpfprof/settings.h"
#include "event/event.h"

struct cgroup_teller;

/*
 * One for the tree of this machine, NULL if samples cannot bring ids here or no tree is mounted.
 *
 * window_ns  how long a sample may take to come, at most; 0: the usual window of counts
 */
struct cgroup_teller *cgroup_teller_open(u64 window_ns);
/* The same for the tree that lies in a folder, whose name it takes over. */
struct cgroup_teller *cgroup_teller_new(enum cgroup_tree tree, char *folder, u64 window_ns);
/* NULL is fine. */
void cgroup_teller_free(struct cgroup_teller *teller);

/* Of which tree the ids are. NULL: of none. */
enum cgroup_tree cgroup_teller_tree(const struct cgroup_teller *teller);

/*
 * A sink that hands all on, but for what the kernel tells of cgroups: of these it tells `next` when
 * one has its first sample, right before that, or as soon as its path is known. Lives as long as
 * the teller.
 */
struct event_sink *cgroup_teller_sink(struct cgroup_teller *teller, struct event_sink *next);

/* From now on it is told again of each, so that a consumer need not keep for ever what it was told:
 * only until the turn after the next. */
void cgroup_teller_turn(struct cgroup_teller *teller);

/* Of how many with samples no path was found. NULL: none. */
u64 cgroup_teller_unnamed(const struct cgroup_teller *teller);

#endif
