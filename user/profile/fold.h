/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A named profile folded by function: stacks of addresses become stacks of what a person reads as
 * one frame, and rows of counts whose stacks then read the same become one. Inlined functions that
 * a location has are frames of their own, in stacks; what was counted at it is the outer one's.
 *
 * Every view starts from here; it is small where the profile is large.
 */
#ifndef PROFILE_FOLD_H
#define PROFILE_FOLD_H

#include "profile/tables.h"

typedef u32 frame_id, path_id;

/* By what frames are told apart; each tells more than the one before. */
enum fold_key { FOLD_BY_FUNCTION, FOLD_BY_LINE, FOLD_BY_ADDRESS };

/* A function (of the line, or the address, it is folded by), or an address that has no name. Row 0:
 * none. */
struct folded_frame {
	function_id function; /* 0: no name */
	location_id location; /* the first one that was seen */
	binary_id binary;
	/* Frames of the same function, and of the same line, stand for this one in a coarser fold.
	 */
	frame_id by_function, by_line;
	string_id source; /* in the fold's `sources`: where it is in the source; 0: by function */
	string_id file;	  /* the part of it that names a file; 0: it names none */
	bool has_source;  /* that is known */
	u8 space;	  /* enum frame_space */
	bool is_likely;	  /* in a stack, of ORIGIN_LIKELY: it may not have been there */
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
	enum fold_key key;
	VEC(struct folded_frame) frames;
	VEC(struct folded_path) paths;
	VEC(struct folded_branch) branches;
	VEC(struct folded_row) rows;
	frame_id *frame_of;    /* by location_id; of inlined functions the outermost */
	frame_id *leaf_of;     /* the same at the innermost one's place in the source */
	u32 *first_inner;      /* by location_id: where in `inner` the inlined ones begin */
	VEC(frame_id) inner;   /* of a location from the outermost in */
	struct intern sources; /* texts of source_text_append() */
	u32 deepest;	       /* frames of the deepest path */
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
/* The frame that stands for this one where frames are told apart by no more than `key`. */
frame_id fold_frame_by(const struct fold *fold, frame_id frame, enum fold_key key);
/* The file of the source that a frame is in, without folder; "" if it is not known. */
const char *fold_frame_file(const struct fold *fold, frame_id frame);
/* Where a frame is in the source, as source_text_append() has it; "" if folded by function. */
const char *fold_frame_source(const struct fold *fold, frame_id frame);

#endif
