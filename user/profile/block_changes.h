/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What blocks of code took on the sides of a comparison: cycles, on average.
 */
#ifndef PROFILE_BLOCK_CHANGES_H
#define PROFILE_BLOCK_CHANGES_H

#include "profile/code_blocks.h"
#include "profile/comparison.h"

struct block_changes {
	const struct comparison *comparison;
	struct code_blocks *sides;
	u32 *pair_of;	/* by row of the baseline, by side: the row there, from 1 */
	VEC(u32) lines; /* rows of the baseline that are shown, those of a function together */
	struct idmap first_line; /* by function_key(), from 1 */
};

/* Pairs the blocks of a comparison, which must outlive it. */
struct block_changes *block_changes_new(const struct comparison *comparison);
/* Frees; NULL is fine. */
void block_changes_free(struct block_changes *changes);
/* For CLEANUP. */
void block_changes_freep(struct block_changes **changes);

/* How many lines an entry of the comparison has. */
u32 block_changes_lines(const struct block_changes *changes, u32 entry);
/* The block that a side but the baseline has in one of these lines; NULL: none. With is_strict,
 * lines are those of perf: the blocks of the side, what changed most first, no more than the
 * baseline has; their change is 0 if the baseline does not have them. */
const struct code_block *block_changes_at(const struct block_changes *changes, u32 entry, u32 side,
					  u32 line);
/* The same block of the baseline; NULL: it has none. */
const struct code_block *block_changes_base(const struct block_changes *changes,
					    const struct code_block *block);

#endif
