/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Entries as a tree: those that agree in the keys of a level stand below one node with their sums.
 */
#ifndef PROFILE_HIERARCHY_H
#define PROFILE_HIERARCHY_H

#include "profile/entry_list.h"

struct hierarchy_node {
	u32 depth;		      /* the level of its keys, from 0 */
	u32 entry;		      /* a row of the list's entries; of a leaf, the only one */
	u32 first_child, child_count; /* nodes, as they are shown; 0: a leaf */
};

/* The top nodes come first. */
struct hierarchy {
	VEC(struct hierarchy_node) nodes;
	u32 top_count;
	VEC(struct entry) figures; /* private */
	u32 figure_count;	   /* private: of a node, one for each event of the group */
};

/* The list's layout says the levels. Free with hierarchy_free(). */
struct hierarchy *hierarchy_new(const struct entry_list *list);
/* Frees; NULL is fine. */
void hierarchy_free(struct hierarchy *hierarchy);

/* The sums of a node, with the keys of its entry; behind them those of the group's members. */
static inline const struct entry *hierarchy_figures(const struct hierarchy *hierarchy,
						    const struct hierarchy_node *node)
{
	size_t row = (size_t)(node - hierarchy->nodes.items);

	return &hierarchy->figures.items[row * hierarchy->figure_count];
}

#endif
