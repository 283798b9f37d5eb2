/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Folding by function: one pass over the locations, one over the stacks (callers stand before what
 * they call), one over the counts.
 */
#include "profile/fold.h"

#include "base/memory.h"
#include "profile/alike_functions.h"
#include "profile/row_index.h"
#include "profile/source_text.h"

#include <string.h>

/* Frames that are known so far. */
struct known_frames {
	struct fold *fold;
	frame_id *of_function;
	const function_id *alike; /* by function: the one that stands for it; NULL: itself */
	struct idmap of_line;	  /* (function, source) → frame */
	struct text scratch;
};

/* Sets where a frame is in the source. */
static void find_source(struct known_frames *known, u32 line, struct folded_frame *frame)
{
	struct fold *fold = known->fold;
	const struct location_row *location = &fold->profile->locations.items[frame->location];
	struct text *scratch = &known->scratch;
	size_t file;

	text_truncate(scratch, 0);
	frame->has_source = source_text_append(scratch, fold->profile, location, line);
	frame->source = intern_text(&fold->sources, text_view(scratch));
	file = source_text_file_length(text_view(scratch));
	if (file)
		frame->file = intern_bytes(&fold->sources, text_view(scratch), file);
}

/* The first frame of this kind, which may be the one to be made. */
static frame_id first_of(frame_id *place, frame_id next)
{
	if (!*place)
		*place = next;
	return *place;
}

/* The frame of a location with the function of a row in `lines` (0: it has none) and the place in
 * the source of another. What has no name is a frame of its own. */
static frame_id frame_make(struct known_frames *known, location_id id, u32 line, u32 place)
{
	struct fold *fold = known->fold;
	const struct profile *profile = fold->profile;
	const struct location_row *location = &profile->locations.items[id];
	function_id named = profile->lines.items[line].function;
	function_id function = known->alike ? known->alike[named] : named;
	frame_id next = (frame_id)fold->frames.count;
	struct folded_frame frame = {
		.function = function,
		.location = id,
		.binary = profile_location_binary(profile, location),
		.space = location->space,
		.by_function = next,
		.by_line = next,
	};

	if (function)
		frame.by_function = first_of(&known->of_function[function], next);
	if (fold->key != FOLD_BY_FUNCTION)
		find_source(known, place, &frame);
	if (function && fold->key != FOLD_BY_FUNCTION)
		frame.by_line = first_of(
			idmap_place(&known->of_line, (u64)function << 32 | frame.source), next);
	if (fold->key == FOLD_BY_FUNCTION && frame.by_function != next)
		return frame.by_function;
	if (fold->key == FOLD_BY_LINE && frame.by_line != next)
		return frame.by_line;
	*vec_add(&fold->frames) = frame;
	return next;
}

static void fold_frames(struct fold *fold)
{
	const struct profile *profile = fold->profile;
	CLEANUP(freep) function_id *alike = alike_functions(profile);
	struct known_frames known = {
		.fold = fold,
		.alike = alike,
		.of_function = must_alloc_array(profile->functions.count, sizeof(frame_id)),
	};

	*vec_add(&fold->frames) = (struct folded_frame){0};
	for (location_id id = 1; id < profile->locations.count; id++) {
		const struct location_row *location = &profile->locations.items[id];
		u32 lines = location->line_count, first = location->first_line;
		u32 outermost = lines ? first + lines - 1 : 0;

		fold->first_inner[id] = (u32)fold->inner.count;
		fold->frame_of[id] = frame_make(&known, id, outermost, outermost);
		for (u32 inner = 1; inner < lines; inner++)
			*vec_add(&fold->inner) = frame_make(&known, id, outermost - inner,
							    outermost - inner);
		fold->leaf_of[id] = fold->frame_of[id];
		if (lines > 1 && fold->key != FOLD_BY_FUNCTION)
			fold->leaf_of[id] = frame_make(&known, id, outermost, first);
	}
	free(known.of_function);
	idmap_release(&known.of_line);
	text_release(&known.scratch);
}

static bool path_equals(const void *table, u32 row, const void *key)
{
	const struct folded_path *a = &((const struct fold *)table)->paths.items[row], *b = key;

	return a->caller == b->caller && a->frame == b->frame && a->mark == b->mark;
}

struct path_making {
	struct fold *fold;
	path_id *path_of;	/* by stack_id */
	VEC(path_id) first_of;	/* by path_id: the first path called from it; 0: none yet */
	struct row_index index; /* of the others: few, as most frames are called from one only */
	struct idmap likely_of;
};

static u64 path_hash(const struct folded_path *path)
{
	return hash_mix(path->mark, (u64)path->caller << 32 | path->frame);
}

static path_id path_make(struct path_making *making, struct folded_path path)
{
	struct fold *fold = making->fold;
	path_id *first = &making->first_of.items[path.caller];
	path_id next = (path_id)fold->paths.count, row = *first;

	if (row && path_equals(fold, row, &path))
		return row;
	if (!row)
		*first = row = next;
	else
		row = row_index_find(&making->index, (struct row_wanted){path_hash(&path), next,
									 path_equals, fold, &path});
	if (row != next)
		return row;
	path.depth = fold->paths.items[path.caller].depth + 1;
	if (path.depth > fold->deepest)
		fold->deepest = path.depth;
	*vec_add(&fold->paths) = path;
	*vec_add(&making->first_of) = 0;
	return row;
}

/* The same frame, but not certain: another row, so that graphs can tell. */
static frame_id likely_frame(struct fold *fold, struct idmap *likely_of, frame_id frame)
{
	struct folded_frame likely = fold->frames.items[frame];
	frame_id next = (frame_id)fold->frames.count;
	u32 *place = idmap_place(likely_of, frame);

	if (*place)
		return *place;
	*place = next;
	likely.is_likely = true;
	*vec_add(&fold->frames) = likely;
	/* They stand for themselves, or for likely frames too. */
	likely.by_function = likely.by_function == frame
				     ? next
				     : likely_frame(fold, likely_of, likely.by_function);
	likely.by_line = likely.by_line == frame ? next
						 : likely_frame(fold, likely_of, likely.by_line);
	fold->frames.items[next] = likely;
	return next;
}

/* The outermost frame of a location, called from a path. */
static struct folded_path outer_path(const struct fold *fold, const struct stack_row *stack,
				     path_id caller)
{
	return (struct folded_path){
		.caller = caller, .frame = fold->frame_of[stack->location], .mark = stack->mark};
}

/* The path of a stack: its caller's, and then its location's function and what is inlined there. */
static path_id stack_path(struct path_making *making, const struct stack_row *stack)
{
	struct fold *fold = making->fold;
	u32 lines = fold->profile->locations.items[stack->location].line_count;
	struct folded_path path = outer_path(fold, stack, making->path_of[stack->caller]);

	for (u32 inner = 0;; inner++) {
		if (stack->origin == ORIGIN_LIKELY)
			path.frame = likely_frame(fold, &making->likely_of, path.frame);
		path.caller = path_make(making, path);
		if (inner + 1 >= lines)
			return path.caller;
		path.frame = fold->inner.items[fold->first_inner[stack->location] + inner];
		path.mark = 0;
	}
}

/* Gets from memory what stack_path() will look at, if the path of the caller is known. If not, it
 * is near. */
static void expect_path(const struct path_making *making, const struct stack_row *stack)
{
	path_id caller = making->path_of[stack->caller];
	struct folded_path path = outer_path(making->fold, stack, caller);

	if (!caller)
		return;
	__builtin_prefetch(&making->first_of.items[caller]);
	row_index_expect(&making->index, path_hash(&path));
}

/* The path of each stack row, owned by the caller. */
static path_id *fold_stacks(struct fold *fold)
{
	enum { AHEAD = 16 };
	const struct profile *profile = fold->profile;
	struct path_making making = {
		.fold = fold,
		.path_of = must_alloc_array(profile->stacks.count, sizeof(*making.path_of)),
	};

	*vec_add(&fold->paths) = (struct folded_path){0};
	*vec_add(&making.first_of) = 0;
	for (stack_id id = 1; id < profile->stacks.count; id++) {
		if (id + AHEAD < profile->stacks.count)
			expect_path(&making, &profile->stacks.items[id + AHEAD]);
		making.path_of[id] = stack_path(&making, &profile->stacks.items[id]);
	}
	vec_release(&making.first_of);
	row_index_release(&making.index);
	idmap_release(&making.likely_of);
	return making.path_of;
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
			.from = fold->leaf_of[branch->from],
			.to = fold->leaf_of[branch->to],
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

static struct folded_row fold_count(const struct fold *fold, const struct count_row *count,
				    const path_id *path_of, const u32 *branch_of)
{
	return (struct folded_row){
		.path = path_of[count->stack],
		.leaf = fold->leaf_of[count->leaf],
		.branch = branch_of[count->branch],
		.labels = count->labels,
		.source = count->source,
		.first_thread = count->first_thread,
		.space = count->space,
		.weight = count->weight,
		.samples = count->samples,
	};
}

static u64 row_hash(const struct folded_row *row)
{
	return hash_mix(hash_mix(row->branch, (u64)row->path << 32 | row->leaf),
			(u64)row->labels << 32 | row->source << 8 | row->space);
}

static void add_row(struct fold *fold, struct row_index *index, const struct folded_row *folded)
{
	u32 next = (u32)fold->rows.count + 1;
	u32 row = row_index_find(index, (struct row_wanted){row_hash(folded), next,
							    row_equals_folded, fold, folded});

	if (row == next) {
		*vec_add(&fold->rows) = *folded;
		return;
	}
	fold->rows.items[row - 1].weight += folded->weight;
	fold->rows.items[row - 1].samples += folded->samples;
}

static void fold_counts(struct fold *fold, const path_id *path_of, const u32 *branch_of)
{
	enum { AHEAD = 16 }; /* rows that are on their way from memory */
	const struct profile *profile = fold->profile;
	struct folded_row coming[AHEAD];
	struct row_index index = {0};

	for (size_t i = 0; i < profile->counts.count + AHEAD; i++) {
		struct folded_row *row = &coming[i % AHEAD];

		if (i >= AHEAD)
			add_row(fold, &index, row);
		if (i >= profile->counts.count)
			continue;
		*row = fold_count(fold, &profile->counts.items[i], path_of, branch_of);
		row_index_expect(&index, row_hash(row));
	}
	row_index_release(&index);
}

struct fold *fold_new(const struct profile *profile, enum fold_key key)
{
	struct fold *fold = must_alloc(sizeof(*fold));
	path_id *path_of;
	u32 *branch_of;

	fold->profile = profile;
	fold->key = key;
	fold->frame_of = must_alloc_array(profile->locations.count, sizeof(*fold->frame_of));
	fold->leaf_of = must_alloc_array(profile->locations.count, sizeof(*fold->leaf_of));
	fold->first_inner = must_alloc_array(profile->locations.count, sizeof(*fold->first_inner));
	fold_frames(fold);
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
	vec_release(&fold->inner);
	intern_release(&fold->sources);
	free(fold->frame_of);
	free(fold->leaf_of);
	free(fold->first_inner);
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

frame_id fold_frame_by(const struct fold *fold, frame_id frame, enum fold_key key)
{
	const struct folded_frame *row = &fold->frames.items[frame];

	if (key == FOLD_BY_FUNCTION)
		return row->by_function;
	return key == FOLD_BY_LINE ? row->by_line : frame;
}

const char *fold_frame_file(const struct fold *fold, frame_id frame)
{
	return intern_view(&fold->sources, fold->frames.items[frame].file);
}

const char *fold_frame_source(const struct fold *fold, frame_id frame)
{
	return intern_view(&fold->sources, fold->frames.items[frame].source);
}
