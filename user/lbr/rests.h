/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is behind the ends of stacks, by what it follows from. Samples are many; the places where
 * their stacks end are few, and threads of a program that is started again are mostly alike. When
 * it is full, all is forgotten. Private to lbr/.
 */
#ifndef LBR_RESTS_H
#define LBR_RESTS_H

#include "lbr/threads.h"

struct rests;

struct rest {
	const u64 *calls;  /* packed, see memo_frame() */
	const u32 *bodies; /* of the functions that were called */
	u32 count;
	struct slots slots; /* of these frames */
	u8 end;		    /* enum lbr_end: of the whole stack */
};

/* An empty one, of so many bytes at most. */
struct rests *rests_new(u64 most_bytes);
/* Frees; NULL is fine. */
void rests_free(struct rests *rests);

/* How often all was forgotten. */
u32 rests_forgotten(const struct rests *rests);

/* The number of a rest; 0: it is not known. */
u32 rests_find(const struct rests *rests, u64 key);
/* Keeps a rest. Returns its number. */
u32 rests_keep(struct rests *rests, u64 key, const struct rest *rest);
/* The rest of a number; borrowed until the next rests_keep(). */
struct rest rests_at(const struct rests *rests, u32 number);
/* rest_fits() of it. */
bool rests_fit(struct rests *rests, u32 number, const struct thread_facts *thread, u64 time_ns);
/*
 * Whether it can be behind a stack that a thread had at a time: functions are where they always
 * were, and if it is there because nobody else was seen calling (it leads to the start), this is a
 * time of thread_saw(). Who reads its settings and then serves for ever, always deep, is not seen
 * calling anything from there: the ways that were seen are others.
 */
bool rest_fits(const struct rest *rest, const struct thread_facts *thread, u64 time_ns);

#endif
