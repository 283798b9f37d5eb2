/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which entry a frame of a row counts for, private to this folder.
 *
 * What tells entries apart falls into a part that a row's labels decide (thread, name, CPU) and one
 * that a frame or a branch decides (binary, symbol). Both are numbered beforehand, so an entry is
 * found by one look-up of two numbers.
 */
#ifndef PROFILE_ENTRY_INDEX_H
#define PROFILE_ENTRY_INDEX_H

#include "profile/entry_list.h"

struct entry_index {
	u32 *label_keys, *frame_keys; /* by label_id, by frame_id; 0: filtered out */
	u32 *branch_keys;	      /* by row of the fold's branches */
	struct idmap entry_of;	      /* (label key, frame key) → entry + 1 */
	bool borrows_keys;
};

/* Numbers the labels and frames of the list's fold by its layout and filters. Free with
 * entry_index_free(). */
struct entry_index *entry_index_new(const struct entry_list *list);
/* The same numbers, borrowed, and no entries. */
struct entry_index *entry_index_beside(const struct entry_index *index);
/* Frees; NULL is fine. */
void entry_index_free(struct entry_index *index);

/* What each of `count` entries is found by in entry_of, owned by the caller. */
u64 *entry_index_keys(const struct entry_index *index, size_t count);

/* What a frame of a row is found by in entry_of; 0: the filters leave it out. */
static inline u64 entry_index_key(const struct entry_index *index, const struct folded_row *row,
				  frame_id frame)
{
	u32 label_key = index->label_keys[row->labels];
	u32 frame_key = row->branch ? index->branch_keys[row->branch] : index->frame_keys[frame];

	return label_key && frame_key ? (u64)label_key << 32 | frame_key : 0;
}

/* The place of the entry (+ 1) that a frame of a row counts for, 0 in it: not made yet. NULL: the
 * filters leave it out. Valid until the next call. */
static inline u32 *entry_index_place(struct entry_index *index, const struct folded_row *row,
				     frame_id frame)
{
	u64 key = entry_index_key(index, row, frame);

	return key ? idmap_place(&index->entry_of, key) : NULL;
}

/* The entry (+ 1) that a frame of a row was counted for; 0: none. */
static inline u32 entry_index_find(const struct entry_index *index, const struct folded_row *row,
				   frame_id frame)
{
	u64 key = entry_index_key(index, row, frame);

	return key ? idmap_get(&index->entry_of, key) : 0;
}

#endif
