/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which words of the space for unwind tables are free. Pure.
 *
 * A run that was given back is not handed out at once: a CPU that found the table just before may
 * still be reading it.
 */
#ifndef CAPTURE_WORD_SPACE_H
#define CAPTURE_WORD_SPACE_H

#include "base/vec.h"
#include "bpfprof/unwind_table.h"

#include <stdbool.h>

struct word_run {
	u32 first, count;
};

struct resting_run {
	struct word_run run;
	u64 since_ns;
};

/* Zeroed memory is an empty space. */
struct word_space {
	u32 word_count;			 /* of the whole space */
	VEC(struct word_run) unused;	 /* ascending, and never next to one another */
	VEC(struct resting_run) resting; /* in the order they were given back */
};

/* Frees the memory; the space is empty again. */
void word_space_release(struct word_space *space);

/* Adds `count` free words behind the last. */
void word_space_grow(struct word_space *space, u32 count);
/* Takes the first run that holds `count` words, a multiple of UNWIND_RULE_WORDS of them, at a
 * multiple of that. Returns false if no free run is long enough. */
bool word_space_take(struct word_space *space, u32 count, u32 *ret_first);
/* How many words the space must grow by, before `count` of them are there for sure. */
u32 word_space_missing(const struct word_space *space, u32 count);
/* Gives back what word_space_take() gave; it rests from `now_ns` on. */
void word_space_give(struct word_space *space, u32 first, u32 count, u64 now_ns);
/* Frees the runs that have rested since `until_ns` or longer. Returns whether there were any. */
bool word_space_wake(struct word_space *space, u64 until_ns);

#endif
