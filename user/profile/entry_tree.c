/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A red-black tree of entries. Not for speed: perf's comparison is no strict order (of two equal
 * entries the caller goes first, but only within a thread), so what comes out depends on which
 * entries meet, and only the same tree lets the same ones meet.
 */
#include "profile/entry_tree.h"

#include "base/parallel.h"
#include "base/vec.h"
#include "profile/entry_order.h"

enum { HELD_FIGURES = 2, PIECE_NODES = 1 << 13 };

/* A list and what to compare its entries by. */
struct ordering {
	const struct entry_list *list;
	const struct entry_ranks *ranks;
	u32 held; /* figures that nodes of the tree hold */
};

/* Nodes are numbered as the entries are, from 1; 0 is no node, and black. A node holds what decides
 * over most comparisons: the tree is walked at random, and each further table is one more wait for
 * memory. */
struct tree_node {
	u32 parent, child[2]; /* left, right */
	bool is_red;
	bool is_named; /* of struct entry_rank, as the keys */
	thread_id thread;
	u32 max_depth;
	u64 figures[HELD_FIGURES]; /* that decide first */
	u64 keys;
};

struct tree {
	struct tree_node *nodes;
	u32 root;
};

/* --- what is shown first --- */

static int compare_u64(u64 a, u64 b)
{
	return (a > b) - (a < b);
}

static int compare_figures(const struct entry_list *list, u8 field, const struct entry *a,
			   const struct entry *b)
{
	return entry_compare_figures(list, field, (struct entry_figures){a, entry_others(list, a)},
				     (struct entry_figures){b, entry_others(list, b)});
}

/* Of entries with the same figure, callers stand above what they call. */
static int compare_depth(const struct entry_list *list, u32 a, u32 b)
{
	int order = compare_u64(a, b);

	return list->settings.order == CALLER_FIRST ? -order : order;
}

/* Members of a group do not count here. */
static int compare_children(const struct entry_list *list, const struct entry *a,
			    const struct entry *b)
{
	int order = -compare_u64(a->children_period, b->children_period);

	if (order || a->thread != b->thread || !list->settings.shows_chains)
		return order;
	return compare_depth(list, a->max_depth, b->max_depth);
}

/* One field, as it is shown. */
static int compare_field_shown(const struct entry_list *list, u8 field, const struct entry *a,
			       const struct entry *b)
{
	if (field == FIELD_CHILDREN)
		return list->settings.has_children ? compare_children(list, a, b) : 0;
	if (entry_field_is_key(field))
		return entry_compare_key(list, field, a, b);
	return compare_figures(list, field, a, b);
}

/* The same as compare_field_shown() by what the nodes hold. */
static int compare_held(const struct entry_list *list, u32 figure, const struct tree_node *a,
			const struct tree_node *b)
{
	const struct entry_list_settings *settings = &list->settings;
	int order = -compare_u64(a->figures[figure], b->figures[figure]);

	if (order || settings->layout.order[figure] != FIELD_CHILDREN || !settings->has_children ||
	    !settings->shows_chains || a->thread != b->thread)
		return order;
	return compare_depth(list, a->max_depth, b->max_depth);
}

/* Negative: the entry of node `left` is shown first. */
static int compare_shown(const struct ordering *ordering, const struct tree *tree, u32 left,
			 u32 right)
{
	const struct entry_list *list = ordering->list;
	const struct entry_layout *layout = &list->settings.layout;
	const struct entry_ranks *ranks = ordering->ranks;
	const struct entry *entries = list->entries.items;
	const struct tree_node *a = &tree->nodes[left], *b = &tree->nodes[right];
	int order = 0;

	for (u32 i = 0; i < ordering->held && !order; i++)
		order = compare_held(list, i, a, b);
	for (u32 i = ordering->held; i < ranks->first && !order; i++)
		order = compare_field_shown(list, layout->order[i], &entries[left - 1],
					    &entries[right - 1]);
	if (!order)
		order = compare_u64(a->keys, b->keys);
	for (u32 i = ranks->end; i < layout->order_count && !order; i++) {
		u8 field = layout->order[i];

		/* Neither has a name: most entries of a large recording. */
		if (field == FIELD_SYMBOL && !a->is_named && !b->is_named)
			continue;
		order = compare_field_shown(list, field, &entries[left - 1], &entries[right - 1]);
	}
	return order;
}

/* --- the tree --- */

static int side_of(const struct tree *tree, u32 node)
{
	return tree->nodes[tree->nodes[node].parent].child[1] == node;
}

/* Lifts the child on the other side of `side` into the place of `node`, which goes down to `side`.
 */
static void rotate(struct tree *tree, u32 node, int side)
{
	struct tree_node *nodes = tree->nodes;
	u32 up = nodes[node].child[!side], parent = nodes[node].parent;

	if (parent)
		nodes[parent].child[side_of(tree, node)] = up;
	else
		tree->root = up;
	nodes[up].parent = parent;
	nodes[node].child[!side] = nodes[up].child[side];
	if (nodes[up].child[side])
		nodes[nodes[up].child[side]].parent = node;
	nodes[up].child[side] = node;
	nodes[node].parent = up;
}

/* Makes the tree red-black again after the red leaf `node` came in.
 * Source: Cormen, Leiserson, Rivest, Stein: Introduction to Algorithms, 13.3. */
static void balance(struct tree *tree, u32 node)
{
	struct tree_node *nodes = tree->nodes;

	while (nodes[nodes[node].parent].is_red) {
		u32 parent = nodes[node].parent, grandparent = nodes[parent].parent;
		int side = side_of(tree, parent);
		u32 uncle = nodes[grandparent].child[!side];

		nodes[grandparent].is_red = true;
		if (nodes[uncle].is_red) {
			nodes[parent].is_red = nodes[uncle].is_red = false;
			node = grandparent;
			continue;
		}
		if (side_of(tree, node) != side) {
			rotate(tree, parent, side);
			parent = node;
		}
		nodes[parent].is_red = false;
		rotate(tree, grandparent, !side);
		break;
	}
	nodes[tree->root].is_red = false;
}

static void tree_insert(struct tree *tree, const struct ordering *ordering, u32 node)
{
	u32 parent = 0, next = tree->root;
	int side = 0;

	while (next) {
		parent = next;
		for (u32 i = 0; i < 2; i++)
			__builtin_prefetch(&tree->nodes[tree->nodes[next].child[i]]);
		side = compare_shown(ordering, tree, node, parent) >= 0;
		next = tree->nodes[parent].child[side];
	}
	tree->nodes[node].parent = parent;
	if (parent)
		tree->nodes[parent].child[side] = node;
	else
		tree->root = node;
	balance(tree, node);
}

/* Puts the entries of all nodes into `order`, from left to right. */
static void walk_tree(const struct tree *tree, u32 *order)
{
	VEC(u32) above = {0}; /* whose left side is being walked */
	u32 node = tree->root;

	while (node || above.count) {
		for (; node; node = tree->nodes[node].child[0]) {
			__builtin_prefetch(&tree->nodes[tree->nodes[node].child[1]]);
			*vec_add(&above) = node;
		}
		node = above.items[--above.count];
		*order++ = node - 1;
		node = tree->nodes[node].child[1];
	}
	vec_release(&above);
}

/* --- nodes --- */

static struct tree_node make_node(const struct ordering *ordering, u32 entry)
{
	const struct entry_list *list = ordering->list;
	const struct entry *row = &list->entries.items[entry];
	const struct entry_rank *rank = &ordering->ranks->rows[entry];
	struct tree_node node = {
		.is_red = true,
		.is_named = rank->is_named,
		.thread = row->thread,
		.max_depth = row->max_depth,
		.keys = rank->keys,
	};

	for (u32 i = 0; i < ordering->held; i++) {
		u8 field = list->settings.layout.order[i];

		if (field != FIELD_CHILDREN || list->settings.has_children)
			node.figures[i] = entry_value(row, field);
	}
	return node;
}

/* Those of a group are the members' too, and stay in their tables. */
static u32 held_figures(const struct ordering *ordering)
{
	u32 first = ordering->ranks->first;

	if (ordering->list->settings.member_count)
		return 0;
	return first < HELD_FIGURES ? first : HELD_FIGURES;
}

struct planting {
	const struct ordering *ordering;
	struct tree_node *nodes;
};

static void make_piece(void *context, size_t piece)
{
	const struct planting *planting = context;
	size_t from = piece * PIECE_NODES, to = from + PIECE_NODES;

	for (size_t i = from; i < to && i < planting->ordering->list->entries.count; i++)
		planting->nodes[i + 1] = make_node(planting->ordering, (u32)i);
}

/* A node for each entry, none of them in the tree yet. */
static struct tree_node *make_nodes(const struct ordering *ordering)
{
	size_t count = ordering->list->entries.count;
	struct planting planting = {
		.ordering = ordering,
		.nodes = must_alloc_array(count + 1, sizeof(*planting.nodes)),
	};

	parallel_run((count + PIECE_NODES - 1) / PIECE_NODES, make_piece, &planting);
	return planting.nodes;
}

void entry_tree_sort(const struct entry_list *list, const struct entry_ranks *ranks, u32 *order)
{
	enum { AHEAD = 8 }; /* nodes that are on their way from memory */
	size_t count = list->entries.count;
	struct ordering ordering = {.list = list, .ranks = ranks};
	struct tree tree = {0};

	ordering.held = held_figures(&ordering);
	tree.nodes = make_nodes(&ordering);
	for (size_t i = 0; i < count; i++) {
		if (i + AHEAD < count)
			__builtin_prefetch(&tree.nodes[order[i + AHEAD] + 1]);
		tree_insert(&tree, &ordering, order[i] + 1);
	}
	walk_tree(&tree, order);
	free(tree.nodes);
}
