/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The branch stack of a sample on its way from the kernel: how many of its entries are taken, and
 * how they lie in the record. Pure: the BPF programs, the reader and the tests run the same text.
 */
#ifndef BPFPROF_BRANCH_STACK_H
#define BPFPROF_BRANCH_STACK_H

#include "bpfprof/types.h"

#include <stdbool.h>

enum {
	/* More registers than that no CPU has (arm64's BRBE: 64; Intel: 32; AMD: 16). */
	BRANCH_STACK_MAX = 64,
	/* A number of entries above is no number of entries: the memory it was read from is no
	 * branch stack. */
	BRANCH_STACK_BELIEVED = 1024,
	BRANCH_ENTRY_WORDS = 3, /* from, to, flags: struct perf_branch_entry */
	BRANCH_INDEX_WORDS = 1, /* hw_idx, in front of the entries */
	BRANCH_WORDS_MAX = BRANCH_INDEX_WORDS + BRANCH_STACK_MAX * BRANCH_ENTRY_WORDS,
};

/* hw_idx where the register of the newest entry is not known. Source: include/uapi/linux/
 * perf_event.h, PERF_SAMPLE_BRANCH_STACK: "-1ULL means the index is unknown". */
#define BRANCH_INDEX_UNKNOWN (~0ULL)

enum branch_stack_state {
	BRANCHES_WHOLE,
	BRANCHES_TRUNCATED, /* more entries than registers: the oldest are left out */
	BRANCHES_GARBAGE,   /* it is none */
};

/* How many registers are reckoned with, if the machine says `depth` (0: it does not say).
 * Returns 1 … BRANCH_STACK_MAX. */
static inline u32 branch_stack_depth(u64 depth)
{
	return depth && depth < BRANCH_STACK_MAX ? (u32)depth : BRANCH_STACK_MAX;
}

/* What a stack is that says it has `count` entries, on a machine of `depth` registers. */
static inline enum branch_stack_state branch_stack_judge(u64 count, u32 depth)
{
	if (count > BRANCH_STACK_BELIEVED)
		return BRANCHES_GARBAGE;
	return count > depth ? BRANCHES_TRUNCATED : BRANCHES_WHOLE;
}

/* How many of its entries are taken, the newest first. Returns 0 … BRANCH_STACK_MAX. */
static inline u32 branch_stack_taken(u64 count, u32 depth)
{
	if (count > BRANCH_STACK_BELIEVED)
		return 0;
	if (count > depth)
		count = depth;
	return count < BRANCH_STACK_MAX ? (u32)count : BRANCH_STACK_MAX;
}

/* Words in a record of a stack with `entries` entries, at most BRANCH_STACK_MAX: one byte holds
 * them. 0 words mean that there is no stack, which is another thing than an empty one. */
static inline u32 branch_stack_words(u32 entries)
{
	return BRANCH_INDEX_WORDS + entries * BRANCH_ENTRY_WORDS;
}

/* Whether so many words can be a stack. */
static inline bool branch_stack_is_whole(u32 words)
{
	return words >= BRANCH_INDEX_WORDS && words <= BRANCH_WORDS_MAX &&
	       (words - BRANCH_INDEX_WORDS) % BRANCH_ENTRY_WORDS == 0;
}

#endif
