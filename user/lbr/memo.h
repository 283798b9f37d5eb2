/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stacks that were found before, by what they were found from: most samples of a program carry what
 * an earlier one did. When it is full, all is forgotten. Private to lbr/.
 */
#ifndef LBR_MEMO_H
#define LBR_MEMO_H

#include "lbr/walk.h"

struct memo;

enum { REST_NOT_KEPT = ~0U };

/* A found stack, in short. */
struct memo_stack {
	const u64 *calls; /* packed, see memo_frame(); borrowed until the next memo_put() */
	u32 count;
	u32 rest; /* what is behind its end, whether it fits or not: number of struct rests, or
		   * REST_NOT_KEPT; 0: nothing, or nothing that depends on more than the key */
	u8 end;	  /* enum lbr_end */
	bool by_hardware;
};

/* An empty one, of so many bytes at most. */
struct memo *memo_new(u64 most_bytes);
/* Frees; NULL is fine. */
void memo_free(struct memo *memo);

/* The key of a snapshot: of equal snapshots it is equal, whatever the time and, within a function,
 * the leaf. `variant` is mixed in: what else the result depends on. */
u64 memo_key(const struct snapshot *snapshot, const struct place *leaf, u64 variant);

/* One call in short: see memo_frame(). */
u64 memo_packed(const struct call *call);

/* Finds a stack; false if it is not known. */
bool memo_get(const struct memo *memo, u64 key, struct memo_stack *ret_stack);
/* Keeps a stack. */
void memo_put(struct memo *memo, u64 key, const struct memo_stack *stack);

/* One packed call. */
static inline struct frame memo_frame(u64 call)
{
	return (struct frame){.address = call & ((1ULL << 48) - 1),
			      .space = SPACE_USER,
			      .origin = (u8)(call >> 56)};
}

/* The same call, which is only likely. */
static inline u64 memo_likely(u64 call)
{
	return (call & ((1ULL << 56) - 1)) | (u64)ORIGIN_LIKELY << 56;
}

/* The address of its CALL. */
static inline u64 memo_call(u64 call)
{
	return (call & ((1ULL << 48) - 1)) - (call >> 48 & 0xff);
}

#endif
