/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A branch is made of parts, each a path and a span of rows: rows whose stacks begin alike stand
 * together. If callers come first, a part falls into those of what is called from its path; if they
 * come last, it goes on to its path's caller as a whole.
 */
#include "profile/call_branches.h"

#include "base/idmap.h"

enum { FEW_BRANCHES = 8 }; /* of one: no table is needed to find one of them */

struct chain_part {
	u32 at;	      /* where its chains have come to: place of a path, or path_id, as below */
	u32 left;     /* frames that follow, if callees come first */
	u32 from, to; /* of the placed rows */
	u32 next;     /* of the same branch, from 1 */
	bool is_own;  /* as that of the strand */
};

/* What some rows sum up to. */
struct row_sums {
	u64 hits, samples;
	u32 first_row, last_row, count;
};

/* Branches that are being made behind one. */
struct making {
	struct call_branches *branches;
	struct call_branch_ends *ends;
	struct idmap of_frame; /* branch + 1, if there are many */
};

static const struct placed_row *row_at(const struct call_branches *branches, u32 number)
{
	return &branches->list->strands->rows.items[number];
}

static bool callers_first(const struct call_branches *branches)
{
	return branches->list->settings.order == CALLER_FIRST;
}

static frame_id frame_of(const struct call_branches *branches, path_id path)
{
	return branches->list->fold->paths.items[path].frame;
}

static void add_row(struct row_sums *sums, const struct placed_row *row)
{
	if (!sums->count++ || row->row < sums->first_row)
		sums->first_row = row->row;
	if (row->row > sums->last_row)
		sums->last_row = row->row;
	sums->hits += row->weight;
	sums->samples += row->samples;
}

/* Whether a row of a part's span belongs to it. */
static bool is_in_part(const struct call_branches *branches, const struct chain_part *part,
		       const struct placed_row *row)
{
	return (row->own == branches->entry + 1) == part->is_own;
}

/* Sums up a part, which ends in front of the first row at or behind `end_place`. */
static struct row_sums cut_part(const struct call_branches *branches, struct chain_part *part,
				u32 end_place)
{
	struct row_sums sums = {0};
	u32 number = part->from;

	for (; number < part->to; number++) {
		const struct placed_row *row = row_at(branches, number);

		if (row->place >= end_place)
			break;
		if (is_in_part(branches, part, row))
			add_row(&sums, row);
	}
	part->to = number;
	return sums;
}

/* --- branches --- */

static void add_mark(struct branch_sums *sums, const struct branch_mark *mark, u64 samples)
{
	sums->branches += samples;
	if (mark->end == BRANCH_TO) {
		sums->predicted += mark->flags & BRANCH_PREDICTED ? samples : 0;
		sums->aborted += mark->flags & BRANCH_ABORTED ? samples : 0;
		return;
	}
	sums->cycles += samples * ((mark->flags & BRANCH_CYCLES) >> BRANCH_CYCLES_SHIFT);
	sums->iterations += samples * mark->iterations;
	sums->loop_cycles += samples * mark->loop_cycles;
}

/* What a frame's mark says of a part; whether it is one of where a branch came from or of where it
 * went, the last row says. */
static void add_part_mark(struct call_branches *branches, u32 number, u32 at,
			  const struct row_sums *sums)
{
	struct call_branch *branch = &branches->branches.items[number];
	path_id path = callers_first(branches) ? branches->list->strands->order.paths[at] : at;
	const struct branch_mark *mark =
		&branches->settings->marks[branches->list->fold->paths.items[path].mark];

	if (mark->end == NO_BRANCH)
		return;
	add_mark(&branches->sums.items[number], mark, sums->samples);
	if (sums->last_row + 1 < branch->last_row)
		return;
	branch->last_row = sums->last_row + 1;
	branches->sums.items[number].is_to = mark->end == BRANCH_TO;
}

static u32 new_branch(struct making *making, frame_id frame)
{
	struct call_branches *branches = making->branches;

	*vec_add(&branches->branches) = (struct call_branch){.frame = frame};
	if (branches->settings->marks)
		*vec_add(&branches->sums) = (struct branch_sums){0};
	making->ends->count++;
	return (u32)branches->branches.count - 1;
}

static u32 find_among_few(const struct making *making, frame_id frame)
{
	u32 first = making->ends->first, end = first + making->ends->count;

	for (u32 branch = first; branch < end; branch++)
		if (making->branches->branches.items[branch].frame == frame)
			return branch;
	return end;
}

/* From now on they are found by their frames. */
static void enter_few(struct making *making)
{
	u32 first = making->ends->first;

	for (u32 branch = first; branch < first + making->ends->count; branch++)
		*idmap_place(&making->of_frame,
			     making->branches->branches.items[branch].frame) = branch + 1;
}

/* The branch of a frame, made if need be. */
static u32 branch_of(struct making *making, frame_id frame)
{
	u32 count = making->ends->count, *place;

	if (count <= FEW_BRANCHES) {
		u32 branch = find_among_few(making, frame);

		if (branch < making->ends->first + count)
			return branch;
		if (count < FEW_BRANCHES)
			return new_branch(making, frame);
		enter_few(making);
	}
	place = idmap_place(&making->of_frame, frame);
	if (!*place)
		*place = new_branch(making, frame) + 1;
	return *place - 1;
}

/* Adds what has come to a path to the branch of its frame. */
static void add_part(struct making *making, frame_id frame, struct chain_part part,
		     const struct row_sums *sums)
{
	struct call_branches *branches = making->branches;
	const struct fold *fold = branches->list->fold;
	struct call_branch *branch;
	u32 number;

	if (!sums->count)
		return;
	number = branch_of(making, fold_frame_by(fold, frame, branches->settings->key));
	branch = &branches->branches.items[number];
	if (!branch->parts || sums->first_row < branch->first_row)
		branch->first_row = sums->first_row;
	branch->hits += sums->hits;
	branch->samples += sums->samples;
	part.next = branch->parts;
	*vec_add(&branches->parts) = part;
	branch->parts = (u32)branches->parts.count;
	if (branches->settings->marks)
		add_part_mark(branches, number, part.at, sums);
}

/* --- the first frames --- */

/* How many frames a row's chain has from a strand's start on, if callees come first: what is behind
 * max_stack is cut off. */
static u32 frames_from(const struct call_branches *branches, const struct strand *strand,
		       const struct placed_row *row)
{
	const struct fold *fold = branches->list->fold;
	u32 limit = branches->list->settings.max_stack;
	u32 depth = fold->paths.items[strand->start].depth;
	u32 position = fold->paths.items[fold->rows.items[row->row].path].depth - depth;

	if (!limit)
		return depth;
	if (position >= limit)
		return 0;
	return depth < limit - position ? depth : limit - position;
}

static void begin_caller_first(struct making *making, const struct strand *strand)
{
	const struct path_order *order = &making->branches->list->strands->order;
	struct chain_part part = {
		.at = order->places[strand->start],
		.from = strand->from,
		.to = strand->to,
		.is_own = strand->is_own,
	};
	struct row_sums sums = cut_part(making->branches, &part, UINT32_MAX);

	add_part(making, order->items[part.at].frame, part, &sums);
}

/* Rows with as many frames are a part. */
static void begin_callee_first(struct making *making, const struct strand *strand)
{
	const struct call_branches *branches = making->branches;
	u32 to;

	for (u32 from = strand->from; from < strand->to; from = to) {
		u32 frames = frames_from(branches, strand, row_at(branches, from));
		struct chain_part part = {.at = strand->start,
					  .left = frames - 1,
					  .from = from,
					  .is_own = strand->is_own};
		struct row_sums sums;

		for (to = from + 1; to < strand->to; to++)
			if (frames_from(branches, strand, row_at(branches, to)) != frames)
				break;
		part.to = to;
		sums = cut_part(branches, &part, UINT32_MAX);
		if (frames)
			add_part(making, frame_of(branches, strand->start), part, &sums);
	}
}

struct call_branch_ends call_branches_begin(struct call_branches *branches,
					    const struct strand *strands, u32 strand_count)
{
	struct call_branch_ends ends = {.first = (u32)branches->branches.count};
	struct making making = {.branches = branches, .ends = &ends};

	for (u32 i = 0; i < strand_count; i++) {
		if (callers_first(branches))
			begin_caller_first(&making, &strands[i]);
		else
			begin_callee_first(&making, &strands[i]);
	}
	idmap_release(&making.of_frame);
	return ends;
}

/* --- what follows --- */

static void add_end(struct call_branch_ends *ends, const struct row_sums *sums)
{
	ends->hits += sums->hits;
	ends->samples += sums->samples;
}

/* The rows of a part come in the order of places: those of its own path first, then those of what
 * it calls, one after the other. */
static void follow_callees(struct making *making, struct chain_part part)
{
	const struct path_order *order = &making->branches->list->strands->order;
	struct chain_part next = part;
	u32 callee = part.at + 1;
	struct row_sums sums;

	sums = cut_part(making->branches, &next, callee);
	add_end(making->ends, &sums);
	while (next.to < part.to) {
		u32 place = row_at(making->branches, next.to)->place;

		while (order->items[callee].end <= place)
			callee = order->items[callee].end;
		next.at = callee;
		next.from = next.to;
		next.to = part.to;
		sums = cut_part(making->branches, &next, order->items[callee].end);
		add_part(making, order->items[callee].frame, next, &sums);
	}
}

static void follow_caller(struct making *making, struct chain_part part)
{
	struct row_sums sums = cut_part(making->branches, &part, UINT32_MAX);

	if (!part.left) {
		add_end(making->ends, &sums);
		return;
	}
	part.at = making->branches->list->fold->paths.items[part.at].caller;
	part.left--;
	add_part(making, frame_of(making->branches, part.at), part, &sums);
}

struct call_branch_ends call_branches_follow(struct call_branches *branches, u32 branch)
{
	struct call_branch_ends ends = {.first = (u32)branches->branches.count};
	struct making making = {.branches = branches, .ends = &ends};
	u32 number = branches->branches.items[branch].parts;

	while (number) {
		struct chain_part part = branches->parts.items[number - 1];

		number = part.next;
		if (callers_first(branches))
			follow_callees(&making, part);
		else
			follow_caller(&making, part);
	}
	idmap_release(&making.of_frame);
	return ends;
}

void call_branches_release(struct call_branches *branches)
{
	vec_release(&branches->branches);
	vec_release(&branches->sums);
	vec_release(&branches->parts);
}
