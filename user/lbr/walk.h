/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One sample's stack from what it carries itself: LBR entries, frame pointers, unwound frames, and
 * calls that the code proves. Private to lbr/.
 */
#ifndef LBR_WALK_H
#define LBR_WALK_H

#include "lbr/lbr.h"
#include "lbr/places.h"

enum { STACK_CALLS_MAX = 1024 };

/* What a sample carries. */
struct snapshot {
	u32 pid, tid;
	u64 time_ns;
	u64 leaf; /* where the thread was, in user space */
	place_id leaf_place;
	const struct frame *callers; /* user frames behind the leaf */
	u32 caller_count;
	bool is_unwound; /* the callers are all there are, not only those with frame pointers */
	const struct branch *entries;
	u32 entry_count;
	u64 hw_idx; /* ~0: unknown */
	u32 depth;  /* how many registers there are */
};

struct call {
	u64 from;	    /* the CALL */
	u64 return_address; /* behind it */
	place_id place;	    /* of the CALL */
	place_id entry;	    /* where it led, 0: not known */
	u8 origin;	    /* enum frame_origin */
};

struct stack {
	struct call calls[STACK_CALLS_MAX]; /* newest first */
	u32 count;
	u32 sure;	  /* so many of them lead to the last one that was read from the stack */
	u32 entries;	  /* how many LBR entries are among them, or were passed over */
	u8 end;		  /* enum lbr_end */
	bool is_shifted;  /* LBR entries were left out: calls no longer count as registers do */
	bool by_hardware; /* LBR entries alone lead to the end */
};

/* Walks from the leaf until something is missing or does not fit. */
void walk(struct places *places, const struct snapshot *snapshot, struct stack *ret_stack);

/* Adds a call, whose return address is filled in. Returns false if there is no room. */
bool stack_push(const struct places *places, struct stack *stack, struct call call);

/* The place where frame `index` executes: 0 is the leaf. */
place_id stack_frame(const struct snapshot *snapshot, const struct stack *stack, u32 index);

/* The register that holds call `index`, if registers and calls count alike. */
u32 stack_slot(const struct snapshot *snapshot, u32 index);

#endif
