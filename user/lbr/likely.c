/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Aligns a thread's stack with the one before, register by register.
 */
#include "lbr/likely.h"

#include "base/idmap.h"
#include "base/vec.h"

#include <string.h>

enum {
	KEPT_MAX = 1000, /* calls of a thread's stack */
	OVERLAPS = 5,	 /* 1, 2, 4, 8, 16 different calls that agree */
	DIFFERENT_MAX = 1 << (OVERLAPS - 1),
	SEVERAL_OVERLAP = 3,
	TESTS_MIN = 100,
	ERRORS_MAX_PERMILLE = 3,
	CHANGES_MAX_PERCENT = 10,
};

struct kept {
	u64 calls[KEPT_MAX]; /* packed */
	u64 hw_idx;
	u32 count;
	u32 in_registers;		       /* so many of them; those behind were stitched */
	u32 tests[OVERLAPS], errors[OVERLAPS]; /* by overlap */
	u32 seams, changes; /* oldest calls in registers; how many of them were others before */
	u8 end;		    /* enum lbr_end */
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

static void keep(struct kept *kept, const u64 *calls, u32 count, const struct snapshot *snapshot)
{
	kept->count = count < KEPT_MAX ? count : 0;
	kept->in_registers = snapshot->entry_count < count ? snapshot->entry_count : count;
	kept->hw_idx = snapshot->hw_idx;
	memcpy(kept->calls, calls, kept->count * sizeof(*calls));
}

static bool is_same(u64 left, u64 right)
{
	return memo_frame(left).address == memo_frame(right).address;
}

/*
 * How many different calls agree from `index` towards the leaf, with those from `at` of the stack
 * before; DIFFERENT_MAX is enough. In a recursion every register holds the same call, which says
 * nothing of how deep it is: only where it begins does.
 */
static u32 agreeing(const struct kept *kept, u32 at, const u64 *calls, u32 index)
{
	u32 count = 0, different[DIFFERENT_MAX];

	for (u32 i = 0; i <= index && i <= at && count < DIFFERENT_MAX; i++) {
		u32 known = 0;

		if (!is_same(kept->calls[at - i], calls[index - i]))
			break;
		while (known < count && !is_same(calls[different[known]], calls[index - i]))
			known++;
		if (known == count)
			different[count++] = index - i;
	}
	return count;
}

/* --- learning --- */

/* The call of the stack before that is in the register of call `index`, the first of several. */
static u32 same_register(const struct kept *kept, const struct snapshot *snapshot, u32 index)
{
	u64 depth = snapshot->depth ? snapshot->depth : 1;
	u64 distance = kept->hw_idx % depth + depth - snapshot->hw_idx % depth;

	return (u32)((distance + index) % depth);
}

static void try_overlaps(struct kept *kept, u32 agree, bool is_right)
{
	for (u32 i = 0; i < OVERLAPS && agree >= 1U << i; i++) {
		kept->tests[i]++;
		kept->errors[i] += !is_right;
	}
}

/* Where the oldest call changes often between samples, it will also have changed unseen. */
static void look_at_seam(struct kept *kept, u32 at, u64 call)
{
	if (at >= kept->count)
		return;
	kept->seams++;
	kept->changes += !is_same(kept->calls[at], call);
}

void likely_learn(struct likely *likely, u32 thread, const struct snapshot *snapshot,
		  const struct stack *stack)
{
	struct kept *kept = kept_of(likely, thread);
	u32 count = stack->entries < stack->count ? stack->entries : stack->count;
	u64 calls[KEPT_MAX] = {0};

	if (stack->is_shifted || snapshot->hw_idx == ~0ULL || count > KEPT_MAX)
		count = 0;
	for (u32 i = 0; i < count; i++)
		calls[i] = stack->calls[i].return_address;
	for (u32 i = 0; i + 1 < count && kept->count; i++) {
		u32 at = same_register(kept, snapshot, i);

		if (at + 1 < kept->count)
			try_overlaps(kept, agreeing(kept, at, calls, i),
				     is_same(kept->calls[at + 1], calls[i + 1]));
	}
	if (count && count == snapshot->depth)
		look_at_seam(kept, same_register(kept, snapshot, count - 1), calls[count - 1]);
	keep(kept, calls, count, snapshot);
}

/* --- using --- */

/* How many calls must agree; 0: it would be wrong too often, or nobody knows. */
static u32 overlap_of(const struct kept *kept)
{
	if ((u64)kept->changes * 100 > (u64)kept->seams * CHANGES_MAX_PERCENT)
		return 0;
	for (u32 i = 0; i < OVERLAPS; i++)
		if (kept->tests[i] >= TESTS_MIN &&
		    (u64)kept->errors[i] * 1000 < (u64)kept->tests[i] * ERRORS_MAX_PERMILLE)
			return 1U << i;
	return 0;
}

/*
 * The call of the stack before that is call `last`; KEPT_MAX: none, or several. It was in a
 * register then: what had been overwritten and is in a register now was called anew, and below it
 * everything may be new.
 */
static u32 find_last(const struct kept *kept, const struct snapshot *snapshot,
		     const struct memo_stack *stack, u32 last, u32 overlap)
{
	bool has_registers = snapshot->hw_idx != ~0ULL && kept->hw_idx != ~0ULL;
	u32 found = KEPT_MAX;
	u32 at = has_registers ? same_register(kept, snapshot, last) : 0;

	for (; at < kept->in_registers; at += has_registers ? snapshot->depth : 1) {
		if (agreeing(kept, at, stack->calls, last) < overlap)
			continue;
		if (found != KEPT_MAX)
			return KEPT_MAX;
		found = at;
	}
	return found;
}

/* Whether what is known of a stack behind `last` goes on as the one before did behind `at`. */
static bool goes_on(const struct kept *kept, u32 at, const struct memo_stack *stack, u32 last)
{
	u32 more = stack->count - last;

	if (kept->count - at <= more)
		return false;
	for (u32 i = 1; i < more; i++)
		if (!is_same(kept->calls[at + i], stack->calls[last + i]))
			return false;
	return true;
}

bool likely_extend(struct likely *likely, u32 thread, const struct snapshot *snapshot,
		   bool has_several, struct memo_stack *stack)
{
	struct kept *kept = kept_of(likely, thread);
	u32 overlap = overlap_of(kept), at = KEPT_MAX, own = stack->count;
	u32 last = (snapshot->entry_count < own ? snapshot->entry_count : own) - 1;

	if (has_several && overlap && overlap < SEVERAL_OVERLAP)
		overlap = SEVERAL_OVERLAP;
	if (stack->end != LBR_END_WHOLE && overlap && own && snapshot->entry_count &&
	    own < KEPT_MAX)
		at = find_last(kept, snapshot, stack, last, overlap);
	if (at == KEPT_MAX || !goes_on(kept, at, stack, last)) {
		keep(kept, stack->calls, own, snapshot);
		kept->end = stack->end;
		return false;
	}
	memcpy(likely->calls, stack->calls, own * sizeof(u64));
	for (u32 i = at + own - last; i < kept->count; i++)
		likely->calls[stack->count++] = memo_likely(kept->calls[i]);
	stack->calls = likely->calls;
	stack->end = kept->end;
	keep(kept, stack->calls, stack->count, snapshot);
	return true;
}
