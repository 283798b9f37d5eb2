/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How far what the registers hold now agrees with what they held before, and how often it does by
 * chance. Private to lbr/.
 */
#ifndef LBR_OVERLAP_H
#define LBR_OVERLAP_H

#include "lbr/walk.h"

enum {
	WINDOW_MAX = 128, /* registers */
	OVERLAP_CALLS = 5,
	OVERLAP_DIFFERENT = 4,
};

/* What the registers held. */
struct window {
	u64 from[WINDOW_MAX], to[WINDOW_MAX];
	u64 hw_idx;
	u32 count;
};

/* Keeps what a snapshot holds; nothing if its registers have no numbers. */
void window_keep(struct window *window, const struct snapshot *snapshot);

/* The oldest call in a register now is held against the same register before. */
struct overlap {
	u32 at;		 /* where it was, from the newest on */
	u32 calls;	 /* that agree from there towards the leaf */
	u32 different;	 /* of these; in a recursion equal ones say little of how deep it is */
	bool is_held;	 /* the register held something */
	bool is_oldest;	 /* it was the oldest before, too: nothing was overwritten since */
	bool is_split;	 /* neither stack ends where they cease to agree */
	bool is_by_rule; /* perf --stitch-lbr looks there: some turns of the registers it misses */
};

/* Lays a snapshot that has entries on a window of the same thread. */
struct overlap overlap_find(const struct window *before, const struct snapshot *now);

/*
 * How often stacks agree by chance: seen where they cannot have had a call in common for long, and
 * in one sample and the next. Zeroed: nothing is known.
 */
struct chances {
	struct agreements {
		u32 by[OVERLAP_CALLS][OVERLAP_DIFFERENT]; /* agreed so far, where is_split */
		u32 never;				  /* another call was in the register */
	} next, later;
};

/* Counts an overlap with the sample before (`next`), or with one long before. */
void agreements_count(struct agreements *agreements, const struct overlap *overlap);
/* Whether of overlaps like this most are there by chance. */
bool chances_suffice(const struct chances *chances, const struct overlap *overlap);

#endif
