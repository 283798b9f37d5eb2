/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a stitcher consists of, and how it finds the stack of one sample. Private to lbr/.
 */
#ifndef LBR_STITCHER_H
#define LBR_STITCHER_H

#include "base/vec.h"
#include "lbr/evidence.h"
#include "lbr/extend.h"
#include "lbr/lbr.h"
#include "lbr/likely.h"
#include "lbr/lineages.h"
#include "lbr/memo.h"
#include "lbr/outcomes.h"
#include "lbr/rests.h"
#include "lbr/tally.h"

#include <stdatomic.h>

enum { CHAINS_AHEAD = 6 }; /* of which outcomes are on their way from memory */

enum { CHAIN_SETS = 1 << 14, CHAINS_OF_SET = 4 };

/* What the learning sink hears of a recording. */
struct lessons {
	u64 (*seen)[CHAINS_OF_SET]; /* CHAIN_SETS: keys of chains, by their low bits */
	struct lineages lineages;   /* of whom they were seen */
	u64 chains, stride; /* so many were asked for; every stride-th, a power of two, is picked */
	u32 picked;
	bool is_picked; /* the sample at hand */
};

/* See stitcher_variant(). */
struct variant {
	u32 pid, rests_forgotten;
	u64 generation, thread_key;
};

struct lbr_stitcher {
	struct passing_sink passing; /* first: stitcher_of() */
	struct event_sink learning, following;
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
	struct likely *likely;	       /* NULL: only what is certain */
	struct variant variant;	       /* the last one; zeroed: none */
	u64 variant_key;	       /* its hash */
	struct time_span variant_span; /* while it is that of … */
	u32 variant_tid;	       /* … this thread */
	struct memo *memo;
	struct rests *rests;	 /* what is behind what samples carry */
	VEC(u64) packed;	 /* the stack at hand, in short */
	VEC(u32) bodies;	 /* of the rest at hand */
	struct memo_stack shown; /* the sample's callers; no calls: see `calls` */
	struct outcomes *outcomes;
	struct outcome outcome;	 /* of the sample at hand */
	u64 key;		 /* of that; 0: it is not known */
	u64 ahead[CHAINS_AHEAD]; /* keys of chains to come, in turn; 0: none */
	u32 ahead_count;
	u32 lessons; /* that changed what was found before */
	u32 deepest; /* snapshot so far */
	struct lessons lessons_heard;
	bool is_learning;     /* the learning sink has heard something since the other one */
	bool has_learned_all; /* nothing new can come */
	struct lbr_stitcher *unlearned; /* which this is beside; NULL: it has learned */
	atomic_bool lacks_lessons;	/* of that: some stack depends on other samples */
};

/* Counts chains of the recording, up to the first of which there may be something to learn, and
 * that one, too. Returns how many are in front of that. */
size_t lessons_pass(struct lessons *lessons, const struct chain_ahead *chains, size_t count);
/* Sets what the learning sink does with samples. */
void lessons_init(struct lbr_stitcher *stitcher);
/* Frees what it has in mind. */
void lessons_release(struct lessons *lessons);
/* The stitcher whose learning sink this is. */
struct lbr_stitcher *stitcher_of_lessons(struct event_sink *sink);
/* Whether a sample has an LBR call stack. */
bool stitcher_is_concerned(const struct lbr_stitcher *stitcher, const struct sample *sample);

/* Takes its part of the threads, places and graph from the stack of a sample that has a call
 * stack and the key `key`, without finding out more than what it shows by itself. */
void stitcher_learn(struct lbr_stitcher *stitcher, const struct sample *sample);
/* Whether there is nothing to learn from it but that the thread was seen once more. */
bool stitcher_knows(struct lbr_stitcher *stitcher, const struct sample *sample);
/* Finds the stack of such a sample into `frames`, `calls` or `shown`, and `outcome`. */
void stitcher_find(struct lbr_stitcher *stitcher, const struct sample *sample);
/* Whether a rest that was kept fits a thread at a time, see rest_fits(). */
bool stitcher_rest_fits(struct lbr_stitcher *stitcher, u32 rest, u32 tid, u64 time_ns);
/* What a stack depends on besides what was recorded with the sample, `lessons`, and whether a rest
 * fits the thread. */
u64 stitcher_variant(struct lbr_stitcher *stitcher, const struct sample *sample);
/* How many registers there are: what a header says can be wrong. */
u32 stitcher_depth(const struct lbr_stitcher *stitcher);

#endif
