/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls that were on the stack when the thread was sampled before and are likely to be there still.
 * Private to lbr/.
 *
 * The oldest call that is in a register now was in the same register then, and the newer ones agree
 * with those that were above it, in where they led, too: then what was below it then is taken to be
 * below it now. This is wrong where the program went back further, and came again the same way,
 * between two samples. At most 10 KiB a thread.
 */
#ifndef LBR_LIKELY_H
#define LBR_LIKELY_H

#include "lbr/graph.h"
#include "lbr/memo.h"

struct likely;

/* An empty one. `places` is borrowed. */
struct likely *likely_new(struct places *places);
/* Frees; NULL is fine. */
void likely_free(struct likely *likely);
/* Forgets all stacks, as when samples were lost. */
void likely_forget(struct likely *likely);

/*
 * Lengthens a stack that is not whole by what is likely, and keeps it for the next sample.
 *
 * thread  a number that is never another thread's
 * stack   its calls are those of `likely` afterwards: borrowed until the next call
 * Returns whether it was lengthened.
 */
bool likely_extend(struct likely *likely, u32 thread, const struct snapshot *snapshot,
		   struct memo_stack *stack);

#endif
