/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lays a thread's stack on the one before, register by register.
 */
#include "lbr/likely.h"

#include "base/idmap.h"
#include "base/vec.h"
#include "lbr/overlap.h"

#include <string.h>

enum {
	KEPT_MAX = 1000,   /* calls of a thread's stack */
	DIFFERENT_MIN = 6, /* calls that agree: who goes back and comes again seldom does so */
	FAR_BETTER = 11,   /* calls: in recursion with two ways to go, once in 2,000 by chance */
	FAR_SAMPLES = 32,  /* at least so many are between two that are far apart */
};

struct kept {
	u64 calls[KEPT_MAX]; /* packed */
	u32 count;
	u32 strong;  /* so many of them by what is more than perf's rule */
	u32 by_rule; /* so many by perf's rule at every step */
	u8 end;	     /* enum lbr_end */
	struct window window;
	struct window far[2]; /* from long before: the one that is old enough, and its successor */
	u32 samples;
};

struct likely {
	struct chances chances;
	struct idmap row_of; /* thread → row + 1 */
	VEC(struct kept *) rows;
	u64 calls[2 * KEPT_MAX]; /* of the stack handed out last */
};

struct likely *likely_new(void)
{
	return must_alloc(sizeof(struct likely));
}

void likely_free(struct likely *likely)
{
	if (!likely)
		return;
	for (size_t i = 0; i < likely->rows.count; i++)
		free(likely->rows.items[i]);
	vec_release(&likely->rows);
	idmap_release(&likely->row_of);
	free(likely);
}

void likely_forget(struct likely *likely)
{
	for (size_t i = 0; i < likely->rows.count; i++)
		likely->rows.items[i]->window.count = 0;
}

static struct kept *kept_of(struct likely *likely, u32 thread)
{
	u32 *row = idmap_place(&likely->row_of, thread);

	if (!*row) {
		*vec_add(&likely->rows) = must_alloc(sizeof(struct kept));
		*row = (u32)likely->rows.count;
	}
	return likely->rows.items[*row - 1];
}

/* --- laying one stack on the other --- */

static bool is_same(u64 left, u64 right)
{
	return memo_frame(left).address == memo_frame(right).address;
}

/* The stack at hand, and where it is laid on the one before. */
struct seam {
	const struct kept *kept;
	const struct memo_stack *stack;
	u32 last; /* its oldest call that is in a register */
	struct overlap overlap;
	bool is_strong;
};

/* Another place of the stack before, as many turns of the registers deeper, agrees far better. */
static bool has_better(const struct seam *seam, u32 depth)
{
	for (u32 at = seam->overlap.at + depth; at < seam->kept->count; at += depth) {
		u32 calls = 0;

		while (calls <= seam->last && is_same(seam->stack->calls[seam->last - calls],
						      seam->kept->calls[at - calls]))
			calls++;
		if (calls >= seam->overlap.calls + FAR_BETTER)
			return true;
	}
	return false;
}

/* Whether what is known of the stack behind the seam goes on as the one before did. */
static bool goes_on(const struct seam *seam)
{
	u32 at = seam->overlap.at, more = seam->stack->count - seam->last;

	if (seam->kept->count - at <= more)
		return false;
	for (u32 i = 1; i < more; i++)
		if (!is_same(seam->kept->calls[at + i], seam->stack->calls[seam->last + i]))
			return false;
	return true;
}

/* The oldest in a register then and now: somebody who went back further would hardly have come to
 * stop in this register. That says nothing where all registers are full, as they always are at the
 * end of the same long way. */
static bool is_strong(const struct overlap *overlap, const struct snapshot *snapshot)
{
	return overlap->is_oldest ? snapshot->entry_count < snapshot->depth
				  : overlap->different >= DIFFERENT_MIN;
}

/* Whether the last entry is one of the stack's calls, which all before it are, too. */
static bool has_all_entries(const struct snapshot *snapshot, const struct memo_stack *stack)
{
	u32 count = snapshot->entry_count;

	return count && stack->count >= count &&
	       memo_call(stack->calls[count - 1]) == snapshot->entries[count - 1].from;
}

/* How much of the stack before is the one at hand, up to which index; 0: nothing. */
static u32 find_end(const struct seam *seam, const struct snapshot *snapshot,
		    const struct chances *chances)
{
	const struct kept *kept = seam->kept;
	const struct overlap *overlap = &seam->overlap;
	u32 end = 0;

	if (!overlap->calls || kept->count < kept->window.count || !goes_on(seam) ||
	    (chances_suffice(chances, overlap) && has_better(seam, snapshot->depth)))
		return 0;
	if (overlap->is_by_rule)
		end = kept->by_rule;
	if (seam->is_strong && kept->strong > end)
		end = kept->strong;
	return end;
}

/* --- from sample to sample --- */

/* How much of the new stack is of a kind, if `end` calls of the one before were. */
static u32 new_mark(const struct seam *seam, bool goes_on, u32 end)
{
	u32 own = seam->stack->count, moved = end + seam->last;

	return goes_on && moved > seam->overlap.at + own ? moved - seam->overlap.at : own;
}

static void keep(struct kept *kept, const struct memo_stack *stack, const struct snapshot *snapshot)
{
	kept->count = stack->count < KEPT_MAX ? stack->count : 0;
	kept->strong = kept->by_rule = kept->count;
	kept->end = stack->end;
	memcpy(kept->calls, stack->calls, kept->count * sizeof(*stack->calls));
	window_keep(&kept->window, snapshot);
}

/* Lengthens the stack up to `end` of the one before. */
static void take_on(struct likely *likely, struct kept *kept, const struct seam *seam,
		    struct memo_stack *stack, u32 end)
{
	memcpy(likely->calls, stack->calls, stack->count * sizeof(u64));
	for (u32 i = seam->overlap.at + stack->count - seam->last; i < end; i++)
		likely->calls[stack->count++] = memo_likely(kept->calls[i]);
	stack->calls = likely->calls;
	if (end == kept->count)
		stack->end = kept->end;
}

static void learn(struct chances *chances, struct kept *kept, const struct overlap *overlap,
		  const struct snapshot *snapshot)
{
	if (kept->window.count)
		agreements_count(&chances->next, overlap);
	if (kept->far[0].count) {
		struct overlap far = overlap_find(&kept->far[0], snapshot);

		agreements_count(&chances->later, &far);
	}
}

static void keep_far(struct kept *kept, const struct snapshot *snapshot)
{
	if (kept->samples++ % FAR_SAMPLES)
		return;
	kept->far[0] = kept->far[1];
	window_keep(&kept->far[1], snapshot);
}

bool likely_extend(struct likely *likely, u32 thread, const struct snapshot *snapshot,
		   struct memo_stack *stack)
{
	struct kept *kept = kept_of(likely, thread);
	struct seam seam = {.kept = kept, .stack = stack, .last = snapshot->entry_count - 1};
	u32 end = 0, strong, by_rule;

	if (stack->end != LBR_END_WHOLE && has_all_entries(snapshot, stack)) {
		seam.overlap = overlap_find(&kept->window, snapshot);
		seam.is_strong = is_strong(&seam.overlap, snapshot);
		end = find_end(&seam, snapshot, &likely->chances);
		learn(&likely->chances, kept, &seam.overlap, snapshot);
	}
	keep_far(kept, snapshot);
	if (end <= seam.overlap.at + stack->count - seam.last) {
		keep(kept, stack, snapshot);
		return false;
	}
	strong = new_mark(&seam, seam.is_strong, kept->strong);
	by_rule = new_mark(&seam, seam.overlap.is_by_rule, kept->by_rule);
	take_on(likely, kept, &seam, stack, end);
	keep(kept, stack, snapshot);
	kept->strong = strong < kept->count ? strong : kept->count;
	kept->by_rule = by_rule < kept->count ? by_rule : kept->count;
	return true;
}
