/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From blocks that were counted to blocks of functions.
 *
 * Source of the rules: Linux 6.1, tools/perf/util/annotate.c, __symbol__account_cycles().
 */
#include "profile/code_blocks.h"

#include <string.h>

/* Places a counted block in its function. Returns false if that has no name. */
static bool place_block(const struct profile *profile, const struct block_row *counted,
			bool has_dso, struct code_block *ret_block)
{
	function_id function = profile_outer_function(profile, counted->end);
	const struct function_row *row = &profile->functions.items[function];
	u64 end = profile->locations.items[counted->end].address;
	u64 start = profile->locations.items[counted->start].address;

	if (!function || end < row->start)
		return false;
	*ret_block = (struct code_block){
		.binary = has_dso ? profile->binaries.items[row->binary].short_name : 0,
		.function = row->name,
		.end = end - row->start,
		.end_at = counted->end,
		.times = counted->times,
		.cycles = counted->cycles,
		.whole_times = counted->times,
	};
	memcpy(ret_block->first, counted->first, sizeof(ret_block->first));
	if (profile_outer_function(profile, counted->start) != function || start >= end)
		return true;
	ret_block->has_start = true;
	ret_block->start = start - row->start;
	ret_block->start_at = counted->start;
	return true;
}

static int compare_numbers(u64 a, u64 b)
{
	return (a > b) - (a < b);
}

int code_block_compare_functions(const struct code_block *a, const struct code_block *b)
{
	return compare_numbers(code_block_function(a), code_block_function(b));
}

/* Those that end at the same branch together, the longest first. */
static int compare_ends(const void *left, const void *right)
{
	const struct code_block *a = left, *b = right;
	int order = code_block_compare_functions(a, b);

	if (!order)
		order = compare_numbers(a->end, b->end);
	if (!order)
		order = (int)b->has_start - (int)a->has_start;
	return order ? order : compare_numbers(a->start, b->start);
}

/* As they stand in the code. */
int code_block_compare_places(const void *left, const void *right)
{
	const struct code_block *a = left, *b = right;
	int order = code_block_compare_functions(a, b);

	if (!order)
		order = compare_numbers(a->start, b->start);
	return order ? order : compare_numbers(a->end, b->end);
}

/* Adds a part of `block`, or more of the same. */
static void add_part(struct code_block *block, const struct code_block *part)
{
	block->times += part->times;
	block->cycles += part->cycles;
	if (part->has_start != block->has_start || part->start != block->start)
		return;
	for (u32 i = 0; i < BLOCK_FIRST && block->whole_times + i < BLOCK_FIRST; i++)
		block->first[block->whole_times + i] = part->first[i];
	block->whole_times += part->times;
}

static void join_parts(struct code_blocks *blocks)
{
	size_t count = 0;

	for (size_t i = 0; i < blocks->rows.count; i++) {
		struct code_block *row = &blocks->rows.items[i];
		struct code_block *last = count ? &blocks->rows.items[count - 1] : NULL;

		if (last && !code_block_compare_functions(last, row) && last->end == row->end)
			add_part(last, row);
		else
			blocks->rows.items[count++] = *row;
	}
	blocks->rows.count = count;
}

void code_blocks_sort(struct code_blocks *blocks, int (*compare)(const void *, const void *))
{
	if (blocks->rows.count)
		qsort(blocks->rows.items, blocks->rows.count, sizeof(*blocks->rows.items), compare);
}

void code_blocks_add(struct code_blocks *blocks, const struct profile *profile, u32 source,
		     bool has_dso)
{
	struct code_block block;

	for (size_t i = 0; i < profile->blocks.count; i++)
		if (profile->blocks.items[i].source == source &&
		    place_block(profile, &profile->blocks.items[i], has_dso, &block))
			*vec_add(&blocks->rows) = block;
}

void code_blocks_settle(struct code_blocks *blocks)
{
	code_blocks_sort(blocks, compare_ends);
	join_parts(blocks);
	code_blocks_sort(blocks, code_block_compare_places);
}

void code_blocks_release(struct code_blocks *blocks)
{
	vec_release(&blocks->rows);
	idmap_release(&blocks->first_of);
}

u64 code_block_average(const struct code_block *block)
{
	return block->cycles / block->times;
}
