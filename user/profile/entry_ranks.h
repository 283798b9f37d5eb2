/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What most comparisons of entries need, side by side: an entry's keys lie in five tables, and to
 * sort is to compare each with many. Private to this folder.
 */
#ifndef PROFILE_ENTRY_RANKS_H
#define PROFILE_ENTRY_RANKS_H

#include "profile/entry_list.h"

struct entry_rank {
	u64 keys;  /* compares as the fields from `first` to `end` of the layout's order do */
	u64 start; /* of the frame, if it has no name: fold_frame_start() */
	bool is_named;
};

struct entry_ranks {
	struct entry_rank *rows; /* by entry */
	u32 first, end;		 /* of layout.order; before `first` are only figures */
};

/* The ranks of all entries of a list, for as long as none is added. */
struct entry_ranks entry_ranks_make(const struct entry_list *list);

/* Frees them; the list stays its owner's. */
void entry_ranks_release(struct entry_ranks *ranks);

#endif
