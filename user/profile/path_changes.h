/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which call paths of a comparison changed: the stacks of all its runs as one tree, callers first,
 * each node with what was spent there and below, and judged as lines are.
 *
 * Nodes are paired by the names of functions and binaries, as lines are, so builds may differ. The
 * profile must have been counted with chains.
 */
#ifndef PROFILE_PATH_CHANGES_H
#define PROFILE_PATH_CHANGES_H

#include "profile/changes.h"

struct path_node {
	u32 caller; /* node; 0: outermost */
	u32 depth;  /* frames up to here, from 1 */
	frame_id frame;
	u32 first_child, child_count; /* in path_changes.children */
	struct change change;
	bool is_shown; /* it, or something below it, changed enough */
};

/* nodes.items[0] is the root and has no frame. */
struct path_changes {
	VEC(struct path_node) nodes;
	u32 *children; /* of each node what changed most first */
};

/*
 * Compares a side, not 0, with the baseline.
 *
 * changes  of the lines: how samples cluster, and what may be wrong of the marks
 * least    nodes of which the share changed by less are shown only if that is beyond chance; a
 *          share, 0 … 1
 * Free with path_changes_free().
 */
struct path_changes *path_changes_new(const struct changes *changes, u32 side, double least);
/* Frees; NULL is fine. */
void path_changes_free(struct path_changes *paths);
/* For CLEANUP. */
void path_changes_freep(struct path_changes **paths);

#endif
