/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A named profile folded by function: stacks of addresses become stacks of what a person reads as
 * one frame, and rows of counts whose stacks then read the same become one.
 *
 * Every view starts from here; it is small where the profile is large.
 */
#ifndef PROFILE_FOLD_H
#define PROFILE_FOLD_H

#include "profile/tables.h"

typedef u32 frame_id, path_id;

enum fold_key { FOLD_BY_FUNCTION, FOLD_BY_ADDRESS };

/* A function, or an address that has no name. Row 0: none. */
struct folded_frame {
	function_id function; /* 0: no name */
	location_id location; /* the first one that was seen */
	binary_id binary;
	u8 space;	/* enum frame_space */
	bool is_likely; /* in a stack, of ORIGIN_LIKELY: it may not have been there */
};

/* A stack of frames as a node of a tree; row 0 is no stack. */
struct folded_path {
	path_id caller;
	frame_id frame;
	u32 mark;  /* of the frame, as in the stacks */
	u32 depth; /* frames up to here, from 1 */
};

/* Branches that read the same. Row 0: none. */
struct folded_branch {
	frame_id from, to;
	u32 flags; /* enum branch_flag */
};

/* Rows of counts that read the same, in order of first appearance. */
struct folded_row {
	path_id path;
	frame_id leaf;
	u32 branch; /* row of the fold's branches; 0: none */
	label_id labels;
	u32 source;
	thread_id first_thread;
	u8 space; /* of the leaf */
	u64 weight, samples;
};

struct fold {
	const struct profile *profile;
	VEC(struct folded_frame) frames;
	VEC(struct folded_path) paths;
	VEC(struct folded_branch) branches;
	VEC(struct folded_row) rows;
	frame_id *frame_of; /* by location_id */
	u32 deepest;	    /* frames of the deepest path */
};

/* Folds a profile whose locations have been named; it is borrowed until fold_free(). */
struct fold *fold_new(const struct profile *profile, enum fold_key key);
/* Frees; NULL is fine. */
void fold_free(struct fold *fold);

/* What a frame is called: the function's name, "" if it has none. Borrowed from the profile. */
const char *fold_frame_name(const struct fold *fold, frame_id frame);
/* Where a frame begins in its binary: the function's start, or the address itself (of modules and
 * kernel symbols: from where they were loaded; of what is told apart by it, the virtual one). */
u64 fold_frame_start(const struct fold *fold, frame_id frame);

#endif
