/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who was seen calling whom, over a whole recording, and how long the ways to a thread's start are.
 * Private to lbr/.
 *
 * Nodes are function bodies (struct place). A frame that executes in a body was entered at an entry
 * body, which is mostly the same and another one after a tail jump; an entry was called from
 * places.
 */
#ifndef LBR_GRAPH_H
#define LBR_GRAPH_H

#include "lbr/places.h"

enum { LENGTHS_MAX = 128 }; /* registers at most: lengths count modulo their number */

/* A set of lengths modulo the number of registers. */
struct lengths {
	u64 bits[LENGTHS_MAX / 64];
};

struct graph;

/* An empty one. `places` is borrowed. */
struct graph *graph_new(const struct places *places);
/* The same graph, to be asked beside `learned`, which outlives it and to which nothing is added any
 * more. `places` knows the places of the other one by the same numbers. */
struct graph *graph_beside(const struct graph *learned, const struct places *places);
/* Frees; NULL is fine. */
void graph_free(struct graph *graph);

/* A frame that executes at `now` was entered at `entry` by the CALL at `from`. */
void graph_add(struct graph *graph, place_id now, place_id entry, place_id from);
/* A frame that executes at `now` has no caller. */
void graph_add_outermost(struct graph *graph, place_id now);

/* Adds what was added to the graph of another part of the recording, of whose places `merge` is. */
void graph_add_all(struct graph *graph, const struct graph *more, const struct place_merge *merge);

/* Finds out all lengths modulo `depth`, if something was added since. */
void graph_solve(struct graph *graph, u32 depth);

/* Whether lengths are known, modulo this depth. */
bool graph_is_known(const struct graph *graph, u32 depth);
/* Whether all ways from a frame at `now` were seen to lead to a thread's start. As of the last
 * graph_solve(), like the next. */
bool graph_is_closed(const struct graph *graph, place_id now);
/* Whether a way from there to a thread's start has so many calls, modulo the depth. */
bool graph_has_length(const struct graph *graph, place_id now, u32 length);
/* Whether any way leads to a thread's start. */
bool graph_has_way(const struct graph *graph, place_id now);
/* Whether a frame there was seen without a caller. */
bool graph_is_outermost(const struct graph *graph, place_id now);

/* Where a look at callers is. Zeroed: at its start. */
struct graph_cursor {
	u32 entered, caller;
	bool is_begun;
};

/* The next of the CALLs that were seen to enter a frame at `now`; 0 behind the last. */
place_id graph_next_caller(const struct graph *graph, place_id now, struct graph_cursor *cursor);

#endif
