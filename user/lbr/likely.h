/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls that were on the stack when the thread was sampled before and are likely to be there still.
 * Private to lbr/.
 *
 * The oldest call that is known sits in a register. If the stack before had the same call there,
 * and the same ones in the next registers, then what was below it then is taken to be below it now.
 * How many must agree is found out for each thread by trying it where the answer is known. At most
 * 8 KiB a thread.
 */
#ifndef LBR_LIKELY_H
#define LBR_LIKELY_H

#include "lbr/graph.h"
#include "lbr/memo.h"

struct likely;

/* An empty one. */
struct likely *likely_new(void);
/* Frees; NULL is fine. */
void likely_free(struct likely *likely);
/* Forgets all stacks, as when samples were lost; not what was found out. */
void likely_forget(struct likely *likely);

/* Finds out, from the stack before, how many calls must agree. Takes stacks as they were walked;
 * `thread` is a number that is never another thread's. */
void likely_learn(struct likely *likely, u32 thread, const struct snapshot *snapshot,
		  const struct stack *stack);

/*
 * Lengthens a stack that is not whole by what is likely, and keeps it for the next sample.
 *
 * has_several  the last frame's function was seen with several callers: more must agree
 * stack        its calls are those of `likely` afterwards: borrowed until the next call
 * Returns whether it was lengthened.
 */
bool likely_extend(struct likely *likely, u32 thread, const struct snapshot *snapshot,
		   bool has_several, struct memo_stack *stack);

#endif
