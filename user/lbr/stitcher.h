/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a stitcher consists of, and how it finds the stack of one sample. Private to lbr/.
 */
#ifndef LBR_STITCHER_H
#define LBR_STITCHER_H

#include "base/vec.h"
#include "lbr/extend.h"
#include "lbr/lbr.h"
#include "lbr/likely.h"
#include "lbr/memo.h"
#include "lbr/outcomes.h"
#include "lbr/tally.h"

struct lbr_stitcher {
	struct passing_sink passing; /* first: stitcher_of() */
	struct event_sink learning;
	struct lbr_settings settings;
	const struct event_source *sources;
	size_t source_count;
	struct process_table *processes;
	struct places *places;
	struct graph *graph;
	struct threads *threads;
	struct lbr_tally tally;
	struct stack stack;
	VEC(struct frame) frames; /* of the sample at hand */
	VEC(u64) calls;
	struct likely *likely; /* NULL: only what is certain */
	struct memo *memo;
	struct memo_stack shown; /* the sample's callers; no calls: see `calls` */
	struct outcomes *outcomes;
	struct outcome outcome; /* of the sample at hand */
	u64 key;		/* of that; 0: it is not known */
	u32 lessons;		/* that changed what was found before */
	u32 deepest;		/* snapshot so far */
	u32 learned;		/* stacks in the learning sink */
	bool is_learning;	/* the learning sink has heard something since the other one */
	bool has_learned_all;	/* nothing new can come */
};

/* Takes its part of the threads, places and graph from the stack of a sample that has a call
 * stack and the key `key`, without finding out more than what it shows by itself. */
void stitcher_learn(struct lbr_stitcher *stitcher, const struct sample *sample);
/* Finds the stack of such a sample into `frames`, `calls` or `shown`, and `outcome`. */
void stitcher_find(struct lbr_stitcher *stitcher, const struct sample *sample);
/* What a stack depends on besides what was recorded with the sample, and `lessons`. */
u64 stitcher_variant(const struct lbr_stitcher *stitcher, const struct sample *sample);
/* How many registers there are: what a header says can be wrong. */
u32 stitcher_depth(const struct lbr_stitcher *stitcher);

#endif
