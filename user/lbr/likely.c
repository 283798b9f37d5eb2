/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lays a thread's stack on the one before, register by register.
 */
#include "lbr/likely.h"

#include "base/idmap.h"
#include "base/vec.h"

#include <string.h>

enum {
	KEPT_MAX = 1000,   /* calls of a thread's stack */
	AGREEING_MIN = 2,  /* calls; one is there by chance too often */
	BY_CONTENT_MIN = 3 /* different ones, where registers have no numbers */
};

struct kept {
	u64 calls[KEPT_MAX]; /* packed */
	u64 hw_idx;
	u32 count;
	u32 in_registers; /* so many of them; those behind were stitched */
	u8 end;		  /* enum lbr_end */
};

struct likely {
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
		likely->rows.items[i]->count = 0;
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

static void keep(struct kept *kept, const struct memo_stack *stack, const struct snapshot *snapshot)
{
	kept->count = stack->count < KEPT_MAX ? stack->count : 0;
	kept->in_registers = snapshot->entry_count < kept->count ? snapshot->entry_count
								 : kept->count;
	kept->hw_idx = snapshot->hw_idx;
	kept->end = stack->end;
	memcpy(kept->calls, stack->calls, kept->count * sizeof(*stack->calls));
}

static bool is_same(u64 left, u64 right)
{
	return memo_frame(left).address == memo_frame(right).address;
}

/* --- laying one stack on the other --- */

/* A place of the stack before that may be the oldest call in a register now. */
struct match {
	u32 at;
	u32 calls;     /* that agree from there towards the leaf */
	u32 different; /* of these; in a recursion equal ones say little of how deep it is */
	bool was_in_register;
};

/* The stack at hand. */
struct seam {
	const struct kept *kept;
	const struct memo_stack *stack;
	u32 last; /* its oldest call that is in a register */
};

static struct match match_at(const struct seam *seam, u32 at)
{
	const u64 *now = seam->stack->calls + seam->last, *before = seam->kept->calls + at;
	u32 room = (seam->last < at ? seam->last : at) + 1;
	struct match match = {.at = at, .was_in_register = at < seam->kept->in_registers};

	while (match.calls < room && is_same(*(now - match.calls), *(before - match.calls))) {
		u32 known = 0;

		while (known < match.calls && !is_same(*(now - known), *(now - match.calls)))
			known++;
		match.different += known == match.calls;
		match.calls++;
	}
	return match;
}

/* Whether what is known of the stack behind the seam goes on as the one before did. */
static bool goes_on(const struct seam *seam, u32 at)
{
	u32 more = seam->stack->count - seam->last;

	if (seam->kept->count - at <= more)
		return false;
	for (u32 i = 1; i < more; i++)
		if (!is_same(seam->kept->calls[at + i], seam->stack->calls[seam->last + i]))
			return false;
	return true;
}

/* Which of two says more: > 0: left, 0: neither. */
static int compare_matches(const struct match *left, const struct match *right)
{
	if (left->different != right->different)
		return left->different > right->different ? 1 : -1;
	if (left->calls != right->calls)
		return left->calls > right->calls ? 1 : -1;
	return left->was_in_register - right->was_in_register;
}

/*
 * The best match, which must be the only one of its kind. It was in a register then: what had been
 * overwritten and is in a register now was called anew, and below it everything may be new. Still
 * such places are looked at: where one of them agrees better, nobody knows.
 */
static bool find_match(const struct seam *seam, const struct snapshot *snapshot,
		       struct match *ret_match)
{
	const struct kept *kept = seam->kept;
	bool has_registers = snapshot->hw_idx != ~0ULL && kept->hw_idx != ~0ULL && snapshot->depth;
	u32 step = has_registers ? snapshot->depth : 1;
	u32 at = has_registers ? (u32)((kept->hw_idx % step + step - snapshot->hw_idx % step +
					seam->last) %
				       step)
			       : 0;
	bool is_only = false;

	*ret_match = (struct match){0};
	for (; at < kept->count; at += step) {
		struct match match = match_at(seam, at);
		int better = compare_matches(&match, ret_match);

		if (!match.calls || better < 0 || !goes_on(seam, at))
			continue;
		is_only = better > 0;
		*ret_match = match;
	}
	return is_only && ret_match->was_in_register && ret_match->calls >= AGREEING_MIN &&
	       (has_registers || ret_match->different >= BY_CONTENT_MIN);
}

bool likely_extend(struct likely *likely, u32 thread, const struct snapshot *snapshot,
		   struct memo_stack *stack)
{
	struct kept *kept = kept_of(likely, thread);
	u32 own = stack->count;
	struct seam seam = {kept, stack,
			    (snapshot->entry_count < own ? snapshot->entry_count : own) - 1};
	struct match match;

	if (stack->end == LBR_END_WHOLE || !own || !snapshot->entry_count || own >= KEPT_MAX ||
	    !find_match(&seam, snapshot, &match)) {
		keep(kept, stack, snapshot);
		return false;
	}
	memcpy(likely->calls, stack->calls, own * sizeof(u64));
	for (u32 i = match.at + own - seam.last; i < kept->count; i++)
		likely->calls[stack->count++] = memo_likely(kept->calls[i]);
	stack->calls = likely->calls;
	stack->end = kept->end;
	keep(kept, stack, snapshot);
	return true;
}
