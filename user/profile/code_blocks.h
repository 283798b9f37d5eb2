/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Blocks of code by the functions they are in.
 *
 * A block is told by the name of its function, and by where in it the block begins and ends. Of
 * those that end at the same branch the longest stands for all, as in perf: it has the cycles of
 * the others too, which are parts of it.
 */
#ifndef PROFILE_CODE_BLOCKS_H
#define PROFILE_CODE_BLOCKS_H

#include "base/idmap.h"
#include "profile/tables.h"

/* A block, of one side of a comparison. */
struct code_block {
	string_id binary;   /* its short name; 0: blocks are not told apart by it */
	string_id function; /* its name */
	u64 start, end;	    /* bytes into the function; end is where the branch is */
	bool has_start;	    /* else 0: where it begins is not known */
	location_id start_at, end_at;
	u64 times, cycles;
	u64 whole_times; /* of the times, those of the longest */
	u16 first[BLOCK_FIRST];
	/* Of a comparison: the same block of the baseline, from 1, 0: none; and what changed. */
	u32 pair;
	s64 change;
};

struct code_blocks {
	VEC(struct code_block) rows; /* those of a function together */
	struct idmap first_of;	     /* by function_key(): its first row, from 1 */
	u32 unpaired;		     /* that begin where it is known, and are only on this side */
};

/* Adds what a source of a named profile has counted in functions; `has_dso`: functions of one name
 * are told apart by their binaries. */
void code_blocks_add(struct code_blocks *blocks, const struct profile *profile, u32 source,
		     bool has_dso);
/* Joins those that end at the same branch, and puts them in order; after the last
 * code_blocks_add().
 */
void code_blocks_settle(struct code_blocks *blocks);
/* Sorts the rows. */
void code_blocks_sort(struct code_blocks *blocks, int (*compare)(const void *, const void *));
/* Frees the contents. */
void code_blocks_release(struct code_blocks *blocks);

/* What blocks of one function have in common. */
static inline u64 code_block_function(const struct code_block *block)
{
	return (u64)block->binary << 32 | block->function;
}
/* The order of blocks by their functions: less than, equal to or greater than 0. */
int code_block_compare_functions(const struct code_block *a, const struct code_block *b);
/* The same for qsort(), and within a function as they stand in the code. */
int code_block_compare_places(const void *left, const void *right);
/* Cycles of a block, on average and rounded down as in perf. */
u64 code_block_average(const struct code_block *block);

#endif
