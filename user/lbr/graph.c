/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The graph as lists of rows, and the lengths of its ways as sets that grow until they are stable.
 */
#include "lbr/graph.h"

#include "base/idmap.h"

#include <string.h>

enum {
	ROWS_MAX = 1 << 22, /* of each kind; what is not kept leaves the graph open */
};

struct node {
	u32 entered, callers;	      /* first rows of what is listed, 0: none */
	struct lengths within, above; /* of a frame that executes here, that was entered here */
	bool is_outermost, is_open;   /* is_open: of a frame that executes here */
	bool above_is_open;	      /* … that was entered here */
};

struct row {
	u32 item, next; /* body or place; row */
	u32 body;	/* the same, or of that place */
};

enum { RECENT_ROWS = 1 << 12 };

struct recent_row {
	u32 body, entry;
	place_id from; /* 0: none */
};

struct graph {
	const struct places *places;
	struct recent_row recent[RECENT_ROWS]; /* what was added lately, by the low bits */
	VEC(struct node) nodes;		       /* by body */
	VEC(struct row) entered;  /* entry bodies of executing ones; row 0 unused, as in the next */
	VEC(struct row) callers;  /* places that call entry bodies */
	struct idmap has_entered; /* (executing, entry) */
	struct idmap has_caller;  /* (entry, place) */
	u32 depth;		  /* that was solved for */
	bool is_solved;		  /* and nothing was added since */
	bool is_full;
	bool is_beside; /* rows are another one's */
};

struct graph *graph_new(const struct places *places)
{
	struct graph *graph = must_alloc(sizeof(*graph));

	graph->places = places;
	*vec_add(&graph->entered) = (struct row){0};
	*vec_add(&graph->callers) = (struct row){0};
	*vec_add(&graph->nodes) = (struct node){.is_open = true, .above_is_open = true};
	return graph;
}

struct graph *graph_beside(const struct graph *learned, const struct places *places)
{
	struct graph *graph = must_alloc(sizeof(*graph));

	*graph = *learned;
	graph->places = places;
	graph->is_beside = true;
	return graph;
}

void graph_free(struct graph *graph)
{
	if (!graph)
		return;
	if (graph->is_beside) {
		free(graph);
		return;
	}
	vec_release(&graph->nodes);
	vec_release(&graph->entered);
	vec_release(&graph->callers);
	idmap_release(&graph->has_entered);
	idmap_release(&graph->has_caller);
	free(graph);
}

static struct node *node_made(struct graph *graph, u32 body)
{
	while (graph->nodes.count <= body)
		*vec_add(&graph->nodes) = (struct node){0};
	return &graph->nodes.items[body];
}

static u32 body_of(const struct graph *graph, place_id place)
{
	return places_at(graph->places, place)->body;
}

static void add_entered(struct graph *graph, u32 body, u32 entry)
{
	u32 *known = idmap_place(&graph->has_entered, (u64)body << 32 | entry);
	struct node *node = node_made(graph, body);

	if (*known)
		return;
	*known = 1;
	graph->is_solved = false;
	*vec_add(&graph->entered) = (struct row){entry, node->entered, entry};
	node->entered = (u32)graph->entered.count - 1;
}

static void add_caller(struct graph *graph, u32 entry, place_id from)
{
	u32 *known = idmap_place(&graph->has_caller, (u64)entry << 32 | from);
	struct node *node = node_made(graph, entry);

	if (*known)
		return;
	*known = 1;
	graph->is_solved = false;
	*vec_add(&graph->callers) = (struct row){from, node->callers, body_of(graph, from)};
	node->callers = (u32)graph->callers.count - 1;
}

void graph_add(struct graph *graph, place_id now, place_id entry, place_id from)
{
	u32 body = body_of(graph, now), entry_body = body_of(graph, entry);
	struct recent_row *recent = &graph->recent[(from * 31 + entry_body) % RECENT_ROWS];

	if (recent->from == from && recent->body == body && recent->entry == entry_body)
		return;
	*recent = (struct recent_row){body, entry_body, from};
	graph->is_full |= graph->entered.count >= ROWS_MAX || graph->callers.count >= ROWS_MAX;
	if (graph->is_full || !body)
		return;
	if (!entry_body)
		entry_body = body;
	node_made(graph, body_of(graph, from));
	add_entered(graph, body, entry_body);
	add_caller(graph, entry_body, from);
}

void graph_add_outermost(struct graph *graph, place_id now)
{
	struct node *node = node_made(graph, body_of(graph, now));

	graph->is_solved &= node->is_outermost;
	node->is_outermost = true;
}

void graph_add_all(struct graph *graph, const struct graph *more, const struct place_merge *merge)
{
	graph->is_full |= more->is_full;
	for (u32 there = 0; there < more->nodes.count; there++) {
		const struct node *node = &more->nodes.items[there];
		u32 body = places_merged_body(merge, there), row;

		for (row = node->entered; row; row = more->entered.items[row].next)
			add_entered(graph, body,
				    places_merged_body(merge, more->entered.items[row].item));
		for (row = node->callers; row; row = more->callers.items[row].next) {
			place_id from = places_merged(merge, more->callers.items[row].item);

			node_made(graph, body_of(graph, from));
			add_caller(graph, body, from);
		}
		graph->is_solved &= !node->is_outermost;
		node_made(graph, body)->is_outermost |= node->is_outermost;
	}
}

/* --- lengths --- */

/* Adds `more` to the set, each length with `step` (0 or 1) more calls. Returns whether it grew. */
static bool lengths_add(struct lengths *set, const struct lengths *more, u32 step, u32 depth)
{
	struct lengths old = *set;

	if (!step) {
		set->bits[0] |= more->bits[0];
		set->bits[1] |= more->bits[1];
	} else {
		u32 last = depth - 1;
		u64 carry = more->bits[last / 64] >> last % 64 & 1;

		set->bits[0] |= more->bits[0] << 1 | carry;
		set->bits[1] |= more->bits[1] << 1 | more->bits[0] >> 63;
		/* The last went to the front. */
		if (depth < 64)
			set->bits[0] &= (1ULL << depth) - 1;
		if (depth <= 64)
			set->bits[1] = 0;
		else if (depth < LENGTHS_MAX)
			set->bits[1] &= (1ULL << (depth - 64)) - 1;
	}
	return memcmp(&old, set, sizeof(old)) != 0;
}

static bool grow_above(struct graph *graph, struct node *node)
{
	bool is_open = !node->callers, has_grown = false;

	for (u32 row = node->callers; row; row = graph->callers.items[row].next) {
		const struct node *caller = &graph->nodes.items[graph->callers.items[row].body];

		is_open |= caller->is_open;
		has_grown |= lengths_add(&node->above, &caller->within, 1, graph->depth);
	}
	has_grown |= is_open && !node->above_is_open;
	node->above_is_open |= is_open;
	return has_grown;
}

static bool grow_within(struct graph *graph, struct node *node)
{
	bool is_open = !node->entered && !node->is_outermost, has_grown = false;

	for (u32 row = node->entered; row; row = graph->entered.items[row].next) {
		const struct node *entry = &graph->nodes.items[graph->entered.items[row].item];

		is_open |= entry->above_is_open;
		has_grown |= lengths_add(&node->within, &entry->above, 0, graph->depth);
	}
	has_grown |= is_open && !node->is_open;
	node->is_open |= is_open;
	return has_grown;
}

void graph_solve(struct graph *graph, u32 depth)
{
	bool has_grown = true;

	if (depth > LENGTHS_MAX || !depth)
		depth = LENGTHS_MAX;
	if (graph->is_solved && graph->depth == depth)
		return;
	graph->is_solved = true;
	graph->depth = depth;
	for (size_t i = 1; i < graph->nodes.count; i++) {
		struct node *node = &graph->nodes.items[i];

		node->above = node->within = (struct lengths){0};
		node->within.bits[0] = node->is_outermost;
		node->is_open = node->above_is_open = false;
	}
	/* Stacks are walked from the leaf, so callers mostly have higher numbers: they come first.
	 */
	while (has_grown) {
		has_grown = false;
		for (size_t i = graph->nodes.count; i-- > 1;) {
			has_grown |= grow_above(graph, &graph->nodes.items[i]);
			has_grown |= grow_within(graph, &graph->nodes.items[i]);
		}
	}
}

/* --- asking --- */

static const struct node *node_at(const struct graph *graph, place_id place)
{
	u32 body = body_of(graph, place);

	return &graph->nodes.items[body < graph->nodes.count ? body : 0];
}

bool graph_is_known(const struct graph *graph, u32 depth)
{
	return graph->is_solved && graph->depth == depth;
}

bool graph_is_closed(const struct graph *graph, place_id now)
{
	return graph->is_solved && !graph->is_full && !node_at(graph, now)->is_open &&
	       graph_has_way(graph, now);
}

bool graph_has_length(const struct graph *graph, place_id now, u32 length)
{
	const struct lengths *lengths = &node_at(graph, now)->within;

	length %= graph->depth;
	return lengths->bits[length / 64] >> length % 64 & 1;
}

bool graph_has_way(const struct graph *graph, place_id now)
{
	const struct lengths *lengths = &node_at(graph, now)->within;

	return lengths->bits[0] || lengths->bits[1];
}

bool graph_is_outermost(const struct graph *graph, place_id now)
{
	return node_at(graph, now)->is_outermost;
}

place_id graph_next_caller(const struct graph *graph, place_id now, struct graph_cursor *cursor)
{
	if (!cursor->is_begun) {
		cursor->is_begun = true;
		cursor->entered = node_at(graph, now)->entered;
		if (cursor->entered)
			cursor->caller = graph->nodes
						 .items[graph->entered.items[cursor->entered].item]
						 .callers;
	} else if (cursor->caller) {
		cursor->caller = graph->callers.items[cursor->caller].next;
	}
	while (!cursor->caller && cursor->entered) {
		cursor->entered = graph->entered.items[cursor->entered].next;
		if (cursor->entered)
			cursor->caller = graph->nodes
						 .items[graph->entered.items[cursor->entered].item]
						 .callers;
	}
	return cursor->caller ? graph->callers.items[cursor->caller].item : 0;
}
