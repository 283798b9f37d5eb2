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
	ENTRIES_MAX = 128, /* registers */
	AGREEING_MIN = 2,  /* calls; one is there by chance too often */
	/* What is called anew seldom gets a register deeper by a whole turn. In recursion with two
	 * ways to go, so many calls agree by chance once in two thousand times. */
	IN_REGISTER_CALLS = 11,
	BY_CONTENT_MIN = 3, /* different ones, where registers have no numbers */
};

struct kept {
	u64 calls[KEPT_MAX]; /* packed */
	u64 to[ENTRIES_MAX]; /* where those in registers led */
	u64 hw_idx;
	u32 count;
	u32 leaf_body;
	u32 in_registers; /* so many of them; those behind were stitched */
	u8 end;		  /* enum lbr_end */
};

struct likely {
	struct places *places;
	struct idmap row_of; /* thread → row + 1 */
	VEC(struct kept *) rows;
	u64 calls[2 * KEPT_MAX]; /* of the stack handed out last */
};

struct likely *likely_new(struct places *places)
{
	struct likely *likely = must_alloc(sizeof(*likely));

	likely->places = places;
	return likely;
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

static void keep(const struct likely *likely, struct kept *kept, const struct memo_stack *stack,
		 const struct snapshot *snapshot)
{
	kept->count = stack->count < KEPT_MAX ? stack->count : 0;
	kept->in_registers = snapshot->entry_count < kept->count ? snapshot->entry_count
								 : kept->count;
	kept->hw_idx = snapshot->hw_idx;
	kept->leaf_body = places_at(likely->places, snapshot->leaf_place)->body;
	kept->end = stack->end;
	memcpy(kept->calls, stack->calls, kept->count * sizeof(*stack->calls));
	for (u32 i = 0; i < kept->in_registers && i < ENTRIES_MAX; i++)
		kept->to[i] = snapshot->entries[i].to;
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
	struct places *places;
	const struct snapshot *snapshot;
};

/* Whether a call of the stack is one of before: it led to the same, too, as far as is known. */
static bool is_same_call(const struct seam *seam, u32 now, u32 before)
{
	return is_same(seam->stack->calls[now], seam->kept->calls[before]) &&
	       (before >= seam->kept->in_registers || before >= ENTRIES_MAX ||
		seam->snapshot->entries[now].to == seam->kept->to[before]);
}

/* The function that a call of one of both stacks led to executes; 0: it is not known. */
static u32 body_above(const struct seam *seam, const u64 *calls, u32 index, u32 leaf_body)
{
	place_id place;

	if (!index)
		return leaf_body;
	place = places_find(seam->places, seam->snapshot->pid, memo_call(calls[index - 1]));
	return places_at(seam->places, place)->body;
}

/* Whether one function may be executing above a call now and before: where retpolines call, all
 * entries lead to one place. */
static bool led_to_same(const struct seam *seam, u32 now, u32 before)
{
	u32 leaf = places_at(seam->places, seam->snapshot->leaf_place)->body;
	u32 above_now = body_above(seam, seam->stack->calls, now, leaf);
	u32 above_before = body_above(seam, seam->kept->calls, before, seam->kept->leaf_body);

	return above_now == above_before || !above_now || !above_before;
}

static struct match match_at(const struct seam *seam, u32 at)
{
	const u64 *now = seam->stack->calls + seam->last;
	u32 room = (seam->last < at ? seam->last : at) + 1;
	struct match match = {.at = at, .was_in_register = at < seam->kept->in_registers};

	while (match.calls < room &&
	       is_same_call(seam, seam->last - match.calls, at - match.calls)) {
		u32 known = 0;

		while (known < match.calls && !is_same(*(now - known), *(now - match.calls)))
			known++;
		match.different += known == match.calls;
		match.calls++;
	}
	if (match.calls && !led_to_same(seam, seam->last + 1 - match.calls, at + 1 - match.calls))
		match.calls--;
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

/* What speaks for a match. One that was in a register is more likely from the start, as much as so
 * many calls more make up for. */
static u32 weight_of(const struct match *match)
{
	return match->calls + match->was_in_register * IN_REGISTER_CALLS;
}

/* The oldest call in a register then and now: nobody went back further but to call from there
 * again, which changes nothing below. If somebody did, he would hardly have come to stop in this
 * register.
 */
static bool agrees_enough(const struct seam *seam, const struct match *match)
{
	return match->calls >= AGREEING_MIN ||
	       (match->calls && match->at + 1 == seam->kept->in_registers);
}

/*
 * The best match, which must be the only one of its kind. It was in a register then: what had been
 * overwritten and is in a register now was called anew, and below it everything may be new. Still
 * such places are looked at: where one of them agrees better, nobody knows.
 */
static bool find_match(const struct seam *seam, struct match *ret_match)
{
	const struct snapshot *snapshot = seam->snapshot;
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

		if (!match.calls || weight_of(&match) < weight_of(ret_match) || !goes_on(seam, at))
			continue;
		is_only = weight_of(&match) > weight_of(ret_match);
		*ret_match = match;
	}
	if (!has_registers && ret_match->different < BY_CONTENT_MIN)
		return false;
	return is_only && ret_match->was_in_register && agrees_enough(seam, ret_match);
}

bool likely_extend(struct likely *likely, u32 thread, const struct snapshot *snapshot,
		   struct memo_stack *stack)
{
	struct kept *kept = kept_of(likely, thread);
	u32 own = stack->count;
	struct seam seam = {kept, stack,
			    (snapshot->entry_count < own ? snapshot->entry_count : own) - 1,
			    likely->places, snapshot};
	struct match match;

	if (stack->end == LBR_END_WHOLE || !own || !snapshot->entry_count || own >= KEPT_MAX ||
	    !find_match(&seam, &match)) {
		keep(likely, kept, stack, snapshot);
		return false;
	}
	memcpy(likely->calls, stack->calls, own * sizeof(u64));
	for (u32 i = match.at + own - seam.last; i < kept->count; i++)
		likely->calls[stack->count++] = memo_likely(kept->calls[i]);
	stack->calls = likely->calls;
	stack->end = kept->end;
	keep(likely, kept, stack, snapshot);
	return true;
}
