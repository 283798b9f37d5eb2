/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The same blocks of several sides.
 *
 * Source of the rules: Linux 6.1, tools/perf/builtin-diff.c, compute_cycles_diff() and
 * block_sort().
 */
#include "profile/block_changes.h"

#include "base/memory.h"

#include <string.h>

static int compare_numbers(u64 a, u64 b)
{
	return (a > b) - (a < b);
}

static u64 amount(s64 change)
{
	return change < 0 ? -(u64)change : (u64)change;
}

/* What changed most first, in each function. */
static int compare_changes(const void *left, const void *right)
{
	const struct code_block *a = left, *b = right;
	int order = code_block_compare_functions(a, b);

	if (!order)
		order = compare_numbers(amount(b->change), amount(a->change));
	return order ? order : code_block_compare_places(a, b);
}

static void gather(struct block_changes *changes)
{
	const struct comparison *comparison = changes->comparison;
	const struct comparison_settings *settings = &comparison->settings;
	bool has_dso = entry_layout_has_key(&settings->list.layout, FIELD_DSO);

	for (u32 run = 0; run < settings->run_count; run++)
		code_blocks_add(&changes->sides[settings->runs[run].side],
				comparison->fold->profile, settings->runs[run].source, has_dso);
	for (u32 side = 0; side < settings->side_count; side++)
		code_blocks_settle(&changes->sides[side]);
}

/* --- pairs --- */

/* Notes where a function's rows or lines begin. */
static void note_first(struct idmap *first_of, const struct code_block *block, size_t number)
{
	u32 *place = idmap_place(first_of, code_block_function(block));

	if (!*place)
		*place = (u32)number + 1;
}

static void pair_side(struct block_changes *changes, u32 side)
{
	struct code_blocks *base = &changes->sides[0], *other = &changes->sides[side];
	u32 side_count = changes->comparison->settings.side_count;
	size_t at = 0;

	for (size_t i = 0; i < other->rows.count; i++) {
		struct code_block *block = &other->rows.items[i];

		while (at < base->rows.count &&
		       code_block_compare_places(&base->rows.items[at], block) < 0)
			at++;
		if (at < base->rows.count &&
		    !code_block_compare_places(&base->rows.items[at], block)) {
			block->pair = (u32)at + 1;
			block->change = (s64)(code_block_average(block) -
					      code_block_average(&base->rows.items[at]));
		} else {
			other->unpaired += block->has_start;
		}
	}
	code_blocks_sort(other, compare_changes);
	for (size_t i = 0; i < other->rows.count; i++) {
		u32 pair = other->rows.items[i].pair;

		note_first(&other->first_of, &other->rows.items[i], i);
		if (pair)
			changes->pair_of[(size_t)(pair - 1) * side_count + side] = (u32)i + 1;
	}
}

/* The block that a side has for a row of the baseline; NULL: none. */
static const struct code_block *pair_on(const struct block_changes *changes, u32 base, u32 side)
{
	u32 side_count = changes->comparison->settings.side_count;
	u32 row = changes->pair_of[(size_t)base * side_count + side];

	return row ? &changes->sides[side].rows.items[row - 1] : NULL;
}

static bool has_pair(const struct block_changes *changes, u32 base)
{
	for (u32 side = 1; side < changes->comparison->settings.side_count; side++)
		if (pair_on(changes, base, side))
			return true;
	return false;
}

/* Lines of a function by what changed on the side that the comparison is sorted by. */
static int compare_lines(const void *left, const void *right, void *context)
{
	const struct block_changes *changes = context;
	u32 side = changes->comparison->settings.order;
	u32 rows[] = {*(const u32 *)left, *(const u32 *)right};
	const struct code_block *of[2];
	u64 change[2] = {0};
	int order;

	for (u32 i = 0; i < 2; i++) {
		const struct code_block *pair = side ? pair_on(changes, rows[i], side) : NULL;

		of[i] = &changes->sides[0].rows.items[rows[i]];
		change[i] = pair ? amount(pair->change) : 0;
	}
	order = code_block_compare_functions(of[0], of[1]);
	if (!order)
		order = compare_numbers(change[1], change[0]);
	return order ? order : code_block_compare_places(of[0], of[1]);
}

static void find_lines(struct block_changes *changes)
{
	struct code_blocks *base = &changes->sides[0];
	bool is_strict = changes->comparison->settings.is_strict;

	for (u32 row = 0; row < base->rows.count; row++) {
		bool is_paired = has_pair(changes, row);

		if (is_strict || (is_paired && base->rows.items[row].has_start))
			*vec_add(&changes->lines) = row;
		base->unpaired += !is_paired && base->rows.items[row].has_start;
	}
	if (changes->lines.count)
		qsort_r(changes->lines.items, changes->lines.count, sizeof(u32), compare_lines,
			changes);
	for (size_t i = 0; i < changes->lines.count; i++)
		note_first(&changes->first_line, &base->rows.items[changes->lines.items[i]], i);
}

struct block_changes *block_changes_new(const struct comparison *comparison)
{
	struct block_changes *changes = must_alloc(sizeof(*changes));
	u32 side_count = comparison->settings.side_count;

	changes->comparison = comparison;
	changes->sides = must_alloc_array(side_count, sizeof(*changes->sides));
	gather(changes);
	changes->pair_of = must_alloc_array(changes->sides[0].rows.count * side_count + 1,
					    sizeof(*changes->pair_of));
	for (u32 side = 1; side < side_count; side++)
		pair_side(changes, side);
	find_lines(changes);
	return changes;
}

void block_changes_free(struct block_changes *changes)
{
	if (!changes)
		return;
	for (u32 side = 0; side < changes->comparison->settings.side_count; side++)
		code_blocks_release(&changes->sides[side]);
	free(changes->sides);
	free(changes->pair_of);
	vec_release(&changes->lines);
	idmap_release(&changes->first_line);
	free(changes);
}

void block_changes_freep(struct block_changes **changes)
{
	block_changes_free(*changes);
}

/* --- lines --- */

/* The function of an entry, as blocks have it. */
static struct code_block wanted_by(const struct comparison *comparison, u32 entry)
{
	const struct entry_list *list;
	const struct entry *shown = comparison_shown(comparison, entry, &list);
	const struct fold *fold = comparison->fold;
	const struct folded_frame *frame = &fold->frames.items[shown->frame];
	bool has_dso = entry_layout_has_key(&comparison->settings.list.layout, FIELD_DSO);

	return (struct code_block){
		.binary = has_dso ? fold->profile->binaries.items[frame->binary].short_name : 0,
		.function = fold->profile->functions.items[frame->function].name,
	};
}

/* How many rows of a side are of a function. */
static u32 count_rows(const struct code_blocks *blocks, const struct code_block *wanted)
{
	u32 first = idmap_get(&blocks->first_of, code_block_function(wanted)), count = 0;

	while (first && first - 1 + count < blocks->rows.count &&
	       !code_block_compare_functions(&blocks->rows.items[first - 1 + count], wanted))
		count++;
	return count;
}

/* perf ends with the first line for which a file has no block, and goes on for none if a file does
 * not have the function at all. */
static u32 lines_of_perf(const struct block_changes *changes, u32 entry, u32 count)
{
	const struct comparison *comparison = changes->comparison;
	struct code_block wanted = wanted_by(comparison, entry);

	for (u32 side = 1; side < comparison->settings.side_count; side++) {
		bool is_there = comparison_value(comparison, entry, side)->is_there;
		u32 most = is_there ? count_rows(&changes->sides[side], &wanted) : 1;

		count = most < count ? most : count;
	}
	return count;
}

u32 block_changes_lines(const struct block_changes *changes, u32 entry)
{
	struct code_block wanted = wanted_by(changes->comparison, entry);
	const struct code_block *base = changes->sides[0].rows.items;
	u32 first = idmap_get(&changes->first_line, code_block_function(&wanted)), count = 0;

	while (first && first - 1 + count < changes->lines.count &&
	       !code_block_compare_functions(&base[changes->lines.items[first - 1 + count]],
					     &wanted))
		count++;
	return changes->comparison->settings.is_strict ? lines_of_perf(changes, entry, count)
						       : count;
}

const struct code_block *block_changes_at(const struct block_changes *changes, u32 entry, u32 side,
					  u32 line)
{
	struct code_block wanted = wanted_by(changes->comparison, entry);
	const struct code_blocks *blocks = &changes->sides[side];
	u32 first = idmap_get(&changes->first_line, code_block_function(&wanted));

	if (!changes->comparison->settings.is_strict)
		return pair_on(changes, changes->lines.items[first - 1 + line], side);
	if (line >= count_rows(blocks, &wanted))
		return NULL;
	first = idmap_get(&blocks->first_of, code_block_function(&wanted));
	return &blocks->rows.items[first - 1 + line];
}

const struct code_block *block_changes_base(const struct block_changes *changes,
					    const struct code_block *block)
{
	return block->pair ? &changes->sides[0].rows.items[block->pair - 1] : NULL;
}
