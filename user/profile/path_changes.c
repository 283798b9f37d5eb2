/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stacks of several runs as one tree.
 */
#include "profile/path_changes.h"

#include "profile/comparison_parts.h"
#include "profile/entry_index.h"
#include "profile/row_index.h"

#include <math.h>

enum { MANY_PAIRS = 1 << 20 }; /* what all lines show decides alone */

struct growing {
	struct path_changes *paths;
	const struct comparison *comparison;
	u32 side;
	struct row_index index;
	VEC(struct sampled) parts; /* by node, by run */
	u32 *runs;		   /* of the comparison that are of either side */
	u32 run_count, before_count;
	frame_id *frames;	/* of the row's stack, innermost first */
	struct sampled *totals; /* by run, as what follows */
	double *seconds;
};

/* --- the tree --- */

static string_id dso_of(const struct fold *fold, frame_id frame)
{
	return fold->profile->binaries.items[fold->frames.items[frame].binary].short_name;
}

/* What has no name is one node for each binary. */
static string_id name_of(const struct fold *fold, frame_id frame)
{
	return fold->profile->functions.items[fold->frames.items[frame].function].name;
}

static bool node_equals(const void *table, u32 row, const void *key)
{
	const struct growing *growing = table;
	const struct fold *fold = growing->comparison->fold;
	const struct path_node *a = &growing->paths->nodes.items[row], *b = key;

	return a->caller == b->caller && name_of(fold, a->frame) == name_of(fold, b->frame) &&
	       dso_of(fold, a->frame) == dso_of(fold, b->frame);
}

static u32 find_node(struct growing *growing, u32 caller, frame_id frame)
{
	const struct fold *fold = growing->comparison->fold;
	struct path_node node = {.caller = caller, .frame = frame};
	u64 hash = hash_mix(hash_mix(caller, name_of(fold, frame)), dso_of(fold, frame));
	u32 next = (u32)growing->paths->nodes.count;
	u32 row = row_index_find(&growing->index,
				 (struct row_wanted){hash, next, node_equals, growing, &node});

	if (row != next)
		return row;
	node.depth = growing->paths->nodes.items[caller].depth + 1;
	*vec_add(&growing->paths->nodes) = node;
	for (u32 i = 0; i < growing->run_count; i++)
		*vec_add(&growing->parts) = (struct sampled){0};
	return row;
}

static u32 stack_of(struct growing *growing, const struct folded_row *row)
{
	const struct fold *fold = growing->comparison->fold;
	u32 count = 0;

	for (path_id path = row->path; path; path = fold->paths.items[path].caller)
		growing->frames[count++] = fold->paths.items[path].frame;
	if (!count)
		growing->frames[count++] = row->leaf;
	return count;
}

static void add_row(struct growing *growing, u32 run, const struct folded_row *row)
{
	u32 node = 0;

	for (u32 count = stack_of(growing, row); count > 0; count--) {
		struct sampled *part;

		node = find_node(growing, node, growing->frames[count - 1]);
		part = &growing->parts.items[(size_t)node * growing->run_count + run];
		part->weight += (double)row->weight;
		part->samples += (double)row->samples;
	}
}

static void add_run(struct growing *growing, u32 run)
{
	const struct entry_list *list = growing->comparison->lists[growing->runs[run]];
	const struct fold *fold = growing->comparison->fold;

	for (size_t i = 0; i < fold->rows.count; i++) {
		const struct folded_row *row = &fold->rows.items[i];

		if (row->source == list->settings.source && list->index->label_keys[row->labels])
			add_row(growing, run, row);
	}
}

static void choose_runs(struct growing *growing)
{
	const struct comparison *comparison = growing->comparison;
	const struct comparison_settings *settings = &comparison->settings;

	for (u32 run = 0; run < settings->run_count; run++) {
		if (!comparison_asks_run(comparison, run, growing->side))
			continue;
		growing->before_count += settings->runs[run].side == 0;
		growing->totals[growing->run_count] = (struct sampled){
			.weight = (double)comparison->run_totals[run].period,
			.samples = (double)comparison->run_totals[run].samples,
		};
		growing->runs[growing->run_count++] = run;
	}
}

/* --- judging --- */

static void judge(struct growing *growing, const struct changes *changes)
{
	size_t count = growing->paths->nodes.count;
	CLEANUP(freep) struct change *rows = must_alloc_array(count, sizeof(*rows));
	CLEANUP(freep)
	struct significance_question *questions = must_alloc_array(count, sizeof(*questions));
	struct significance_settings settings = {
		.alpha = changes->alpha,
		.totals = growing->totals,
		.seconds = growing->seconds,
		.before_count = growing->before_count,
		.after_count = growing->run_count - growing->before_count,
	};
	const struct folded_frame *frames = growing->comparison->fold->frames.items;

	for (size_t i = 1; i < count; i++)
		questions[i - 1] = (struct significance_question){
			.parts = &growing->parts.items[i * growing->run_count],
			.dispersion = {changes->dispersion, MANY_PAIRS},
			.is_kernel = frames[growing->paths->nodes.items[i].frame].space ==
				     SPACE_KERNEL,
		};
	significance_judge(&settings, questions, count - 1, rows);
	for (size_t i = 1; i < count; i++)
		growing->paths->nodes.items[i].change = rows[i - 1];
}

/* --- what is shown --- */

static double change_of(const struct path_changes *paths, u32 node)
{
	const struct change *change = &paths->nodes.items[node].change;

	return fabs(change->after - change->before);
}

/* Callers stand before what they call. */
static void choose_shown(struct path_changes *paths, double least)
{
	for (size_t i = paths->nodes.count; i-- > 1;) {
		struct path_node *node = &paths->nodes.items[i];

		node->is_shown |= change_of(paths, (u32)i) >= least ||
				  node->change.verdict == BEYOND_CHANCE;
		paths->nodes.items[node->caller].is_shown |= node->is_shown;
		paths->nodes.items[node->caller].child_count++;
	}
}

static int compare_children(const void *left, const void *right, void *context)
{
	const struct path_changes *paths = context;
	u32 a = *(const u32 *)left, b = *(const u32 *)right;
	u32 caller_of_a = paths->nodes.items[a].caller, caller_of_b = paths->nodes.items[b].caller;
	double of_a = change_of(paths, a), of_b = change_of(paths, b);

	if (caller_of_a != caller_of_b)
		return caller_of_a < caller_of_b ? -1 : 1;
	if (of_a != of_b)
		return of_a > of_b ? -1 : 1;
	return (a > b) - (a < b);
}

static void sort_children(struct path_changes *paths)
{
	u32 count = (u32)paths->nodes.count - 1, first = 0;

	paths->children = must_alloc_array(count, sizeof(*paths->children));
	for (u32 i = 0; i < count; i++)
		paths->children[i] = i + 1;
	qsort_r(paths->children, count, sizeof(*paths->children), compare_children, paths);
	for (u32 i = 0; i <= count; i++) {
		paths->nodes.items[i].first_child = first;
		first += paths->nodes.items[i].child_count;
	}
}

struct path_changes *path_changes_new(const struct changes *changes, u32 side, double least)
{
	const struct comparison *comparison = changes->comparison;
	u32 run_count = comparison->settings.run_count;
	struct path_changes *paths = must_alloc(sizeof(*paths));
	struct growing growing = {
		.paths = paths,
		.comparison = comparison,
		.side = side,
		.runs = must_alloc_array(run_count, sizeof(u32)),
		.totals = must_alloc_array(run_count, sizeof(struct sampled)),
		.seconds = must_alloc_array(run_count, sizeof(double)),
		.frames = must_alloc_array(comparison->fold->deepest + 1, sizeof(frame_id)),
	};

	choose_runs(&growing);
	*vec_add(&paths->nodes) = (struct path_node){0};
	for (u32 i = 0; i < growing.run_count; i++)
		*vec_add(&growing.parts) = (struct sampled){0};
	for (u32 run = 0; run < growing.run_count; run++)
		add_run(&growing, run);
	judge(&growing, changes);
	choose_shown(paths, least);
	sort_children(paths);
	row_index_release(&growing.index);
	vec_release(&growing.parts);
	free(growing.runs);
	free(growing.totals);
	free(growing.seconds);
	free(growing.frames);
	return paths;
}

void path_changes_free(struct path_changes *paths)
{
	if (!paths)
		return;
	vec_release(&paths->nodes);
	free(paths->children);
	free(paths);
}

void path_changes_freep(struct path_changes **paths)
{
	path_changes_free(*paths);
}
