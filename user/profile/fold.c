/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Folding by function: one pass over the locations, one over the stacks (callers stand before what
 * they call), one over the counts.
 */
#include "profile/fold.h"

#include "profile/row_index.h"

#include <string.h>

/* The function that holds a location; of inlined ones the outermost, which has the symbol. */
static function_id function_of(const struct profile *profile, const struct location_row *location)
{
	u32 last = location->first_line + location->line_count - 1;

	return location->line_count ? profile->lines.items[last].function : 0;
}

/* The binary of a location. Behind the kernel's text only what has a name is the kernel's. */
static binary_id binary_of(const struct profile *profile, const struct location_row *location)
{
	const struct binary_row *binary = &profile->binaries.items[location->binary];

	if (binary->kind == BINARY_KERNEL && !location->line_count &&
	    location->address >= binary->end)
		return 0;
	return location->binary;
}

static void fold_frames(struct fold *fold, enum fold_key key)
{
	const struct profile *profile = fold->profile;
	frame_id *frame_of_function = must_alloc_array(profile->functions.count, sizeof(frame_id));

	*vec_add(&fold->frames) = (struct folded_frame){0};
	for (location_id id = 1; id < profile->locations.count; id++) {
		const struct location_row *location = &profile->locations.items[id];
		function_id function = function_of(profile, location);
		bool is_known = function && key == FOLD_BY_FUNCTION && frame_of_function[function];

		if (is_known) {
			fold->frame_of[id] = frame_of_function[function];
			continue;
		}
		fold->frame_of[id] = (frame_id)fold->frames.count;
		frame_of_function[function] = fold->frame_of[id];
		*vec_add(&fold->frames) = (struct folded_frame){
			.function = function,
			.location = id,
			.binary = binary_of(profile, location),
			.space = location->space,
		};
	}
	free(frame_of_function);
}

static bool path_equals(const void *table, u32 row, const void *key)
{
	const struct folded_path *a = &((const struct fold *)table)->paths.items[row], *b = key;

	return a->caller == b->caller && a->frame == b->frame && a->mark == b->mark;
}

static path_id path_make(struct fold *fold, struct row_index *index, struct folded_path path)
{
	u64 hash = hash_mix(path.mark, (u64)path.caller << 32 | path.frame);
	u32 next = (u32)fold->paths.count;
	u32 row = row_index_find(index, (struct row_wanted){hash, next, path_equals, fold, &path});

	path.depth = fold->paths.items[path.caller].depth + 1;
	if (row == next)
		*vec_add(&fold->paths) = path;
	if (path.depth > fold->deepest)
		fold->deepest = path.depth;
	return row;
}

/* The same frame, but not certain: another row, so that graphs can tell. */
static frame_id likely_frame(struct fold *fold, struct idmap *likely_of, frame_id frame)
{
	u32 *place = idmap_place(likely_of, frame);

	if (!*place) {
		struct folded_frame likely = fold->frames.items[frame];

		likely.is_likely = true;
		*place = (frame_id)fold->frames.count;
		*vec_add(&fold->frames) = likely;
	}
	return *place;
}

/* The path of each stack row, owned by the caller. */
static path_id *fold_stacks(struct fold *fold)
{
	const struct profile *profile = fold->profile;
	path_id *path_of = must_alloc_array(profile->stacks.count, sizeof(*path_of));
	struct row_index index = {0};
	struct idmap likely_of = {0};

	*vec_add(&fold->paths) = (struct folded_path){0};
	for (stack_id id = 1; id < profile->stacks.count; id++) {
		const struct stack_row *stack = &profile->stacks.items[id];
		frame_id frame = fold->frame_of[stack->location];

		if (stack->origin == ORIGIN_LIKELY)
			frame = likely_frame(fold, &likely_of, frame);
		path_of[id] = path_make(fold, &index,
					(struct folded_path){.caller = path_of[stack->caller],
							     .frame = frame,
							     .mark = stack->mark});
	}
	row_index_release(&index);
	idmap_release(&likely_of);
	return path_of;
}

static bool branch_equals(const void *table, u32 row, const void *key)
{
	const struct folded_branch *a = &((const struct fold *)table)->branches.items[row];
	const struct folded_branch *b = key;

	return a->from == b->from && a->to == b->to && a->flags == b->flags;
}

/* The folded branch of each branch row, owned by the caller. */
static u32 *fold_branches(struct fold *fold)
{
	const struct profile *profile = fold->profile;
	u32 *branch_of = must_alloc_array(profile->branches.count, sizeof(*branch_of));
	struct row_index index = {0};

	*vec_add(&fold->branches) = (struct folded_branch){0};
	for (branch_id id = 1; id < profile->branches.count; id++) {
		const struct branch_row *branch = &profile->branches.items[id];
		struct folded_branch folded = {
			.from = fold->frame_of[branch->from],
			.to = fold->frame_of[branch->to],
			.flags = branch->flags,
		};
		u64 hash = hash_mix(hash_mix(0, (u64)folded.from << 32 | folded.to), folded.flags);
		u32 next = (u32)fold->branches.count;

		branch_of[id] = row_index_find(
			&index, (struct row_wanted){hash, next, branch_equals, fold, &folded});
		if (branch_of[id] == next)
			*vec_add(&fold->branches) = folded;
	}
	row_index_release(&index);
	return branch_of;
}

static bool row_equals_folded(const void *table, u32 row, const void *key)
{
	const struct folded_row *a = &((const struct fold *)table)->rows.items[row - 1], *b = key;

	return a->path == b->path && a->leaf == b->leaf && a->labels == b->labels &&
	       a->branch == b->branch && a->source == b->source && a->space == b->space;
}

static void fold_counts(struct fold *fold, const path_id *path_of, const u32 *branch_of)
{
	const struct profile *profile = fold->profile;
	struct row_index index = {0};

	for (size_t i = 0; i < profile->counts.count; i++) {
		const struct count_row *count = &profile->counts.items[i];
		struct folded_row folded = {
			.path = path_of[count->stack],
			.leaf = fold->frame_of[count->leaf],
			.branch = branch_of[count->branch],
			.labels = count->labels,
			.source = count->source,
			.first_thread = count->first_thread,
			.space = count->space,
			.weight = count->weight,
			.samples = count->samples,
		};
		u64 hash = hash_mix(hash_mix(folded.branch, (u64)folded.path << 32 | folded.leaf),
				    (u64)folded.labels << 32 | folded.source << 8 | folded.space);
		u32 next = (u32)fold->rows.count + 1;
		u32 row = row_index_find(
			&index, (struct row_wanted){hash, next, row_equals_folded, fold, &folded});

		if (row == next) {
			*vec_add(&fold->rows) = folded;
			continue;
		}
		fold->rows.items[row - 1].weight += folded.weight;
		fold->rows.items[row - 1].samples += folded.samples;
	}
	row_index_release(&index);
}

struct fold *fold_new(const struct profile *profile, enum fold_key key)
{
	struct fold *fold = must_alloc(sizeof(*fold));
	path_id *path_of;
	u32 *branch_of;

	fold->profile = profile;
	fold->frame_of = must_alloc_array(profile->locations.count, sizeof(*fold->frame_of));
	fold_frames(fold, key);
	path_of = fold_stacks(fold);
	branch_of = fold_branches(fold);
	fold_counts(fold, path_of, branch_of);
	free(path_of);
	free(branch_of);
	return fold;
}

void fold_free(struct fold *fold)
{
	if (!fold)
		return;
	vec_release(&fold->frames);
	vec_release(&fold->paths);
	vec_release(&fold->branches);
	vec_release(&fold->rows);
	free(fold->frame_of);
	free(fold);
}

const char *fold_frame_name(const struct fold *fold, frame_id frame)
{
	function_id function = fold->frames.items[frame].function;

	return profile_text(fold->profile, fold->profile->functions.items[function].name);
}

u64 fold_frame_start(const struct fold *fold, frame_id frame)
{
	const struct folded_frame *row = &fold->frames.items[frame];
	const struct binary_row *binary = &fold->profile->binaries.items[row->binary];
	const struct location_row *location = &fold->profile->locations.items[row->location];

	if (row->function)
		return fold->profile->functions.items[row->function].start;
	if (location->seen_at)
		return location->seen_at;
	return binary->kind == BINARY_MODULE || binary->kind == BINARY_KSYMBOL
		       ? location->address - binary->start
		       : location->address;
}
