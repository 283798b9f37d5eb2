/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The call graph of one entry: its chains merged from the first frame on.
 *
 * A node is a run of frames that always go together; it ends where chains part or end. What is
 * below the threshold is cut away, but still decides where nodes end.
 */
#ifndef PROFILE_CALL_TREE_H
#define PROFILE_CALL_TREE_H

#include "profile/call_graph.h"

struct call_node {
	u32 parent;
	u32 first_frame, frame_count;  /* in call_tree.frames */
	u32 first_child, child_count;  /* in call_tree.children, the heaviest first */
	u64 hits, children_hits;       /* periods of chains that end here, and further on */
	u64 samples, children_samples; /* the same, counted */
};

/* How the branches went that a frame of a graph is an end of, summed over samples. */
struct branch_sums {
	u64 branches; /* 0: it was reached by the call chain alone */
	u64 predicted, aborted, cycles, iterations, loop_cycles;
	bool is_to; /* else: from */
};

/* nodes.items[0] is the root and has no frames. */
struct call_tree {
	VEC(struct call_node) nodes;
	VEC(frame_id) frames;
	VEC(struct branch_sums) sums; /* by place in `frames`; none without marks */
	VEC(u32) children;
	VEC(u32) ends; /* nodes that chains end at and that reach the threshold, heaviest first */
};

/* Finds what graphs need of the list, once for all: from then on several threads can make them. */
void call_tree_prepare(struct entry_list *list, const struct call_graph_settings *settings);
/* Whether the graph of row `entry` has nothing to show: it is below the threshold, or has no
 * chains. Most are. */
bool call_tree_is_empty(struct entry_list *list, u32 entry,
			const struct call_graph_settings *settings);
/* The graph of row `entry` of the list's entries, cut by the settings. Never NULL; empty if the
 * entry is below the threshold or has no chains. Free with call_tree_free(). */
struct call_tree *call_tree_new(struct entry_list *list, u32 entry,
				const struct call_graph_settings *settings);
/* Frees; NULL is fine. */
void call_tree_free(struct call_tree *tree);
/* For CLEANUP. */
void call_tree_freep(struct call_tree **tree);

/* What went through a node. */
static inline u64 call_node_all_hits(const struct call_node *node)
{
	return node->hits + node->children_hits;
}

#endif
