/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Builds the call graph of an entry from the root on: of each node only the branches that reach the
 * threshold are followed, and as far as it takes to see where runs of frames end.
 *
 * Source of the rules: Linux 6.1, tools/perf/util/callchain.c. Where perf leaves equal siblings to
 * the addresses of its own objects, which mostly grow, ours stand with the binary that was mapped
 * last first.
 */
#include "profile/call_tree.h"

#include <string.h>

#include "profile/call_branches.h"

struct growing {
	const struct entry_list *list;
	const struct call_graph_settings *settings;
	struct call_branches branches;
	VEC(struct call_branch_ends) ends; /* by node: what is behind its last frame */
	u64 least_hits;			   /* unless fractal */
};

/* --- nodes --- */

static int compare_descending(u64 a, u64 b)
{
	return (a < b) - (a > b);
}

static u32 mapped_order(const struct fold *fold, frame_id frame)
{
	return fold->profile->binaries.items[fold->frames.items[frame].binary].mapped_order;
}

/* By what frames are told apart: functions, or addresses. */
static u64 start_of(const struct growing *growing, frame_id frame)
{
	const struct fold *fold = growing->list->fold;

	if (growing->settings->key == FOLD_BY_FUNCTION)
		return fold_frame_start(fold, frame);
	return fold->profile->locations.items[fold->frames.items[frame].location].address;
}

/* By where they are in the source, the later text first; 0 if that does not tell them apart. */
static int compare_sources(const struct growing *growing, frame_id left, frame_id right)
{
	const struct fold *fold = growing->list->fold;
	string_id a = fold->frames.items[left].source, b = fold->frames.items[right].source;

	if (growing->settings->key != FOLD_BY_LINE || !a || !b)
		return 0;
	return strcmp(intern_view(&fold->sources, b), intern_view(&fold->sources, a));
}

/* Heaviest first; of equal ones, later lines, later binaries, higher addresses and what came later
 * first. */
static int compare_branches(const void *left, const void *right, void *context)
{
	const struct growing *growing = context;
	const struct fold *fold = growing->list->fold;
	const struct call_branch *a = &growing->branches.branches.items[*(const u32 *)left];
	const struct call_branch *b = &growing->branches.branches.items[*(const u32 *)right];
	int order = compare_descending(a->hits, b->hits);

	if (order)
		return order;
	order = compare_sources(growing, a->frame, b->frame);
	if (order)
		return order;
	order = compare_descending(mapped_order(fold, a->frame), mapped_order(fold, b->frame));
	if (order)
		return order;
	order = compare_descending(start_of(growing, a->frame), start_of(growing, b->frame));
	return order ? order : compare_descending(a->first_row, b->first_row);
}

static u64 least_hits_below(const struct growing *growing, u64 children_hits)
{
	double share = (double)children_hits * (growing->settings->threshold_percent / 100.0);

	if (growing->settings->type != CALL_GRAPH_FRACTAL)
		return growing->least_hits;
	return (u64)share + ((double)(u64)share < share); /* rounded up */
}

/* What follows on a node and reaches the threshold, sorted, appended to the tree's children. */
static u32 choose_children(struct growing *growing, struct call_tree *tree, u32 node)
{
	const struct call_branch_ends *ends = &growing->ends.items[node];
	u64 least = least_hits_below(growing, tree->nodes.items[node].children_hits);
	size_t first = tree->children.count;

	for (u32 branch = ends->first; branch < ends->first + ends->count; branch++)
		if (growing->branches.branches.items[branch].hits >= least)
			*vec_add(&tree->children) = branch;
	if (tree->children.count > first)
		qsort_r(tree->children.items + first, tree->children.count - first,
			sizeof(*tree->children.items), compare_branches, growing);
	return (u32)(tree->children.count - first);
}

/* Appends the run that begins at `branch` as a node: it goes on while no chain ends and none parts
 * from the others. */
static u32 add_node(struct growing *growing, struct call_tree *tree, u32 parent, u32 branch)
{
	const struct call_branch *all = &growing->branches.branches.items[branch];
	u32 node = (u32)tree->nodes.count;
	struct call_node row = {
		.parent = parent,
		.first_frame = (u32)tree->frames.count,
		.children_hits = all->hits,
		.children_samples = all->samples,
	};
	struct call_branch_ends ends;

	for (;; branch = ends.first) {
		*vec_add(&tree->frames) = growing->branches.branches.items[branch].frame;
		if (growing->settings->marks)
			*vec_add(&tree->sums) = growing->branches.sums.items[branch];
		ends = call_branches_follow(&growing->branches, branch);
		if (ends.hits || ends.count != 1)
			break;
	}
	row.frame_count = (u32)tree->frames.count - row.first_frame;
	row.hits = ends.hits;
	row.children_hits -= ends.hits;
	row.samples = ends.samples;
	row.children_samples -= ends.samples;
	*vec_add(&tree->nodes) = row;
	*vec_add(&growing->ends) = ends;
	return node;
}

static void add_root(struct growing *growing, struct call_tree *tree, const struct strand *strands,
		     u32 strand_count)
{
	struct call_branch_ends ends = call_branches_begin(&growing->branches, strands,
							   strand_count);
	struct call_node root = {0};

	for (u32 branch = ends.first; branch < ends.first + ends.count; branch++) {
		root.children_hits += growing->branches.branches.items[branch].hits;
		root.children_samples += growing->branches.branches.items[branch].samples;
	}
	*vec_add(&tree->nodes) = root;
	*vec_add(&growing->ends) = ends;
}

/* Nodes level by level: those that a node's children become stand behind all that is there. */
static void make_nodes(struct growing *growing, struct call_tree *tree)
{
	for (u32 node = 0; node < tree->nodes.count; node++) {
		u32 first = (u32)tree->children.count;
		u32 count = choose_children(growing, tree, node);

		for (u32 i = first; i < first + count; i++)
			tree->children.items[i] = add_node(growing, tree, node,
							   tree->children.items[i]);
		tree->nodes.items[node].first_child = first;
		tree->nodes.items[node].child_count = count;
	}
}

/* --- ends of chains, for lists --- */

struct end {
	u32 node;
	u64 hits;
	u32 place; /* in the walk, which decides between equal ones */
};

static int compare_ends(const void *left, const void *right)
{
	const struct end *a = left, *b = right;
	int order = compare_descending(a->hits, b->hits);

	return order ? order : -compare_descending(a->place, b->place);
}

/* Children before their parent, as in perf. */
static void number_places(const struct call_tree *tree, u32 node, u32 *places, u32 *next)
{
	const struct call_node *row = &tree->nodes.items[node];

	for (u32 i = 0; i < row->child_count; i++)
		number_places(tree, tree->children.items[row->first_child + i], places, next);
	places[node] = (*next)++;
}

static void find_ends(const struct growing *growing, struct call_tree *tree)
{
	u32 *places = must_alloc_array(tree->nodes.count, sizeof(*places));
	VEC(struct end) ends = {0};
	u32 next = 0;

	number_places(tree, 0, places, &next);
	for (u32 i = 1; i < tree->nodes.count; i++) {
		u64 hits = tree->nodes.items[i].hits;

		if (hits && hits >= growing->least_hits)
			*vec_add(&ends) = (struct end){i, hits, places[i]};
	}
	if (ends.count)
		qsort(ends.items, ends.count, sizeof(*ends.items), compare_ends);
	for (size_t i = 0; i < ends.count; i++)
		*vec_add(&tree->ends) = ends.items[i].node;
	vec_release(&ends);
	free(places);
}

/* What a graph must reach to be shown; the fractal one has its own measure. */
static u64 least_hits_of(const struct entry_list *list, const struct call_graph_settings *settings)
{
	if (settings->type == CALL_GRAPH_FRACTAL)
		return 0;
	return (u64)((double)list->total_period * (settings->threshold_percent / 100));
}

void call_tree_prepare(struct entry_list *list, const struct call_graph_settings *settings)
{
	if (settings->type != CALL_GRAPH_NONE)
		strands_find(list, least_hits_of(list, settings));
}

bool call_tree_is_empty(struct entry_list *list, u32 entry,
			const struct call_graph_settings *settings)
{
	u32 count = 0;

	return settings->type == CALL_GRAPH_NONE ||
	       !strands_of(list, entry, least_hits_of(list, settings), &count) || !count;
}

struct call_tree *call_tree_new(struct entry_list *list, u32 entry,
				const struct call_graph_settings *settings)
{
	struct call_tree *tree = must_alloc(sizeof(*tree));
	struct growing growing = {
		.list = list,
		.settings = settings,
		.branches = {.list = list, .settings = settings, .entry = entry},
		.least_hits = least_hits_of(list, settings),
	};
	const struct strand *strands = NULL;
	u32 count = 0;

	if (settings->type != CALL_GRAPH_NONE)
		strands = strands_of(list, entry, growing.least_hits, &count);
	add_root(&growing, tree, strands, count);
	make_nodes(&growing, tree);
	find_ends(&growing, tree);
	call_branches_release(&growing.branches);
	vec_release(&growing.ends);
	return tree;
}

void call_tree_free(struct call_tree *tree)
{
	if (!tree)
		return;
	vec_release(&tree->nodes);
	vec_release(&tree->frames);
	vec_release(&tree->sums);
	vec_release(&tree->children);
	vec_release(&tree->ends);
	free(tree);
}

void call_tree_freep(struct call_tree **tree)
{
	call_tree_free(*tree);
}
