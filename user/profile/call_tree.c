/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Builds the call graph of an entry in two steps: a tree with one node a frame, then runs of it.
 *
 * Source of the rules: Linux 6.1, tools/perf/util/callchain.c. Where perf leaves equal siblings to
 * the addresses of its own objects, which mostly grow, ours stand with the binary that was mapped
 * last first.
 */
#include "profile/call_tree.h"

#include <string.h>

#include "base/idmap.h"

struct branch_node {
	frame_id frame;
	u32 parent;
	u32 first_child, next_sibling, child_count;
	u64 hits, all_hits;
	u64 samples, all_samples;
};

struct growing {
	const struct entry_list *list;
	const struct call_graph_settings *settings;
	VEC(struct branch_node) branches; /* 0: the root */
	VEC(struct branch_sums) sums;	  /* by branch; none without marks */
	struct idmap child_of;		  /* (branch, frame) → branch */
	struct idmap branch_of;		  /* (path, where it begins) → branch */
	u64 least_hits;			  /* unless fractal */
};

/* --- one node a frame --- */

static u32 branch_child(struct growing *growing, u32 parent, frame_id chain_frame)
{
	frame_id frame = fold_frame_by(growing->list->fold, chain_frame, growing->settings->key);
	u32 *place = idmap_place(&growing->child_of, (u64)parent << 32 | frame);
	u32 child = *place;

	if (child)
		return child;
	child = *place = (u32)growing->branches.count;
	*vec_add(&growing->branches) = (struct branch_node){
		.frame = frame,
		.parent = parent,
		.next_sibling = growing->branches.items[parent].first_child,
	};
	growing->branches.items[parent].first_child = child;
	growing->branches.items[parent].child_count++;
	return child;
}

static void add_mark(struct branch_sums *sums, const struct branch_mark *mark, u64 samples)
{
	if (mark->end == NO_BRANCH)
		return;
	sums->branches += samples;
	sums->is_to = mark->end == BRANCH_TO;
	if (mark->end == BRANCH_TO) {
		sums->predicted += mark->flags & BRANCH_PREDICTED ? samples : 0;
		sums->aborted += mark->flags & BRANCH_ABORTED ? samples : 0;
		return;
	}
	sums->cycles += samples * ((mark->flags & BRANCH_CYCLES) >> BRANCH_CYCLES_SHIFT);
	sums->iterations += samples * mark->iterations;
	sums->loop_cycles += samples * mark->loop_cycles;
}

/* The marks of a chain's frames, from its position on, into the sums of the branches below the
 * root that it went along. */
static void add_marks(struct growing *growing, const struct entry_chain *chain, u32 *marks)
{
	const struct branch_mark *known = growing->settings->marks;
	const struct folded_row *row = &growing->list->fold->rows.items[chain->row];
	frame_id *frames;
	u32 count, at = 0;

	if (!known)
		return;
	frames = must_alloc_array(growing->list->fold->deepest, sizeof(*frames));
	entry_list_frames(growing->list, chain->row, frames);
	count = entry_list_marks(growing->list, chain->row, marks);
	for (u32 i = chain->position; i < count; i++) {
		at = branch_child(growing, at, frames[i]);
		while (growing->sums.count <= at)
			*vec_add(&growing->sums) = (struct branch_sums){0};
		add_mark(&growing->sums.items[at], &known[marks[i]], row->samples);
	}
	free(frames);
}

/* The branch at the end of a chain, made with all on the way. */
static u32 chain_branch(struct growing *growing, const struct entry_chain *chain, frame_id *frames)
{
	u32 count = entry_list_frames(growing->list, chain->row, frames), at = 0;

	for (u32 i = chain->position; i < count; i++)
		at = branch_child(growing, at, frames[i]);
	return at;
}

/* The same if callers come first: then the chain is a path of the fold, and what leads there does
 * not change. Only what begins at its first frame may also begin elsewhere. */
static u32 path_branch(struct growing *growing, const struct entry_chain *chain, path_id *paths)
{
	const struct fold *fold = growing->list->fold;
	u32 begins_elsewhere = chain->position != 0, at = 0, more = 0;
	path_id path = entry_list_path(growing->list, chain->row);

	for (; fold->paths.items[path].depth > chain->position; more++) {
		at = idmap_get(&growing->branch_of, (u64)path << 1 | begins_elsewhere);
		if (at)
			break;
		paths[more] = path;
		path = fold->paths.items[path].caller;
	}
	while (more--) {
		at = branch_child(growing, at, fold->paths.items[paths[more]].frame);
		*idmap_place(&growing->branch_of, (u64)paths[more] << 1 | begins_elsewhere) = at;
	}
	return at;
}

/* What ends below a branch counts for it, too. Children stand behind their parents. */
static void sum_up(struct growing *growing)
{
	struct branch_node *branches = growing->branches.items;

	for (size_t i = growing->branches.count; i-- > 0;) {
		struct branch_node *branch = &branches[i];

		branch->all_hits += branch->hits;
		branch->all_samples += branch->samples;
		if (!i)
			break;
		branches[branch->parent].all_hits += branch->all_hits;
		branches[branch->parent].all_samples += branch->all_samples;
	}
}

/* Gets from memory where a chain ends. Always inlined: see row_index_expect(). */
static __attribute__((always_inline)) inline void expect_chain(const struct growing *growing,
							       const struct entry_chain *chain)
{
	const struct fold *fold = growing->list->fold;
	path_id path = fold->rows.items[chain->row].path;

	__builtin_prefetch(&fold->paths.items[path]);
	idmap_expect(&growing->branch_of, (u64)path << 1 | (chain->position != 0));
}

static void grow(struct growing *growing, const struct entry_chain *chains, u32 chain_count)
{
	enum { AHEAD = 8 }; /* chains whose ends are on their way from memory */
	const struct fold *fold = growing->list->fold;
	u32 *scratch = must_alloc_array(fold->deepest, sizeof(*scratch));
	bool callers_first = growing->list->settings.order == CALLER_FIRST;

	*vec_add(&growing->branches) = (struct branch_node){0};
	for (u32 i = 0; i < chain_count; i++) {
		const struct folded_row *row = &fold->rows.items[chains[i].row];
		u32 end;

		if (i + AHEAD < chain_count)
			expect_chain(growing, &chains[i + AHEAD]);
		end = callers_first ? path_branch(growing, &chains[i], scratch)
				    : chain_branch(growing, &chains[i], scratch);

		growing->branches.items[end].hits += row->weight;
		growing->branches.items[end].samples += row->samples;
		add_marks(growing, &chains[i], scratch);
	}
	sum_up(growing);
	free(scratch);
}

/* --- runs --- */

/* The last branch of the run that begins at `branch`. */
static u32 run_end(const struct growing *growing, u32 branch)
{
	const struct branch_node *branches = growing->branches.items;

	while (branch && !branches[branch].hits && branches[branch].child_count == 1)
		branch = branches[branch].first_child;
	return branch;
}

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

/* Heaviest first; of equal ones, later lines, later binaries and higher addresses first. */
static int compare_branches(const void *left, const void *right, void *context)
{
	const struct growing *growing = context;
	const struct fold *fold = growing->list->fold;
	const struct branch_node *a = &growing->branches.items[*(const u32 *)left];
	const struct branch_node *b = &growing->branches.items[*(const u32 *)right];
	int order = compare_descending(a->all_hits, b->all_hits);

	if (order)
		return order;
	order = compare_sources(growing, a->frame, b->frame);
	if (order)
		return order;
	order = compare_descending(mapped_order(fold, a->frame), mapped_order(fold, b->frame));
	if (order)
		return order;
	return compare_descending(start_of(growing, a->frame), start_of(growing, b->frame));
}

static u64 least_hits_below(const struct growing *growing, const struct branch_node *end)
{
	double share = (double)(end->all_hits - end->hits) *
		       (growing->settings->threshold_percent / 100.0);

	if (growing->settings->type != CALL_GRAPH_FRACTAL)
		return growing->least_hits;
	return (u64)share + ((double)(u64)share < share); /* rounded up */
}

/* The children of a branch that reach the threshold, sorted, appended to `ret_children`. */
static u32 choose_children(struct growing *growing, u32 branch, struct call_tree *tree)
{
	const struct branch_node *branches = growing->branches.items;
	u64 least = least_hits_below(growing, &branches[branch]);
	size_t first = tree->children.count;

	for (u32 child = branches[branch].first_child; child; child = branches[child].next_sibling)
		if (branches[child].all_hits >= least)
			*vec_add(&tree->children) = child;
	if (tree->children.count > first)
		qsort_r(tree->children.items + first, tree->children.count - first,
			sizeof(*tree->children.items), compare_branches, growing);
	return (u32)(tree->children.count - first);
}

/* Appends the run that begins at `branch` as a node. */
static u32 add_node(const struct growing *growing, struct call_tree *tree, u32 parent, u32 branch)
{
	const struct branch_node *branches = growing->branches.items;
	u32 last = run_end(growing, branch);
	u32 first_frame = (u32)tree->frames.count;
	u32 node = (u32)tree->nodes.count;

	for (u32 at = branch; at; at = at == last ? 0 : branches[at].first_child) {
		*vec_add(&tree->frames) = branches[at].frame;
		if (at < growing->sums.count)
			*vec_add(&tree->sums) = growing->sums.items[at];
	}
	*vec_add(&tree->nodes) = (struct call_node){
		.parent = parent,
		.first_frame = first_frame,
		.frame_count = (u32)tree->frames.count - first_frame,
		.hits = branches[last].hits,
		.children_hits = branches[last].all_hits - branches[last].hits,
		.samples = branches[last].samples,
		.children_samples = branches[last].all_samples - branches[last].samples,
	};
	return node;
}

/* Nodes level by level: those that a node's children become stand behind all that is there. */
static void make_nodes(struct growing *growing, struct call_tree *tree)
{
	VEC(u32) ends = {0}; /* by node: the last branch of its run */

	add_node(growing, tree, 0, 0);
	*vec_add(&ends) = 0;
	for (u32 node = 0; node < tree->nodes.count; node++) {
		u32 first = (u32)tree->children.count;
		u32 count = choose_children(growing, ends.items[node], tree);

		for (u32 i = first; i < first + count; i++) {
			u32 branch = tree->children.items[i];

			tree->children.items[i] = add_node(growing, tree, node, branch);
			*vec_add(&ends) = run_end(growing, branch);
		}
		tree->nodes.items[node].first_child = first;
		tree->nodes.items[node].child_count = count;
	}
	vec_release(&ends);
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
		entry_chains_find(list, least_hits_of(list, settings));
}

bool call_tree_is_empty(struct entry_list *list, u32 entry,
			const struct call_graph_settings *settings)
{
	u32 count = 0;

	return settings->type == CALL_GRAPH_NONE ||
	       !entry_chains(list, entry, least_hits_of(list, settings), &count) || !count;
}

struct call_tree *call_tree_new(struct entry_list *list, u32 entry,
				const struct call_graph_settings *settings)
{
	struct call_tree *tree = must_alloc(sizeof(*tree));
	struct growing growing = {.list = list, .settings = settings};
	const struct entry_chain *chains;
	u32 count = 0;

	growing.least_hits = least_hits_of(list, settings);
	chains = settings->type == CALL_GRAPH_NONE
			 ? NULL
			 : entry_chains(list, entry, growing.least_hits, &count);
	grow(&growing, chains, count);
	make_nodes(&growing, tree);
	find_ends(&growing, tree);
	vec_release(&growing.branches);
	vec_release(&growing.sums);
	idmap_release(&growing.child_of);
	idmap_release(&growing.branch_of);
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
