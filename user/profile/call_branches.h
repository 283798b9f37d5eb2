/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The chains of an entry, merged from the first frame on as far as somebody follows them: most of
 * what a graph could show is below its threshold. Private to the folder.
 */
#ifndef PROFILE_CALL_BRANCHES_H
#define PROFILE_CALL_BRANCHES_H

#include "profile/call_tree.h"
#include "profile/strands.h"

/* Chains that agree up to a frame. */
struct call_branch {
	frame_id frame;
	u32 parts;	   /* private: the first of them, from 1 */
	u32 first_row;	   /* of the fold: the first one that has such a chain */
	u32 last_row;	   /* private: the last one with a mark here, from 1 */
	u64 hits, samples; /* of all of them, their periods and counted */
};

/* How they go on behind that frame. */
struct call_branch_ends {
	u64 hits, samples; /* of those that end with it */
	u32 first, count;  /* of `branches`: where the others go */
};

/* Begin with a zeroed one that has the first three set. */
struct call_branches {
	struct entry_list *list; /* the strands of which have been found */
	const struct call_graph_settings *settings;
	u32 entry;
	VEC(struct call_branch) branches;
	VEC(struct branch_sums) sums; /* the marks of each branch; none without marks */
	VEC(struct chain_part) parts; /* private */
};

/* The branches that strands begin with; none ends before. */
struct call_branch_ends call_branches_begin(struct call_branches *branches,
					    const struct strand *strands, u32 strand_count);
/* How the chains of a branch go on. Once for each branch. */
struct call_branch_ends call_branches_follow(struct call_branches *branches, u32 branch);
/* Frees the memory. */
void call_branches_release(struct call_branches *branches);

#endif
