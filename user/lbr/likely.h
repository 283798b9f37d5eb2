/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls that were on the stack when the thread was sampled before and are likely to be there still.
 * Private to lbr/.
 *
 * The oldest call that is in a register now was in the same register then, and led to the same:
 * then what was below it then is taken to be below it now. This is wrong where the program went
 * back further, and came again the same way, between two samples. At most 14 KiB a thread.
 *
 * perf --stitch-lbr does that, too, and this is measured by it. So a stack is lengthened
 *
 * - where perf would lengthen it, by what was known of the stack before, unless most such overlaps
 *   are there by chance and the stack before has a place that agrees far better;
 * - where perf misses it, only if the call is the oldest in a register as before or many different
 *   calls agree, and only by what was never found by perf's rule alone.
 *
 * So it can be wrong where perf is, and seldom elsewhere: by the second, and where what perf took
 * over wrongly is followed by what `certain` knew of the stack before.
 */
#ifndef LBR_LIKELY_H
#define LBR_LIKELY_H

#include "lbr/memo.h"

struct likely;

/* An empty one. */
struct likely *likely_new(void);
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
